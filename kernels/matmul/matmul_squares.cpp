// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_squares.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

namespace tessera::matmul {
namespace {

constexpr std::int64_t kSide = 16;

/// Blocks of a grid's parts, and which blocks of tiles they should not be on.
struct Blocks {
    std::int64_t size = 0; ///< tiles of a block
    /// By block of parts: blocks of tiles with squares that one of its tiles would send to itself.
    std::vector<std::vector<std::int64_t>> apart;

    [[nodiscard]] bool may_be_on(std::size_t parts, std::int64_t tiles) const {
        return !std::ranges::binary_search(apart[parts], tiles);
    }
};

Blocks blocks_of(const Grid& grid, const StandingSquares& standing) {
    const Partition& p = grid.partition();
    const bool by_b = p.paired == Paired::B;
    Blocks made{by_b ? p.parts_m : p.parts_n, {}};
    made.apart.resize(static_cast<std::size_t>(p.tiles() / made.size));
    for (const bool is_a : {true, false}) {
        const auto& squares = standing.of(is_a);
        if (!squares) {
            continue;
        }
        for (std::int64_t chunk = 0; chunk < p.chunks; ++chunk) {
            for (const Strip& strip : strips_of(grid, *squares, is_a, chunk)) {
                const graph::SquareTiles::Square& square = squares->squares[strip.square];
                if (!square.is_whole() || square.tile >= grid.tiles()) {
                    continue;
                }
                const auto group = static_cast<std::int64_t>(strip.group);
                const std::int64_t stands = square.tile / made.size;
                if (is_a != by_b) { // all tiles of a block receive it
                    made.apart[strip.group].push_back(stands);
                } else if (square.tile % made.size == group / p.parts_k) { // one of each block
                    for (std::int64_t other = 0; other < (is_a ? p.parts_n : p.parts_m); ++other) {
                        made.apart[static_cast<std::size_t>(other * p.parts_k + group % p.parts_k)]
                            .push_back(stands);
                    }
                }
            }
        }
    }
    for (auto& some : made.apart) {
        std::ranges::sort(some);
        some.erase(std::unique(some.begin(), some.end()), some.end());
    }
    return made;
}

/// Finds a block of tiles for each block of parts, by augmenting paths (Kuhn).
class Matching {
public:
    explicit Matching(const Blocks& blocks)
        : blocks_(blocks), all_(blocks.apart.size()), of_tiles_(all_), is_seen_(all_) {}

    /// By block of parts. Those for which there is none get what is left.
    std::vector<std::int64_t> run() {
        for (std::size_t parts = 0; parts < all_; ++parts) {
            is_seen_.assign(all_, false);
            static_cast<void>(find(parts));
        }
        std::vector<std::int64_t> made(all_, -1);
        for (std::size_t tiles = 0; tiles < all_; ++tiles) {
            if (of_tiles_[tiles]) {
                made[*of_tiles_[tiles]] = static_cast<std::int64_t>(tiles);
            }
        }
        std::size_t next = 0;
        for (std::int64_t& tiles : made) {
            while (tiles < 0) {
                tiles = of_tiles_[next] ? -1 : static_cast<std::int64_t>(next);
                ++next;
            }
        }
        return made;
    }

private:
    bool find(std::size_t parts) {
        for (std::size_t i = 0; i < all_; ++i) {
            const std::size_t tiles = (parts + i) % all_;
            if (is_seen_[tiles] || !blocks_.may_be_on(parts, static_cast<std::int64_t>(tiles))) {
                continue;
            }
            is_seen_[tiles] = true;
            if (!of_tiles_[tiles] || find(*of_tiles_[tiles])) {
                of_tiles_[tiles] = parts;
                return true;
            }
        }
        return false;
    }

