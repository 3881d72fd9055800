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

TEST_CASE("generators keep exactly as many distinct blocks as asked", "[operands]") {
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
            for (const double exponent : {1e-6, 0.7, 1.0, 3.0, 16.0}) {
                const auto power_law = power_law_blocks(grid, kept, exponent, 3);
                CAPTURE(exponent);
                CHECK(static_cast<std::int64_t>(power_law.size()) == kept);
                CHECK(ascending_within(power_law, all));
            }
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

namespace {

/// The blocks of each row.
std::vector<std::int64_t> row_counts(BlockGrid grid, const std::vector<std::int64_t>& blocks) {
    std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.rows), 0);
    for (const std::int64_t block : blocks) {
        ++counts[static_cast<std::size_t>(block / grid.columns)];
    }
    return counts;
}

/// The same by rank.
std::vector<std::int64_t> ranked_counts(BlockGrid grid, std::int64_t kept, double exponent,
                                        std::uint64_t seed = 1) {
    auto counts = row_counts(grid, power_law_blocks(grid, kept, exponent, seed));
    std::sort(counts.begin(), counts.end(), std::greater<>());
    return counts;
}

} // namespace

TEST_CASE("the rows of a power law fall with their rank as it says", "[operands]") {
    const BlockGrid grid{1000, 200000};
    constexpr std::int64_t kKept = 200000;
    for (const double exponent : {0.25, 0.5, 1.0, 1.5, 2.0}) {
        CAPTURE(exponent);
        double sum = 0;
        for (int rank = 1; rank <= grid.rows; ++rank) {
            sum += std::pow(rank, -exponent);
        }
        const auto counts = ranked_counts(grid, kKept, exponent);
        double farthest = 0;
        for (std::size_t rank = 0; rank < counts.size(); ++rank) {
            const double share = kKept * std::pow(static_cast<double>(rank + 1), -exponent) / sum;
            farthest = std::max(farthest, std::fabs(static_cast<double>(counts[rank]) - share));
        }
        CHECK(farthest <= 1.0);
    }
}

TEST_CASE("what is too much for a row goes to the ranks behind it by the same law", "[operands]") {
    // Ten rows of 10 and 50 blocks: rank 1 alone would have 50 / 2.93 = 17.
    const auto counts = ranked_counts({10, 10}, 50, 1.0);
    CHECK(counts == std::vector<std::int64_t>{10, 10, 7, 5, 4, 4, 3, 3, 2, 2});
    // a steep law fills one row after the other
    CHECK(ranked_counts({5, 8}, 20, 16.0) == std::vector<std::int64_t>{8, 8, 4, 0, 0});
    // and a flat one treats them alike, the first ones with one more
    CHECK(ranked_counts({5, 8}, 22, 1e-6) == std::vector<std::int64_t>{5, 5, 4, 4, 4});
    CHECK(ranked_counts({5, 8}, 40, 2.0) == std::vector<std::int64_t>(5, 8));
}

TEST_CASE("a power law's ranks and columns are dealt at random by the seed", "[operands]") {
    const BlockGrid grid{8, 64};
    CHECK(power_law_blocks(grid, 100, 1.0, 1) == power_law_blocks(grid, 100, 1.0, 1));
    CHECK(power_law_blocks(grid, 100, 1.0, 1) != power_law_blocks(grid, 100, 1.0, 2));
    static constexpr int kSeeds = 4000;
    std::vector<int> fullest(8, 0);
    std::vector<int> columns(64, 0);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto blocks = power_law_blocks(grid, 100, 1.0, seed);
        const auto counts = row_counts(grid, blocks);
        ++fullest.at(static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) -
                                              counts.begin()));
        for (const std::int64_t block : blocks) {
            ++columns.at(static_cast<std::size_t>(block % 64));
        }
    }
    // Six standard deviations: 6 root(4000 7/8 1/8) and less than 6 root(400000 / 64).
    CHECK(*std::min_element(fullest.begin(), fullest.end()) > 500 - 126);
    CHECK(*std::max_element(fullest.begin(), fullest.end()) < 500 + 126);
    CHECK(*std::min_element(columns.begin(), columns.end()) > 6250 - 475);
    CHECK(*std::max_element(columns.begin(), columns.end()) < 6250 + 475);
}

