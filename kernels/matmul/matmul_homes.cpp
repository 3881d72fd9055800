// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_homes.h"

#include "kernels/codelets/turn_cost.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

namespace tessera::matmul {
namespace {

/// Counts, for each tile, the squares that it receives and those that it turns.
class SquareLoad {
public:
    explicit SquareLoad(const spec::MachineSpec& machine)
        : machine_(machine), come_(static_cast<std::size_t>(machine.chip.tiles)), held_(come_) {}

    void add(const Grid& grid, const Operand& operand, const graph::SquareTiles& squares) {
        std::vector<std::pair<std::size_t, TileId>> at; // square, home
        for (std::int64_t chunk = 0; chunk < grid.partition().chunks; ++chunk) {
            std::vector<const plan::HomeRun*> runs;
            for (const plan::HomeRun& run : operand.runs(chunk)) {
                runs.push_back(&run);
            }
            std::ranges::sort(runs, {},
                              [](const auto* run) { return std::pair(run->group, run->first); });
            auto run = runs.begin();
            for (const Strip& strip : strips_of(grid, squares, operand.is_a(), chunk)) {
                const auto is_before = [&](const plan::HomeRun& one) {
                    return std::pair(one.group, one.last) <= std::pair(strip.group, strip.first);
                };
                while (run != runs.end() && is_before(**run)) {
                    ++run;
                }
                for (auto one = run; one != runs.end() && (*one)->group == strip.group &&
                                     (*one)->first < strip.last;
                     ++one) {
                    at.emplace_back(strip.square, (*one)->tile);
                }
            }
        }
        std::ranges::sort(at);
        at.erase(std::unique(at.begin(), at.end()), at.end());
        for (const auto& [square, tile] : at) {
            const graph::SquareTiles::Square& stands = squares.squares[square];
            ++held_[tile];
            come_[tile] += stands.is_whole() && stands.tile == tile ? 0 : 1;
        }
    }
    /// Returns what squares take on the tiles that receive most and on those that turn most.
    [[nodiscard]] Cycles cycles() const {
        constexpr std::int64_t kLines = 4; // of a square
        // While all workers have lines, an issue takes a cycle of the tile.
        return std::ranges::max(come_) * kSquareBytes / machine_.exchange.lane_bytes +
               std::ranges::max(held_) * kLines * codelets::kTurnLine;
    }

private:
    const spec::MachineSpec& machine_;
    std::vector<std::int64_t> come_; ///< by tile
    std::vector<std::int64_t> held_;
};

} // namespace

Placing best_placing(const spec::MachineSpec& machine, const Grid& grid,
                     const StandingSquares& standing) {
    std::optional<Placing> best;
    Cycles least = 0;
    for (const auto& [with_a, with_b] : {std::pair(false, false), std::pair(true, false),
                                         std::pair(false, true), std::pair(true, true)}) {
        const bool may_a = standing.a && !grid.a_stays();
        const bool may_b = standing.b && !grid.b_stays();
        if ((with_a && !may_a) || (with_b && !may_b)) {
            continue;
        }
        StandingSquares some{with_a ? standing.a : std::nullopt, with_b ? standing.b : std::nullopt,
                             standing.first_member};
        Grid beside = beside_squares(grid, some);
        SquareLoad load(machine);
        for (const bool is_a : {true, false}) {
            if (const auto& squares = standing.of(is_a)) {
                load.add(beside, Operand(machine, beside, is_a, some), *squares);
            }
        }
        const Cycles cycles = load.cycles();
        if (!best || cycles < least) {
            best = Placing{std::move(beside), std::move(some)};
            least = cycles;
        }
    }
    return std::move(*best);
}

Operand::Operand(const spec::MachineSpec& machine, const Grid& grid, bool is_a,
                 const StandingSquares& standing)
    : machine_(machine), grid_(grid), is_a_(is_a),
      wide_(grid.partition().paired == (is_a ? Paired::A : Paired::B)),
      unit_bytes_(is_a ? kCellBytes : grid.problem().block_bytes()),
      runs_(static_cast<std::size_t>(grid.partition().chunks)),
      filled_(static_cast<std::size_t>(machine.chip.tiles)) {
    std::vector<std::vector<TileId>> receivers_of_groups;
    for (std::size_t group = 0; group < groups() && standing.of(is_a); ++group) {
        receivers_of_groups.push_back(receivers(group));
    }
    for (std::int64_t chunk = 0; chunk < grid.partition().chunks && !stays(); ++chunk) {
        const std::int64_t member = wide_member(grid, standing, chunk);
        auto& runs = runs_[static_cast<std::size_t>(chunk)];
        if (const auto& squares = standing.of(is_a)) {
            const Bytes least = wide_ ? machine.exchange.pair_min_items * 8 : 0;
            runs = runs_of_squares(
                *squares, strips_of(grid, *squares, is_a, chunk), unit_bytes_, least,
                [&](TileId tile, std::size_t group) {
                    return may_send(tile, member) &&
                           !std::ranges::binary_search(receivers_of_groups[group], tile);
                },
                filled_);
        }
        if (runs.empty()) {
            runs = plan::in_turns(deal(chunk, member), unit_bytes_, filled_);
        }
    }
}

TilePart Operand::part_of_group(std::size_t group) const {
    const auto g = static_cast<std::int64_t>(group);
    const std::int64_t parts_k = grid_.partition().parts_k;
    return is_a_ ? TilePart{g / parts_k, g % parts_k, 0} : TilePart{0, g % parts_k, g / parts_k};
}

std::int64_t Operand::units(const TilePart& part, std::int64_t k_groups) const {
    return k_groups * (is_a_ ? grid_.rows(part.im).size() : grid_.out_groups(part.in).size());
}

std::vector<TileId> Operand::receivers(std::size_t group) const {
    std::vector<TileId> tiles;
    TilePart part = part_of_group(group);
    const Partition& p = grid_.partition();
    for (std::int64_t number = 0; number < (is_a_ ? p.parts_n : p.parts_m); ++number) {
        (is_a_ ? part.in : part.im) = number;
        tiles.push_back(grid_.tile(part));
    }
    std::ranges::sort(tiles);
    return tiles;
}

std::size_t Operand::groups() const {
    const Partition& p = grid_.partition();
    return static_cast<std::size_t>(p.parts_k * (is_a_ ? p.parts_m : p.parts_n));
}

bool Operand::may_send(TileId tile, std::int64_t wide_member) const {
    // Beside wide messages: on the members that send none. Their lanes are their own again once these have passed.
    const bool half = grid_.partition().paired != Paired::None;
    return !half || (static_cast<std::int64_t>(tile) % 2 == wide_member) == wide_;
}

std::vector<plan::Home> Operand::deal(std::int64_t chunk, std::int64_t wide_member) const {
    const auto groups = this->groups();
    std::vector<std::int64_t> units_of_groups;
    std::vector<std::vector<TileId>> receivers_of_groups;
    for (std::size_t group = 0; group < groups; ++group) {
        const TilePart part = part_of_group(group);
        units_of_groups.push_back(units(part, grid_.chunk(part.ik, chunk).size()));
        receivers_of_groups.push_back(receivers(group));
    }
    if (wide_) {
        const std::int64_t shortest = ceil_div(machine_.exchange.pair_min_items * 8, unit_bytes_);
        auto homes =
            plan::deal_to_next_group(units_of_groups, receivers_of_groups, shortest, wide_member);
        cut_at_squares(homes, shortest);
        return homes;
    }
    const bool half = grid_.partition().paired != Paired::None;
    const auto may_be_home = [&](TileId tile) { return may_send(tile, wide_member); };
    std::vector<TileId> candidates;
    for (TileId tile = 0; tile < static_cast<TileId>(machine_.chip.tiles); ++tile) {
        if (may_be_home(tile)) {
            candidates.push_back(tile);
        }
    }
    // Groups that may not stand on some of these choose first.
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t group) {
        return half ? std::ranges::count_if(receivers_of_groups[group], may_be_home) : 0;
    });
    std::vector<std::int64_t> units_in_order;
    for (const std::size_t group : order) {
        units_in_order.push_back(units_of_groups[group]);
    }
    const std::int64_t shortest = ceil_div(plan::kShortestMessage, unit_bytes_);
    auto homes =
        plan::deal_homes(units_in_order, candidates, shortest, [&](TileId tile, std::size_t place) {
            return std::ranges::binary_search(receivers_of_groups[order[place]], tile);
        });
    for (plan::Home& home : homes) {
        home.group = order[home.group];
    }
    std::ranges::stable_sort(homes, {}, &plan::Home::group);
    cut_at_squares(homes, shortest);
    return homes;
}

void Operand::cut_at_squares(std::vector<plan::Home>& homes, std::int64_t shortest) const {
    constexpr std::int64_t kSide = 16;
    constexpr std::int64_t kMostMoved = 8; // parts of a home
    for (std::size_t i = 1; is_a_ && i < homes.size(); ++i) {
        plan::Home& before = homes[i - 1];
        plan::Home& home = homes[i];
        if (before.group != home.group) {
            continue;
        }
        const Range rows = grid_.rows(part_of_group(home.group).im);
        const std::int64_t row = rows.first + home.first % rows.size();
        const std::int64_t nearest = (row + kSide / 2) / kSide * kSide;
        const std::int64_t cut = home.first + std::clamp(nearest, rows.first, rows.last) - row;
        const std::int64_t shorter = std::min(home.first - before.first, home.last - home.first);
        const std::int64_t least = std::max(shortest, shorter - shorter / kMostMoved);
        if (cut - before.first >= least && home.last - cut >= least) {
            before.last = cut;
            home.first = cut;
        }
    }
}

} // namespace tessera::matmul
