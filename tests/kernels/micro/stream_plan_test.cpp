// SPDX-License-Identifier: MIT
// Plans of workloads that stream: what stands where in tiles, and what they answer where they
// cannot.
#include "base/error.h"
#include "models/program/leaf_steps.h"
#include "tests/kernels/micro/micro_bench.h"

#include <algorithm>

namespace {

using namespace tessera;
using Catch::Contains;
using workload::HostTransferWorkload;
using workload::RemoteBufferWorkload;
using workload::StreamedTriadWorkload;

RemoteBufferWorkload rows_of(std::int64_t rows, std::int64_t row_bytes) {
    RemoteBufferWorkload workload;
    workload.rows = rows;
    workload.row_bytes = row_bytes;
    return workload;
}

HostTransferWorkload host(std::int64_t bytes) {
    HostTransferWorkload workload;
    workload.bytes = bytes;
    return workload;
}

StreamedTriadWorkload triad(std::int64_t elements, std::int64_t io_tiles) {
    StreamedTriadWorkload workload;
    workload.elements = elements;
    workload.io_tiles = io_tiles;
    return workload;
}

} // namespace

TEST_CASE("a copy may fill the memory of its tiles", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    // all but the memory element of the control program
    const Bytes most = machine.memory.bytes() - machine.memory.element_bytes;
    const auto plan = test::plan_micro(machine, rows_of(2, 4 * most));
    CHECK(plan.program.stream_copies.at(0).pieces.at(3).address ==
          machine.memory.region0_begin() + static_cast<Address>(machine.memory.element_bytes));
    CHECK(plan.program.stream_copies.at(0).pieces.at(3).bytes == most);
    CHECK(test::faults_of(machine, plan.program).empty());
    CHECK_NOTHROW(test::plan_micro(machine, host(most)));
    constexpr Bytes kRequest = 64;
    CHECK_THROWS_WITH(test::plan_micro(machine, rows_of(2, 4 * most + kRequest)),
                      Contains("does not fit in tile memory: tile_3 is 64 bytes over "
                               "('in tiles' finds no place)") &&
                          Contains("in tiles " + std::to_string(most + kRequest) + " B"));
    CHECK_THROWS_AS(test::plan_micro(machine, rows_of(2, 4 * most + kRequest)), DoesNotFit);
    CHECK_THROWS_AS(test::plan_micro(machine, host(most + 4)), DoesNotFit);
}

TEST_CASE("every tile has its bytes from the host", "[kernels][micro]") {
    const auto machine = test::chip_of(32);
    for (const std::int64_t bytes : {4, 12, 64, 1000}) {
        const auto pieces =
            test::plan_micro(machine, host(bytes)).program.stream_copies.at(0).pieces;
        CHECK(pieces.size() == 32);
        CHECK(std::all_of(pieces.begin(), pieces.end(),
                          [&](const auto& piece) { return piece.bytes == bytes; }));
    }
}

TEST_CASE("streams name the tiles that a machine has not", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    auto remote = rows_of(4, 64);
    remote.tiles = 5;
    auto to_host = host(64);
    to_host.tiles = 5;
    const auto refused =
        Contains("/tiles: got 5 tiles, expected 1..4 on machine 'bow' (chip.tiles)");
    CHECK_THROWS_WITH(test::plan_micro(machine, remote), refused);
    CHECK_THROWS_AS(test::plan_micro(machine, remote), ConfigError);
    CHECK_THROWS_WITH(test::plan_micro(machine, to_host), refused);
    CHECK_THROWS_WITH(test::plan_micro(machine, triad(64, 3)),
                      Contains("/io_tiles: got 3 IO tiles, expected 1..2 on machine 'bow'"));
    CHECK_THROWS_WITH(test::plan_micro(test::chip_of(1), triad(64, 1)),
                      Contains("got 1 IO tiles, expected none"));
}

