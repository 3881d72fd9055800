// SPDX-License-Identifier: MIT
// The rules of docs/published_plans.md#static-sparse-products written down a second time, step by step,
// and compared with the planner's over random patterns and splits; and what its vertices take.
#include "kernels/published/static_planner.h"
#include "tests/kernels/published/reference_rows.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using namespace tessera::published;

using Counts = std::vector<std::int64_t>;

constexpr Bytes kPlenty = Bytes{1} << 40;
constexpr std::int64_t kWorkers = 6;

std::int64_t up(std::int64_t value, std::int64_t unit) {
    return value / unit + (value % unit != 0 ? 1 : 0);
}

std::int64_t sum_of(const Counts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

bool counts_for_means(std::int64_t count, const Counts& of) {
    return 10 * count * static_cast<std::int64_t>(of.size()) > sum_of(of);
}

std::int64_t kept_of(const Counts& counts) {
    return std::max<std::int64_t>(
        1, std::count_if(counts.begin(), counts.end(),
                         [&](std::int64_t count) { return counts_for_means(count, counts); }));
}

/// Columns that count in their order, then the others, those with most blocks first.
Counts order_of(const Counts& counts) {
    Counts order(counts.size());
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [&](std::int64_t line) {
        const std::int64_t count = counts[static_cast<std::size_t>(line)];
        return counts_for_means(count, counts) ? std::pair(std::int64_t{0}, line)
                                               : std::pair(1 + sum_of(counts) - count, line);
    };
    std::sort(order.begin(), order.end(),
              [&](std::int64_t one, std::int64_t other) { return rank(one) < rank(other); });
    return order;
}

/// Lines of which each has a block with probability p, and the spread of their number.
double expected(double p, double lines) {
    return p * lines + std::ceil(std::sqrt(p * (1 - p) * lines));
}

struct ModelPlan {
    std::vector<StaticPart> parts;
    StaticTile tile;
    StaticPhases phases; ///< but for compute
};

class Model {
public:
    Model(const StaticProblem& problem, const StaticMachine& machine, std::int64_t n_split,
          std::int64_t k_split)
        : problem_(problem), machine_(machine), n_split_(n_split), k_split_(k_split),
          b_(problem.block), s_(bytes_of(problem.type)), grain_(8 / s_),
          all_(sum_of(problem.column_counts)), rows_(kept_of(problem.row_counts)),
          columns_(kept_of(problem.column_counts)),
          density_(std::min(1.0, static_cast<double>(all_) /
                                     (static_cast<double>(rows_) * static_cast<double>(columns_)))),
          n_(up(problem.n, grain_) * grain_) {}

    /// Nothing where the split is not valid. The planner's sums of the phases but compute decide which
    /// part's tile is shown; `compute_of` says what a tile computes.
    template <class Compute>
    [[nodiscard]] std::optional<ModelPlan> plan(const Compute& compute_of) const {
        ModelPlan plan;
        plan.parts = parts();
        for (StaticPart& part : plan.parts) {
            part.bands = bands();
            if (!deal(part)) {
                return {};
            }
        }
        // one band stands for all: the first with most blocks a tile in the first part
        const auto& first = plan.parts.front().bands;
        std::size_t fullest = 0;
        for (std::size_t i = 1; i < first.size(); ++i) {
            if (up(first[i].blocks, first[i].tiles) >
                up(first[fullest].blocks, first[fullest].tiles)) {
                fullest = i;
            }
        }
        Cycles most = 0;
        for (const StaticPart& part : plan.parts) {
            const StaticBand& band = part.bands[fullest];
            std::int64_t width = 0;
            const StaticTile tile = tile_of(part, band, width);
            if (!fits(tile, band)) {
                return {};
            }
            StaticPhases phases = phases_of(tile, width);
            phases.compute = compute_of(tile);
            if (phases.total() > most) {
                plan.tile = tile;
            }
            for (const auto phase :
                 {&StaticPhases::inputs, &StaticPhases::values, &StaticPhases::compute,
                  &StaticPhases::zero, &StaticPhases::partials, &StaticPhases::reduce,
                  &StaticPhases::move}) {
                plan.phases.*phase = std::max(plan.phases.*phase, phases.*phase);
            }
            most = plan.phases.total();
        }
        return plan;
    }

private:
    [[nodiscard]] std::vector<StaticPart> parts() const {
        const std::int64_t pairs = machine_.tiles / 2;
        const std::int64_t wide = up(n_ / grain_, n_split_) * grain_;
        std::vector<StaticPart> parts;
        for (std::int64_t first = 0; first < n_; first += wide) {
            parts.push_back({first, std::min(wide, n_ - first), 0, 0, {}});
        }
        std::int64_t used = 0;
        for (StaticPart& part : parts) {
            const std::int64_t share = up(part.columns * pairs, n_ + 1) - 1;
            std::int64_t mine = std::max(share, up(pairs, static_cast<std::int64_t>(parts.size())));
            mine = std::min(mine, pairs - used);
            if (&part == &parts.back()) {
                mine = pairs - used;
            }
            part.first_tile = 2 * used;
            part.tiles = 2 * mine;
            used += mine;
        }
        return parts;
    }

    [[nodiscard]] std::vector<StaticBand> bands() const {
        std::vector<StaticBand> bands;
        std::int64_t taken = 0;
        StaticBand band;
        for (const std::int64_t column : order_of(problem_.column_counts)) {
            band.columns += 1;
            band.blocks += problem_.column_counts[static_cast<std::size_t>(column)];
            taken += 1;
            if (band.blocks >= up(all_, k_split_)) {
                bands.push_back(band);
                band = StaticBand{};
                band.first_column = taken;
            }
        }
        if (band.blocks > 0) {
            bands.push_back(band);
        } else {
            bands.back().columns += band.columns; // columns without blocks
        }
        return bands;
    }

    [[nodiscard]] bool deal(StaticPart& part) const {
        const std::int64_t pairs = part.tiles / 2;
        std::int64_t used = 0;
        for (std::size_t i = 0; i < part.bands.size(); ++i) {
            StaticBand& band = part.bands[i];
            std::int64_t mine = pairs - used;
            if (i + 1 < part.bands.size()) {
                const std::int64_t share = std::max<std::int64_t>(1, band.blocks * pairs / all_);
                const std::int64_t blocks = up(band.blocks, 2 * share);
                mine = up(up(band.blocks, blocks), 2); // no more than it takes
            }
            if (mine <= 0 || used + mine > pairs) {
                return false;
            }
            band.first_tile = part.first_tile + 2 * used;
            band.tiles = 2 * mine;
            used += mine;
        }
        return true;
    }

    [[nodiscard]] StaticTile tile_of(const StaticPart& part, const StaticBand& band,
                                     std::int64_t& width) const {
        StaticTile tile;
        tile.columns = part.columns;
        tile.blocks = up(band.blocks, band.tiles);
        const std::int64_t rows = up(rows_, band.tiles);
        width = band.columns;
        if (rows == 1) {
            const double of_one = std::ceil(static_cast<double>(band.blocks) / density_);
            width = std::min(static_cast<std::int64_t>(of_one), columns_);
        }
        const double row_has = 1 - std::pow(1 - density_, static_cast<double>(width));
        const double column_has = 1 - std::pow(1 - density_, static_cast<double>(rows));
        const auto rounded = [](double value, std::int64_t most) {
            return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(value)), 1, most);
        };
        tile.rows = rounded(expected(row_has, static_cast<double>(rows)), rows);
        tile.block_columns = rounded(expected(column_has, static_cast<double>(width)), width);
        tile.row_blocks = up(tile.blocks, tile.rows);
        tile.contributors =
            rounded(expected(row_has, static_cast<double>(k_split_)) *
                        static_cast<double>(band.columns) / static_cast<double>(width),
                    kPlenty);
        return tile;
    }

    [[nodiscard]] bool fits(const StaticTile& tile, const StaticBand& band) const {
        constexpr std::int64_t kMost = 65535;
        const Bytes line = tile.columns * b_ * s_;
        const Bytes out = tile.rows * line;
        const Bytes received = up(out * (tile.contributors - 1), tile.contributors);
        const auto bound =
            static_cast<Bytes>(kStaticShare * static_cast<double>(machine_.tile_bytes));
        return band.columns * line <= kMost * (b_ == 1 ? 1 : 8 * b_) &&
               tile.rows * (tile.row_blocks + 2) <= kMost &&
               tile.block_columns * line + tile.blocks * b_ * b_ * s_ + out <= bound &&
               received + out <= bound;
    }

    [[nodiscard]] StaticPhases phases_of(const StaticTile& tile, std::int64_t width) const {
        StaticPhases phases;
        const Bytes line = tile.columns * b_ * s_;
        const Bytes out = tile.rows * line;
        phases.inputs = static_cast<Cycles>(
            static_cast<double>(up(line * tile.block_columns, 8)) *
            (static_cast<double>(width) / static_cast<double>(tile.block_columns)));
        if (n_split_ > 1) {
            phases.values = up(tile.blocks * b_ * b_ * s_, 4);
        }
        const bool f16 = problem_.type == ElementType::F16;
        if (!f16 && b_ > 4) {
            phases.zero = machine_.workers * (12 + up(out / 8, machine_.workers));
        }
        const std::int64_t r = tile.contributors;
        phases.partials = up(up(out * (r - 1), r), 4);
        if (r > 1) {
            const std::int64_t mine = up(up(out / s_, r), machine_.workers);
            phases.reduce =
                machine_.workers * (16 + up(mine, f16 ? 8 : 4) * ((f16 ? 14 : 11) + r - 1));
        }
        phases.move = up(static_cast<std::int64_t>(problem_.row_counts.size()) * b_ * n_ * s_,
                         machine_.tiles);
        return phases;
    }

    const StaticProblem& problem_;
    const StaticMachine& machine_;
    std::int64_t n_split_;
    std::int64_t k_split_;
    std::int64_t b_;
    Bytes s_;
    std::int64_t grain_;
    std::int64_t all_;
    std::int64_t rows_;
    std::int64_t columns_;
    double density_;
    std::int64_t n_;
};

