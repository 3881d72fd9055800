// SPDX-License-Identifier: MIT
#include "base/ceil_div.h"
#include "kernels/dynamic/published/planner.h"
#include "kernels/dynamic/published/vertex_cycles.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

constexpr ElementType kF16 = ElementType::F16;
constexpr ElementType kF32 = ElementType::F32;
constexpr double kClockHz = 1.85e9; ///< of Bow, at which the rates below were measured

published::DenseMachine bow() {
    return published::dense_machine(spec::MachineSpec{});
}

/// FP16 with FP32 partials, a square matrix of density 1 / inverse.
Problem square(std::int64_t m, std::int64_t n, std::int64_t block, double inverse) {
    Problem problem;
    problem.m = m;
    problem.k = m;
    problem.n = n;
    problem.block = block;
    problem.density = 1 / inverse;
    return problem;
}

/// TFLOP/s on the blocks that are there, by the forward cycles.
double rate_of(const Problem& problem, const Plan& plan) {
    const double flops = 2 * static_cast<double>(problem.m) * static_cast<double>(problem.k) *
                         static_cast<double>(problem.n) * problem.density;
    return flops / static_cast<double>(plan.forward.total()) * kClockHz / 1e12;
}

std::string bound_of(const Plan& plan) {
    return plan.bound_factor == 0 ? "none" : std::to_string(plan.bound_factor);
}

bool wasteful(std::int64_t grains, std::int64_t split) {
    return split > 1 && ceil_div(grains, split) == ceil_div(grains, split - 1);
}

} // namespace

// Source of the next four tables: another implementation of the rules of PopLibs sdk-release-3.4
// @7eac0f26; m = k = 4096 where nothing else is said, FP16 with FP32 partials, on Bow.

TEST_CASE("dynamic_planner: every plan that is known is found, with its forward cycles",
          "[kernels][dynamic]") {
    struct Known {
        std::int64_t block;
        double inverse; ///< of the density
        std::int64_t n;
        Split split;
        Cycles forward;
    };
    const std::vector<Known> table{
        {1, 4, 16, {64, 23, 1}, 23847},    {1, 4, 64, {64, 23, 1}, 88203},
        {1, 4, 256, {32, 23, 2}, 352930},  {1, 4, 1024, {10, 18, 8}, 1442902},
        {1, 16, 16, {44, 33, 1}, 12579},   {1, 16, 64, {32, 23, 2}, 39776},
        {1, 16, 256, {16, 23, 4}, 142694}, {1, 16, 1024, {10, 18, 8}, 507366},
        {4, 4, 16, {32, 45, 1}, 35676},    {4, 4, 64, {38, 38, 1}, 68328},
        {4, 4, 256, {38, 38, 1}, 204306},  {4, 4, 1024, {14, 13, 8}, 704562},
        {4, 16, 16, {38, 38, 1}, 12789},   {4, 16, 64, {38, 38, 1}, 33003},
        {4, 16, 256, {16, 23, 4}, 97826},  {4, 16, 1024, {14, 13, 8}, 266896},
        {8, 4, 16, {32, 43, 1}, 17280},    {8, 4, 64, {32, 43, 1}, 45390},
        {8, 4, 256, {32, 23, 2}, 121780},  {8, 4, 1024, {14, 13, 8}, 389087},
        {8, 16, 16, {32, 43, 1}, 10583},   {8, 16, 64, {19, 19, 4}, 24955},
        {8, 16, 256, {19, 19, 4}, 68473},  {8, 16, 1024, {10, 9, 16}, 183273},
        {16, 4, 16, {32, 43, 1}, 13403},   {16, 4, 64, {32, 43, 1}, 37673},
        {16, 4, 256, {22, 16, 4}, 90048},  {16, 4, 1024, {14, 13, 8}, 273030},
        {16, 8, 16, {32, 43, 1}, 11453},   {16, 8, 64, {32, 22, 2}, 24703},
        {16, 8, 256, {20, 9, 8}, 65835},   {16, 8, 1024, {10, 9, 16}, 195974},
        {16, 16, 16, {32, 43, 1}, 8042},   {16, 16, 64, {22, 16, 4}, 20500},
        {16, 16, 256, {14, 13, 8}, 53942}, {16, 16, 1024, {10, 9, 16}, 154200},
        {16, 32, 16, {32, 22, 2}, 6368},   {16, 32, 64, {22, 16, 4}, 17031},
        {16, 32, 256, {10, 9, 16}, 45858}, {16, 32, 1024, {6, 7, 32}, 126722},
    };
    for (const Known& known : table) {
        CAPTURE(known.block, known.inverse, known.n);
        const auto found = plan(square(4096, known.n, known.block, known.inverse), bow());
        REQUIRE(found);
        CHECK(found->split == known.split);
        CHECK(found->forward.total() == known.forward);
        CHECK(found->bound_factor == (known.block == 1 && known.n == 1024 ? 2 : 1));
    }
}