TEST_CASE("streaming memory holds so much and no more", "[kernels][micro]") {
    auto machine = test::chip_of(4);
    machine.streaming.capacity_bytes = 16 * 64;
    CHECK_NOTHROW(test::plan_micro(machine, rows_of(16, 64)));
    CHECK_THROWS_WITH(test::plan_micro(machine, rows_of(17, 64)),
                      Contains("remote buffer remote: got 17 rows of 64 B beside 0 B of other "
                               "buffers, expected at most 1024 B in all"));
    CHECK_THROWS_AS(test::plan_micro(machine, rows_of(100'000'000, std::int64_t{1} << 32)),
                    DoesNotFit);
    CHECK_THROWS_AS(test::plan_micro(machine, triad(1'000'000, 1)), DoesNotFit);
}

TEST_CASE("copies that a program lists are not without end", "[kernels][micro]") {
    auto workload = rows_of(10 * workload::kMostCopies, 4);
    CHECK(workload.mistakes().at(0).key == "chunk_rows");
    workload.chunk_rows = 10;
    CHECK(workload.mistakes().empty());
    auto rounds = triad(1'000'000'000, 1);
    rounds.chunk_elements = 4;
    CHECK_THROWS_WITH(test::plan_micro(test::chip_of(4), rounds),
                      Contains("/elements: got 1000000000 elements, which are 83333334 rounds of "
                               "12, expected at most 1000000 rounds (larger chunk_elements make "
                               "fewer)"));
}

TEST_CASE("row buffers and slices are kept as the control program uses them", "[kernels][micro]") {
    const auto machine = test::chip_of(10);
    for (const std::int64_t prefetch : {0, 1, 3, 9}) {
        for (const std::int64_t rounds : {1, 2, 5}) {
            CAPTURE(prefetch, rounds);
            auto workload = triad(0, 3);
            workload.prefetch = prefetch;
            workload.elements = rounds * 7 * workload.chunk_elements;
            const auto plan = test::plan_micro(machine, workload);
            CHECK(test::faults_of(machine, plan.program).empty());
            CHECK(plan.choices.at("row_buffers") == std::clamp<std::int64_t>(prefetch, 1, rounds));
            const auto leaves = program::leaf_steps(plan.program);
            for (std::uint32_t number = 0; number < leaves.size(); ++number) {
                if (leaves[number]->kind == program::Step::Kind::ComputeSet) {
                    const auto& image = plan.program.images.at(plan.program.image_of_tile.at(0));
                    const auto kept = std::count_if(image.segments.begin(), image.segments.end(),
                                                    [&](const auto& segment) {
                                                        return segment.name.starts_with("slice") &&
                                                               segment.lifetime.contains(number);
                                                    });
                    CHECK(kept == 3);
                }
            }
        }
    }
}

TEST_CASE("a streamed triad that does not fit says on which side", "[kernels][micro]") {
    const auto machine = test::chip_of(10);
    auto workload = triad(1 << 20, 1);
    workload.chunk_elements = 16384;
    CHECK_THROWS_WITH(test::plan_micro(machine, workload),
                      Contains("tile_9 is ") && Contains("row 1 of b 589824 B"));
    workload = triad(1 << 20, 5);
    workload.chunk_elements = 131072;
    CHECK_THROWS_WITH(test::plan_micro(machine, workload),
                      Contains("tile_0 is ") && Contains("most is kept in step 'triad'") &&
                          Contains("slice of b 524288 B"));
}

TEST_CASE("all steps of a streamed triad are its own", "[kernels][micro]") {
    const auto program = test::plan_micro(test::chip_of(8), triad(4096, 2)).program;
    const auto check = [](const auto& steps) {
        CHECK_FALSE(steps.empty());
        for (const auto& step : steps) {
            CAPTURE(step.name);
            CHECK(step.owner == "streamed_triad");
        }
    };
    check(program.compute_sets);
    check(program.exchanges);
    check(program.stream_copies);
}