/// What the vertex of a tile that has `rows` full rows of `row_blocks` blocks takes: a full pattern
/// on two tiles.
Cycles computed(std::int64_t block, ElementType type, std::int64_t rows, std::int64_t row_blocks,
                std::int64_t columns) {
    const StaticProblem problem{columns, block, type,
                                Counts(static_cast<std::size_t>(2 * rows), row_blocks),
                                Counts(static_cast<std::size_t>(row_blocks), 2 * rows)};
    const auto plan = plan_static_split(problem, {2, kWorkers, kPlenty}, 1, 1);
    REQUIRE(plan);
    CHECK(plan->tile.rows == rows);
    CHECK(plan->tile.row_blocks == row_blocks);
    CHECK(plan->tile.columns == up(columns, 8 / bytes_of(type)) * (8 / bytes_of(type)));
    return plan->phases.compute;
}

/// Columns of X, whole words of them, of which the worker with most has so many.
std::int64_t columns_of_worker(std::int64_t columns) {
    return kWorkers * columns / 4 * 4;
}

Cycles computed(const StaticProblem& problem, const StaticTile& tile) {
    return computed(problem.block, problem.type, tile.rows, tile.row_blocks, tile.columns);
}

/// Lines with `mean` blocks each, more or less; some of them with few or none.
Counts uneven(std::mt19937& random, std::int64_t lines, std::int64_t blocks) {
    Counts counts(static_cast<std::size_t>(lines), 0);
    const std::int64_t empty = static_cast<std::int64_t>(random() % 3) * lines / 4;
    for (std::int64_t i = 0; i < blocks; ++i) {
        const auto some = static_cast<std::int64_t>(random() % 20 == 0 ? random() : random() % 977);
        const std::int64_t line = some % 50 == 0 ? some % lines : some % (lines - empty);
        ++counts[static_cast<std::size_t>(line)];
    }
    return counts;
}

} // namespace

