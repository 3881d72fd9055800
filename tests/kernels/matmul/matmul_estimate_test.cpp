// SPDX-License-Identifier: MIT
// What a partition of a dense product is expected to cost, beside the same written down once more,
// and which tile has which part.
#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/matmul/matmul_cost.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_homes.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/matmul/problems.h"
#include "tests/support/choose_matmul.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace {

using namespace tessera;
using matmul::Grid;
using matmul::Paired;
using matmul::Partition;
using matmul::Problem;
using test::problem_of;

std::int64_t up(std::int64_t value, std::int64_t unit) {
    return value / unit + (value % unit > 0 ? 1 : 0);
}

} // namespace

TEST_CASE("a partition's cost is its weight loads, its words and its sums", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const bool half = partials == ElementType::F16;
        for (const auto& [m, k, n] :
             {std::tuple<std::int64_t, std::int64_t, std::int64_t>{64, 256, 96},
              {37, 130, 50},
              {6, 16, 16}}) {
            const Problem problem = problem_of(m, k, n, partials);
            for (const Bytes lane_bytes : {4, 8}) {
                spec::MachineSpec machine;
                machine.chip.tiles = 64;
                machine.exchange.lane_bytes = lane_bytes;
                const plan::ExchangeCost exchange(machine);
                const std::int64_t items = lane_bytes / 4;
                for (const Partition& p :
                     {Partition{1, 1, 1, 1, Paired::None}, Partition{4, 1, 1, 2, Paired::None},
                      Partition{1, 1, 2, 3, Paired::None}, Partition{2, 1, 2, 1, Paired::None},
                      Partition{2, 1, 2, 1, Paired::A}, Partition{2, 1, 2, 1, Paired::B},
                      Partition{4, 2, 1, 2, Paired::B}, Partition{1, 2, 2, 2, Paired::A},
                      Partition{6, 4, 2, 2, Paired::A}, Partition{1, 4, 1, 1, Paired::None}}) {
                    CAPTURE(half, m, k, n, lane_bytes, p.parts_m, p.parts_k, p.parts_n, p.chunks,
                            static_cast<int>(p.paired));
                    const Grid grid(problem, p);
                    const std::int64_t rows = up(m, p.parts_m);
                    const std::int64_t outs = up(up(n, half ? 16 : 8), p.parts_n);
                    const std::int64_t groups = up(up(up(k, 16), p.parts_k), p.chunks);
                    // a weight load: its words, the rows of the slowest worker, the way back
                    const std::int64_t workers = machine.tile.workers;
                    const Cycles load =
                        (half ? 32 : 16) +
                        machine.tile.round_cycles() *
                            (codelets::amp_issues(machine.amp, up(rows, workers), false) + 1) +
                        workers - 1 + machine.tile.pipeline_cycles + (rows % workers == 0 ? 3 : 0);
                    Cycles compute =
                        p.chunks * (machine.control.step_cycles + 45 +
                                    19 * machine.tile.round_cycles() + outs * (groups * load + 8));
                    // words of 4 bytes of a chunk, those of the paired operand two at a time
                    std::int64_t a = p.parts_n > 1 ? rows * groups * 8 : 0;
                    std::int64_t b = p.parts_m > 1 ? outs * groups * (half ? 128 : 64) : 0;
                    a /= p.paired == Paired::A ? 2 : 1;
                    b /= p.paired == Paired::B ? 2 : 1;
                    Cycles moves = 0;
                    Cycles syncs = 0;
                    if (p.parts_m > 1 || p.parts_n > 1) {
                        // the tiles that differ in what is counted fastest have one operand
                        const bool far = p.paired == Paired::B ? p.parts_n > 1 : p.parts_m > 1;
                        const Cycles way = far ? exchange.to_all_over(p.tiles())
                                               : exchange.to_neighbours(p.tiles());
                        moves = p.chunks * (way + up(a + b, items));
                        syncs = p.chunks;
                    }
                    Cycles reduction = 0;
                    if (p.parts_k > 1 || !half) {
                        const std::int64_t share = up(rows * outs, p.parts_k);
                        const Cycles sum = machine.control.step_cycles +
                                           plan::reduce_cycles(machine, codelets::of_f16(partials),
                                                               2 * share, p.parts_k - 1);
                        compute += sum;
                        reduction = sum;
                        if (p.parts_k > 1) {
                            const Cycles move =
                                exchange.to_neighbours(p.tiles()) +
                                (p.parts_k - 1) * std::max<Cycles>(3, up(share * 8, items));
                            moves += move;
                            ++syncs;
                            reduction += move + machine.sync.internal_cycles;
                        }
                    }
                    const auto got = matmul::estimate(machine, exchange, grid);
                    CHECK(got.compute == compute);
                    CHECK(got.exchange == moves);
                    CHECK(got.sync == syncs * machine.sync.internal_cycles);
                    CHECK(got.reduction == reduction);
                }
            }
        }
    }
}

