// SPDX-License-Identifier: MIT
#include "kernels/workload/pattern.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

using namespace tessera::workload;

namespace {

bool ascending_within(const std::vector<std::int64_t>& blocks, std::int64_t all) {
    return std::adjacent_find(blocks.begin(), blocks.end(), std::greater_equal<>()) ==
               blocks.end() &&
           (blocks.empty() || (blocks.front() >= 0 && blocks.back() < all));
}

} // namespace

TEST_CASE("the generator is a pure function of seed and stream and counter", "[operands]") {
    const CounterRandom random(1, 2);
    CHECK(random.bits(5) == CounterRandom(1, 2).bits(5));
    CHECK(random.bits(5) != random.bits(6));
    CHECK(random.bits(5) != CounterRandom(1, 3).bits(5));
    CHECK(random.bits(5) != CounterRandom(2, 2).bits(5));
    CHECK(random.below(1, 7) == 0);
}

TEST_CASE("bounded numbers fall evenly", "[operands]") {
    const CounterRandom random(7, 1);
    static constexpr std::uint64_t kBins = 33;
    static constexpr int kDraws = 330000;
    std::vector<int> tally(kBins, 0);
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        ++tally.at(random.below(kBins, i));
    }
    // Chi-squared with 32 degrees of freedom: above 80 in one of 200,000 seeds.
    double chi_squared = 0;
    const double mean = static_cast<double>(kDraws) / kBins;
    for (const int bin : tally) {
        chi_squared += (bin - mean) * (bin - mean) / mean;
    }
    CHECK(chi_squared < 80.0);
}

TEST_CASE("the number of kept blocks is the rounded density", "[operands]") {
    CHECK(kept_blocks({10, 10}, 0.0) == 0);
    CHECK(kept_blocks({10, 10}, 0.004) == 0);
    CHECK(kept_blocks({10, 10}, 0.005) == 1);
    CHECK(kept_blocks({10, 10}, 0.994) == 99);
    CHECK(kept_blocks({10, 10}, 1.0) == 100);
    CHECK(kept_blocks({256, 256}, 0.0625) == 4096);
}

TEST_CASE("both generators keep exactly as many distinct blocks as asked", "[operands]") {
    for (const BlockGrid grid : {BlockGrid{1, 1}, {1, 9}, {9, 1}, {7, 7}, {5, 12}, {12, 5}}) {
        const std::int64_t all = grid.rows * grid.columns;
        for (std::int64_t kept = 0; kept <= all; ++kept) {
            const auto uniform = uniform_blocks(grid, kept, 3);
            const auto banded = banded_blocks(grid, kept);
            CAPTURE(grid.rows, grid.columns, kept);
            CHECK(static_cast<std::int64_t>(uniform.size()) == kept);
            CHECK(static_cast<std::int64_t>(banded.size()) == kept);
            CHECK(ascending_within(uniform, all));
            CHECK(ascending_within(banded, all));
        }
    }
}

TEST_CASE("uniform blocks depend on the seed alone", "[operands]") {
    const BlockGrid grid{64, 64};
    CHECK(uniform_blocks(grid, 256, 1) == uniform_blocks(grid, 256, 1));
    CHECK(uniform_blocks(grid, 256, 1) != uniform_blocks(grid, 256, 2));
    CHECK(uniform_blocks(grid, 4000, 1) != uniform_blocks(grid, 4000, 2));
}

TEST_CASE("every block is as likely as any other", "[operands]") {
    const BlockGrid grid{4, 5};
    static constexpr int kSeeds = 8000;
    for (const std::int64_t kept : {5, 15}) {
        std::vector<int> tally(20, 0);
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
            for (const std::int64_t block : uniform_blocks(grid, kept, seed)) {
                ++tally.at(static_cast<std::size_t>(block));
            }
        }
        // Binomial: the standard deviation is 39; six of them.
        const double mean = kSeeds * static_cast<double>(kept) / 20.0;
        const auto [least, most] = std::minmax_element(tally.begin(), tally.end());
        CHECK(*least > mean - 234.0);
        CHECK(*most < mean + 234.0);
    }
}

TEST_CASE("a large sparse grid needs only its kept blocks", "[operands]") {
    const BlockGrid grid{1000000, 1000000};
    const auto blocks = uniform_blocks(grid, 1000, 1);
    CHECK(blocks.size() == 1000);
    CHECK(ascending_within(blocks, grid.rows * grid.columns));
}