TEST_CASE("every step of a static plan is what its rule says", "[kernels][published]") {
    std::mt19937 random(1);
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
    };
    int valid = 0;
    int refused = 0;
    for (int i = 0; i < 1500; ++i) {
        StaticProblem problem;
        problem.block = std::vector<std::int64_t>{1, 4, 8, 16}[static_cast<std::size_t>(i % 4)];
        problem.type = i % 3 == 0 ? ElementType::F32 : ElementType::F16;
        problem.n = 1 + below(i % 5 == 0 ? 600 : 40);
        const std::int64_t rows = 1 + below(60);
        const std::int64_t columns = 1 + below(60);
        const std::int64_t blocks = 1 + below(rows * columns);
        problem.row_counts = uneven(random, rows, blocks);
        problem.column_counts = uneven(random, columns, blocks);
        const StaticMachine machine{2 + below(i % 2 == 0 ? 40 : 300), kWorkers,
                                    i % 7 == 0 ? 4096 + below(30000) : 624 * 1024};
        const std::int64_t n_split = 1 + below(6);
        const std::int64_t k_split = 1 + below(12);
        CAPTURE(i, problem.block, name_of(problem.type), problem.n, rows, columns, blocks,
                machine.tiles, machine.tile_bytes, n_split, k_split);
        const auto plan = plan_static_split(problem, machine, n_split, k_split);
        const auto wanted =
            Model(problem, machine, n_split, k_split).plan([&](const StaticTile& tile) {
                return computed(problem, tile);
            });
        REQUIRE(plan.has_value() == wanted.has_value());
        if (!plan) {
            ++refused;
            continue;
        }
        ++valid;
        CHECK(plan->n_split == n_split);
        CHECK(plan->k_split == k_split);
        CHECK(plan->column_order == order_of(problem.column_counts));
        REQUIRE(plan->parts.size() == wanted->parts.size());
        for (std::size_t part = 0; part < plan->parts.size(); ++part) {
            const StaticPart& one = plan->parts[part];
            const StaticPart& other = wanted->parts[part];
            CHECK(one.first_column == other.first_column);
            CHECK(one.columns == other.columns);
            CHECK(one.first_tile == other.first_tile);
            CHECK(one.tiles == other.tiles);
            REQUIRE(one.bands.size() == other.bands.size());
            for (std::size_t band = 0; band < one.bands.size(); ++band) {
                CHECK(one.bands[band].first_column == other.bands[band].first_column);
                CHECK(one.bands[band].columns == other.bands[band].columns);
                CHECK(one.bands[band].blocks == other.bands[band].blocks);
                CHECK(one.bands[band].first_tile == other.bands[band].first_tile);
                CHECK(one.bands[band].tiles == other.bands[band].tiles);
            }
        }
        CHECK(plan->tile.columns == wanted->tile.columns);
        CHECK(plan->tile.blocks == wanted->tile.blocks);
        CHECK(plan->tile.rows == wanted->tile.rows);
        CHECK(plan->tile.block_columns == wanted->tile.block_columns);
        CHECK(plan->tile.row_blocks == wanted->tile.row_blocks);
        CHECK(plan->tile.contributors == wanted->tile.contributors);
        CHECK(plan->phases.inputs == wanted->phases.inputs);
        CHECK(plan->phases.values == wanted->phases.values);
        CHECK(plan->phases.compute == wanted->phases.compute);
        CHECK(plan->phases.zero == wanted->phases.zero);
        CHECK(plan->phases.partials == wanted->phases.partials);
        CHECK(plan->phases.reduce == wanted->phases.reduce);
        CHECK(plan->phases.move == wanted->phases.move);
    }
    CHECK(valid > 500);
    CHECK(refused > 50);
}

