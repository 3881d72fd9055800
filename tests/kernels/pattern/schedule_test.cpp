// SPDX-License-Identifier: MIT
// Which blocks go and come; whole sequences are held against NumPy in tests/system/pattern_test.py.
#include "base/float16.h"
#include "kernels/pattern/schedule.h"
#include "kernels/workload/pattern.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <set>

using namespace tessera::pattern;
using tessera::workload::CounterRandom;
using tessera::workload::SparsePattern;

namespace {

using Blocks = std::set<std::int64_t>;
using Norms = std::vector<double>;

struct Grid {
    std::int64_t rows = 1; ///< elements
    std::int64_t columns = 1;
    std::int64_t block = 1;

    [[nodiscard]] std::int64_t block_columns() const { return (columns + block - 1) / block; }
    [[nodiscard]] std::int64_t block_rows() const { return (rows + block - 1) / block; }
    [[nodiscard]] std::int64_t blocks() const { return block_rows() * block_columns(); }
};

SparsePattern pattern_of(const Grid& grid, const std::vector<std::int64_t>& numbers) {
    SparsePattern pattern{grid.rows, grid.columns, grid.block, {}, {}};
    pattern.row_start.assign(static_cast<std::size_t>(grid.block_rows()) + 1, 0);
    for (const std::int64_t number : numbers) {
        pattern.block_column.push_back(static_cast<std::int32_t>(number % grid.block_columns()));
        for (auto row = number / grid.block_columns() + 1; row <= grid.block_rows(); ++row) {
            ++pattern.row_start[static_cast<std::size_t>(row)];
        }
    }
    return pattern;
}

SparsePattern drawn_pattern(const Grid& grid, std::int64_t kept, std::uint64_t seed) {
    return pattern_of(grid, tessera::workload::uniform_blocks({1, grid.blocks()}, kept, seed));
}

std::vector<std::int64_t> numbers_of(const SparsePattern& pattern) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t row = 0; row < pattern.block_rows(); ++row) {
        for (auto at = pattern.first_block(row); at < pattern.first_block(row + 1); ++at) {
            numbers.push_back(row * pattern.block_columns() + pattern.column_of(at));
        }
    }
    return numbers;
}

/// Small whole numbers, so that many are equal.
Norms drawn_norms(std::int64_t count, std::uint64_t seed) {
    Norms norms;
    for (std::int64_t i = 0; i < count; ++i) {
        norms.push_back(
            static_cast<double>(CounterRandom(seed, 2).below(5, static_cast<std::uint64_t>(i))));
    }
    return norms;
}

Blocks without(const Blocks& blocks, const Blocks& others) {
    Blocks left;
    std::set_difference(blocks.begin(), blocks.end(), others.begin(), others.end(),
                        std::inserter(left, left.end()));
    return left;
}

Blocks set_of(const std::vector<std::int64_t>& numbers) {
    return {numbers.begin(), numbers.end()};
}

Blocks all_blocks(const SparsePattern& pattern) {
    Blocks all;
    for (std::int64_t number = 0; number < pattern.block_rows() * pattern.block_columns();
         ++number) {
        all.insert(number);
    }
    return all;
}

/// What holds for every change.
void check_change(const SparsePattern& now, const PatternChange& change, std::int64_t moves) {
    const Blocks before = set_of(numbers_of(now));
    const Blocks went = set_of(change.went);
    const Blocks came = set_of(change.came);
    const Blocks stay = without(before, went);
    CHECK(std::is_sorted(change.went.begin(), change.went.end()));
    CHECK(std::is_sorted(change.came.begin(), change.came.end()));
    CHECK(static_cast<std::int64_t>(went.size()) == moves);
    CHECK(static_cast<std::int64_t>(came.size()) == moves);
    CHECK(without(went, before).empty());
    CHECK(without(came, all_blocks(now)).empty());
    CHECK(without(came, stay) == came);
    Blocks after = stay;
    after.insert(came.begin(), came.end());
    const std::vector<std::int64_t> numbers = numbers_of(change.pattern);
    CHECK(std::vector<std::int64_t>(after.begin(), after.end()) == numbers);
    CHECK(change.pattern.blocks() == now.blocks());
    CHECK(change.pattern.block_rows() == now.block_rows());
    REQUIRE(change.from.size() == numbers.size());
    const std::vector<std::int64_t> old = numbers_of(now);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        CHECK((change.from[i] < 0) == (came.count(numbers[i]) == 1));
        if (change.from[i] >= 0) {
            CHECK(old[static_cast<std::size_t>(change.from[i])] == numbers[i]);
        }
    }
}

