// SPDX-License-Identifier: MIT
#include "kernels/published/static_planner.h"
#include "tests/kernels/published/reference_rows.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::published;

namespace {

using Counts = std::vector<std::int64_t>;

StaticMachine static_bow() {
    return static_machine(spec::MachineSpec{});
}

std::int64_t blocks_of(const StaticProblem& problem) {
    return std::accumulate(problem.column_counts.begin(), problem.column_counts.end(),
                           std::int64_t{0});
}

std::int64_t share_of(std::int64_t value, std::int64_t parts) {
    return (value + parts - 1) / parts;
}

double log_factorial(std::int64_t value) {
    return std::lgamma(static_cast<double>(value) + 1);
}

double log_choices(std::int64_t of, std::int64_t taken) {
    return log_factorial(of) - log_factorial(taken) - log_factorial(of - taken);
}

/// How many of `blocks` blocks in `places` places are in the first `line` of them: a hypergeometric
/// number, searched from the likeliest one outwards.
std::int64_t blocks_in_line(std::mt19937_64& random, std::int64_t places, std::int64_t blocks,
                            std::int64_t line) {
    const std::int64_t least = std::max<std::int64_t>(0, line + blocks - places);
    const std::int64_t most = std::min(line, blocks);
    std::int64_t low = std::clamp((line + 1) * (blocks + 1) / (places + 2), least, most);
    std::int64_t high = low;
    const auto ratio = [&](std::int64_t count) { // how likely count + 1 is, against count
        return static_cast<double>(blocks - count) * static_cast<double>(line - count) /
               (static_cast<double>(count + 1) *
                static_cast<double>(places - blocks - line + count + 1));
    };
    double low_chance =
        std::exp(log_choices(blocks, low) + log_choices(places - blocks, line - low) -
                 log_choices(places, line));
    double high_chance = low_chance;
    double left = static_cast<double>(random() >> 11U) * 0x1p-53 - low_chance;
    std::int64_t found = low;
    while (left >= 0 && (low > least || high < most)) {
        if (high < most) {
            high_chance *= ratio(high);
            found = ++high;
            left -= high_chance;
        }
        if (left >= 0 && low > least) {
            low_chance /= ratio(low - 1);
            found = --low;
            left -= low_chance;
        }
    }
    return found;
}

/// Blocks of each of `lines` lines with `length` places, drawn without replacement.
Counts random_counts(std::mt19937_64& random, std::int64_t lines, std::int64_t length,
                     std::int64_t blocks) {
    Counts counts;
    for (std::int64_t places = lines * length; places > 0; places -= length) {
        counts.push_back(blocks_in_line(random, places, blocks, length));
        blocks -= counts.back();
    }
    return counts;
}

/// Rows and columns are drawn apart: the planner sees nothing but their counts.
StaticProblem random_problem(std::mt19937_64& random, std::int64_t rows, std::int64_t columns,
                             std::int64_t block, std::int64_t inverse_density) {
    const std::int64_t blocks = share_of(rows * columns, inverse_density);
    StaticProblem problem;
    problem.block = block;
    problem.row_counts = random_counts(random, rows, columns, blocks);
    problem.column_counts = random_counts(random, columns, rows, blocks);
    return problem;
}

Counts even_counts(std::int64_t lines, std::int64_t blocks) {
    Counts counts(static_cast<std::size_t>(lines), blocks / lines);
    for (std::int64_t i = 0; i < blocks % lines; ++i) {
        ++counts[static_cast<std::size_t>(i)];
    }
    return counts;
}

struct KnownStaticPlan {
    std::int64_t m, k, n, block, inverse_density, n_split, k_split;
    StaticPhases phases;
};

std::vector<KnownStaticPlan> known_static_plans() {
    std::vector<KnownStaticPlan> plans;
    for (const test::CsvRow& row : test::read_reference("published_static_plans.csv")) {
        const auto number = [&](const char* column) { return std::stoll(row.at(column)); };
        CHECK(row.at("data") == "f16");
        plans.push_back({number("m"),
                         number("k"),
                         number("n"),
                         number("block"),
                         number("inverse_density"),
                         number("n_split"),
                         number("k_split"),
                         {number("inputs"), number("values"), number("compute"), 0,
                          number("partials"), number("reduce"), number("move")}});
    }
    return plans;
}

/// For each known plan the same `patterns` patterns for all n.
template <typename Each>
void for_each_pattern(const std::vector<KnownStaticPlan>& plans, std::uint64_t seed, int patterns,
                      const Each& each) {
    using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    std::map<Shape, std::vector<StaticProblem>> drawn;
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const KnownStaticPlan& plan = plans[i];
        auto& problems = drawn[{plan.m, plan.k, plan.block, plan.inverse_density}];
        while (std::ssize(problems) < patterns) {
            problems.push_back(random_problem(random, plan.m / plan.block, plan.k / plan.block,
                                              plan.block, plan.inverse_density));
        }
        for (StaticProblem& problem : problems) {
            problem.n = plan.n;
            each(i, problem);
        }
    }
}