TEST_CASE("vertices of static plans take what the library's estimates say",
          "[kernels][published]") {
    int compared = 0;
    for (const test::CsvRow& row : test::read_reference("vertex_estimates.csv")) {
        const std::string& vertex = row.at("vertex");
        if (!vertex.starts_with("StaticSparseDense")) {
            continue;
        }
        std::map<std::string, std::int64_t> values;
        std::istringstream words(row.at("params"));
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            values[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
        }
        const ElementType type =
            row.at("type").starts_with("half") ? ElementType::F16 : ElementType::F32;
        CAPTURE(vertex, row.at("type"), row.at("params"));
        ++compared;
        if (vertex == "StaticSparseDenseElementWise") {
            CHECK(computed(1, type, kWorkers * values["rows_perWorker"], values["nzPerRow"],
                           values["n"]) == std::stoll(row.at("cycles")));
            continue;
        }
        const std::int64_t block = std::stoll(vertex.substr(vertex.rfind('x') + 1));
        CHECK(computed(block, type, values["rowBlocks"], values["nzBlocksPerRow"],
                       columns_of_worker(values["n_perWorker"])) == std::stoll(row.at("cycles")));
    }
    CHECK(compared == 30);
}

TEST_CASE("a worker takes sixths of the rows of elements, and rest columns in a loop of their own",
          "[kernels][published]") {
    for (const bool f16 : {true, false}) {
        const ElementType type = f16 ? ElementType::F16 : ElementType::F32;
        const std::int64_t vector = f16 ? 8 : 4; // columns that a loop takes
        const auto issues = [&](std::int64_t rows, std::int64_t non_zeros, std::int64_t columns) {
            return computed(1, type, rows, non_zeros, columns) / kWorkers;
        };
        CAPTURE(f16);
        // rows that a worker has are rounded up, with a start that does not depend on them
        for (const std::int64_t columns : {vector / 2, vector, 5 * vector / 2, 3 * vector}) {
            const Cycles a_row = issues(2 * kWorkers, 3, columns) - issues(kWorkers, 3, columns);
            CHECK(issues(kWorkers + 1, 3, columns) == issues(2 * kWorkers, 3, columns));
            CHECK(issues(1, 3, columns) == issues(kWorkers, 3, columns));
            CHECK(issues(7 * kWorkers, 3, columns) == issues(kWorkers, 3, columns) + 6 * a_row);
        }
        // another non-zero is an issue for the vector's load, one for its product, and with a whole
        // vector one more
        const auto further = [&](std::int64_t columns) {
            return issues(1, 9, columns) - issues(1, 8, columns);
        };
        CHECK(further(vector / 2) == 2);
        CHECK(further(vector) == 3);
        for (const std::int64_t vectors : {2, 3, 7}) {
            CHECK(further(vectors * vector) == 3 * vectors);
            CHECK(further(vectors * vector + vector / 2) == 3 * vectors + 2);
        }
        // the rest of the columns costs what it does, whatever the vectors before it
        const std::int64_t of_rest = f16 ? 9 : 10;
        CHECK(issues(1, 1, 2 * vector + vector / 2) - issues(1, 1, 2 * vector) == of_rest);
        CHECK(issues(1, 1, vector + vector / 2) - issues(1, 1, 2 * vector) ==
              of_rest - (f16 ? 14 : 10));
        // short rows have codelets of their own
        CHECK(issues(1, 1, vector / 2) == (f16 ? 31 + 7 : 29 + 5));
        CHECK(issues(1, 1, vector) == (f16 ? 31 + 8 : 30 + 6));
        CHECK(issues(1, 1, 2 * vector) == (f16 ? 33 + 11 + 28 : 31 + 12 + 20));
    }
}