/// The slow way: sorts all blocks.
Blocks first_by(const Blocks& blocks, std::int64_t wanted,
                const std::function<double(std::int64_t)>& key, bool last_of_equal) {
    std::vector<std::int64_t> order(blocks.begin(), blocks.end());
    if (last_of_equal) {
        std::reverse(order.begin(), order.end());
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });
    return {order.begin(), order.begin() + wanted};
}

const std::vector<Grid> kGrids{{1, 1, 1}, {1, 30, 1}, {24, 40, 4}, {23, 37, 4}, {64, 48, 16}};

std::int64_t moves_of(const Schedule& schedule, const SparsePattern& now, std::int64_t change) {
    return std::llround(share_of(schedule, change) * static_cast<double>(now.blocks()));
}

} // namespace

TEST_CASE("as many blocks come as go, whatever is pruned and regrown", "[pattern][schedule]") {
    for (const Grid& grid : kGrids) {
        for (const std::int64_t kept : {std::int64_t{0}, std::int64_t{1}, grid.blocks() / 3,
                                        grid.blocks() - 1, grid.blocks()}) {
            const SparsePattern now = drawn_pattern(grid, std::min(kept, grid.blocks()), 3);
            const Norms norms = drawn_norms(now.blocks(), 4);
            const Norms gradients = drawn_norms(grid.blocks(), 5);
            for (const auto prune : {Schedule::Prune::Magnitude, Schedule::Prune::Random}) {
                for (const auto regrow : {Schedule::Regrow::Random, Schedule::Regrow::Gradient}) {
                    for (const double fraction : {0.0, 0.3, 1.0}) {
                        for (const std::int64_t at : {0, 3, 9}) {
                            const Schedule schedule{.prune = prune,
                                                    .regrow = regrow,
                                                    .fraction = fraction,
                                                    .patterns = 10};
                            const PatternChange change =
                                next_pattern(now, {norms, gradients}, schedule, at);
                            check_change(now, change, moves_of(schedule, now, at));
                            CHECK_FALSE(change.is_drawn_instead);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("blocks of the least norms go, those of the largest gradients come",
          "[pattern][schedule]") {
    for (const Grid& grid : kGrids) {
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            const SparsePattern now = drawn_pattern(grid, grid.blocks() / 2, seed);
            const Norms norms = drawn_norms(now.blocks(), seed);
            const Norms gradients = drawn_norms(grid.blocks(), seed + 10);
            const Schedule schedule{.regrow = Schedule::Regrow::Gradient, .fraction = 0.4};
            const PatternChange change = next_pattern(now, {norms, gradients}, schedule, 0);

            const std::vector<std::int64_t> numbers = numbers_of(now);
            const Blocks before = set_of(numbers);
            const std::int64_t moves = moves_of(schedule, now, 0);
            const auto norm_of = [&](std::int64_t number) {
                const auto place = std::find(numbers.begin(), numbers.end(), number);
                return norms[static_cast<std::size_t>(place - numbers.begin())];
            };
            const auto minus_gradient_of = [&](std::int64_t number) {
                return -gradients[static_cast<std::size_t>(number)];
            };
            const Blocks went = first_by(before, moves, norm_of, true);
            CHECK(set_of(change.went) == went);
            const Blocks free = without(all_blocks(now), without(before, went));
            CHECK(set_of(change.came) == first_by(free, moves, minus_gradient_of, false));
        }
    }
}

TEST_CASE("what comes at random has not just gone unless nothing else is left",
          "[pattern][schedule]") {
    const Grid grid{5, 8, 1};
    const Schedule schedule{.fraction = 1.0};
    for (const std::int64_t kept : {10, 20, 21, 30, 40}) {
        const SparsePattern now = drawn_pattern(grid, kept, 7);
        const Norms norms = drawn_norms(kept, 8);
        const PatternChange change = next_pattern(now, {norms, {}}, schedule, 0);
        const std::int64_t rest = grid.blocks() - kept;
        const Blocks again =
            without(set_of(change.went), without(set_of(change.went), set_of(change.came)));
        CHECK(static_cast<std::int64_t>(again.size()) == std::max<std::int64_t>(kept - rest, 0));
        if (kept > rest) {
            CHECK(without(without(all_blocks(now), set_of(numbers_of(now))), set_of(change.came))
                      .empty());
        }
    }
}

TEST_CASE("each block that may come at random comes equally often", "[pattern][schedule]") {
    const Grid grid{4, 5, 1};
    const std::vector<std::int64_t> kept{0, 1, 4, 9, 10, 11, 18, 19};
    const SparsePattern now = pattern_of(grid, kept);
    constexpr int kTimes = 4000;
    Schedule schedule{.prune = Schedule::Prune::Random, .fraction = 0.5};
    std::vector<int> came(20);
    std::vector<int> went(20);
    for (int i = 0; i < kTimes; ++i) {
        schedule.seed = static_cast<std::uint64_t>(i);
        const PatternChange change = next_pattern(now, {}, schedule, 0);
        for (const std::int64_t number : change.came) {
            ++came[static_cast<std::size_t>(number)];
        }
        for (const std::int64_t number : change.went) {
            ++went[static_cast<std::size_t>(number)];
        }
    }
    const auto is_near = [](int count, double share) {
        const double deviation = std::sqrt(kTimes * share * (1 - share));
        return std::fabs(count - kTimes * share) < 5 * deviation;
    };
    for (std::int64_t number = 0; number < grid.blocks(); ++number) {
        const bool is_kept = std::find(kept.begin(), kept.end(), number) != kept.end();
        const auto at = static_cast<std::size_t>(number);
        CHECK((is_kept ? came[at] == 0 : is_near(came[at], 4.0 / 12)));
        CHECK((is_kept ? is_near(went[at], 4.0 / 8) : went[at] == 0));
    }
}

TEST_CASE("the share falls as a cosine, or does not", "[pattern][schedule]") {
    Schedule schedule{.fraction = 0.4, .patterns = 8};
    CHECK(share_of(schedule, 0) == 0.4);
    CHECK(share_of(schedule, 4) == Approx(0.2));
    for (std::int64_t change = 1; change <= schedule.patterns; ++change) {
        CHECK(share_of(schedule, change) < share_of(schedule, change - 1));
        CHECK(share_of(schedule, change) + share_of(schedule, schedule.patterns - change) ==
              Approx(schedule.fraction));
    }
    CHECK(share_of(schedule, schedule.patterns) == Approx(0).margin(1e-15));
    schedule.decay = Schedule::Decay::None;
    CHECK(share_of(schedule, 7) == 0.4);
}

TEST_CASE("a change is a function of seed and number", "[pattern][schedule]") {
    const SparsePattern now = drawn_pattern({16, 16, 1}, 100, 1);
    Schedule schedule{.prune = Schedule::Prune::Random, .decay = Schedule::Decay::None};
    const PatternChange first = next_pattern(now, {}, schedule, 3);
    CHECK(next_pattern(now, {}, schedule, 3).went == first.went);
    CHECK(next_pattern(now, {}, schedule, 3).came == first.came);
    CHECK(next_pattern(now, {}, schedule, 4).went != first.went);
    CHECK(next_pattern(now, {}, schedule, 4).came != first.came);
    schedule.seed = 2;
    CHECK(next_pattern(now, {}, schedule, 3).went != first.went);
    CHECK(next_pattern(now, {}, schedule, 3).came != first.came);
}

TEST_CASE("what goes by values that are not known is drawn, which is said", "[pattern][schedule]") {
    const SparsePattern now = drawn_pattern({16, 16, 1}, 100, 1);
    const Schedule random{.prune = Schedule::Prune::Random};
    const PatternChange wanted = next_pattern(now, {}, random, 0);
    CHECK_FALSE(wanted.is_drawn_instead);
    for (const Schedule& schedule :
         {Schedule{},
          Schedule{.prune = Schedule::Prune::Random, .regrow = Schedule::Regrow::Gradient},
          Schedule{.regrow = Schedule::Regrow::Gradient}}) {
        const PatternChange change = next_pattern(now, {}, schedule, 0);
        CHECK(change.is_drawn_instead);
        CHECK(change.went == wanted.went);
        CHECK(change.came == wanted.came);
    }
    CHECK_FALSE(next_pattern(now, {}, {.fraction = 0}, 0).is_drawn_instead);
}

TEST_CASE("a norm that is NaN goes first and comes last", "[pattern][schedule]") {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const SparsePattern now = pattern_of({1, 6, 1}, {0, 1, 2});
    const Norms norms{0.0, kNan, 0.0};
    const Norms gradients{0, 0, 0, kNan, 0, 0};
    const Schedule schedule{.regrow = Schedule::Regrow::Gradient, .fraction = 1.0 / 3};
    const PatternChange change = next_pattern(now, {norms, gradients}, schedule, 0);
    CHECK(change.went == std::vector<std::int64_t>{1});
    CHECK(change.came == std::vector<std::int64_t>{1});
    const Norms mostly{kNan, kNan, kNan, kNan, kNan, 0};
    CHECK(next_pattern(now, {norms, mostly}, schedule, 0).came == std::vector<std::int64_t>{5});
}

TEST_CASE("values and any state move with their blocks, and those that came are zero",
          "[pattern][schedule]") {
    const Grid grid{12, 20, 4};
    const SparsePattern now = drawn_pattern(grid, 7, 2);
    std::vector<float> weights;
    std::vector<std::uint16_t> momenta;
    const auto width = static_cast<std::size_t>(grid.block * grid.block);
    const std::vector<std::int64_t> old = numbers_of(now);
    for (std::size_t i = 0; i < old.size() * width; ++i) { // the block's number, and the element's
        weights.push_back(static_cast<float>(old[i / width] + 1));
        momenta.push_back(static_cast<std::uint16_t>(100 + i % width));
    }
    const Norms norms = block_norms(weights, grid.block);
    for (std::size_t i = 0; i < old.size(); ++i) {
        CHECK(norms[i] == static_cast<double>(width) * static_cast<double>(old[i] + 1));
    }
    const PatternChange change = next_pattern(now, {norms, {}}, {}, 0);
    CHECK(change.came.size() == 4);
    const auto moved = moved_values(change, weights);
    const auto moved_momenta = moved_values(change, momenta);
    const std::vector<std::int64_t> numbers = numbers_of(change.pattern);
    REQUIRE(moved.size() == numbers.size() * width);
    for (std::size_t i = 0; i < moved.size(); ++i) {
        const bool stayed = change.from[i / width] >= 0;
        CHECK(moved[i] == (stayed ? static_cast<float>(numbers[i / width] + 1) : 0.0F));
        CHECK(moved_momenta[i] == (stayed ? 100 + i % width : 0));
    }
}

TEST_CASE("a norm is the sum of magnitudes", "[pattern][schedule]") {
    CHECK(block_norms(std::vector<double>{1, -2, 0, 4}, 1) == Norms{1, 2, 0, 4});
    CHECK(block_norms(std::vector<float>{1, -2, 0, 4, -1, -1, -1, -1}, 2) == Norms{7, 4});
    CHECK(block_norms(std::vector<std::uint16_t>{tessera::f32_to_f16(-1.5F)}, 1) == Norms{1.5});
    CHECK(block_norms(std::vector<float>{}, 4).empty());
}
