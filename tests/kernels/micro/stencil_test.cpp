// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/micro/stencil_image.h"
#include "kernels/rearrange/rearrange.h"
#include "tests/kernels/micro/micro_bench.h"

namespace {

using namespace tessera;
using workload::StencilType;
using workload::StencilWorkload;

constexpr StencilType kTypes[] = {StencilType::Half4, StencilType::Float2, StencilType::Float};

StencilWorkload stencil(std::int64_t width, std::int64_t height, StencilType type,
                        std::int64_t iterations = 1) {
    StencilWorkload workload;
    workload.width = width;
    workload.height = height;
    workload.dtype = type;
    workload.iterations = iterations;
    return workload;
}

} // namespace

TEST_CASE("a blurred image is right in every bit", "[kernels][micro]") {
    for (const StencilType type : kTypes) {
        for (const std::int64_t tiles : {1, 2, 4, 9, 16}) {
            for (const std::int64_t iterations : {1, 2, 3, 5}) {
                for (const auto& [width, height] :
                     {std::pair<std::int64_t, std::int64_t>{3, 3}, {17, 5}, {1, 9}, {24, 24}}) {
                    CAPTURE(static_cast<int>(type), tiles, iterations, width, height);
                    static_cast<void>(test::run_micro(test::chip_of(tiles),
                                                      stencil(width, height, type, iterations)));
                }
            }
        }
    }
}

TEST_CASE("the phases of a stencil are steps of their own", "[kernels][micro]") {
    const auto plan = test::plan_micro(test::chip_of(4), stencil(16, 16, StencilType::Half4));
    REQUIRE(plan.program.compute_sets.size() == 3);
    CHECK(plan.program.compute_sets[0].name == "halo pre");
    CHECK(plan.program.compute_sets[1].name == "halo post");
    CHECK(plan.program.compute_sets[2].name == "blur");
    REQUIRE(plan.program.exchanges.size() == 1);
    CHECK(plan.program.exchanges[0].name == "halo exchange");
    // One part needs no halo.
    CHECK(test::plan_micro(test::chip_of(1), stencil(16, 16, StencilType::Half4))
              .program.compute_sets.size() == 1);
}

TEST_CASE("a blur's windows may span more bytes than 16 bits count", "[kernels][micro]") {
    constexpr std::int64_t kPixels = 7000;
    STATIC_REQUIRE(2 * (kPixels + 2) * 8 > 65'535);
    static_cast<void>(test::run_micro(test::chip_of(1), stencil(kPixels, 1, StencilType::Half4)));
}

TEST_CASE("iterations take their cycles as often", "[kernels][micro]") {
    const auto machine = test::chip_of(9);
    const auto cycles = [&](std::int64_t iterations) {
        return test::run_micro(machine, stencil(30, 30, StencilType::Float2, iterations))
            .outcome.cycles.total();
    };
    CHECK(cycles(5) == 5 * cycles(1));
    CHECK(cycles(6) == 6 * cycles(1));
}

TEST_CASE("a blur and its copies take the issues of their texts", "[kernels][micro]") {
    const spec::MachineSpec machine = test::chip_of(2);
    const std::int64_t workers = machine.tile.workers;
    constexpr std::int64_t kMore = 10;
    // measured 30.4, 48.0 and 100.7: blur-f16 in docs/deviations.md
    for (const auto& [type, issues, item_bytes] :
         {std::tuple<StencilType, std::int64_t, Bytes>{StencilType::Half4, 26, 8},
          {StencilType::Float2, 48, 16},
          {StencilType::Float, 4 * 25, 16}}) {
        // One row of pixels for each worker on both tiles, side by side.
        const auto run = [&](std::int64_t pixels) {
            auto workload = stencil(2 * pixels, workers, type);
            workload.grid_columns = 2;
            workload.grid_rows = 1;
            return test::run_micro(machine, workload).outcome.step_cycles;
        };
        const auto few = run(20);
        const auto more = run(20 + kMore);
        CAPTURE(static_cast<int>(type));
        CHECK(more.at(3) - few.at(3) == kMore * issues * machine.tile.pipeline_cycles);
        const auto copy = rearrange::strided({0, 0}, {0, 0}, workers, item_bytes);
        CHECK(few.at(0) == rearrange::cycles(machine, {copy}));
        CHECK(few.at(2) == rearrange::cycles(machine, {copy}));
    }
}

TEST_CASE("the chosen grid has small parts and short borders", "[kernels][micro]") {
    for (const std::int64_t tiles : {1, 4, 12, 1216, 1472}) {
        const auto grid = micro::choose_grid(2200, 1122, tiles);
        CAPTURE(tiles, grid.columns, grid.rows);
        CHECK(grid.parts() <= tiles);
        CHECK(static_cast<double>(grid.widest() * grid.highest() * tiles) <
              1.05 * 2200 * 1122 + 4000.0 * static_cast<double>(tiles));
        std::int64_t pixels = 0;
        for (std::int64_t row = 0; row < grid.rows; ++row) {
            for (std::int64_t column = 0; column < grid.columns; ++column) {
                const auto part = grid.part(column, row);
                pixels += part.width * part.height;
                CHECK((part.width >= 1 && part.height >= 1));
            }
        }
        CHECK(pixels == 2200 * 1122);
    }
}

TEST_CASE("a stencil says which grid a machine has not", "[kernels][micro]") {
    auto workload = stencil(16, 16, StencilType::Half4);
    workload.grid_columns = 3;
    CHECK(workload.mistakes().at(0).key == "grid_rows");
    workload.grid_rows = 2;
    CHECK(workload.mistakes().empty());
    CHECK_THROWS_AS(test::plan_micro(test::chip_of(4), workload), ConfigError);
    CHECK_THROWS_AS(test::plan_micro(test::chip_of(4), stencil(2000, 2000, StencilType::Float)),
                    DoesNotFit);
}