TEST_CASE("a band of a square grid is its middle diagonals", "[operands]") {
    // Diagonal and both neighbours of a 5 x 5 grid: 5 + 4 + 4 blocks.
    const auto blocks = banded_blocks({5, 5}, 13);
    for (const std::int64_t block : blocks) {
        CHECK(std::abs(block / 5 - block % 5) <= 1);
    }
    // Two more come from the next diagonals, from above: (0, 2) and (1, 3).
    auto wider = blocks;
    wider.insert(wider.end(), {0 * 5 + 2, 1 * 5 + 3});
    std::sort(wider.begin(), wider.end());
    CHECK(banded_blocks({5, 5}, 15) == wider);
}

TEST_CASE("a band of an oblong grid follows its diagonal", "[operands]") {
    const BlockGrid grid{4, 8};
    // Row r is centred between columns 2r and 2r+1.
    CHECK(banded_blocks(grid, 8) == std::vector<std::int64_t>{0, 1, 10, 11, 20, 21, 30, 31});
    for (const std::int64_t kept : {1, 5, 9, 14, 20, 31}) {
        const auto distance = [&](std::int64_t block) {
            return std::abs((2 * (block / 8) + 1) * 8 - (2 * (block % 8) + 1) * 4);
        };
        const auto blocks = banded_blocks(grid, kept);
        std::int64_t farthest_kept = 0;
        std::int64_t nearest_left_out = 1000;
        for (std::int64_t block = 0; block < 32; ++block) {
            if (std::binary_search(blocks.begin(), blocks.end(), block)) {
                farthest_kept = std::max(farthest_kept, distance(block));
            } else {
                nearest_left_out = std::min(nearest_left_out, distance(block));
            }
        }
        CHECK(farthest_kept <= nearest_left_out);
    }
}

TEST_CASE("of a nearly full grid what is left out is drawn", "[operands]") {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{3, 5}, {4, 4}}) {
        const std::int64_t all = rows * columns;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            for (std::int64_t kept = 0; 2 * kept < all; ++kept) {
                CAPTURE(rows, columns, seed, kept);
                auto both = uniform_blocks({rows, columns}, kept, seed);
                CHECK(static_cast<std::int64_t>(both.size()) == kept);
                const auto others = uniform_blocks({rows, columns}, all - kept, seed);
                both.insert(both.end(), others.begin(), others.end());
                std::sort(both.begin(), both.end());
                std::vector<std::int64_t> wanted(static_cast<std::size_t>(all));
                std::iota(wanted.begin(), wanted.end(), 0);
                CHECK(both == wanted);
            }
            // half of it is drawn: it is what a draw of one less has, and one more
            if (all % 2 == 0) {
                const auto half = uniform_blocks({rows, columns}, all / 2, seed);
                const auto less = uniform_blocks({rows, columns}, all / 2 - 1, seed);
                CHECK(std::includes(half.begin(), half.end(), less.begin(), less.end()));
            }
        }
    }
}

TEST_CASE("a band keeps the blocks that are nearest to the diagonal, upper ones first",
          "[operands]") {
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                        {1, 6},
                                        {6, 1},
                                        {4, 4},
                                        {3, 7},
                                        {7, 3},
                                        {5, 10},
                                        {10, 5}}) {
        for (std::int64_t kept = 0; kept <= rows * columns; ++kept) {
            CAPTURE(rows, columns, kept);
            std::vector<std::pair<std::int64_t, std::int64_t>> order; // distance, block
            for (std::int64_t block = 0; block < rows * columns; ++block) {
                const std::int64_t row = block / columns;
                const std::int64_t column = block % columns;
                order.emplace_back(std::abs((2 * row + 1) * columns - (2 * column + 1) * rows),
                                   block);
            }
            std::sort(order.begin(), order.end());
            std::vector<std::int64_t> wanted;
            for (std::int64_t i = 0; i < kept; ++i) {
                wanted.push_back(order[static_cast<std::size_t>(i)].second);
            }
            std::sort(wanted.begin(), wanted.end());
            CHECK(banded_blocks({rows, columns}, kept) == wanted);
        }
    }
}