constexpr std::array kPhases{&StaticPhases::inputs,   &StaticPhases::values, &StaticPhases::compute,
                             &StaticPhases::partials, &StaticPhases::reduce, &StaticPhases::move};

/// Known plans of which some pattern has all, or one, of the phases equal.
struct EqualPlans {
    std::int64_t all = 0;
    std::array<std::int64_t, kPhases.size()> phase{};
};

EqualPlans count_equal(const std::vector<KnownStaticPlan>& plans, std::uint64_t seed) {
    struct Equal {
        bool all = false;
        std::array<bool, kPhases.size()> phase{};
    };
    std::vector<Equal> equal(plans.size());
    for_each_pattern(plans, seed, 40, [&](std::size_t i, const StaticProblem& problem) {
        const KnownStaticPlan& known = plans[i];
        const auto plan = plan_static_split(problem, static_bow(), known.n_split, known.k_split);
        if (!plan) {
            return;
        }
        equal[i].all = equal[i].all || plan->phases == known.phases;
        for (std::size_t phase = 0; phase < kPhases.size(); ++phase) {
            if (plan->phases.*kPhases[phase] == known.phases.*kPhases[phase]) {
                equal[i].phase[phase] = true;
            }
        }
    });
    EqualPlans count;
    for (const Equal& one : equal) {
        count.all += one.all ? 1 : 0;
        for (std::size_t phase = 0; phase < kPhases.size(); ++phase) {
            count.phase[phase] += one.phase[phase] ? 1 : 0;
        }
    }
    return count;
}

/// Known plans of which a search for one of four patterns finds the split, or comes near the sum.
struct FoundPlans {
    std::int64_t near_sum = 0;
    std::int64_t same_split = 0;
};

FoundPlans count_found(const std::vector<KnownStaticPlan>& plans, std::uint64_t seed) {
    std::vector<std::pair<bool, bool>> found(plans.size());
    for_each_pattern(plans, seed, 4, [&](std::size_t i, const StaticProblem& problem) {
        const KnownStaticPlan& known = plans[i];
        const auto plan = plan_static(problem, static_bow());
        REQUIRE(plan);
        const Cycles sum = known.phases.total();
        auto& [near_sum, same_split] = found[i];
        near_sum = near_sum || 50 * std::abs(plan->phases.total() - sum) <= sum;
        same_split =
            same_split || (plan->n_split == known.n_split && plan->k_split == known.k_split);
    });
    FoundPlans count;
    for (const auto& [near_sum, same_split] : found) {
        count.near_sum += near_sum ? 1 : 0;
        count.same_split += same_split ? 1 : 0;
    }
    return count;
}