TEST_CASE("dynamic_planner: rates over n and the bounds that plans need are those known",
          "[kernels][dynamic]") {
    struct Row {
        std::int64_t block;
        double inverse;
        std::array<double, 6> rates; ///< n = 16, 64, 256, 1024, 2048, 4096
        std::array<std::string, 6> bounds;
    };
    const std::vector<Row> table{
        {1, 4, {10.4, 11.3, 11.3, 11.0, 10.4, 9.6}, {"1", "1", "1", "2", "none", "none"}},
        {1, 8, {8.2, 9.3, 9.5, 9.3, 9.0, 7.6}, {"1", "1", "1", "2", "4", "none"}},
        {1, 16, {4.9, 6.2, 7.0, 7.8, 7.3, 5.5}, {"1", "1", "1", "2", "4", "none"}},
        {4, 16, {4.9, 7.5, 10.2, 14.9, 15.5, 16.1}, {"1", "1", "1", "1", "2", "2"}},
        {16, 8, {10.8, 20.1, 30.2, 40.5, 47.3, 50.6}, {"1", "1", "1", "1", "2", "2"}},
        {16, 16, {7.7, 12.1, 18.4, 25.8, 29.1, 33.3}, {"1", "1", "1", "1", "1", "2"}},
        {16, 32, {4.9, 7.3, 10.8, 15.7, 18.8, 23.1}, {"1", "1", "1", "1", "1", "2"}},
    };
    const std::array<std::int64_t, 6> columns{16, 64, 256, 1024, 2048, 4096};
    for (const Row& row : table) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            CAPTURE(row.block, row.inverse, columns[i]);
            const Problem problem = square(4096, columns[i], row.block, row.inverse);
            const auto found = plan(problem, bow());
            REQUIRE(found);
            CHECK(std::round(rate_of(problem, *found) * 10) == std::round(row.rates[i] * 10));
            CHECK(bound_of(*found) == row.bounds[i]);
        }
    }
    const std::vector<std::tuple<std::int64_t, std::int64_t, double>> sizes{{1024, 1024, 7.7},
                                                                            {1024, 4096, 11.3},
                                                                            {2048, 1024, 15.2},
                                                                            {2048, 4096, 22.8},
                                                                            {256, 4096, 2.6}};
    for (const auto& [m, n, rate] : sizes) {
        CAPTURE(m, n);
        const Problem problem = square(m, n, 16, 16);
        const auto found = plan(problem, bow());
        REQUIRE(found);
        CHECK(std::round(rate_of(problem, *found) * 10) == std::round(rate * 10));
    }
}

TEST_CASE("dynamic_planner: phases and buckets of worked examples are known to the cycle",
          "[kernels][dynamic]") {
    const auto blocks = plan(square(4096, 1024, 16, 16), bow());
    REQUIRE(blocks);
    CHECK(blocks->bucket == Bucket{4, 1024, 160, 2368});
    CHECK(blocks->forward.inputs == 7424);
    CHECK(blocks->forward.buckets == 9472);
    CHECK(blocks->forward.zero + blocks->forward.compute == 85948);
    CHECK(blocks->forward.partials == 26624);
    CHECK(blocks->forward.reduce == 24732);
    CHECK(blocks->forward.transpose == 0);
    const auto elements = plan(square(4096, 256, 1, 16), bow());
    REQUIRE(elements);
    CHECK(elements->bucket == Bucket{928, 928, 4740, 11336});
}

TEST_CASE("dynamic_planner: without the gradient of the input other plans win",
          "[kernels][dynamic]") {
    Problem problem = square(4096, 1024, 16, 16);
    problem.passes.input_gradient = false;
    const auto found = plan(problem, bow());
    REQUIRE(found);
    CHECK(found->split == Split{22, 4, 16});
    CHECK(std::llround(static_cast<double>(found->forward.total()) / 100) == 1077);
    CHECK(found->input_gradient == Phases{});
}