TEST_CASE("skewed patterns are the same on every host", "[operands]") {
    // As worked out apart from this program, with fractions instead of logarithms.
    CHECK(power_law_blocks({4, 6}, 9, 1.0, 1) ==
          std::vector<std::int64_t>{4, 6, 7, 9, 11, 14, 15, 20, 21});
    CHECK(n_of_m_blocks({2, 10}, {2, 4}, 1) ==
          std::vector<std::int64_t>{1, 3, 4, 6, 8, 11, 12, 15, 16, 19});
}

TEST_CASE("a large skewed grid needs only its rows and kept blocks", "[operands]") {
    const BlockGrid grid{200000, 16777216};
    const auto blocks = power_law_blocks(grid, 1000, 1.0, 1);
    CHECK(blocks.size() == 1000);
    CHECK(ascending_within(blocks, grid.rows * grid.columns));
}

TEST_CASE("each group of n of m keeps its number", "[operands]") {
    for (const BlockGrid grid : {BlockGrid{1, 1}, {1, 16}, {16, 1}, {3, 4}, {5, 22}, {4, 35}}) {
        for (const std::int64_t group : {1, 2, 4, 5, 16}) {
            for (std::int64_t kept = 1; kept <= group; ++kept) {
                const NOfM share{kept, group};
                const auto blocks = n_of_m_blocks(grid, share, 7);
                CAPTURE(grid.rows, grid.columns, kept, group);
                CHECK(static_cast<std::int64_t>(blocks.size()) ==
                      grid.rows * share.of_row(grid.columns));
                CHECK(ascending_within(blocks, grid.rows * grid.columns));
                const std::int64_t groups = (grid.columns + group - 1) / group;
                std::vector<std::int64_t> counts(static_cast<std::size_t>(grid.rows * groups), 0);
                for (const std::int64_t block : blocks) {
                    ++counts.at(static_cast<std::size_t>(block / grid.columns * groups +
                                                         block % grid.columns / group));
                }
                int wrong = 0;
                for (std::size_t i = 0; i < counts.size(); ++i) {
                    const std::int64_t of_row = static_cast<std::int64_t>(i) % groups;
                    const std::int64_t blocks_there =
                        std::min(group, grid.columns - of_row * group);
                    const auto wanted = std::llround(static_cast<double>(blocks_there * kept) /
                                                     static_cast<double>(group));
                    wrong += counts[i] == wanted ? 0 : 1;
                }
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE("n of m is drawn evenly by the seed", "[operands]") {
    const BlockGrid grid{2, 8};
    CHECK(n_of_m_blocks(grid, {2, 4}, 1) == n_of_m_blocks(grid, {2, 4}, 1));
    CHECK(n_of_m_blocks({64, 64}, {2, 4}, 1) != n_of_m_blocks({64, 64}, {2, 4}, 2));
    static constexpr int kSeeds = 6000;
    for (const std::int64_t kept : {1, 3}) {
        std::vector<int> tally(16, 0);
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
            for (const std::int64_t block : n_of_m_blocks(grid, {kept, 4}, seed)) {
                ++tally.at(static_cast<std::size_t>(block));
            }
        }
        // Binomial: the standard deviation is 34; six of them.
        const auto [least, most] = std::minmax_element(tally.begin(), tally.end());
        CHECK(*least > kSeeds * kept / 4 - 204);
        CHECK(*most < kSeeds * kept / 4 + 204);
    }
}

TEST_CASE("n of m needs whole blocks of a group", "[operands]") {
    const auto of = [](double density, std::int64_t group) {
        const auto share = n_of_m(density, group);
        return share ? share->kept : 0;
    };
    CHECK(of(0.5, 4) == 2);
    CHECK(of(1.0, 4) == 4);
    CHECK(of(0.25, 4) == 1);
    CHECK(of(1.0 / 3.0, 3) == 1);
    CHECK(of(0.333333, 3) == 1);
    CHECK(of(0.0333333, 30) == 1);
    CHECK(of(0.999023, 1024) == 1023);
    CHECK(of(0.3333, 3) == 0);
    CHECK(of(0.3, 4) == 0);
    CHECK(of(0.2, 4) == 0);
    CHECK(of(1e-6, 4) == 0);
    CHECK(n_of_m_mistake(0.3, 4) ==
          "got 0.3, 1.2 of each 4 blocks, expected a whole number of them: 0.25 or 0.5");
    CHECK(n_of_m_mistake(0.2, 4) ==
          "got 0.2, 0.8 of each 4 blocks, expected a whole number of them: 0.25");
    CHECK(n_of_m_mistake(0.9, 3) ==
          "got 0.9, 2.7 of each 3 blocks, expected a whole number of them: 0.666667 or 1");
}