/// What holds for every plan.
void check_static_plan(const StaticPlan& plan, const StaticProblem& problem,
                       const StaticMachine& machine) {
    const std::int64_t grain = 8 / bytes_of(problem.type);
    const auto block_columns = static_cast<std::int64_t>(problem.column_counts.size());
    Counts order = plan.column_order;
    std::sort(order.begin(), order.end());
    Counts all(order.size());
    std::iota(all.begin(), all.end(), 0);
    CHECK(order == all);
    CHECK(std::ssize(order) == block_columns);

    std::int64_t column = 0;
    std::int64_t tile = 0;
    CHECK(std::ssize(plan.parts) <= plan.n_split);
    for (const StaticPart& part : plan.parts) {
        CHECK(part.first_column == column);
        CHECK(part.columns >= 1);
        CHECK(part.columns <= plan.parts.front().columns);
        CHECK(part.columns % grain == 0);
        CHECK(part.first_tile == tile);
        column += part.columns;

        std::int64_t block_column = 0;
        std::int64_t blocks = 0;
        std::int64_t band_tile = part.first_tile;
        CHECK(std::ssize(part.bands) <= plan.k_split);
        for (const StaticBand& band : part.bands) {
            CHECK(band.first_column == block_column);
            std::int64_t of_band = 0;
            for (std::int64_t i = 0; i < band.columns; ++i, ++block_column) {
                of_band += problem.column_counts[static_cast<std::size_t>(
                    plan.column_order[static_cast<std::size_t>(block_column)])];
            }
            CHECK(band.blocks == of_band);
            CHECK(band.blocks >= 1);
            CHECK(band.first_tile == band_tile);
            CHECK(band.tiles >= 2);
            CHECK(band.tiles % 2 == 0);
            blocks += band.blocks;
            band_tile += band.tiles;
        }
        CHECK(block_column == block_columns);
        CHECK(blocks == blocks_of(problem));
        CHECK(band_tile <= part.first_tile + part.tiles);
        tile += part.tiles;
    }
    CHECK(column == share_of(problem.n, grain) * grain);
    CHECK(tile <= machine.tiles);

    const StaticTile& fullest = plan.tile;
    CHECK(fullest.blocks >= 1);
    CHECK(fullest.blocks <= fullest.rows * fullest.row_blocks);
    CHECK(fullest.contributors >= 1);
    const Bytes line = fullest.columns * problem.block * bytes_of(problem.type);
    const Bytes out = fullest.rows * line;
    const Bytes values = fullest.blocks * problem.block * problem.block * bytes_of(problem.type);
    const Bytes received = share_of(out * (fullest.contributors - 1), fullest.contributors);
    const auto bound = static_cast<Bytes>(kStaticShare * static_cast<double>(machine.tile_bytes));
    CHECK(fullest.block_columns * line + values + out <= bound);
    CHECK(received + out <= bound);
    CHECK((fullest.contributors > 1) == (plan.phases.reduce > 0));
}

/// All splits that the rules allow.
template <typename Each>
void for_each_split(const StaticProblem& problem, const StaticMachine& machine, const Each& each) {
    const std::int64_t grain = 8 / bytes_of(problem.type);
    const std::int64_t most_n = std::min<std::int64_t>(32, share_of(problem.n, grain));
    const double mean =
        static_cast<double>(blocks_of(problem)) / static_cast<double>(problem.column_counts.size());
    const auto kept =
        std::count_if(problem.column_counts.begin(), problem.column_counts.end(),
                      [&](std::int64_t count) { return static_cast<double>(count) > 0.1 * mean; });
    const std::int64_t most_k =
        std::clamp<std::int64_t>(kept / (problem.block == 1 ? 1 : grain), 1, 128);
    for (std::int64_t n_split = 1; n_split <= most_n; ++n_split) {
        for (std::int64_t k_split = 1; k_split <= most_k; ++k_split) {
            if (n_split * k_split <= machine.tiles / 2) {
                each(plan_static_split(problem, machine, n_split, k_split));
            }
        }
    }
}

} // namespace

TEST_CASE("known splits of uniform patterns cost what is known of them", "[kernels][published]") {
    const auto plans = known_static_plans();
    CHECK(plans.size() == 309);
    const EqualPlans equal = count_equal(plans, 1);
    CHECK(equal.all >= 260);
    for (const std::int64_t count : equal.phase) {
        CHECK(count >= 280);
    }
    CHECK(equal.phase.back() == 309);
}

TEST_CASE("searches for uniform patterns come near the sums that are known",
          "[kernels][published]") {
    CHECK(count_found(known_static_plans(), 1).near_sum >= 280);
}

