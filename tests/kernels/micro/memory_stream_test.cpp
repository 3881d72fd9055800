// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/micro/micro_bench.h"

#include <tuple>

namespace {

using namespace tessera;
using workload::MemoryStreamWorkload;
using workload::StreamCodelet;
using workload::StreamOp;

MemoryStreamWorkload stream(StreamOp op, ElementType type, StreamCodelet codelet,
                            std::int64_t elements) {
    MemoryStreamWorkload workload;
    workload.op = op;
    workload.dtype = type;
    workload.codelet = codelet;
    workload.elements = elements;
    return workload;
}

constexpr StreamOp kOps[] = {StreamOp::Copy, StreamOp::Scale, StreamOp::Add, StreamOp::Triad,
                             StreamOp::Read};
constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};
constexpr StreamCodelet kCodelets[] = {StreamCodelet::Paced, StreamCodelet::Vector,
                                       StreamCodelet::Vendor, StreamCodelet::Naive};

/// Cycles of a stream's steps over `units` units of 16 bytes a worker on one tile.
Cycles cycles(MemoryStreamWorkload workload, std::int64_t units) {
    spec::MachineSpec machine = test::chip_of(1);
    workload.elements = units * machine.tile.workers * workload.unit_elements();
    const auto run = test::run_micro(machine, workload);
    return run.outcome.cycles.compute;
}

} // namespace

TEST_CASE("every stream is right in every bit", "[kernels][micro]") {
    for (const StreamOp op : kOps) {
        for (const ElementType type : kTypes) {
            for (const StreamCodelet codelet : kCodelets) {
                const bool paced_triad = op == StreamOp::Triad && codelet == StreamCodelet::Paced;
                for (const std::int64_t units : {4, 5, 50, 97}) {
                    auto workload = stream(op, type, codelet, 0);
                    workload.elements = units * workload.unit_elements();
                    if (!workload.mistakes().empty() || (paced_triad && units < 4 * 12)) {
                        continue;
                    }
                    CAPTURE(static_cast<int>(op), static_cast<int>(type), static_cast<int>(codelet),
                            units);
                    static_cast<void>(test::run_micro(test::chip_of(4), workload));
                }
            }
        }
    }
}

TEST_CASE("a stream's loop takes the issues of its text", "[kernels][micro]") {
    // issues for 8 bytes of each array
    const std::vector<std::tuple<StreamOp, ElementType, StreamCodelet, double>> loops = {
        {StreamOp::Copy, ElementType::F32, StreamCodelet::Paced, 1},
        {StreamOp::Scale, ElementType::F16, StreamCodelet::Paced, 1},
        {StreamOp::Add, ElementType::F32, StreamCodelet::Paced, 1},
        {StreamOp::Triad, ElementType::F32, StreamCodelet::Paced, 1},
        {StreamOp::Triad, ElementType::F16, StreamCodelet::Paced, 1},
        {StreamOp::Copy, ElementType::F16, StreamCodelet::Vector, 2},
        {StreamOp::Triad, ElementType::F32, StreamCodelet::Vector, 3},
        {StreamOp::Triad, ElementType::F32, StreamCodelet::Vendor, 5},
        {StreamOp::Triad, ElementType::F16, StreamCodelet::Vendor, 5},
        {StreamOp::Copy, ElementType::F32, StreamCodelet::Naive, 2 * 2 + 2},
        {StreamOp::Scale, ElementType::F32, StreamCodelet::Naive, 2 * 2 + 1 + 2},
        {StreamOp::Add, ElementType::F32, StreamCodelet::Naive, 3 * 2 + 1 + 2},
        {StreamOp::Triad, ElementType::F32, StreamCodelet::Naive, 3 * 2 + 2 + 2},
        {StreamOp::Triad, ElementType::F16, StreamCodelet::Naive, 2 * 13},
        {StreamOp::Read, ElementType::F32, StreamCodelet::Paced, 0.5},
        {StreamOp::Read, ElementType::F32, StreamCodelet::Vector, 1},
        {StreamOp::Read, ElementType::F32, StreamCodelet::Naive, 2}};
    const spec::MachineSpec machine;
    for (const auto& [op, type, codelet, issues] : loops) {
        CAPTURE(static_cast<int>(op), static_cast<int>(type), static_cast<int>(codelet));
        const auto workload = stream(op, type, codelet, 0);
        constexpr std::int64_t kMore = 10;
        const Cycles more = cycles(workload, 20 + kMore) - cycles(workload, 20);
        CHECK(static_cast<double>(more) ==
              issues * 2 * kMore * static_cast<double>(machine.tile.pipeline_cycles));
    }
}

