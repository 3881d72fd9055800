// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "tests/kernels/micro/micro_bench.h"

namespace {

using namespace tessera;
using workload::RearrangeWorkload;

RearrangeWorkload matrix(std::int64_t rows, std::int64_t columns, ElementType type) {
    RearrangeWorkload workload;
    workload.rows = rows;
    workload.columns = columns;
    workload.dtype = type;
    return workload;
}

test::MicroRun run(const spec::MachineSpec& machine, const RearrangeWorkload& workload) {
    CHECK(workload.mistakes().empty());
    auto run = test::run_micro(machine, workload);
    CHECK(run.plan.predicted_cycles == run.outcome.cycles.total() + machine.control.repeat_cycles);
    return run;
}

} // namespace

TEST_CASE("every change of layout is right in every bit, in the predicted cycles",
          "[kernels][micro]") {
    const auto machine = test::chip_of(3);
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const bool cast : {false, true}) {
            for (const bool transpose : {false, true}) {
                for (const std::int64_t gap : {0, 2}) {
                    auto workload = matrix(10, 6, type);
                    workload.cast = cast;
                    workload.transpose = transpose;
                    workload.from_gap = gap;
                    workload.to_gap = 2 * gap;
                    CAPTURE(static_cast<int>(type), cast, transpose, gap);
                    const auto done = run(machine, workload);
                    CHECK(done.outcome.step_cycles.size() == (cast && transpose ? 2 : 1));
                }
            }
        }
    }
    static_cast<void>(run(machine, matrix(1, 1, ElementType::F32)));
    auto odd = matrix(7, 5, ElementType::F32);
    odd.transpose = true;
    odd.to_gap = 1;
    static_cast<void>(run(machine, odd));
}

TEST_CASE("a change of layout is called by what it does", "[kernels][micro]") {
    const auto machine = test::chip_of(2);
    const auto names = [&](const RearrangeWorkload& workload) {
        std::vector<std::string> found;
        const auto plan = test::plan_micro(machine, workload);
        for (const auto& set : plan.program.compute_sets) {
            found.push_back(set.name);
        }
        CHECK(plan.choices.at("steps") == static_cast<std::int64_t>(found.size()));
        return found;
    };
    using Names = std::vector<std::string>;
    auto workload = matrix(4, 6, ElementType::F16);
    CHECK(names(workload) == Names{"rearrange: copy"});
    workload.from_gap = 2;
    CHECK(names(workload) == Names{"rearrange: lines"});
    workload.to_gap = 2;
    CHECK(names(workload) == Names{"rearrange: lines"});
    workload.cast = true;
    CHECK(names(workload) == Names{"rearrange: cast"});
    workload.transpose = true;
    CHECK(names(workload) == Names{"rearrange: cast", "rearrange: transpose"});
    workload.cast = false;
    CHECK(names(workload) == Names{"rearrange: transpose"});
}

TEST_CASE("lines with more rounds than a repeat counts are cut", "[kernels][micro]") {
    auto machine = test::chip_of(1);
    machine.chip.generation = spec::Generation::Ipu1;
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const bool cast : {false, true}) {
            for (const bool transpose : {false, true}) {
                CAPTURE(static_cast<int>(type), cast, transpose);
                auto workload = transpose ? matrix(9000, 2, type) : matrix(2, 9000, type);
                workload.from_gap = 2;
                workload.cast = cast;
                workload.transpose = transpose;
                const auto plan = run(machine, workload).plan;
                CHECK(plan.program.compute_sets.back().tiles.at(0).vertices.size() > 1);
            }
        }
    }
}

TEST_CASE("a change of layout says what it cannot do", "[kernels][micro]") {
    const auto machine = test::chip_of(2);
    auto odd = matrix(4, 5, ElementType::F16);
    REQUIRE(odd.mistakes().size() == 1);
    CHECK(odd.mistakes().front().key == "columns");
    odd.transpose = true; // lines of 4 are written, those that are read are 5 elements apart
    REQUIRE(odd.mistakes().size() == 1);
    CHECK(odd.mistakes().front().key == "from_gap");
    odd.from_gap = 1;
    CHECK(odd.mistakes().empty());
    CHECK_NOTHROW(test::plan_micro(machine, odd));
    CHECK_THROWS_WITH(test::plan_micro(machine, matrix(1000, 1000, ElementType::F32)),
                      Catch::Contains("tile_0 is ") &&
                          Catch::Contains("most is kept in step 'rearrange: copy'"));
    auto workload = matrix(4, 4, ElementType::F32);
    workload.tiles = 3;
    CHECK_THROWS_AS(test::plan_micro(machine, workload), ConfigError);
}
