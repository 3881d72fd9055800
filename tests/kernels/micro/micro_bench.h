// SPDX-License-Identifier: MIT
// Plans a micro-workload, runs it without SystemC and compares every byte with what is expected.
#pragma once

#include "kernels/lower/lower.h"
#include "kernels/micro/micro.h"
#include "models/spec/machine_spec.h"
#include "tests/kernels/graph/tight.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera::test {

/// `bow`'s tiles, fewer of them.
inline spec::MachineSpec chip_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// A micro-workload as a program, its values and what was chosen.
struct LoweredMicro {
    program::Program program;
    micro::Values values;
    std::string sentence;
    Bytes useful_bytes = 0;
    std::map<std::string, std::int64_t> choices;
    Cycles predicted_cycles = 0; ///< of a repetition
};

template <class Workload>
LoweredMicro plan_micro(const spec::MachineSpec& machine, const Workload& workload) {
    auto emitted = micro::emit(machine, workload);
    std::string sentence = emitted.graph.name;
    // all tiles of a stencil hold room for four edges, which a grid of few parts does not have
    if constexpr (!std::is_same_v<Workload, workload::StencilWorkload>) {
        CHECK(loose_buffers(emitted.graph) == std::vector<std::string>{});
    }
    auto lowered = lower::lower(machine, std::move(emitted.graph));
    const Cycles cycles =
        emitted.expected_cycles.value_or(0) + lower::predicted_exchanges(machine, lowered).total();
    return {std::move(lowered.program), emitted.values(),           std::move(sentence),
            emitted.useful_bytes,       std::move(emitted.choices), cycles};
}

struct MicroRun {
    LoweredMicro plan;
    RunOutcome outcome;
};

template <class Workload>
MicroRun run_micro(const spec::MachineSpec& machine, const Workload& workload) {
    MicroRun run;
    run.plan = plan_micro(machine, workload);
    std::map<program::ArrayId, std::vector<std::byte>> operands;
    for (const auto& operand : run.plan.values.given) {
        operands[operand.array] = operand.bytes;
    }
    run.outcome = run_program(machine, run.plan.program, operands);
    CHECK(!run.plan.values.expected.empty());
    for (const auto& expected : run.plan.values.expected) {
        const std::vector<std::byte>& got = run.outcome.arrays.at(expected.array);
        CHECK(got.size() == expected.bytes.size());
        CHECK((got == expected.bytes)); // not printed
        // An answer that is zero throughout would be right without a run.
        CHECK(std::any_of(got.begin(), got.end(), [](std::byte b) { return b != std::byte{0}; }));
    }
    return run;
}

} // namespace tessera::test
