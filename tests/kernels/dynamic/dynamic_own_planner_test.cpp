// SPDX-License-Identifier: MIT
#include "kernels/dynamic/own_planner.h"
#include "kernels/dynamic/travel.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

struct Shape {
    std::int64_t size = 0;
    std::int64_t n = 0;
    std::int64_t block = 1;
    double density = 0;
    double excess = 0.3;
};

Problem problem_of(const Shape& shape) {
    Problem problem;
    problem.m = shape.size;
    problem.k = shape.size;
    problem.n = shape.n;
    problem.block = shape.block;
    problem.density = shape.density;
    problem.excess = shape.excess;
    problem.passes.input_gradient = false;
    return problem;
}

Layout layout_with(const Problem& problem, const Plan& plan) {
    return layout_of(problem, published::dense_machine(spec::MachineSpec{}), plan);
}

struct Seen {
    double scans = 0;
    double moves = 0;
};
/// Means over patterns of equally likely places.
Seen seen(const Shape& shape, const Plan& plan, std::uint64_t patterns) {
    Seen mean;
    const double share = 1.0 / static_cast<double>(patterns);
    const Layout layout = layout_with(problem_of(shape), plan);
    for (std::uint64_t seed = 1; seed <= patterns; ++seed) {
        const Encoding encoding =
            encode(layout, test::uniform(shape.size, shape.block, shape.density, seed));
        for (const std::uint32_t code : travel_codes(layout.split, encoding.travel)) {
            if ((code & TravelCode::kMore) != 0) {
                ((code & TravelCode::kScan) != 0 ? mean.scans : mean.moves) += share;
            }
        }
    }
    return mean;
}

} // namespace

TEST_CASE("dynamic_planner: the travel that our planner expects is that of patterns") {
    constexpr std::uint64_t kPatternsSeen = 20;
    constexpr double kNear = 1.5; ///< and one more or less
    for (const Shape& shape : {Shape{1024, 256, 8, 1.0 / 16}, Shape{2048, 64, 16, 1.0 / 16},
                               Shape{4096, 64, 16, 1.0 / 16}, Shape{1024, 256, 16, 1.0 / 8, 0.5},
                               Shape{1024, 16, 16, 1.0 / 4, 0.1}}) {
        const Problem problem = problem_of(shape);
        const auto machine = published::dense_machine(spec::MachineSpec{});
        const Split split = plan(problem, machine)->split;
        const OwnPlan priced = priced_plan(problem, spec::MachineSpec{}, split);
        const Expected likely = expected(problem, split, priced.plan.bucket);
        const Seen mean = seen(shape, priced.plan, kPatternsSeen);
        CAPTURE(shape.size, shape.n, shape.block, likely.scans, mean.scans, likely.moves,
                mean.moves);
        CHECK(likely.moves > mean.moves / kNear - 1);
        CHECK(likely.moves < mean.moves * kNear + 1);
        CHECK(likely.scans > mean.scans / kNear - 1);
        CHECK(likely.scans < mean.scans * kNear + 1);
    }
}

TEST_CASE("dynamic_planner: our plan is no dearer than the library's division, and fits more") {
    spec::MachineSpec small;
    small.chip.tiles = 64;
    for (const spec::MachineSpec& machine : {spec::MachineSpec{}, small}) {
        for (const Shape& shape :
             {Shape{1024, 256, 8, 1.0 / 16}, Shape{512, 64, 4, 1.0 / 8},
              Shape{768, 32, 1, 1.0 / 16}, Shape{256, 16, 16, 1}, Shape{2048, 64, 16, 1.0 / 64}}) {
            CAPTURE(machine.chip.tiles, shape.size, shape.n, shape.block);
            const Problem problem = problem_of(shape);
            const auto own = own_plan(problem, machine);
            REQUIRE(own);
            const Split other = plan(problem, published::dense_machine(machine))->split;
            CHECK(own->predicted <= priced_plan(problem, machine, other).predicted);
            // the excess is the least room
            const auto blocks = static_cast<double>(shape.size * shape.size) /
                                static_cast<double>(shape.block * shape.block) * shape.density;
            const double share = std::ceil(blocks / static_cast<double>(own->plan.split.tiles()));
            CHECK(static_cast<double>(own->plan.bucket.blocks) >=
                  std::round(share * (1 + shape.excess)));
            CHECK(own->predicted >= own->plan.cycles());
        }
    }
}

TEST_CASE("dynamic_planner: metadata of our buckets have room for every run of their part") {
    for (const Shape& shape :
         {Shape{512, 64, 4, 1.0 / 8}, Shape{256, 32, 1, 1.0 / 16}, Shape{1024, 64, 8, 1.0 / 32}}) {
        const Problem problem = problem_of(shape);
        const Plan plan = own_plan(problem, spec::MachineSpec{})->plan;
        const Layout layout = layout_with(problem, plan);
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            CAPTURE(shape.block, seed);
            const auto pattern = test::uniform(shape.size, shape.block, shape.density, seed);
            // buckets whose run has more blocks than room, and no others, are over-full
            std::vector<std::int64_t> parts(static_cast<std::size_t>(layout.groups()));
            for (std::int64_t row = 0; row < pattern.block_rows(); ++row) {
                const auto first = pattern.row_start[static_cast<std::size_t>(row)];
                for (std::int64_t i = 0; i < pattern.blocks_of_row(row); ++i) {
                    const auto column = pattern.block_column[static_cast<std::size_t>(first + i)];
                    ++parts[static_cast<std::size_t>(row / layout.part_rows * layout.split.y +
                                                     column / layout.part_columns)];
                }
            }
            std::int64_t overfull = 0;
            for (std::int64_t blocks : parts) {
                const std::int64_t share = ceil_div(blocks, layout.split.z);
                for (; blocks > 0; blocks -= share) {
                    overfull += std::min(blocks, share) > layout.bucket.blocks ? 1 : 0;
                }
            }
            CHECK(encode(layout, pattern).dealt.overfull == overfull);
        }
    }
}

TEST_CASE("dynamic_planner: our plan finds a division that fits where the library's does not") {
    spec::MachineSpec gc2;
    gc2.chip.tiles = 1216;
    gc2.memory.region0_bytes = 0x20000;
    gc2.memory.region1_bytes = 0x20000;
    const Problem problem = problem_of({4096, 1024, 16, 1.0 / 16});
    // what meets when a tile multiplies, in 2 and 4 bytes an element
    const auto bytes = [&](const Plan& plan) {
        const std::int64_t line = plan.part.n * problem.block;
        return plan.part.columns * line * 2 + plan.part.rows * line * 4 +
               (plan.split.z + 2) * plan.bucket.bytes;
    };
    const auto own = own_plan(problem, gc2);
    REQUIRE(own);
    CHECK(bytes(own->plan) < gc2.memory.bytes());
    CHECK(bytes(*plan(problem, published::dense_machine(gc2))) > gc2.memory.bytes());
}