TEST_CASE("phases of worked static examples are known to the cycle", "[kernels][published]") {
    struct Worked {
        std::int64_t block, inverse_density, n, n_split, k_split;
        std::int64_t blocks, tiles, columns; ///< of the fullest band
        StaticTile tile;
        StaticPhases phases;
        Cycles total;
    };
    // Source: docs/published_plans.md#static-sparse-products; m = k = 4096, FP16.
    const std::vector<Worked> table{
        {1,
         4,
         4,
         1,
         17,
         247584,
         86,
         242,
         {4, 2879, 48, 242, 60, 17},
         {242, 0, 6186, 0, 91, 276, 23},
         6818},
        {1,
         16,
         1024,
         16,
         9,
         116752,
         10,
         456,
         {64, 11676, 410, 456, 29, 10},
         {7296, 5838, 329328, 0, 11808, 7686, 5699},
         367655},
        {8,
         16,
         16,
         1,
         16,
         1031,
         86,
         33,
         {16, 12, 6, 14, 2, 17},
         {1056, 0, 1926, 0, 362, 276, 90},
         3710},
        {16,
         4,
         64,
         1,
         22,
         791,
         66,
         12,
         {64, 12, 4, 11, 3, 23},
         {3072, 0, 5408, 0, 1959, 960, 357},
         11756},
        {16,
         4,
         1024,
         4,
         11,
         1506,
         32,
         23,
         {256, 48, 8, 23, 6, 12},
         {23552, 6144, 57988, 0, 15019, 8646, 5699},
         117048},
    };
    for (const Worked& worked : table) {
        CAPTURE(worked.block, worked.n);
        const std::int64_t lines = 4096 / worked.block;
        const std::int64_t blocks = lines * lines / worked.inverse_density;
        // The first band is the fullest; both it and the others are even.
        StaticProblem problem{worked.n, worked.block, ElementType::F16, even_counts(lines, blocks),
                              even_counts(worked.columns, worked.blocks)};
        std::reverse(problem.column_counts.begin(), problem.column_counts.end());
        const Counts others = even_counts(lines - worked.columns, blocks - worked.blocks);
        problem.column_counts.insert(problem.column_counts.end(), others.begin(), others.end());
        const auto plan = plan_static_split(problem, static_bow(), worked.n_split, worked.k_split);
        REQUIRE(plan);
        const StaticBand& band = plan->parts.front().bands.front();
        CHECK(band.blocks == worked.blocks);
        CHECK(band.tiles == worked.tiles);
        CHECK(band.columns == worked.columns);
        CHECK(plan->tile.columns == worked.tile.columns);
        CHECK(plan->tile.blocks == worked.tile.blocks);
        CHECK(plan->tile.rows == worked.tile.rows);
        CHECK(plan->tile.block_columns == worked.tile.block_columns);
        CHECK(plan->tile.row_blocks == worked.tile.row_blocks);
        CHECK(plan->tile.contributors == worked.tile.contributors);
        for (const auto phase : kPhases) {
            CHECK(plan->phases.*phase == worked.phases.*phase);
        }
        CHECK(plan->phases.total() == worked.total);
        check_static_plan(*plan, problem, static_bow());
    }
}

TEST_CASE("no static split that the rules allow is better than the one found",
          "[kernels][published]") {
    std::mt19937_64 random(1);
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const ElementType type : {ElementType::F16, ElementType::F32}) {
            for (const std::int64_t tiles : {6, 40, 200}) {
                for (const Bytes bytes : {16 * 1024, 624 * 1024}) {
                    StaticProblem problem = random_problem(random, 60, 44, block, 9);
                    problem.type = type;
                    problem.n = 50;
                    const StaticMachine machine{tiles, 6, bytes};
                    CAPTURE(block, name_of(type), tiles, bytes);
                    std::optional<StaticPlan> least;
                    for_each_split(problem, machine, [&](const std::optional<StaticPlan>& plan) {
                        if (plan) {
                            check_static_plan(*plan, problem, machine);
                            if (!least || plan->phases.total() < least->phases.total()) {
                                least = plan;
                            }
                        }
                    });
                    const auto found = plan_static(problem, machine);
                    REQUIRE(found.has_value() == least.has_value());
                    if (found) {
                        CHECK(found->n_split == least->n_split);
                        CHECK(found->k_split == least->k_split);
                        CHECK(found->phases == least->phases);
                    }
                }
            }
        }
    }
}

TEST_CASE("patterns of any shape are planned", "[kernels][published]") {
    const auto check = [](const Counts& rows, const Counts& columns) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const ElementType type : {ElementType::F16, ElementType::F32}) {
                for (const std::int64_t n : {1, 4, 30, 256}) {
                    const StaticProblem problem{n, block, type, rows, columns};
                    CAPTURE(rows.size(), columns.size(), block, name_of(type), n);
                    const auto plan = plan_static(problem, static_bow());
                    REQUIRE(plan);
                    check_static_plan(*plan, problem, static_bow());
                    CHECK((plan->phases.zero > 0) == (type == ElementType::F32 && block >= 8));
                }
            }
        }
    };
    Counts one(100, 0);
    one[70] = 1;
    Counts all_in_one(100, 0);
    all_in_one[30] = 100;
    SECTION("one block") {
        check({1}, {1});
    }
    SECTION("one block among none") {
        check(one, one);
    }
    SECTION("one row") {
        check({37}, even_counts(100, 37));
    }
    SECTION("one column") {
        check(even_counts(100, 37), {37});
    }
    SECTION("all places") {
        check(Counts(100, 90), Counts(90, 100));
    }
    SECTION("all blocks in one row") {
        check(all_in_one, Counts(100, 1));
    }
    SECTION("all blocks in one column") {
        check(Counts(100, 1), all_in_one);
    }
}

