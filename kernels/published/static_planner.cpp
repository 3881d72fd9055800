// SPDX-License-Identifier: MIT
#include "kernels/published/static_planner.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::published {
namespace {

constexpr std::int64_t kMostNSplit = 32;
constexpr std::int64_t kMostKSplit = 128;
constexpr std::int64_t kPair = 2;
constexpr double kFewOfMean = 0.1;          ///< rows and columns with less are left out of means
constexpr std::int64_t kMostOffset = 65535; ///< of 16 bits
constexpr Bytes kLaneBytes = 4;             ///< a cycle
constexpr Bytes kSharedLaneBytes = 8;       ///< of a pair

std::int64_t up(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit;
}

/// Lines as the planner takes them: those that count come first, then the others by falling counts.
struct Lines {
    std::vector<std::int64_t> order;
    std::int64_t kept = 0;
};

Lines lines_of(const std::vector<std::int64_t>& counts, std::int64_t all) {
    Lines lines;
    const double least = kFewOfMean * static_cast<double>(all) / static_cast<double>(counts.size());
    std::vector<std::int64_t> few;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        auto& where = static_cast<double>(counts[i]) > least ? lines.order : few;
        where.push_back(static_cast<std::int64_t>(i));
    }
    lines.kept = std::max<std::int64_t>(1, static_cast<std::int64_t>(lines.order.size()));
    std::stable_sort(few.begin(), few.end(), [&counts](std::int64_t one, std::int64_t other) {
        return counts[static_cast<std::size_t>(one)] > counts[static_cast<std::size_t>(other)];
    });
    lines.order.insert(lines.order.end(), few.begin(), few.end());
    return lines;
}

/// How many of `count` lines have a block, if each has one with probability `p`.
std::int64_t expected(double p, std::int64_t count) {
    const auto lines = static_cast<double>(count);
    return std::min(count, static_cast<std::int64_t>(
                               std::ceil(p * lines + std::ceil(std::sqrt(p * (1 - p) * lines)))));
}

class StaticSearch {
public:
    StaticSearch(const StaticProblem& problem, const StaticMachine& machine)
        : problem_(problem), machine_(machine), b_(problem.block), s_(bytes_of(problem.type)),
          blocks_(std::accumulate(problem.column_counts.begin(), problem.column_counts.end(),
                                  std::int64_t{0})),
          rows_(lines_of(problem.row_counts, blocks_)),
          columns_(lines_of(problem.column_counts, blocks_)),
          density_(
              std::min(1.0, static_cast<double>(blocks_) / (static_cast<double>(rows_.kept) *
                                                            static_cast<double>(columns_.kept)))),
          n_(up(problem.n, grain()) * grain()), pairs_(machine.tiles / kPair) {}

    [[nodiscard]] std::optional<StaticPlan> best() const {
        std::optional<StaticPlan> found;
        const std::int64_t most_n = std::min(kMostNSplit, n_ / grain());
        const std::int64_t most_k = std::min(kMostKSplit, columns_.kept / (b_ == 1 ? 1 : grain()));
        for (std::int64_t k_split = 1; k_split <= std::max<std::int64_t>(1, most_k); ++k_split) {
            bands_.push_back(bands_of(k_split));
        }
        for (std::int64_t n_split = 1; n_split <= most_n; ++n_split) {
            for (std::int64_t k_split = 1; k_split <= std::max<std::int64_t>(1, most_k);
                 ++k_split) {
                if (n_split * k_split > pairs_) {
                    break;
                }
                auto plan =
                    plan_of(n_split, k_split, bands_[static_cast<std::size_t>(k_split) - 1]);
                if (plan && (!found || plan->phases.total() < found->phases.total())) {
                    found = std::move(plan);
                }
            }
        }
        if (found) {
            found->column_order = columns_.order;
        }
        return found;
    }

    [[nodiscard]] std::optional<StaticPlan> of(std::int64_t n_split, std::int64_t k_split) const {
        auto plan = plan_of(n_split, k_split, bands_of(k_split));
        if (plan) {
            plan->column_order = columns_.order;
        }
        return plan;
    }

private:
    [[nodiscard]] std::int64_t grain() const { return kSharedLaneBytes / bytes_of(problem_.type); }
    [[nodiscard]] bool is_half() const { return problem_.type == ElementType::F16; }

    /// A band is full once it has its share of the blocks.
    [[nodiscard]] std::vector<StaticBand> bands_of(std::int64_t k_split) const {
        const std::int64_t share = up(blocks_, k_split);
        std::vector<StaticBand> bands;
        StaticBand band;
        for (const std::int64_t column : columns_.order) {
            ++band.columns;
            band.blocks += problem_.column_counts[static_cast<std::size_t>(column)];
            if (band.blocks >= share) {
                bands.push_back(band);
                band = {band.first_column + band.columns, 0, 0, 0, 0};
            }
        }
        if (band.blocks > 0) {
            bands.push_back(band);
        } else if (!bands.empty()) {
            bands.back().columns += band.columns;
        }
        return bands;
    }