    const Blocks& blocks_;
    std::size_t all_;
    std::vector<std::optional<std::size_t>> of_tiles_;
    std::vector<bool> is_seen_;
};

/// Orders messages as tiles would send them that take the next one as soon as they and a group are free: groups and
/// tiles that have most left come first.
void order_sends(std::vector<plan::HomeRun>& runs, std::size_t groups, std::size_t tiles) {
    constexpr std::size_t kLooks = 64; // messages of a group that are looked at
    struct Left {
        std::vector<plan::HomeRun*> runs;
        std::size_t first = 0; ///< those before are sent
        std::int64_t units = 0;
    };
    std::vector<Left> left(groups);
    std::vector<std::int64_t> free(tiles);
    std::vector<std::int64_t> left_of_tile(tiles);
    for (plan::HomeRun& run : runs) {
        left[run.group].runs.push_back(&run);
        left[run.group].units += run.units();
        left_of_tile[run.tile] += run.units();
    }
    // when a group is free, and what it has left
    using Turn = std::tuple<std::int64_t, std::int64_t, std::size_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> next;
    for (std::size_t group = 0; group < groups; ++group) {
        next.emplace(0, -left[group].units, group);
    }
    while (!next.empty()) {
        const auto [now, units, group] = next.top();
        next.pop();
        const auto some = std::span(left[group].runs).subspan(left[group].first);
        if (some.empty()) {
            continue;
        }
        const auto end = some.begin() + static_cast<std::ptrdiff_t>(std::min(kLooks, some.size()));
        const auto best =
            std::min_element(some.begin(), end, [&, now = now](const auto* l, const auto* r) {
                const auto key = [&](const plan::HomeRun* run) {
                    return std::tuple(std::max(now, free[run->tile]), -left_of_tile[run->tile]);
                };
                return key(l) < key(r);
            });
        plan::HomeRun& run = **best;
        std::rotate(some.begin(), best, best + 1); // the others stay in their order
        ++left[group].first;
        run.turn = std::max(now, free[run.tile]);
        free[run.tile] = run.turn + run.units();
        left[group].units -= run.units();
        left_of_tile[run.tile] -= run.units();
        next.emplace(free[run.tile], -left[group].units, group);
    }
    std::ranges::stable_sort(runs, {}, &plan::HomeRun::turn);
}

} // namespace

Grid beside_squares(const Grid& grid, const StandingSquares& standing) {
    if (!standing.a && !standing.b) {
        return grid;
    }
    return grid.with_blocks(Matching(blocks_of(grid, standing)).run());
}

std::int64_t wide_member(const Grid& grid, const StandingSquares& standing, std::int64_t chunk) {
    const bool is_a = grid.partition().paired == Paired::A;
    const auto& squares = standing.of(is_a);
    if (!squares) {
        return (standing.first_member + chunk) % 2;
    }
    std::int64_t odd = 0;
    std::int64_t even = 0;
    for (const Strip& strip : strips_of(grid, *squares, is_a, chunk)) {
        ++(squares->squares[strip.square].tile % 2 == 1 ? odd : even);
    }
    return odd > even ? 1 : 0;
}

std::vector<Strip> strips_of(const Grid& grid, const graph::SquareTiles& squares, bool is_a,
                             std::int64_t chunk) {
    const Partition& p = grid.partition();
    const std::int64_t side = is_a ? kSide : kSide / grid.problem().group; // of a square in lines
    std::vector<Strip> strips;
    for (std::int64_t group = 0; group < p.parts_k * (is_a ? p.parts_m : p.parts_n); ++group) {
        const Range k_groups = grid.chunk(group % p.parts_k, chunk);
        const Range lines =
            is_a ? grid.rows(group / p.parts_k) : grid.out_groups(group / p.parts_k);
        std::int64_t unit = 0;
        const auto add = [&](std::int64_t k_group, std::int64_t line, std::int64_t count) {
            strips.push_back({static_cast<std::size_t>(line / side * squares.across + k_group),
                              line % side, static_cast<std::size_t>(group), unit, unit + count});
            unit += count;
        };
        if (is_a) { // [k group][row]
            for (std::int64_t k_group = k_groups.first; k_group < k_groups.last; ++k_group) {
                for (std::int64_t row = lines.first; row < lines.last;) {
                    const std::int64_t end = std::min(lines.last, (row / side + 1) * side);
                    add(k_group, row, end - row);
                    row = end;
                }
            }
            continue;
        }
        for (std::int64_t line = lines.first; line < lines.last; ++line) { // [out group][k group]
            for (std::int64_t k_group = k_groups.first; k_group < k_groups.last; ++k_group) {
                add(k_group, line, 1);
            }
        }
    }
    return strips;
}

std::vector<plan::HomeRun> runs_of_squares(const graph::SquareTiles& squares,
                                           const std::vector<Strip>& strips, Bytes unit_bytes,
                                           Bytes least,
                                           const std::function<bool(TileId, std::size_t)>& may_send,
                                           std::vector<Bytes>& filled) {
    constexpr std::size_t kMostMoved = 4; // of so many squares one
    struct Taken {
        std::vector<std::size_t> groups;
        std::optional<TileId> home;
        Bytes offset = 0;
    };
    std::vector<Taken> taken(squares.squares.size());
    std::vector<std::size_t> order; // squares, by their first strips
    std::size_t groups = 0;
    for (const Strip& strip : strips) {
        if ((strip.last - strip.first) * unit_bytes < least) {
            return {};
        }
        if (taken[strip.square].groups.empty()) {
            order.push_back(strip.square);
        }
        taken[strip.square].groups.push_back(strip.group);
        groups = std::max(groups, strip.group + 1);
    }
    const auto may_be_home = [&](TileId tile, std::size_t square) {
        return std::ranges::all_of(taken[square].groups,
                                   [&](std::size_t group) { return may_send(tile, group); });
    };
    std::vector<TileId> candidates;
    for (TileId tile = 0; tile < static_cast<TileId>(filled.size()); ++tile) {
        bool may = false;
        for (std::size_t group = 0; group < groups && !may; ++group) {
            may = may_send(tile, group);
        }
        if (may) {
            candidates.push_back(tile);
        }
    }
    if (candidates.empty()) {
        return {};
    }
    const std::int64_t most = ceil_div(static_cast<std::int64_t>(order.size()),
                                       static_cast<std::int64_t>(candidates.size()));
    std::vector<std::int64_t> had(filled.size()); // squares, by tile
    std::vector<std::size_t> moved;
    for (const std::size_t square : order) {
        const graph::SquareTiles::Square& stands = squares.squares[square];
        if (stands.is_whole() && had[stands.tile] < most && may_be_home(stands.tile, square)) {
            taken[square].home = stands.tile;
            ++had[stands.tile];
        } else {
            moved.push_back(square);
        }
    }
    if (moved.size() * kMostMoved > order.size()) {
        return {};
    }
    // The exchange that moves them takes as long as its fullest tile.
    std::vector<std::int64_t> got(filled.size());
    for (const std::size_t square : moved) {
        const graph::SquareTiles::Square& stands = squares.squares[square];
        auto& home = taken[square].home;
        for (const TileId tile : candidates) {
            if (tile == stands.tile || tile == stands.other) {
                continue; // that tile would copy its part
            }
            const bool is_less =
                !home || std::pair(got[tile], had[tile]) < std::pair(got[*home], had[*home]);
            if (is_less && had[tile] < most && may_be_home(tile, square)) {
                home = tile;
            }
        }
        if (!home) {
            return {};
        }
        ++got[*home];
        ++had[*home];
    }
    for (const std::size_t square : order) {
        Taken& one = taken[square];
        one.offset = filled[*one.home];
        filled[*one.home] += kSquareBytes;
    }
    std::vector<plan::HomeRun> runs;
    for (const Strip& strip : strips) {
        const Taken& one = taken[strip.square];
        const Bytes offset = one.offset + strip.from * unit_bytes;
        const bool goes_on = !runs.empty() && runs.back().group == strip.group &&
                             runs.back().tile == *one.home &&
                             runs.back().offset + runs.back().units() * unit_bytes == offset;
        if (goes_on) {
            runs.back().last = strip.last;
        } else {
            runs.push_back({{strip.group, strip.first, strip.last, *one.home}, offset});
        }
    }
    order_sends(runs, groups, filled.size());
    return runs;
}

} // namespace tessera::matmul