TEST_CASE("every part of a dense product is some tile's, and pairs have what they share",
          "[kernels]") {
    const Problem problem = problem_of(64, 256, 96, ElementType::F16);
    for (const Partition& p :
         {Partition{2, 3, 4, 1, Paired::None}, Partition{3, 2, 4, 1, Paired::A},
          Partition{4, 2, 3, 1, Paired::B}, Partition{1, 5, 1, 1, Paired::None}}) {
        const Grid grid(problem, p);
        std::set<TileId> tiles;
        for (std::int64_t im = 0; im < p.parts_m; ++im) {
            for (std::int64_t ik = 0; ik < p.parts_k; ++ik) {
                for (std::int64_t in = 0; in < p.parts_n; ++in) {
                    const TileId tile = grid.tile({im, ik, in});
                    CHECK(static_cast<std::int64_t>(tile) < p.tiles());
                    tiles.insert(tile);
                    const auto part = grid.part(tile);
                    CHECK(part.im == im);
                    CHECK(part.ik == ik);
                    CHECK(part.in == in);
                    const auto partner = grid.part(tile ^ 1U);
                    if (p.paired == Paired::A) {
                        CHECK((partner.im == im && partner.ik == ik));
                    } else if (p.paired == Paired::B) {
                        CHECK((partner.in == in && partner.ik == ik));
                    }
                }
            }
        }
        CHECK(static_cast<std::int64_t>(tiles.size()) == p.tiles());
    }
}