TEST_CASE("a stream counts the bytes that its op names", "[kernels][micro]") {
    const auto useful = [](StreamOp op, ElementType type) {
        return test::plan_micro(test::chip_of(4), stream(op, type, StreamCodelet::Paced, 1024))
            .useful_bytes;
    };
    CHECK(useful(StreamOp::Copy, ElementType::F32) == 1024 * 2 * 4);
    CHECK(useful(StreamOp::Triad, ElementType::F32) == 1024 * 3 * 4);
    CHECK(useful(StreamOp::Triad, ElementType::F16) == 1024 * 3 * 2);
    CHECK(useful(StreamOp::Read, ElementType::F32) == 1024 * 4);
}

TEST_CASE("a stream says what it cannot do", "[kernels][micro]") {
    const auto triad = [](std::int64_t elements) {
        return stream(StreamOp::Triad, ElementType::F32, StreamCodelet::Paced, elements);
    };
    const spec::MachineSpec bow;
    const std::int64_t least = 4 * 2 * bow.tile.workers * triad(0).unit_elements();
    CHECK_NOTHROW(test::plan_micro(test::chip_of(4), triad(least)));
    CHECK_THROWS_AS(test::plan_micro(test::chip_of(4), triad(least - triad(0).unit_elements())),
                    ConfigError);
    CHECK_THROWS_AS(test::plan_micro(test::chip_of(1), triad(1 << 18)), DoesNotFit);
    CHECK(triad(6).mistakes().at(0).key == "elements");
    CHECK(stream(StreamOp::Read, ElementType::F16, StreamCodelet::Paced, 16).mistakes().size() ==
          1);
}

TEST_CASE("a stream with more rounds than a repeat counts is cut", "[kernels][micro]") {
    auto machine = test::chip_of(2);
    machine.chip.generation = spec::Generation::Ipu1;
    machine.tile.workers = 2;
    const std::int64_t most = plan::most_rounds(machine) / 2 * machine.tile.workers; // units
    for (const StreamOp op : kOps) {
        for (const StreamCodelet codelet : kCodelets) {
            auto workload = stream(op, ElementType::F32, codelet, 0);
            if (!workload.mistakes().empty()) {
                continue;
            }
            for (const auto& [units, cuts] : {std::pair{2 * most, 1}, {2 * most + 1, 2}}) {
                workload.elements = units * workload.unit_elements();
                CAPTURE(static_cast<int>(op), static_cast<int>(codelet), units);
                const auto run = test::run_micro(machine, workload);
                const bool branches = codelet == StreamCodelet::Naive && op != StreamOp::Read;
                CHECK(run.plan.program.compute_sets.at(0).tiles.at(1).vertices.size() ==
                      static_cast<std::size_t>(branches ? 1 : cuts));
            }
        }
    }
}

TEST_CASE("what a stream keeps is told with its steps", "[kernels][micro]") {
    const auto triad = [](StreamCodelet codelet, std::int64_t elements) {
        return stream(StreamOp::Triad, ElementType::F32, codelet, elements);
    };
    const auto machine = test::chip_of(1);
    const auto run = test::run_micro(machine, triad(StreamCodelet::Vendor, 4096));
    CHECK(test::faults_of(machine, run.plan.program).empty());
    CHECK_THROWS_WITH(test::plan_micro(machine, triad(StreamCodelet::Vendor, 1 << 18)),
                      Catch::Contains("does not fit in tile memory: tile_0 is ") &&
                          Catch::Contains("most is kept in step 'triad: multiply'") &&
                          Catch::Contains("a 1048608 B"));
}