    [[nodiscard]] std::optional<StaticPlan> plan_of(std::int64_t n_split, std::int64_t k_split,
                                                    const std::vector<StaticBand>& bands) const {
        StaticPlan plan;
        plan.n_split = n_split;
        plan.k_split = k_split;
        const std::int64_t columns = up(n_ / grain(), n_split) * grain();
        const std::int64_t parts = up(n_, columns);
        std::int64_t first_pair = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
            const std::int64_t first = part * columns;
            const std::int64_t length = std::min(columns, n_ - first);
            const std::int64_t wanted =
                std::max(up(pairs_ * length, n_ + 1) - 1, up(pairs_, parts));
            const std::int64_t left = pairs_ - first_pair;
            const std::int64_t pairs = part + 1 == parts ? left : std::min(wanted, left);
            auto dealt = deal(bands, first_pair, pairs);
            if (!dealt) {
                return {};
            }
            plan.parts.push_back(
                {first, length, first_pair * kPair, pairs * kPair, std::move(*dealt)});
            const auto before = plan.parts.begin() + static_cast<std::ptrdiff_t>(part);
            const bool known =
                std::any_of(plan.parts.begin(), before, [&](const StaticPart& other) {
                    return other.columns == length && other.tiles == pairs * kPair;
                });
            if (!known && !take_worst(plan, plan.parts.back(), bands.size())) {
                return {};
            }
            first_pair += pairs;
        }
        return plan;
    }

    /// Tiles of each band: by its share of the blocks, but no more than it has work for; the last
    /// one takes what is left.
    [[nodiscard]] std::optional<std::vector<StaticBand>>
    deal(std::vector<StaticBand> bands, std::int64_t first_pair, std::int64_t pairs) const {
        std::int64_t used = 0;
        for (std::size_t i = 0; i < bands.size(); ++i) {
            StaticBand& band = bands[i];
            std::int64_t mine = pairs - used;
            if (i + 1 < bands.size()) {
                mine = std::max<std::int64_t>(1, band.blocks * pairs / blocks_);
                const std::int64_t each = up(band.blocks, mine * kPair);
                mine = up(up(band.blocks, each), kPair);
            }
            if (mine < 1 || used + mine > pairs) {
                return {};
            }
            band.first_tile = (first_pair + used) * kPair;
            band.tiles = mine * kPair;
            used += mine;
        }
        return bands;
    }

    /// What the part costs, if that is more than what the plan has. False where it does not fit.
    bool take_worst(StaticPlan& plan, const StaticPart& part, std::size_t bands) const {
        const StaticBand& fullest =
            *std::max_element(part.bands.begin(), part.bands.end(),
                              [](const StaticBand& one, const StaticBand& other) {
                                  return up(one.blocks, one.tiles) < up(other.blocks, other.tiles);
                              });
        StaticTile tile;
        tile.columns = part.columns;
        tile.blocks = up(fullest.blocks, fullest.tiles);
        const std::int64_t rows = up(rows_.kept, fullest.tiles);
        const std::int64_t width =
            rows == 1 ? std::min(static_cast<std::int64_t>(
                                     std::ceil(static_cast<double>(fullest.blocks) / density_)),
                                 columns_.kept)
                      : fullest.columns;
        const double row_has = 1 - std::pow(1 - density_, static_cast<double>(width));
        const double column_has = 1 - std::pow(1 - density_, static_cast<double>(rows));
        tile.rows = std::max<std::int64_t>(1, expected(row_has, rows));
        tile.block_columns = std::max<std::int64_t>(1, expected(column_has, width));
        tile.row_blocks = up(tile.blocks, tile.rows);
        const auto splits = static_cast<double>(bands);
        tile.contributors = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::ceil(
                   (row_has * splits + std::ceil(std::sqrt(row_has * (1 - row_has) * splits))) *
                   static_cast<double>(fullest.columns) / static_cast<double>(width))));
        if (!is_valid(tile, fullest)) {
            return false;
        }
        const StaticPhases phases = phases_of(tile, width, plan.n_split);
        if (phases.total() > plan.phases.total()) {
            plan.phases = phases;
            plan.tile = tile;
        }
        return true;
    }

    [[nodiscard]] bool is_valid(const StaticTile& tile, const StaticBand& band) const {
        const Bytes line = tile.columns * b_ * s_;
        const std::int64_t unit = b_ == 1 ? 1 : 8 * b_;
        if (band.columns * line > kMostOffset * unit) {
            return false;
        }
        const std::int64_t entries = tile.rows * (tile.row_blocks + 2);
        if (entries > kMostOffset) {
            return false;
        }
        const Bytes out = tile.rows * line;
        const Bytes multiply = tile.block_columns * line + tile.blocks * b_ * b_ * s_ + out;
        const Bytes received = up(out * (tile.contributors - 1), tile.contributors);
        return std::max(multiply, received + out) <=
               static_cast<Bytes>(kStaticShare * static_cast<double>(machine_.tile_bytes));
    }

    [[nodiscard]] StaticPhases phases_of(const StaticTile& tile, std::int64_t width,
                                         std::int64_t n_split) const {
        StaticPhases phases;
        const Bytes out = tile.rows * tile.columns * b_ * s_;
        phases.inputs = up(tile.columns * tile.block_columns * b_ * s_, kSharedLaneBytes) * width /
                        tile.block_columns;
        phases.values = n_split > 1 ? up(tile.blocks * b_ * b_ * s_, kLaneBytes) : 0;
        phases.compute = b_ == 1 ? elements(tile) : blocks(tile);
        const std::int64_t workers = machine_.workers;
        if (!is_half() && b_ >= 8) {
            phases.zero = workers * (12 + up(out / 8, workers));
        }
        phases.partials = up(up(out * (tile.contributors - 1), tile.contributors), kLaneBytes);
        if (tile.contributors > 1) {
            const std::int64_t outputs = up(tile.rows * tile.columns * b_, tile.contributors);
            const std::int64_t at_once = is_half() ? 8 : 4;
            const std::int64_t store = is_half() ? 8 : 5;
            phases.reduce = workers * (16 + up(up(outputs, workers), at_once) *
                                                (6 + store + tile.contributors - 1));
        }
        const auto rows = static_cast<std::int64_t>(problem_.row_counts.size()) * b_;
        phases.move = up(rows * n_ * s_, machine_.tiles);
        return phases;
    }

    [[nodiscard]] Cycles elements(const StaticTile& tile) const {
        const std::int64_t rows = up(tile.rows, machine_.workers);
        const std::int64_t more = tile.row_blocks - 1;
        const std::int64_t c = tile.columns;
        std::int64_t issues = 0;
        if (is_half()) {
            issues =
                c == 4 ? 31 + rows * (7 + 2 * more)
                : c == 8
                    ? 31 + rows * (8 + 3 * more)
                    : 33 + rows * (11 + c / 8 * (14 + 3 * more) + (c % 8 != 0 ? 9 + 2 * more : 0));
        } else {
            issues =
                c == 2 ? 29 + rows * (5 + 2 * more)
                : c == 4
                    ? 30 + rows * (6 + 3 * more)
                    : 31 + rows * (12 + c / 4 * (10 + 3 * more) + (c % 4 != 0 ? 10 + 2 * more : 0));
        }
        return machine_.workers * issues;
    }

    [[nodiscard]] Cycles blocks(const StaticTile& tile) const {
        const std::int64_t workers = machine_.workers;
        const std::int64_t c = up(tile.columns, workers);
        std::int64_t head = 13;
        std::int64_t row = 1;
        std::int64_t pass = 0;
        if (is_half()) {
            head = b_ == 4 ? 17 : 13;
            pass = b_ == 4 ? (c <= 2 ? 7 : 13) + c : b_ == 8 ? 14 + 2 * (c - 1) : 19 + 4 * (c - 1);
        } else {
            head = b_ == 16 ? 16 : 13;
            row = b_ == 4 ? 1 : 4;
            pass = b_ == 4   ? 12 + 4 * (c - 1)
                   : b_ == 8 ? 19 + 8 * (c - 1)
                             : (c == 1 ? 58 : 2 * (37 + 8 * (c - 1)));
        }
        return 30 + workers * head +
               tile.rows * (workers * row + 17 +
                            tile.row_blocks * (16 + b_ * b_ * s_ / 8 + workers * pass));
    }

    const StaticProblem& problem_;
    const StaticMachine& machine_;
    std::int64_t b_;
    Bytes s_;
    std::int64_t blocks_;
    Lines rows_;
    Lines columns_;
    double density_;
    std::int64_t n_;
    std::int64_t pairs_;
    mutable std::vector<std::vector<StaticBand>> bands_;
};

void check_problem(const StaticProblem& problem) {
    TESSERA_ASSERT(problem.n >= 1);
    TESSERA_ASSERT(problem.block == 1 || problem.block == 4 || problem.block == 8 ||
                   problem.block == 16);
}

} // namespace

StaticMachine static_machine(const spec::MachineSpec& machine) {
    return {machine.chip.tiles, machine.tile.workers, machine.memory.bytes()};
}

std::optional<StaticPlan> plan_static(const StaticProblem& problem, const StaticMachine& machine) {
    check_problem(problem);
    return StaticSearch(problem, machine).best();
}

std::optional<StaticPlan> plan_static_split(const StaticProblem& problem,
                                            const StaticMachine& machine, std::int64_t n_split,
                                            std::int64_t k_split) {
    check_problem(problem);
    return StaticSearch(problem, machine).of(n_split, k_split);
}

} // namespace tessera::published