TEST_CASE("a column more costs a worker of blocks its steps", "[kernels][published]") {
    struct Pass {
        std::int64_t block;
        ElementType type;
        std::vector<std::int64_t> issues; ///< of a worker with 1, 2, 3, 4 columns
    };
    const std::vector<Pass> table{
        {4, ElementType::F16, {8, 9, 16, 17}},    {8, ElementType::F16, {14, 16, 18, 20}},
        {16, ElementType::F16, {19, 23, 27, 31}}, {4, ElementType::F32, {12, 16, 20, 24}},
        {8, ElementType::F32, {19, 27, 35, 43}},  {16, ElementType::F32, {58, 90, 106, 122}},
    };
    for (const Pass& pass : table) {
        const bool f16 = pass.type == ElementType::F16;
        const std::int64_t b = pass.block;
        const std::int64_t load = 16 + b * b * bytes_of(pass.type) / 8;
        for (std::size_t i = 0; i < pass.issues.size(); ++i) {
            const auto columns = static_cast<std::int64_t>(i) + 1;
            CAPTURE(b, f16, columns);
            const auto of = [&](std::int64_t rows, std::int64_t blocks) {
                return computed(b, pass.type, rows, blocks, columns_of_worker(columns));
            };
            const Cycles a_block = load + kWorkers * pass.issues[i];
            CHECK(of(1, 2) - of(1, 1) == a_block);
            CHECK(of(1, 7) - of(1, 1) == 6 * a_block);
            const Cycles a_row = 17 + kWorkers * (f16 || b == 4 ? 1 : 4);
            CHECK(of(2, 1) - of(1, 1) == a_row + a_block);
            const std::int64_t head = f16 ? (b == 4 ? 17 : 13) : (b == 16 ? 16 : 13);
            CHECK(of(1, 1) == 30 + kWorkers * head + a_row + a_block);
        }
    }
}

namespace {

/// A full pattern of so many blocks each way.
StaticProblem full(std::int64_t rows, std::int64_t columns, std::int64_t block, std::int64_t n) {
    return {n, block, ElementType::F16, Counts(static_cast<std::size_t>(rows), columns),
            Counts(static_cast<std::size_t>(columns), rows)};
}

} // namespace

TEST_CASE("rows of X are within reach of an offset of 16 bits", "[kernels][published]") {
    constexpr std::int64_t kMost = 65535;
    const StaticMachine machine{2, kWorkers, kPlenty};
    const auto is_valid = [&](std::int64_t block, std::int64_t columns, std::int64_t n) {
        return plan_static_split(full(1, columns, block, n), machine, 1, 1).has_value();
    };
    // elements: columns of the band, n of X of two bytes
    CHECK(is_valid(1, 8191, 4));
    CHECK_FALSE(is_valid(1, 8192, 4));
    CHECK(is_valid(1, 4095, 8));
    CHECK_FALSE(is_valid(1, 4096, 8));
    // blocks: in units of eight rows of a block
    for (const std::int64_t block : {4, 8, 16}) {
        const std::int64_t n = 1024;
        const std::int64_t most = kMost * 8 * block / (n * block * 2);
        CAPTURE(block);
        CHECK(is_valid(block, most, n));
        CHECK_FALSE(is_valid(block, most + 1, n));
    }
}

