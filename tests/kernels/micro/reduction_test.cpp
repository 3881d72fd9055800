// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/codelets/sum_cost.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/micro/micro_bench.h"

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
        const auto plan = test::plan_micro(test::chip_of(tiles), workload);
        CHECK(plan.program.compute_sets.size() == plan.program.exchanges.size() + 1);
        return plan.program.exchanges.size();
    };
    CHECK(stages(1, reduction(10)) == 0);
    CHECK(stages(64, reduction(10, 1, 1)) == 1);
    CHECK(stages(16, reduction(10, 1, 2)) == 2);
    CHECK(stages(3, reduction(10, 1, 2)) == 1);
    CHECK(stages(16, reduction(10, 16)) == 0);
}

TEST_CASE("a reduction sums up what a tile has, then what it got", "[kernels][micro]") {
    const auto emitted = micro::emit(test::chip_of(16), reduction(10, 1, 2));
    std::vector<std::string> names;
    for (const auto& step : emitted.graph.control.children) {
        names.push_back(step.kind == program::Step::Kind::Exchange
                            ? emitted.graph.exchanges.at(step.index).name
                            : emitted.graph.compute_sets.at(step.index).name);
    }
    CHECK(names == std::vector<std::string>{"reduce: own operands", "reduce: gather sums",
                                            "reduce: gathered sums", "reduce: gather sums",
                                            "reduce: gathered sums"});
}

TEST_CASE("a reduction that may choose takes stages that fit where others do not",
          "[kernels][micro]") {
    const auto machine = test::chip_of(32);
    const auto fits = [&](std::int64_t operands, std::int64_t stages) {
        try {
            static_cast<void>(test::plan_micro(machine, reduction(operands, 1, stages)));
            return true;
        } catch (const DoesNotFit&) {
            return false;
        }
    };
    // the sums of 31 other tiles take more memory than those of 5
    std::int64_t few = machine.memory.bytes() * 15 / 64;
    std::int64_t many = machine.memory.bytes() / 4;
    REQUIRE(fits(few, 1));
    while (many - few > 1) {
        const std::int64_t middle = (few + many) / 2;
        (fits(middle, 1) ? few : many) = middle;
    }
    REQUIRE(fits(many, 2));
    CHECK(test::plan_micro(machine, reduction(many)).choices.at("stages") == 2);
    CHECK(fits(few, 0));
    while (fits(many, 2)) {
        many += 16;
    }
    CHECK_FALSE(fits(many, 0));
}

TEST_CASE("a reduction that may choose takes the faster number of stages", "[kernels][micro]") {
    std::vector<std::int64_t> chosen;
    for (const std::int64_t tiles : {4, 40, 300, 400}) {
        const auto machine = test::chip_of(tiles);
        const auto cycles = [&](std::int64_t stages) {
            const auto run = test::run_micro(machine, reduction(1, 1, stages));
            CHECK(run.plan.predicted_cycles ==
                  run.outcome.cycles.total() + machine.control.repeat_cycles);
            return run.outcome.cycles.total();
        };
        CAPTURE(tiles);
        CHECK(cycles(0) == std::min(cycles(1), cycles(2)));
        chosen.push_back(test::plan_micro(machine, reduction(1)).choices.at("stages"));
    }
    CHECK(chosen.front() == 1);
    CHECK(chosen.back() == 2);
}

TEST_CASE("of equally fast numbers of stages a reduction takes the fewer", "[kernels][micro]") {
    auto machine = test::chip_of(400);
    const auto cycles = [&](std::int64_t stages) {
        return test::plan_micro(machine, reduction(1, 1, stages)).predicted_cycles;
    };
    const auto chosen = [&] {
        return test::plan_micro(machine, reduction(1)).choices.at("stages");
    };
    const Cycles gain = cycles(1) - cycles(2);
    REQUIRE(gain > 1);
    // the second stage waits for one barrier more
    machine.sync.internal_cycles += gain - 1;
    CHECK(cycles(1) - cycles(2) == 1);
    CHECK(chosen() == 2);
    machine.sync.internal_cycles += 1;
    CHECK(cycles(1) == cycles(2));
    CHECK(chosen() == 1);
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
    for (const std::int64_t operands : {100, 101}) {
        const std::vector<std::int64_t> issues(static_cast<std::size_t>(workers),
                                               codelets::sum_issues(operands));
        plan::StubTimeline stub(machine, false);
        stub.multi_worker(issues);
        stub.worker(codelets::sum_issues(workers));
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
    CHECK_THROWS_AS(test::plan_micro(test::chip_of(4), reduction(1 << 20)), DoesNotFit);
}

TEST_CASE("each tile has its own sum where outputs are none or as many as tiles",
          "[kernels][micro]") {
    const auto machine = test::chip_of(6);
    for (const std::int64_t tiles : {0, 4, 6}) {
        auto workload = reduction(10);
        workload.tiles = tiles;
        const std::int64_t used = tiles == 0 ? machine.chip.tiles : tiles;
        for (const std::int64_t outputs : {std::int64_t{0}, used}) {
            workload.outputs = outputs;
            CAPTURE(tiles, outputs);
            CHECK(workload.mistakes().empty());
            const auto run = test::run_micro(machine, workload);
            CHECK(run.plan.program.exchanges.empty());
            CHECK(run.plan.values.expected.at(0).bytes.size() ==
                  static_cast<std::size_t>(4 * used));
        }
        workload.outputs = used + 1;
        CHECK_THROWS_WITH(test::plan_micro(machine, workload),
                          Catch::Contains("/outputs: got " + std::to_string(used + 1) +
                                          " outputs, expected 1 for one sum, or 0 or " +
                                          std::to_string(used) +
                                          " for one of each tile (machine 'bow')"));
    }
}

TEST_CASE("a sum with more rounds than a repeat counts is cut", "[kernels][micro]") {
    auto machine = test::chip_of(2);
    machine.chip.generation = spec::Generation::Ipu1; // two operands a round
    const std::int64_t most = plan::most_rounds(machine) * 2 * machine.tile.workers;
    for (const auto& [operands, vertices] :
         {std::pair{most, 2}, {most + 1, 3}, {2 * most + 5, 4}}) {
        CAPTURE(operands, vertices);
        const auto run = test::run_micro(machine, reduction(operands));
        CHECK(run.plan.program.compute_sets.at(0).tiles.at(1).vertices.size() ==
              static_cast<std::size_t>(vertices));
        CHECK(run.plan.predicted_cycles ==
              run.outcome.cycles.total() + machine.control.repeat_cycles);
    }
}