TEST_CASE("what several tiles need of an operand is at home once, where the deal of homes says",
          "[kernels]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 32;
    const Problem problem = problem_of(50, 16 * 20, 90, ElementType::F16);
    for (const Partition& p :
         {Partition{3, 2, 2, 1, Paired::None}, Partition{4, 2, 3, 3, Paired::None},
          Partition{3, 2, 4, 2, Paired::A}, Partition{4, 2, 3, 2, Paired::B},
          Partition{2, 2, 1, 2, Paired::None}}) {
        const Grid grid(problem, p);
        for (const bool is_a : {true, false}) {
            CAPTURE(p.parts_m, p.parts_k, p.parts_n, p.chunks, static_cast<int>(p.paired), is_a);
            const matmul::Operand operand(machine, grid, is_a);
            if (is_a ? p.parts_n == 1 : p.parts_m == 1) {
                CHECK(operand.most_home_bytes() == 0);
                continue;
            }
            const Bytes unit = is_a ? 32 : problem.block_bytes();
            std::map<TileId, Bytes> filled;
            for (std::int64_t chunk = 0; chunk < p.chunks; ++chunk) {
                std::map<std::size_t, std::map<std::int64_t, std::int64_t>> found;
                std::map<std::size_t, std::int64_t> turns;
                std::pair<std::int64_t, std::size_t> latest{-1, 0};
                std::map<TileId, std::map<Bytes, Bytes>> here;
                for (const auto& run : operand.runs(chunk)) {
                    // all first ones by their groups, then all second ones
                    CHECK(std::pair(run.turn, run.group) > latest);
                    latest = {run.turn, run.group};
                    CHECK(run.turn == turns[run.group]++);
                    found[run.group][run.first] = run.last;
                    const auto receivers = operand.receivers(run.group);
                    CHECK(static_cast<std::int64_t>(receivers.size()) ==
                          (is_a ? p.parts_n : p.parts_m));
                    here[run.tile][run.offset] = (run.last - run.first) * unit;
                    const bool wide = p.paired == (is_a ? Paired::A : Paired::B);
                    if (p.paired != Paired::None && !wide) {
                        CHECK(static_cast<std::int64_t>(run.tile) % 2 != chunk % 2);
                    }
                }
                for (auto& [tile, pieces] : here) {
                    for (const auto& [offset, bytes] : pieces) {
                        CHECK(offset == filled[tile]);
                        filled[tile] += bytes;
                    }
                }
                // the same deal, with what it asks for written down once more
                std::vector<std::int64_t> units;
                std::vector<std::vector<TileId>> gets;
                const std::int64_t parts = p.parts_k * (is_a ? p.parts_m : p.parts_n);
                for (std::int64_t group = 0; group < parts; ++group) {
                    const std::int64_t ik = group % p.parts_k;
                    const std::int64_t across = group / p.parts_k;
                    units.push_back(grid.chunk(ik, chunk).size() *
                                    (is_a ? grid.rows(across) : grid.out_groups(across)).size());
                    gets.emplace_back();
                    for (std::int64_t i = 0; i < (is_a ? p.parts_n : p.parts_m); ++i) {
                        gets.back().push_back(is_a ? grid.tile({across, ik, i})
                                                   : grid.tile({i, ik, across}));
                    }
                    CHECK(operand.receivers(static_cast<std::size_t>(group)) == gets.back());
                }
                std::vector<TileId> candidates;
                for (TileId tile = 0; tile < machine.chip.tiles; ++tile) {
                    if (p.paired == Paired::None || tile % 2 != chunk % 2) {
                        candidates.push_back(tile);
                    }
                }
                // of groups that get nothing from some of these, those that lose most of them first
                const auto lost = [&](std::size_t group) {
                    return std::ranges::count_if(gets[group], [&](TileId tile) {
                        return std::ranges::find(candidates, tile) != candidates.end();
                    });
                };
                std::vector<std::size_t> order(gets.size());
                std::iota(order.begin(), order.end(), std::size_t{0});
                std::ranges::stable_sort(order, std::greater(), lost);
                std::vector<std::int64_t> ordered;
                for (const std::size_t group : order) {
                    ordered.push_back(units[group]);
                }
                const bool wide = p.paired == (is_a ? Paired::A : Paired::B);
                auto homes =
                    wide
                        ? plan::deal_to_next_group(
                              units, gets, up(machine.exchange.pair_min_items * 8, unit), chunk % 2)
                        : plan::deal_homes(ordered, candidates, up(256, unit),
                                           [&](TileId tile, std::size_t place) {
                                               return std::ranges::count(gets[order[place]], tile) >
                                                      0;
                                           });
                for (auto& home : homes) {
                    home.group = wide ? home.group : order[home.group];
                }
                // neighbours of A meet at a row of a square, where both keep seven eighths
                const std::int64_t shortest =
                    up(wide ? machine.exchange.pair_min_items * 8 : 256, unit);
                std::ranges::stable_sort(homes, {}, [](const auto& home) { return home.group; });
                for (std::size_t i = 1; is_a && i < homes.size(); ++i) {
                    auto& left = homes[i - 1];
                    auto& right = homes[i];
                    const auto rows = grid.rows(static_cast<std::int64_t>(right.group) / p.parts_k);
                    const std::int64_t column = right.first / rows.size() * rows.size();
                    const std::int64_t row = rows.first + right.first - column;
                    std::int64_t edge = row % 16 < 8 ? row - row % 16 : row - row % 16 + 16;
                    edge = std::min(std::max(edge, rows.first), rows.last);
                    const std::int64_t meet = column + edge - rows.first;
                    const std::int64_t most =
                        std::min(left.last - left.first, right.last - right.first) / 8;
                    const std::int64_t shorter =
                        std::min(left.last - left.first, right.last - right.first);
                    const std::int64_t least = std::min(meet - left.first, right.last - meet);
                    if (left.group == right.group && least >= shortest && least >= shorter - most) {
                        left.last = right.first = meet;
                    }
                }
                std::multiset<std::tuple<std::size_t, std::int64_t, std::int64_t, TileId>> wanted;
                std::multiset<std::tuple<std::size_t, std::int64_t, std::int64_t, TileId>> got;
                for (const auto& home : homes) {
                    wanted.emplace(home.group, home.first, home.last, home.tile);
                }
                for (const auto& run : operand.runs(chunk)) {
                    got.emplace(run.group, run.first, run.last, run.tile);
                }
                CHECK((got == wanted));
                const std::int64_t groups = p.parts_k * (is_a ? p.parts_m : p.parts_n);
                CHECK(static_cast<std::int64_t>(found.size()) == groups);
                for (const auto& [group, pieces] : found) {
                    std::int64_t end = 0;
                    for (const auto& [first, last] : pieces) {
                        CHECK(first == end);
                        end = last;
                    }
                    const auto number = static_cast<std::int64_t>(group);
                    const auto length = grid.chunk(number % p.parts_k, chunk).size();
                    const auto across = is_a ? grid.rows(number / p.parts_k).size()
                                             : grid.out_groups(number / p.parts_k).size();
                    CHECK(end == length * across);
                }
            }
            Bytes most = 0;
            for (const auto& [tile, bytes] : filled) {
                most = std::max(most, bytes);
            }
            CHECK(operand.most_home_bytes() == most);
        }
    }
}