TEST_CASE("a tile's list of rows and blocks has no more entries than 16 bits count",
          "[kernels][published]") {
    // of each row its blocks and two more, on two tiles with half of the rows each
    const StaticMachine machine{2, kWorkers, kPlenty};
    const auto is_valid = [&](std::int64_t rows, std::int64_t row_blocks) {
        return plan_static_split(full(2 * rows, row_blocks, 1, 4), machine, 1, 1).has_value();
    };
    CHECK(is_valid(21845, 1)); // 3 * 21845 = 65535
    CHECK_FALSE(is_valid(21846, 1));
    CHECK(is_valid(13107, 3)); // 5 * 13107 = 65535
    CHECK_FALSE(is_valid(13108, 3));
    CHECK(is_valid(1, 8000));
}

TEST_CASE("a plan fits that takes just its share of the memory", "[kernels][published]") {
    std::mt19937 random(3);
    int by_multiply = 0;
    int by_sums = 0;
    for (int i = 0; i < 300; ++i) {
        StaticProblem problem;
        problem.block = std::vector<std::int64_t>{1, 4, 8, 16}[static_cast<std::size_t>(i % 4)];
        problem.type = i % 3 == 0 ? ElementType::F32 : ElementType::F16;
        problem.n = 1 + static_cast<std::int64_t>(random() % 64);
        // tall matrices have many partial results and few rows of X
        const std::int64_t rows = i % 2 == 0 ? 400 : 20;
        const std::int64_t columns = i % 2 == 0 ? 8 : 30;
        const auto blocks = static_cast<std::int64_t>(random() % 300 + 20);
        problem.row_counts = uneven(random, rows, blocks);
        problem.column_counts = uneven(random, columns, blocks);
        StaticMachine machine{24, kWorkers, kPlenty};
        const std::int64_t k_split = 1 + i % 5;
        const auto plan = plan_static_split(problem, machine, 1, k_split);
        if (!plan) {
            continue;
        }
        const StaticTile& tile = plan->tile;
        const Bytes s = bytes_of(problem.type);
        const Bytes line = tile.columns * problem.block * s;
        const Bytes out = tile.rows * line;
        const Bytes received = up(out * (tile.contributors - 1), tile.contributors);
        const Bytes multiply =
            tile.block_columns * line + tile.blocks * problem.block * problem.block * s + out;
        const Bytes need = std::max(multiply, received + out);
        (multiply >= received + out ? by_multiply : by_sums) += 1;
        // the least memory of which the share is that much
        Bytes enough = static_cast<Bytes>(static_cast<double>(need) / kStaticShare) - 2;
        while (static_cast<Bytes>(kStaticShare * static_cast<double>(enough)) < need) {
            ++enough;
        }
        CAPTURE(i, need, enough);
        machine.tile_bytes = enough;
        CHECK(plan_static_split(problem, machine, 1, k_split));
        machine.tile_bytes = enough - 1;
        CHECK_FALSE(plan_static_split(problem, machine, 1, k_split));
    }
    CHECK(by_multiply > 30);
    CHECK(by_sums > 30);
}

TEST_CASE("a search tries no more than 32 parts of the columns", "[kernels][published]") {
    constexpr std::int64_t kMost = 32;
    StaticMachine machine{2048, kWorkers, kPlenty}; // whole pairs for each part
    const StaticProblem problem = full(4, 4, 16, 4096);
    const auto need = [&](std::int64_t n_split) { // the least memory in which it is valid
        Bytes low = 0;
        Bytes high = Bytes{1} << 24;
        while (high - low > 1) {
            machine.tile_bytes = (low + high) / 2;
            (plan_static_split(problem, machine, n_split, 1) ? high : low) = machine.tile_bytes;
        }
        return high;
    };
    const Bytes at_most = need(kMost);
    machine.tile_bytes = at_most;
    const auto found = plan_static(problem, machine);
    REQUIRE(found);
    CHECK(found->n_split == kMost);
    machine.tile_bytes = at_most - 1;
    CHECK(plan_static_split(problem, machine, 2 * kMost, 1)); // it would fit
    CHECK_FALSE(plan_static(problem, machine));
}