// Source: published cycle estimators of PopLibs @7eac0f2, evaluated at sample points.
TEST_CASE("dynamic_planner: vertices take what is estimated for them", "[kernels][dynamic]") {
    const published::DenseMachine machine = bow();
    struct Estimate {
        ElementType data;
        std::int64_t rows, n, row_blocks;
        Cycles cycles;
    };
    for (const Estimate& e : std::vector<Estimate>{{kF16, 4, 8, 8, 1227},
                                                   {kF16, 16, 16, 32, 21441},
                                                   {kF16, 32, 32, 128, 300609},
                                                   {kF32, 4, 8, 8, 2079},
                                                   {kF32, 8, 8, 32, 10767},
                                                   {kF32, 16, 64, 64, 297711},
                                                   {kF32, 32, 32, 128, 595119}}) {
        CAPTURE(e.n, e.row_blocks);
        CHECK(element_cycles(machine, e.data, {e.rows * machine.workers, e.row_blocks, e.n}) ==
              e.cycles);
    }
    // Here rows are those of W, row_blocks the elements of each, which the workers share.
    for (const Estimate& e : std::vector<Estimate>{{kF16, 4, 8, 8, 1174},
                                                   {kF16, 8, 8, 32, 4006},
                                                   {kF16, 16, 64, 64, 89770},
                                                   {kF16, 32, 32, 128, 183466},
                                                   {kF32, 4, 8, 8, 1720},
                                                   {kF32, 16, 16, 32, 18328},
                                                   {kF32, 32, 32, 128, 217624}}) {
        CAPTURE(e.n, e.row_blocks);
        CHECK(element_transposed_cycles(machine, e.data, {e.row_blocks, e.rows, e.n}) == e.cycles);
    }
    struct BlockEstimate {
        std::int64_t block;
        ElementType data, partials;
        std::int64_t rows, row_blocks, columns; ///< of each worker
        Cycles cycles;
    };
    for (const BlockEstimate& e : std::vector<BlockEstimate>{{4, kF16, kF16, 1, 1, 4, 452},
                                                             {4, kF16, kF16, 16, 8, 64, 111804},
                                                             {4, kF16, kF32, 8, 8, 32, 32244},
                                                             {4, kF32, kF32, 4, 2, 8, 2552},
                                                             {8, kF16, kF16, 4, 2, 8, 2886},
                                                             {8, kF16, kF32, 8, 8, 32, 59088},
                                                             {8, kF32, kF32, 16, 8, 64, 414890},
                                                             {16, kF16, kF16, 8, 4, 16, 18748},
                                                             {16, kF16, kF32, 1, 1, 4, 818},
                                                             {16, kF16, kF32, 8, 8, 32, 120546}}) {
        CAPTURE(e.block, e.rows, e.columns);
        CHECK(block_cycles(machine, e.block, e.data, e.partials,
                           {e.rows, e.row_blocks, e.columns * machine.workers}) == e.cycles);
    }
}

TEST_CASE("dynamic_planner: no split that the rules allow is better", "[kernels][dynamic]") {
    spec::MachineSpec small;
    small.chip.tiles = 40;
    std::vector<Problem> problems{square(96, 24, 4, 3), square(60, 36, 1, 7)};
    problems.push_back(square(160, 40, 16, 2));
    problems.back().data = kF32;
    problems.push_back(square(64, 8192, 8, 1));
    problems.back().k = 256;
    problems.back().passes.input_gradient = false;
    for (const Problem& problem : problems) {
        const published::DenseMachine machine = published::dense_machine(small);
        const auto best = plan(problem, machine);
        REQUIRE(best);
        const std::int64_t b = best->block;
        const std::int64_t grain = b == 1 ? 8 / bytes_of(problem.data) : 1;
        const std::int64_t grains = ceil_div(problem.n, grain);
        const auto order = [](const Plan& one) {
            return std::tuple(one.bound_factor == 0 ? 8 : one.bound_factor, one.cycles(),
                              one.temporary_bytes);
        };
        int allowed = 0;
        for (std::int64_t x = 1; x <= problem.m / b; ++x) {
            for (std::int64_t y = 1; y <= problem.k / b; ++y) {
                for (std::int64_t z = 1; z <= grains; ++z) {
                    if (wasteful(problem.m / b, x) || wasteful(problem.k / b, y) ||
                        grains % z != 0 || x * y * z > machine.tiles ||
                        !is_encodable(problem, {x, y, z})) {
                        continue;
                    }
                    ++allowed;
                    CHECK_FALSE(order(plan_of(problem, machine, {x, y, z})) < order(*best));
                }
            }
        }
        CHECK(allowed > 10);
    }
}

TEST_CASE("dynamic_planner: FP32 blocks of 16 are cut into blocks of 8", "[kernels][dynamic]") {
    Problem problem = square(1024, 256, 16, 8);
    problem.data = kF32;
    const auto found = plan(problem, bow());
    problem.block = 8;
    const auto cut = plan(problem, bow());
    REQUIRE(found);
    REQUIRE(cut);
    CHECK(found->block == 8);
    CHECK(found->split == cut->split);
    CHECK(found->cycles() == cut->cycles());
}

