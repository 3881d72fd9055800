// SPDX-License-Identifier: MIT
// Plans a micro-workload, runs it without SystemC and compares every byte with what is expected.
#pragma once

#include "kernels/micro/micro_plan.h"
#include "models/spec/machine_spec.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace tessera::test {

/// `bow`'s tiles, fewer of them.
inline spec::MachineSpec chip_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

struct MicroRun {
    micro::MicroPlan plan;
    RunOutcome outcome;
};

template <class Workload>
MicroRun run_micro(const spec::MachineSpec& machine, const Workload& workload) {
    MicroRun run;
    run.plan = micro::plan(machine, workload);
    std::map<std::string, std::vector<std::byte>> operands;
    for (const auto& operand : run.plan.operands) {
        operands[operand.tensor] = operand.bytes;
    }
    run.outcome = run_program(machine, run.plan.program, operands);
    CHECK(!run.plan.expected.empty());
    for (const auto& expected : run.plan.expected) {
        const std::vector<std::byte>& got = run.outcome.tensors.at(expected.tensor);
        CHECK(got.size() == expected.bytes.size());
        CHECK((got == expected.bytes)); // not printed
        // An answer that is zero throughout would be right without a run.
        CHECK(std::any_of(got.begin(), got.end(), [](std::byte b) { return b != std::byte{0}; }));
    }
    return run;
}

} // namespace tessera::test
