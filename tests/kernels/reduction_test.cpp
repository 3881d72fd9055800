// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/micro_bench.h"

namespace {

using namespace tessera;
using workload::ReductionWorkload;

ReductionWorkload reduction(std::int64_t operands, std::int64_t outputs = 1,
                            std::int64_t stages = 0) {
    ReductionWorkload workload;
    workload.operands = operands;
    workload.outputs = outputs;
    workload.tiles = outputs == 1 ? 0 : outputs;
    workload.stages = stages;
    return workload;
}

} // namespace

TEST_CASE("sums are exact on one tile and on many", "[kernels][micro]") {
    for (const std::int64_t tiles : {1, 2, 5, 40, 64}) {
        for (const std::int64_t operands : {1, 2, 11, 12, 13, 500, 1001}) {
            for (const std::int64_t stages : {0, 1, 2}) {
                CAPTURE(tiles, operands, stages);
                const auto machine = test::chip_of(tiles);
                static_cast<void>(test::run_micro(machine, reduction(operands, 1, stages)));
                static_cast<void>(test::run_micro(machine, reduction(operands, tiles)));
            }
        }
    }
}

TEST_CASE("a reduction has as many exchanges as stages", "[kernels][micro]") {
    const auto stages = [](std::int64_t tiles, const ReductionWorkload& workload) {
        const auto plan = micro::plan(test::chip_of(tiles), workload);
        CHECK(plan.program.compute_sets.size() == plan.program.exchanges.size() + 1);
        return plan.program.exchanges.size();
    };
    CHECK(stages(1, reduction(10)) == 0);
    CHECK(stages(32, reduction(10)) == 1);
    CHECK(stages(33, reduction(10)) == 2);
    CHECK(stages(64, reduction(10, 1, 1)) == 1);
    CHECK(stages(16, reduction(10, 1, 2)) == 2);
    CHECK(stages(16, reduction(10, 16)) == 0);
}

TEST_CASE("an operand takes an issue", "[kernels][micro]") {
    const auto machine = test::chip_of(1);
    const auto cycles = [&](std::int64_t operands_a_worker) {
        return test::run_micro(machine, reduction(operands_a_worker * machine.tile.workers))
            .outcome.step_cycles.at(0);
    };
    CHECK(cycles(120) - cycles(100) == 20 * machine.tile.pipeline_cycles);
}

TEST_CASE("sums on a tile take the predicted cycles", "[kernels][micro]") {
    const auto machine = test::chip_of(1);
    const std::int64_t workers = machine.tile.workers;
    constexpr std::int64_t kFrame = 23;
    for (const std::int64_t operands : {100, 101}) {
        const std::vector<std::int64_t> issues(static_cast<std::size_t>(workers),
                                               kFrame + operands);
        plan::StubTimeline stub(machine, false);
        stub.multi_worker(issues);
        stub.worker(kFrame + workers);
        const auto run = test::run_micro(machine, reduction(operands * workers));
        CHECK(run.outcome.step_cycles.at(0) == stub.finish());
    }
}

TEST_CASE("a reduction says what it cannot do", "[kernels][micro]") {
    CHECK(reduction(10, 1).mistakes().empty());
    CHECK(reduction(10, 7).mistakes().empty());
    auto workload = reduction(10, 7);
    workload.tiles = 8;
    CHECK(workload.mistakes().at(0).key == "outputs");
    CHECK_THROWS_AS(micro::plan(test::chip_of(4), workload), ConfigError);
    CHECK_THROWS_AS(micro::plan(test::chip_of(4), reduction(1 << 20)), DoesNotFit);
}

TEST_CASE("a sum with more rounds than a repeat counts is not modelled", "[kernels][micro]") {
    auto machine = test::chip_of(4);
    machine.chip.generation = spec::Generation::Ipu1; // counts to 4095, two operands a round
    const std::int64_t most = 4095 * 2 * machine.tile.workers;
    CHECK_NOTHROW(micro::plan(machine, reduction(most)));
    CHECK_THROWS_AS(micro::plan(machine, reduction(most + 2 * machine.tile.workers)), NotModelled);
}
