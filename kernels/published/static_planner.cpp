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

StaticPhases worst_of(const StaticPhases& one, const StaticPhases& other) {
    return {std::max(one.inputs, other.inputs),     std::max(one.values, other.values),
            std::max(one.compute, other.compute),   std::max(one.zero, other.zero),
            std::max(one.partials, other.partials), std::max(one.reduce, other.reduce),
            std::max(one.move, other.move)};
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
        const std::int64_t most_n = std::min(kMostNSplit, n_ / grain());
        const std::int64_t most_k = std::max<std::int64_t>(
            1, std::min(kMostKSplit, columns_.kept / (b_ == 1 ? 1 : grain())));
        std::vector<std::vector<StaticBand>> bands;
        for (std::int64_t k_split = 1; k_split <= most_k; ++k_split) {
            bands.push_back(bands_of(k_split));
        }
        std::optional<Cost> least;
        Split split;
        for (std::int64_t n_split = 1; n_split <= most_n; ++n_split) {
            const auto parts = parts_of(n_split);
            for (std::int64_t k_split = 1; k_split <= std::min(most_k, pairs_ / n_split);
                 ++k_split) {
                const auto cost = cost_of({n_split, k_split}, parts,
                                          bands[static_cast<std::size_t>(k_split) - 1]);
                if (cost && (!least || cost->phases.total() < least->phases.total())) {
                    least = cost;
                    split = {n_split, k_split};
                }
            }
        }
        return least ? std::optional(plan_of(split, *least)) : std::nullopt;
    }

    [[nodiscard]] std::optional<StaticPlan> of(std::int64_t n_split, std::int64_t k_split) const {
        const Split split{n_split, k_split};
        auto bands = bands_of(k_split);
        const auto cost = cost_of(split, parts_of(n_split), bands);
        return cost ? std::optional(plan_of(split, *cost)) : std::nullopt;
    }

private:
    struct Split {
        std::int64_t n = 0;
        std::int64_t k = 0;
    };
    struct Cost {
        StaticTile tile;
        StaticPhases phases;
    };

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

    /// Parts of the columns of X, without bands.
    [[nodiscard]] std::vector<StaticPart> parts_of(std::int64_t n_split) const {
        const std::int64_t columns = up(n_ / grain(), n_split) * grain();
        const std::int64_t count = up(n_, columns);
        std::vector<StaticPart> parts;
        std::int64_t first_pair = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t first = i * columns;
            const std::int64_t length = std::min(columns, n_ - first);
            const std::int64_t wanted =
                std::max(up(pairs_ * length, n_ + 1) - 1, up(pairs_, count));
            const std::int64_t left = pairs_ - first_pair;
            const std::int64_t pairs = i + 1 == count ? left : std::min(wanted, left);
            parts.push_back({first, length, first_pair * kPair, pairs * kPair, {}});
            first_pair += pairs;
        }
        return parts;
    }

    /// Tiles of each band of a part: by its share of the blocks, but no more than it has work for;
    /// the last one takes what is left. False where a band would get none.
    [[nodiscard]] bool deal(std::vector<StaticBand>& bands, const StaticPart& part) const {
        const std::int64_t pairs = part.tiles / kPair;
        std::int64_t used = 0;
        for (StaticBand& band : bands) {
            std::int64_t mine = pairs - used;
            if (&band != &bands.back()) {
                mine = std::max<std::int64_t>(1, band.blocks * pairs / blocks_);
                const std::int64_t each = up(band.blocks, mine * kPair);
                mine = up(up(band.blocks, each), kPair);
            }
            if (mine < 1 || used + mine > pairs) {
                return false;
            }
            band.first_tile = part.first_tile + used * kPair;
            band.tiles = mine * kPair;
            used += mine;
        }
        return true;
    }

    /// The worst of each phase over parts that differ. One band stands for all, the same in all
    /// parts: the first of those with the most blocks a tile in the first part. `bands` are dealt
    /// anew.
    [[nodiscard]] std::optional<Cost> cost_of(const Split& split,
                                              const std::vector<StaticPart>& parts,
                                              std::vector<StaticBand>& bands) const {
        Cost worst;
        std::optional<std::size_t> fullest;
        for (auto part = parts.begin(); part != parts.end(); ++part) {
            const bool known = std::any_of(parts.begin(), part, [&](const StaticPart& other) {
                return other.columns == part->columns && other.tiles == part->tiles;
            });
            if (known) {
                continue;
            }
            if (!deal(bands, *part)) {
                return {};
            }
            if (!fullest) {
                fullest = fullest_of(bands);
            }
            const auto cost = cost_of(split, *part, bands[*fullest]);
            if (!cost) {
                return {};
            }
            if (cost->phases.total() > worst.phases.total()) {
                worst.tile = cost->tile;
            }
            worst.phases = worst_of(worst.phases, cost->phases);
        }
        return worst;
    }

    [[nodiscard]] static std::size_t fullest_of(const std::vector<StaticBand>& bands) {
        const auto fullest = std::max_element(
            bands.begin(), bands.end(), [](const StaticBand& one, const StaticBand& other) {
                return up(one.blocks, one.tiles) < up(other.blocks, other.tiles);
            });
        return static_cast<std::size_t>(fullest - bands.begin());
    }

    [[nodiscard]] StaticPlan plan_of(const Split& split, const Cost& cost) const {
        StaticPlan plan;
        plan.n_split = split.n;
        plan.k_split = split.k;
        plan.column_order = columns_.order;
        plan.parts = parts_of(split.n);
        for (StaticPart& part : plan.parts) {
            part.bands = bands_of(split.k);
            const bool dealt = deal(part.bands, part);
            TESSERA_ASSERT(dealt);
        }
        plan.tile = cost.tile;
        plan.phases = cost.phases;
        return plan;
    }

    /// Nothing where it does not fit.
    [[nodiscard]] std::optional<Cost> cost_of(const Split& split, const StaticPart& part,
                                              const StaticBand& fullest) const {
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
        const auto splits = static_cast<double>(split.k);
        tile.contributors = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::ceil(
                   (row_has * splits + std::ceil(std::sqrt(row_has * (1 - row_has) * splits))) *
                   static_cast<double>(fullest.columns) / static_cast<double>(width))));
        if (!is_valid(tile, fullest)) {
            return {};
        }
        return Cost{tile, phases_of(tile, width, split.n)};
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
        // The ratio first, as the library does: it may lose a cycle.
        phases.inputs = static_cast<Cycles>(
            static_cast<double>(up(tile.columns * tile.block_columns * b_ * s_, kSharedLaneBytes)) *
            (static_cast<double>(width) / static_cast<double>(tile.block_columns)));
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
};

void check_problem(const StaticProblem& problem) {
    TESSERA_ASSERT(problem.n >= 1);
    TESSERA_ASSERT(problem.block == 1 || problem.block == 4 || problem.block == 8 ||
                   problem.block == 16);
    TESSERA_ASSERT(problem.type == ElementType::F16 || problem.type == ElementType::F32);
    const auto blocks = [](const std::vector<std::int64_t>& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    };
    TESSERA_ASSERT(blocks(problem.row_counts) >= 1);
    TESSERA_ASSERT(blocks(problem.row_counts) == blocks(problem.column_counts));
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
    TESSERA_ASSERT(n_split >= 1 && k_split >= 1);
    return StaticSearch(problem, machine).of(n_split, k_split);
}

} // namespace tessera::published
