// SPDX-License-Identifier: MIT
// A product's operand that stands in squares is sent from where these stand.
#include "kernels/matmul/matmul_homes.h"
#include "kernels/matmul/matmul_squares.h"
#include "kernels/workload/random.h"
#include "tests/kernels/matmul/problems.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using matmul::Grid;
using matmul::Paired;
using matmul::Partition;
using matmul::Problem;
using matmul::StandingSquares;
using test::machine_with;
using test::problem_of;

constexpr std::int64_t kSide = 16;
constexpr Bytes kSquare = 512;
constexpr std::size_t kFew = 12; ///< tiles

/// Squares of `lines` rows or columns and k, on the tiles that `tile_of(square)` says.
template <class TileOf>
graph::SquareTiles squares_of(std::int64_t lines, std::int64_t k, const TileOf& tile_of) {
    graph::SquareTiles made{k / kSide, {}};
    for (std::int64_t square = 0; square < lines / kSide * made.across; ++square) {
        const auto tile = static_cast<TileId>(tile_of(square));
        made.squares.push_back({tile, tile});
    }
    return made;
}

/// The squares of an operand that tiles send to themselves.
std::int64_t own_squares(const Grid& grid, const graph::SquareTiles& squares, bool is_a) {
    std::int64_t own = 0;
    for (std::int64_t chunk = 0; chunk < grid.partition().chunks; ++chunk) {
        for (const matmul::Strip& strip : matmul::strips_of(grid, squares, is_a, chunk)) {
            const TileId tile = squares.squares[strip.square].tile;
            if (tile >= grid.tiles()) {
                continue;
            }
            const matmul::TilePart part = grid.part(tile);
            const std::int64_t group =
                (is_a ? part.im : part.in) * grid.partition().parts_k + part.ik;
            own += group == static_cast<std::int64_t>(strip.group) ? 1 : 0;
        }
    }
    return own;
}

const std::vector<Partition> kPartitions{{4, 2, 6, 1, Paired::A},    {4, 3, 2, 2, Paired::B},
                                         {3, 2, 4, 1, Paired::None}, {2, 2, 2, 2, Paired::None},
                                         {5, 1, 4, 1, Paired::A},    {2, 4, 3, 1, Paired::B}};

} // namespace

TEST_CASE("strips are the units of all groups, and all of every square", "[kernels]") {
    constexpr std::int64_t kLines = 176; // for most parts no multiple of 16 each
    constexpr std::int64_t kK = 112;
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const Partition& partition : kPartitions) {
            const Problem problem = problem_of(kLines, kK, kLines, partials);
            const Grid grid(problem, partition);
            const auto squares = squares_of(kLines, kK, [](std::int64_t) { return 0; });
            for (const bool is_a : {true, false}) {
                CAPTURE(partials == ElementType::F16, partition.parts_m, partition.parts_k,
                        partition.parts_n, is_a);
                const matmul::Operand operand(machine_with(64), grid, is_a);
                const std::int64_t units = kSquare / operand.unit_bytes();
                std::set<std::pair<std::size_t, std::int64_t>> met; // square, unit of it
                for (std::int64_t chunk = 0; chunk < partition.chunks; ++chunk) {
                    std::map<std::size_t, std::int64_t> next; // unit, by group
                    for (const matmul::Strip& strip :
                         matmul::strips_of(grid, squares, is_a, chunk)) {
                        CHECK(strip.first == next[strip.group]);
                        next[strip.group] = strip.last;
                        const matmul::TilePart part = operand.part_of_group(strip.group);
                        const Range k_groups = grid.chunk(part.ik, chunk);
                        const Range lines = is_a ? grid.rows(part.im) : grid.out_groups(part.in);
                        for (std::int64_t unit = strip.first; unit < strip.last; ++unit) {
                            const std::int64_t line =
                                lines.first + (is_a ? unit % lines.size() : unit / k_groups.size());
                            const std::int64_t k_group =
                                k_groups.first +
                                (is_a ? unit / lines.size() : unit % k_groups.size());
                            const std::int64_t in_square = strip.from + unit - strip.first;
                            CHECK(static_cast<std::int64_t>(strip.square) ==
                                  line / units * squares.across + k_group);
                            CHECK(in_square == line % units);
                            CHECK(met.emplace(strip.square, in_square).second);
                        }
                    }
                    for (const auto& [group, end] : next) {
                        const matmul::TilePart part = operand.part_of_group(group);
                        CHECK(end == operand.units(part, grid.chunk(part.ik, chunk).size()));
                    }
                }
                CHECK(static_cast<std::int64_t>(met.size()) ==
                      units * static_cast<std::int64_t>(squares.squares.size()));
            }
        }
    }
}