TEST_CASE("dynamic_planner: buckets grow with the room asked for and the passes",
          "[kernels][dynamic]") {
    const std::int64_t workers = bow().workers;
    for (const std::int64_t block : {1, 4, 8, 16}) {
        CAPTURE(block);
        const Split split{8, 9, 4};
        Problem problem = square(2304, 64, block, 8);
        const Plan usual = plan_of(problem, bow(), split);
        const std::int64_t even =
            ceil_div(2304 / block * (2304 / block) / 8, split.tiles()); // blocks of a tile
        const std::int64_t grain = block == 1 ? 2 : 1;                  // of blocks: four bytes
        CHECK(usual.bucket.blocks >= std::llround(1.3 * static_cast<double>(even)));
        CHECK(usual.bucket.blocks < std::llround(1.3 * static_cast<double>(even)) + grain);
        CHECK(usual.bucket.values == usual.bucket.blocks * block * block);
        CHECK(usual.bucket.bytes == 2 * (usual.bucket.values + usual.bucket.metadata));
        problem.passes.values_gradient = true;
        const Plan lists = plan_of(problem, bow(), split);
        CHECK(lists.bucket.metadata - usual.bucket.metadata ==
              Approx(2 * (block == 1 ? 5 : 4) * workers).margin(3));
        problem.passes.values_gradient = false;
        problem.excess = 0;
        const Plan even_share = plan_of(problem, bow(), split);
        CHECK(even_share.bucket.blocks == ceil_div(even, grain) * grain);
        CHECK(even_share.bucket.metadata < usual.bucket.metadata);
    }
}

TEST_CASE("dynamic_planner: exchanges follow what tiles share", "[kernels][dynamic]") {
    const Problem problem = square(2304, 64, 8, 8);
    const published::DenseMachine machine = bow();
    const auto of = [&](const Split& split) { return plan_of(problem, machine, split); };
    // Neighbours in x take the same columns of X, in pairs where there is an even number of them.
    CHECK(of({1, 9, 4}).forward.inputs == 0);
    const Bytes x_bytes = 2304 / 9 * (64 / 4) * 2;
    CHECK(of({9, 9, 4}).forward.inputs == x_bytes / machine.exchange_bytes);
    CHECK(of({8, 9, 4}).forward.inputs == x_bytes / machine.pair_bytes);
    // A bucket goes to the tiles of its part, which are neighbours where x is 1.
    CHECK(of({8, 9, 1}).forward.buckets == 0);
    const Plan apart = of({8, 9, 4});
    CHECK(apart.forward.buckets == 4 * apart.bucket.bytes / machine.exchange_bytes);
    const Plan near = of({1, 9, 4});
    CHECK(near.forward.buckets == ceil_div(4 * near.bucket.bytes, machine.pair_bytes));
    // Nothing is summed with y = 1; of the gradient with x = 1.
    CHECK(of({8, 1, 4}).forward.partials == 0);
    CHECK(of({8, 1, 4}).input_gradient.inputs == 0);
    CHECK(of({1, 9, 4}).input_gradient.partials == 0);
    CHECK(apart.forward.partials == 2304 / 8 * (64 / 4) * 4 / machine.exchange_bytes);
    CHECK(apart.input_gradient.partials == 2304 / 9 * (64 / 4) * 4 / machine.exchange_bytes);
}

TEST_CASE("dynamic_planner: splits whose offsets do not fit into 16 bits are never chosen",
          "[kernels][dynamic]") {
    // The last row of a tile's part of X lies (rows - 1) rows of n columns behind its first.
    const Problem elements = square(4096, 1 << 12, 1, 16);
    CHECK(is_encodable(elements, {1, 1, 1 << 9}));
    CHECK_FALSE(is_encodable(elements, {1, 1, 1 << 8}));
    CHECK(is_encodable(elements, {1, 1 << 9, 1}));
    const auto found = plan(elements, bow());
    REQUIRE(found);
    CHECK((found->part.columns - 1) * found->part.n * bytes_of(elements.data) <= 65535);
    // Bow's tiles share 2^28 rows and columns: more than 2^15 elements each.
    CHECK_FALSE(plan(square(1 << 14, 1 << 14, 1, 16), bow()));
    CHECK(plan(square(1 << 14, 1 << 14, 4, 16), bow()));
}