TEST_CASE("what the last group has beyond the operands is padded, and only then", "[kernels]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 8;
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const std::int64_t group = partials == ElementType::F16 ? 16 : 8;
        for (const std::int64_t k : {16, 17, 31, 32, 33}) {
            for (const std::int64_t n : {group, group + 1, 2 * group - 1, 2 * group}) {
                CAPTURE(group, k, n);
                const Problem problem = problem_of(8, k, n, partials);
                const Grid grid(problem, {2, 1, 2, 1, Paired::None});
                const auto made = matmul::emit(machine, grid, "test");
                const bool pads_k = k % 16 > 0;
                const bool pads_n = n % group > 0;
                const std::map<std::string, bool> padded{{"x", pads_k},
                                                         {"home of a", pads_k},
                                                         {"weights", pads_k || pads_n},
                                                         {"home of b", pads_k || pads_n}};
                for (const auto& buffer : made.graph.buffers) {
                    const auto named = padded.find(buffer.name);
                    CHECK(buffer.padded == (named != padded.end() && named->second));
                }
            }
        }
    }
}

TEST_CASE("a sum is rounded for each group of inputs and each other part", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t tiles : {1, 8}) {
            for (const std::int64_t k : {16, 100, 4000}) {
                spec::MachineSpec machine;
                machine.chip.tiles = tiles;
                workload::MatmulWorkload workload;
                workload.m = 2;
                workload.k = k;
                workload.n = 16;
                workload.partials = partials;
                const auto division = test::choose_matmul(machine, workload).division;
                CAPTURE(partials == ElementType::F16, tiles, k, division.parts_k);
                CHECK((tiles == 1 || k < 4000 || division.parts_k > 1));
                const std::int64_t groups = up(up(k, 16), division.parts_k);
                CHECK(division.roundings == (partials == ElementType::F16
                                                 ? groups + (division.parts_k > 1 ? 1 : 0)
                                                 : 4 * groups + division.parts_k));
                CHECK(division.tiles_busy ==
                      division.parts_m * division.parts_k * division.parts_n);
            }
        }
    }
}