TEST_CASE("a grid's parts are put beside the squares that they want", "[kernels]") {
    for (const Partition& partition : kPartitions) {
        CAPTURE(partition.parts_m, partition.parts_k, partition.parts_n);
        const Grid grid(problem_of(192, 192, 192), partition);
        // each square of a on a tile that receives it, the worst there is
        StandingSquares standing;
        standing.a = squares_of(192, 192, [](std::int64_t) { return 0; });
        for (std::int64_t chunk = 0; chunk < partition.chunks; ++chunk) {
            for (const matmul::Strip& strip : matmul::strips_of(grid, *standing.a, true, chunk)) {
                const auto group = static_cast<std::int64_t>(strip.group);
                const TileId tile =
                    grid.tile({group / partition.parts_k, group % partition.parts_k, 1});
                standing.a->squares[strip.square] = {tile, tile};
            }
        }
        CHECK(own_squares(grid, *standing.a, true) > 0);
        const Grid beside = matmul::beside_squares(grid, standing);
        CHECK(own_squares(beside, *standing.a, true) == 0);
        // the same tiles, and pairs stay pairs
        std::set<TileId> tiles;
        for (TileId tile = 0; tile < beside.tiles(); ++tile) {
            const matmul::TilePart part = beside.part(tile);
            CHECK(beside.tile(part) == tile);
            CHECK(grid.tile(part) % 2 == tile % 2);
            tiles.insert(grid.tile(part));
        }
        CHECK(static_cast<std::int64_t>(tiles.size()) == partition.tiles());
        // b: a part's column squares on its tile of one row part, so that each block of parts has one block to avoid
        standing.b = squares_of(192, 192, [](std::int64_t) { return 0; });
        for (std::int64_t chunk = 0; chunk < partition.chunks; ++chunk) {
            for (const matmul::Strip& strip : matmul::strips_of(grid, *standing.b, false, chunk)) {
                const auto group = static_cast<std::int64_t>(strip.group);
                const TileId tile =
                    grid.tile({0, group % partition.parts_k, group / partition.parts_k});
                standing.b->squares[strip.square] = {tile, tile};
            }
        }
        standing.a.reset();
        CHECK(own_squares(grid, *standing.b, false) > 0);
        if (partition.parts_k > 1) { // else all blocks want all of them
            CHECK(own_squares(matmul::beside_squares(grid, standing), *standing.b, false) == 0);
        }
    }
    const Grid grid(problem_of(192, 192, 192), kPartitions.front());
    const Grid same = matmul::beside_squares(grid, {});
    for (TileId tile = 0; tile < grid.tiles(); ++tile) {
        CHECK(grid.tile(same.part(tile)) == tile);
    }
}