TEST_CASE("dynamic_planner: columns of one group, or of half a group, have loops of their own",
          "[kernels][dynamic]") {
    const published::DenseMachine machine = bow();
    // Of a row, r issues around its elements and e for each; s at the start of a worker.
    struct Loop {
        ElementType data;
        std::int64_t n;
        Cycles s, r, e;
    };
    for (const Loop& loop : std::vector<Loop>{{kF16, 4, 30, 11, 2},
                                              {kF16, 8, 28, 15, 3},
                                              {kF16, 12, 33, 12 + 16 + 13, 3 + 2},
                                              {kF16, 16, 33, 12 + 16, 2 * 3},
                                              {kF16, 20, 33, 12 + 16 + 13, 2 * 3 + 2},
                                              {kF32, 2, 27, 11, 2},
                                              {kF32, 4, 25, 13, 3},
                                              {kF32, 6, 30, 13 + 13 + 11, 3 + 2},
                                              {kF32, 8, 30, 13 + 13, 2 * 3}}) {
        for (const std::int64_t rows : {1, 6, 7, 12, 13}) { // of all workers
            for (const std::int64_t elements : {1, 5}) {
                for (const std::int64_t buckets : {1, 3}) {
                    CAPTURE(name_of(loop.data), loop.n, rows, elements, buckets);
                    const std::int64_t own = ceil_div(rows, machine.workers);
                    CHECK(element_cycles(machine, loop.data, {rows, elements, loop.n, buckets}) ==
                          30 + 93 * buckets +
                              machine.round_cycles * (loop.s + own * (loop.r + loop.e * elements)));
                }
            }
        }
    }
}

TEST_CASE("dynamic_planner: blocks with one column, with two and with more take their own issues",
          "[kernels][dynamic]") {
    const published::DenseMachine machine = bow();
    struct Issues {
        std::int64_t block;
        ElementType data, partials;
        Cycles start;
        std::array<Cycles, 3> block_issues; ///< with one column of a worker, two, more
        Cycles column;
        std::int64_t loads; ///< of weights
    };
    for (const Issues& of : std::vector<Issues>{{4, kF16, kF16, 26, {15, 16, 17}, 2, 1},
                                                {4, kF16, kF32, 26, {17, 18, 19}, 2, 1},
                                                {4, kF32, kF32, 26, {14, 14, 14}, 4, 1},
                                                {8, kF16, kF16, 23, {19, 20, 20}, 4, 1},
                                                {8, kF16, kF32, 20, {22, 23, 23}, 4, 1},
                                                {8, kF32, kF32, 23, {22, 22, 23}, 8, 1},
                                                {16, kF16, kF16, 22, {22, 23, 22}, 4, 1},
                                                {16, kF16, kF32, 23, {24, 25, 24}, 4, 2}}) {
        const Cycles load = of.block * of.block * bytes_of(of.data) / 8;
        for (const std::int64_t n : {1, 6, 7, 12, 13, 30}) {
            for (const std::int64_t rows : {1, 4}) {
                CAPTURE(of.block, name_of(of.data), name_of(of.partials), n, rows);
                const std::int64_t columns = ceil_div(n, machine.workers);
                const std::int64_t blocks = rows * 3;
                const Cycles first = of.block_issues.at(
                    static_cast<std::size_t>(std::min<std::int64_t>(columns, 3) - 1));
                const Cycles supervisor =
                    40 + 102 * 2 + 2 + rows + blocks * (load + 3) + blocks * 12 * of.loads;
                const Cycles workers =
                    of.start + blocks * of.loads * (first + of.column * columns - 3);
                CHECK(block_cycles(machine, of.block, of.data, of.partials, {rows, 3, n, 2}) ==
                      supervisor + machine.round_cycles * workers);
            }
        }
    }
}

TEST_CASE("dynamic_planner: transposing takes the grains of the worker with most blocks",
          "[kernels][dynamic]") {
    const published::DenseMachine machine = bow();
    for (std::int64_t blocks = 1; blocks <= 5 * machine.workers; ++blocks) {
        CAPTURE(blocks);
        const std::int64_t own = ceil_div(blocks, machine.workers);
        const auto issues = [&](std::int64_t block, ElementType data) {
            return (transpose_cycles(machine, block, data, blocks) - 7) / machine.round_cycles;
        };
        CHECK(issues(4, kF16) == (own <= 2 ? 37 : 37 + 4 * (own - 2)));
        CHECK(issues(8, kF16) == 29 + own * (18 + 2 * 12));
        CHECK(issues(16, kF16) == 29 + own * (18 + 4 * (12 + 2 * 4)));
        CHECK(issues(4, kF32) == 29 + own * (18 + 2 * 12));
        CHECK(issues(8, kF32) == 29 + own * (18 + 4 * (12 + 2 * 3)));
    }
}