TEST_CASE("columns with few blocks come last, in falling order", "[kernels][published]") {
    const Counts columns{0, 50, 1, 40, 2, 30, 60};
    const StaticProblem problem{16, 1, ElementType::F16, even_counts(50, 183), columns};
    const auto plan = plan_static_split(problem, static_bow(), 1, 3);
    REQUIRE(plan);
    CHECK(plan->column_order == Counts{1, 3, 5, 6, 4, 2, 0});
    check_static_plan(*plan, problem, static_bow());
}

TEST_CASE("a static plan takes no more than its share of the memory", "[kernels][published]") {
    std::mt19937_64 random(1);
    StaticProblem problem = random_problem(random, 64, 64, 16, 4);
    problem.n = 64;
    const auto known = plan_static(problem, static_bow());
    REQUIRE(known);
    StaticMachine machine = static_bow();
    Cycles before = known->phases.total();
    for (; machine.tile_bytes > 0; machine.tile_bytes /= 2) {
        const auto plan = plan_static(problem, machine);
        if (!plan) {
            break;
        }
        CHECK(plan->phases.total() >= before);
        check_static_plan(*plan, problem, machine);
        before = plan->phases.total();
    }
    CHECK(machine.tile_bytes > 0); // nothing fits at last
    CHECK(!plan_static_split(problem, machine, known->n_split, known->k_split));
}

TEST_CASE("a split needs a pair of tiles for each band of each part", "[kernels][published]") {
    const StaticProblem problem{16, 1, ElementType::F16, Counts(32, 32), Counts(32, 32)};
    const auto is_valid = [&](std::int64_t tiles, std::int64_t n_split, std::int64_t k_split) {
        return plan_static_split(problem, {tiles, 6, 624 * 1024}, n_split, k_split).has_value();
    };
    CHECK(is_valid(2, 1, 1));
    CHECK(!is_valid(2, 1, 2));
    CHECK(!is_valid(2, 2, 1));
    CHECK(is_valid(16, 1, 8));
    CHECK(!is_valid(14, 1, 8));
    CHECK(!is_valid(1, 1, 1));
    CHECK(!plan_static(problem, {1, 6, 624 * 1024}));
}

TEST_CASE("twice the tiles make no static plan slower", "[kernels][published]") {
    std::mt19937_64 random(1);
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const std::int64_t n : {4, 64, 1024}) {
            StaticProblem problem = random_problem(random, 128, 128, block, 8);
            problem.n = n;
            std::optional<StaticPlan> before;
            for (std::int64_t tiles = 92; tiles <= 1472; tiles *= 2) {
                CAPTURE(block, n, tiles);
                const auto plan = plan_static(problem, {tiles, 6, 624 * 1024});
                if (before) {
                    REQUIRE(plan);
                    CHECK(plan->phases.total() <= before->phases.total());
                }
                before = plan;
            }
            CHECK(before);
        }
    }
}

// The counts of docs/published_plans.md#static-sparse-products.
TEST_CASE("known static plans that some random pattern has", "[.published-table]") {
    const auto plans = known_static_plans();
    fmt::print("| seed | all | inputs | values | compute | partials | reduce | move | within 2 % | "
               "same split | search |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const EqualPlans equal = count_equal(plans, seed);
        const auto begin = std::chrono::steady_clock::now();
        const FoundPlans found = count_found(plans, seed);
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - begin;
        fmt::print("| {} | {} | {} | {} | {} | {:.1f} ms |\n", seed, equal.all,
                   fmt::join(equal.phase, " | "), found.near_sum, found.same_split,
                   time.count() / (4 * static_cast<double>(plans.size())));
    }
}

TEST_CASE("a line with exactly a tenth of the mean is one of the few", "[kernels]") {
    // ten columns of ten blocks in the mean: a tenth is one block
    StaticProblem problem;
    problem.n = 16;
    problem.column_counts = {1, 11, 11, 11, 11, 11, 11, 11, 11, 11};
    problem.row_counts = even_counts(10, 100);
    const auto at_it = plan_static(problem, static_bow());
    REQUIRE(at_it);
    CHECK(at_it->column_order == Counts{1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
    problem.column_counts = {2, 10, 11, 11, 11, 11, 11, 11, 11, 11};
    const auto above = plan_static(problem, static_bow());
    REQUIRE(above);
    CHECK(above->column_order == Counts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}