TEST_CASE("parts are beside their squares wherever blocks of tiles can be dealt so", "[kernels]") {
    const workload::CounterRandom random(5, 1);
    std::uint64_t drawn = 0;
    const auto below = [&](std::size_t bound) {
        return static_cast<std::size_t>(random.below(bound, drawn++));
    };
    int dealt = 0;
    int cannot = 0;
    for (const Partition& partition :
         {Partition{3, 2, 2, 1, Paired::A}, Partition{2, 2, 4, 1, Paired::None},
          Partition{5, 1, 2, 1, Paired::None}}) {
        const Grid grid(problem_of(240, 192, 192), partition);
        const auto blocks = static_cast<std::size_t>(partition.parts_m * partition.parts_k);
        const std::int64_t size = grid.tiles() / static_cast<std::int64_t>(blocks);
        for (int round = 0; round < 40; ++round) {
            // each block of parts wants squares that stand on some blocks of tiles
            StandingSquares standing;
            standing.a = squares_of(240, 192, [](std::int64_t) { return 1000; });
            std::vector<std::vector<std::size_t>> on(blocks);
            for (auto& some : on) {
                for (std::size_t i = below(blocks) + 1; i > 0; --i) {
                    some.push_back(below(blocks));
                }
            }
            std::vector<std::set<std::size_t>> apart(blocks);
            std::vector<std::set<std::size_t>> users(standing.a->squares.size());
            for (const matmul::Strip& strip : matmul::strips_of(grid, *standing.a, true, 0)) {
                users[strip.square].insert(strip.group);
            }
            std::size_t next = 0;
            for (std::size_t square = 0; square < users.size(); ++square) {
                const auto& some = on[*users[square].begin()];
                const std::size_t block = some[next++ % some.size()];
                const auto tile = static_cast<TileId>(static_cast<std::int64_t>(block) * size + 1);
                standing.a->squares[square] = {tile, tile};
                for (const std::size_t user : users[square]) {
                    apart[user].insert(block);
                }
            }
            std::vector<std::int64_t> order(blocks);
            std::iota(order.begin(), order.end(), 0);
            bool is_possible = false;
            do {
                bool fits = true;
                for (std::size_t block = 0; block < blocks; ++block) {
                    fits = fits && !apart[block].contains(static_cast<std::size_t>(order[block]));
                }
                is_possible = is_possible || fits;
            } while (std::next_permutation(order.begin(), order.end()));
            const Grid beside = matmul::beside_squares(grid, standing);
            CHECK((own_squares(beside, *standing.a, true) == 0) == is_possible);
            (is_possible ? dealt : cannot) += 1;
        }
    }
    CHECK(dealt > 10);
    CHECK(cannot > 10);
}

TEST_CASE("an operand is sent from where its squares stand", "[kernels]") {
    constexpr std::int64_t kTiles = 64;
    const spec::MachineSpec machine = machine_with(kTiles);
    for (const Partition& partition : kPartitions) {
        for (const bool is_a : {true, false}) {
            const Grid plain(problem_of(320, 320, 320), partition);
            const bool half = partition.paired != Paired::None;
            const std::int64_t tiles = half ? kTiles / 2 : kTiles;
            StandingSquares standing;
            auto& squares = is_a ? standing.a : standing.b;
            // on odd members, in turns
            squares = squares_of(320, 320, [&](std::int64_t square) {
                return half ? 2 * (square % tiles) + 1 : square % tiles;
            });
            squares->squares[5].other = 7; // on two tiles
            const std::size_t all = squares->squares.size();
            const Grid grid = matmul::beside_squares(plain, standing);
            const matmul::Operand operand(machine, grid, is_a, standing);
            CAPTURE(partition.parts_m, partition.parts_k, partition.parts_n, is_a, operand.wide());
            std::vector<Bytes> filled(kTiles);
            std::map<std::size_t, std::set<TileId>> homes; // by square
            for (std::int64_t chunk = 0; chunk < partition.chunks; ++chunk) {
                const auto strips = matmul::strips_of(grid, *squares, is_a, chunk);
                std::map<std::pair<std::size_t, std::int64_t>, const matmul::Strip*> by_unit;
                for (const matmul::Strip& strip : strips) {
                    for (std::int64_t unit = strip.first; unit < strip.last; ++unit) {
                        by_unit[{strip.group, unit}] = &strip;
                    }
                }
                std::size_t units = 0;
                const bool sends_odd = matmul::wide_member(grid, standing, chunk) == 1;
                for (const plan::HomeRun& run : operand.runs(chunk)) {
                    const auto receivers = operand.receivers(run.group);
                    CHECK(std::ranges::is_sorted(receivers));
                    CHECK(!std::ranges::binary_search(receivers, run.tile));
                    CHECK((!half || (run.tile % 2 == 1) == (sends_odd == operand.wide())));
                    CHECK((!operand.wide() || run.units() * operand.unit_bytes() >= kSquare));
                    for (std::int64_t unit = run.first; unit < run.last; ++unit) {
                        homes[by_unit.at({run.group, unit})->square].insert(run.tile);
                        ++units;
                    }
                    filled[run.tile] += run.units() * operand.unit_bytes();
                }
                CHECK(units == by_unit.size()); // every unit once
            }
            std::size_t stay = 0;
            for (const auto& [square, of] : homes) {
                stay += of == std::set<TileId>{squares->squares[square].tile} &&
                                squares->squares[square].is_whole()
                            ? 1
                            : 0;
            }
            CHECK(std::ranges::max(filled) == operand.most_home_bytes());
            // A wide message is at least a square, which parts of other sizes cut; beside wide messages of an
            // operand that stands nowhere, the other members send.
            const bool is_cut = is_a && 320 / partition.parts_m % kSide != 0;
            const bool is_beside = half && !operand.wide();
            if ((operand.wide() && is_cut) || is_beside || partition.chunks > 1) {
                continue;
            }
            CHECK(homes.size() == all);
            CHECK(4 * stay >= 3 * all);
            CHECK(homes.at(5).size() == 1);
            CHECK(!homes.at(5).contains(squares->squares[5].tile));
            CHECK(!homes.at(5).contains(7));
            CHECK(operand.most_home_bytes() ==
                  kSquare * ceil_div(static_cast<std::int64_t>(all), tiles));
        }
    }
}

