// SPDX-License-Identifier: MIT
// What every micro-workload counts as useful, and how often it does it.
#include "kernels/workload/micro_workloads.h"
#include "tests/kernels/micro/micro_bench.h"

#include <cstdint>
#include <set>
#include <string>

namespace {

using namespace tessera;
using namespace tessera::workload;

constexpr std::int64_t kTiles = 4;
constexpr std::int64_t kOften = 3;

/// The kernels whose steps a program has.
std::set<std::string> owners_of(const program::Program& program) {
    std::set<std::string> owners;
    const auto add = [&](const auto& steps) {
        for (const auto& step : steps) {
            owners.insert(step.owner);
        }
    };
    add(program.compute_sets);
    add(program.exchanges);
    add(program.stream_copies);
    return owners;
}

/// `once` is what one repetition moves for its user; all else is equal, so often.
template <class Workload>
void check_repeats(Workload workload, Bytes once, const std::string& owner) {
    const auto machine = test::chip_of(kTiles);
    for (const std::int64_t repeats : {std::int64_t{1}, kOften}) {
        if constexpr (requires { workload.repeats; }) {
            workload.repeats = repeats;
        } else {
            workload.iterations = repeats;
        }
        const auto plan = test::plan_micro(machine, workload);
        CAPTURE(plan.sentence, repeats);
        CHECK(plan.useful_bytes == repeats * once);
        CHECK(owners_of(plan.program) == std::set{owner});
        CHECK(plan.program.control.count == static_cast<std::uint32_t>(repeats));
        const bool says =
            plan.sentence.find(std::to_string(repeats) + " times") != std::string::npos;
        CHECK((says || repeats == 1));
    }
}

} // namespace

TEST_CASE("useful bytes are those of all repetitions, whose steps are the kernel's",
          "[kernels][micro]") {
    MemoryStreamWorkload triad;
    triad.elements = 1024;
    check_repeats(triad, 3 * 1024 * 4, "memory_stream");

    ReductionWorkload reduction;
    reduction.operands = 10;
    check_repeats(reduction, kTiles * 10 * 4, "reduction");

    RearrangeWorkload cast;
    cast.rows = 4;
    cast.columns = 6;
    cast.cast = true; // FP32 are read, FP16 written
    check_repeats(cast, kTiles * 4 * 6 * (4 + 2), "rearrange");

    SelfCopyWorkload copy;
    copy.bytes = 64;
    check_repeats(copy, kTiles * 64, "exchange_pattern");

    ExchangePatternWorkload shift;
    shift.pattern = ExchangePattern::Shift;
    shift.bytes = 24;
    check_repeats(shift, kTiles * 24, "exchange_pattern");

    RemoteBufferWorkload read;
    read.rows = 6;
    read.row_bytes = 128;
    read.chunk_rows = 2;
    check_repeats(read, 6 * 128, "remote_buffer");

    HostTransferWorkload write;
    write.bytes = 40;
    write.direction = StreamDirection::Write;
    check_repeats(write, kTiles * 40, "host_transfer");
}

TEST_CASE("a blur reads and writes its image each time", "[kernels][micro]") {
    const auto machine = test::chip_of(kTiles);
    StencilWorkload blur;
    blur.width = 16;
    blur.height = 12;
    for (const std::int64_t iterations : {1, 3}) {
        blur.iterations = iterations;
        CHECK(test::plan_micro(machine, blur).useful_bytes == iterations * 2 * 16 * 12 * 4 * 2);
    }
}

TEST_CASE("a streamed triad moves three arrays however often a round is computed",
          "[kernels][micro]") {
    const auto machine = test::chip_of(kTiles);
    StreamedTriadWorkload triad;
    triad.io_tiles = 1;
    triad.elements = 3 * triad.chunk_elements * 2;
    for (const std::int64_t repeats : {1, 5}) {
        triad.repeats = repeats;
        CHECK(test::plan_micro(machine, triad).useful_bytes == 3 * triad.elements * 4);
    }
}