TEST_CASE("runs of squares are even, in turns, and none where most would move", "[kernels]") {
    const Grid grid(problem_of(192, 192, 192), {2, 3, 2, 1, Paired::None});
    const auto run = [&](const graph::SquareTiles& squares, const auto& may_send, Bytes least,
                         std::vector<Bytes> filled = std::vector<Bytes>(kFew)) {
        auto runs = matmul::runs_of_squares(squares, matmul::strips_of(grid, squares, true, 0),
                                            matmul::kCellBytes, least, may_send, filled);
        return std::pair(std::move(runs), std::move(filled));
    };
    const auto anywhere = [](TileId, std::size_t) { return true; };
    const auto even = squares_of(192, 192, [](std::int64_t square) { return square % 12; });
    const auto [runs, filled] = run(even, anywhere, 0);
    REQUIRE(!runs.empty());
    CHECK(filled == std::vector<Bytes>(kFew, 12 * kSquare));
    CHECK(std::ranges::is_sorted(runs, {}, &plan::HomeRun::turn));
    // neither a tile nor a group has two at once
    std::map<std::size_t, std::int64_t> group_free;
    std::map<TileId, std::int64_t> tile_free;
    std::int64_t end = 0;
    for (const plan::HomeRun& one : runs) {
        CHECK(one.turn >= group_free[one.group]);
        CHECK(one.turn >= tile_free[one.tile]);
        group_free[one.group] = tile_free[one.tile] = one.turn + one.units();
        end = std::max(end, one.turn + one.units());
    }
    // all groups have as much: two rounds of squares more than that are never needed
    CHECK(end <= 24 * kSide + 2 * kSide);
    // squares of one buffer do not overlap, and come behind what is there
    const auto [behind, more] = run(even, anywhere, 0, std::vector<Bytes>(kFew, 64));
    std::set<std::pair<TileId, Bytes>> taken;
    for (const plan::HomeRun& one : behind) {
        CHECK(one.offset >= 64);
        for (std::int64_t unit = 0; unit < one.units(); ++unit) {
            CHECK(taken.emplace(one.tile, one.offset + unit * matmul::kCellBytes).second);
        }
    }
    CHECK(more == std::vector<Bytes>(kFew, 64 + 12 * kSquare));

    // a quarter of the tiles may not send: their squares go to the others; a tile more, and none stays
    for (const TileId quiet : {TileId{3}, TileId{4}}) {
        const auto some = run(
            even, [&](TileId tile, std::size_t) { return tile >= quiet; }, 0);
        CHECK(some.first.empty() == (quiet > 3));
        for (const plan::HomeRun& one : some.first) {
            CHECK(one.tile >= quiet);
        }
    }
    CHECK(run(
              even, [](TileId, std::size_t) { return false; }, 0)
              .first.empty());
    // tiles that have too many give them away, up to a quarter
    for (const std::int64_t more_than_even : {40, 41}) {
        const auto uneven = squares_of(192, 192, [&](std::int64_t square) {
            return square < more_than_even ? 0 : square % 12;
        });
        const auto [given, of_tiles] = run(uneven, anywhere, 0);
        CHECK(given.empty() == (more_than_even > 40));
        CHECK((given.empty() || of_tiles == std::vector<Bytes>(kFew, 12 * kSquare)));
    }
    // strips of rows that are cut amid squares: 96 rows in 5 parts
    const Grid cut(problem_of(96, 192, 192), {5, 1, 2, 1, Paired::None});
    const auto few = squares_of(96, 192, [](std::int64_t square) { return square % 12; });
    const auto strips = matmul::strips_of(cut, few, true, 0);
    Bytes shortest = kSquare;
    for (const matmul::Strip& strip : strips) {
        shortest = std::min(shortest, (strip.last - strip.first) * matmul::kCellBytes);
    }
    CHECK(shortest < kSquare);
    for (const Bytes least : {shortest, shortest + 1}) {
        std::vector<Bytes> none(kFew);
        const auto some =
            matmul::runs_of_squares(few, strips, matmul::kCellBytes, least, anywhere, none);
        CHECK(some.empty() == (least > shortest));
        CHECK((!some.empty() || none == std::vector<Bytes>(kFew))); // nothing is taken
    }
    // no message is shorter than a square
    CHECK(!run(even, anywhere, kSquare).first.empty());
    CHECK(run(even, anywhere, kSquare + 1).first.empty());
}

TEST_CASE("operands are sent from where they stand if that takes least", "[kernels]") {
    constexpr std::int64_t kPairs = 32;
    const spec::MachineSpec machine = machine_with(2 * kPairs);
    const Grid grid(problem_of(320, 320, 320), {5, 2, 6, 1, Paired::A});
    const auto on = [&](std::int64_t member, std::int64_t pairs) {
        return squares_of(320, 320,
                          [=](std::int64_t square) { return 2 * (square % pairs) + member; });
    };
    const auto placed = [&](std::optional<graph::SquareTiles> a,
                            std::optional<graph::SquareTiles> b) {
        const auto placing = matmul::best_placing(machine, grid, {std::move(a), std::move(b), 0});
        return std::pair(placing.standing.a.has_value(), placing.standing.b.has_value());
    };
    // on both members of pairs: all stay, wherever the one that goes at double width stands
    CHECK(placed(on(0, kPairs), on(1, kPairs)) == std::pair(true, true));
    CHECK(placed(on(1, kPairs), on(0, kPairs)) == std::pair(true, true));
    CHECK(placed(on(1, kPairs), std::nullopt) == std::pair(true, false));
    CHECK(placed(std::nullopt, on(1, kPairs)) == std::pair(false, true));
    // piled on few tiles: it has to be dealt
    CHECK(placed(on(0, 2), std::nullopt) == std::pair(false, false));
    CHECK(placed(on(0, kPairs), on(1, 2)) == std::pair(true, false));
    // on the same members: one of them moves
    CHECK(placed(on(0, kPairs), on(0, kPairs)) == std::pair(true, false));
    CHECK(placed(std::nullopt, std::nullopt) == std::pair(false, false));
    // an operand that nobody else needs is not sent
    const Grid alone(problem_of(320, 320, 320), {20, 2, 1, 1, Paired::None});
    const auto stays = matmul::best_placing(machine, alone, {on(0, kPairs), std::nullopt, 0});
    CHECK(!stays.standing.a.has_value());
}
