// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/graph/cells.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/control_code.h"
#include "kernels/lower/memory_plan.h"
#include "kernels/lower/rows.h"
#include "kernels/lower/stub.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/homes.h"
#include "kernels/plan/lowest_fit.h"
#include "models/timing/control_timing.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace tessera;

TEST_CASE("what an exchange costs beside its words follows its fabric's parameters", "[kernels]") {
    using spec::Fabric;
    using Costs = std::array<Cycles, 3>; // of any, to neighbours, all over
    const auto overhead = [](Fabric fabric, const auto& change) {
        spec::MachineSpec machine;
        machine.chip.tiles = 130;
        machine.exchange.fabric = fabric;
        change(machine.exchange);
        const plan::ExchangeCost cost(machine);
        return Costs{plan::row_overhead(machine.exchange), cost.to_neighbours(130),
                     cost.to_all_over(130)};
    };
    const auto same = [](spec::ExchangeSpec&) {};
    const auto differs = [&](Fabric fabric, const auto& change) {
        Costs after = overhead(fabric, change);
        const Costs before = overhead(fabric, same);
        for (std::size_t i = 0; i < after.size(); ++i) {
            after.at(i) -= before.at(i);
        }
        return after;
    };
    const spec::ExchangeSpec bow;
    CHECK(overhead(Fabric::Compiled, same)[0] == bow.prologue_cycles + bow.row_return_cycles);
    CHECK(overhead(Fabric::Mesh, same)[0] == bow.prologue_cycles);
    CHECK(overhead(Fabric::Bound, same) == Costs{0, 0, 0});
    const bool link[] = {false, false, true, true};
    for (const Fabric fabric : {Fabric::Compiled, Fabric::Bound, Fabric::Mesh, Fabric::Ring}) {
        const auto number = static_cast<std::size_t>(fabric);
        CAPTURE(number);
        const Cycles compiled = fabric == Fabric::Compiled ? 10 : 0;
        const Cycles rows = fabric == Fabric::Bound ? 0 : 10;
        CHECK(differs(fabric, [](auto& e) { e.prologue_cycles += 10; }) == Costs{rows, rows, rows});
        CHECK(differs(fabric, [](auto& e) { e.row_return_cycles += 10; }) ==
              Costs{compiled, compiled, compiled});
        CHECK(differs(fabric, [](auto& e) { e.row_tail_cycles += 10; }) ==
              Costs{0, compiled, compiled});
        // a word waits for its mux, or its way is longer than from there
        CHECK(differs(fabric, [](auto& e) { e.mux_to_pointer_cycles += 10; })[2] == compiled);
        const Costs way = differs(fabric, [](auto& e) { e.route_cycles += 200; });
        CHECK((way[1] > 0) == (fabric == Fabric::Compiled));
        CHECK((way[2] > 0) == (fabric == Fabric::Compiled));
        CHECK((differs(fabric, [](auto& e) { e.hop_cycles += 10; })[1] > 0) == link[number]);
        CHECK((differs(fabric, [](auto& e) { e.ring_directions = 1; })[2] > 0) ==
              (fabric == Fabric::Ring));
    }
}

TEST_CASE("a word to all tiles takes as long as the control program's from the worst of them",
          "[kernels]") {
    for (const std::int64_t tiles : {2, 4, 40, 64, 200, 1472}) {
        CAPTURE(tiles);
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        Cycles worst = 0;
        for (TileId from = 0; from < static_cast<TileId>(std::min<std::int64_t>(tiles, 200));
             ++from) {
            worst = std::max(worst, timing::word_broadcast_cycles(machine, from));
        }
        const plan::ExchangeCost cost(machine);
        // there, sending takes an event
        CHECK(cost.to_all_over(tiles) >= worst - 1);
        if (tiles <= 200) {
            CHECK(cost.to_all_over(tiles) == worst - 1);
        }
        CHECK(cost.to_all_over(2 * tiles) == cost.to_all_over(tiles));
        for (std::int64_t to = 1; to <= tiles; ++to) {
            REQUIRE(cost.to_neighbours(to) <= cost.to_all_over(to));
            REQUIRE(cost.to_all_over(to) <= cost.to_all_over(to + 1));
            REQUIRE(cost.to_neighbours(to) <= cost.to_neighbours(to + 1));
        }
    }
}

TEST_CASE("a word to the last tile takes the estimated cycles in the mean", "[kernels]") {
    for (const std::int64_t tiles : {4, 64, 256}) {
        CAPTURE(tiles);
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        const auto one = [&](TileId from, TileId to) {
            const std::vector<program::Transfer> alone{{from, 0x80000, 4, false, {{to, 0x90000}}}};
            return plan::row_overhead(machine.exchange) +
                   exchange_plan::plan_exchange_with_stats(machine, "one", alone)
                       .stats.longest_row_events;
        };
        const plan::ExchangeCost cost(machine);
        const auto last = static_cast<TileId>(tiles - 1);
        Cycles sum = 0;
        for (TileId from = 0; from < last; ++from) {
            sum += one(from, last);
        }
        // beside its one word; the tile that is farthest from all may be another one
        CHECK(sum / (tiles - 1) - 1 <= cost.to_neighbours(tiles));
        CHECK(sum / (tiles - 1) - 1 >= cost.to_neighbours(tiles) - 25);
    }
}

TEST_CASE("homes hold every unit once and evenly and away from receivers", "[kernels]") {
    const std::vector<std::int64_t> units = {10, 0, 7, 3};
    const std::vector<TileId> tiles = {0, 1, 2, 3, 4, 5, 6, 7};
    const auto receives = [](TileId tile, std::size_t group) { return tile / 2 == group; };
    std::map<std::size_t, std::int64_t> dealt;
    std::map<TileId, std::int64_t> held;
    for (const plan::Home& home : plan::deal_homes(units, tiles, 1, receives)) {
        CHECK(home.first == dealt[home.group]);
        CHECK_FALSE(receives(home.tile, home.group));
        dealt[home.group] = home.last;
        held[home.tile] += home.last - home.first;
    }
    for (std::size_t group = 0; group < units.size(); ++group) {
        CHECK(dealt[group] == units[group]);
    }
    for (const auto& [tile, count] : held) {
        CHECK(count <= 3);
    }
}

TEST_CASE("no home holds more than an even share or the least that is worth a message",
          "[kernels]") {
    const auto nobody = [](TileId, std::size_t) { return false; };
    const std::vector<TileId> tiles = {0, 1, 2, 3, 4, 5, 6};
    for (std::int64_t total = 1; total <= 40; ++total) {
        for (const std::int64_t share : {1, 3, 10}) {
            std::map<TileId, std::int64_t> held;
            for (const plan::Home& home :
                 plan::deal_homes({total / 2, total - total / 2}, tiles, share, nobody)) {
                held[home.tile] += home.last - home.first;
            }
            std::int64_t most = 0;
            for (const auto& [tile, count] : held) {
                most = std::max(most, count);
            }
            CHECK(most == std::min(total, std::max(share, (total + 6) / 7)));
        }
    }
}

TEST_CASE("a group's data have as many wide homes as are worth a message and as there are pairs",
          "[kernels]") {
    const std::vector<std::vector<TileId>> receivers = {{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}};
    for (std::int64_t units = 1; units <= 20; ++units) {
        for (std::int64_t shortest = 1; shortest <= 6; ++shortest) {
            const auto homes = plan::deal_to_next_group({units, units}, receivers, shortest, 0);
            const auto each = std::clamp<std::int64_t>(units / shortest, 1, 3);
            CHECK(homes.size() == static_cast<std::size_t>(2 * each));
        }
    }
}

TEST_CASE("homes for double width stand on one member of other pairs", "[kernels]") {
    const std::vector<std::vector<TileId>> receivers = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    for (const std::int64_t member : {0, 1}) {
        std::map<std::size_t, std::int64_t> dealt;
        for (const plan::Home& home : plan::deal_to_next_group({9, 8}, receivers, 4, member)) {
            CHECK(home.tile % 2 == static_cast<TileId>(member));
            CHECK(home.tile / 4 != home.group);
            CHECK(home.first == dealt[home.group]);
            CHECK(home.last - home.first >= 4);
            dealt[home.group] = home.last;
        }
        CHECK(dealt[0] == 9);
        CHECK(dealt[1] == 8);
    }
}

TEST_CASE("cells become pieces that hold each element once", "[kernels]") {
    graph::CellGrid grid;
    grid.rows = 5;
    grid.group = 4;
    grid.first_row = 2;
    grid.first_group = 1;
    grid.host_inner = 14; // the third group here has two elements only
    grid.host_row_stride = 14;
    grid.cell_bytes = 8;
    for (std::int64_t first = 0; first < 15; ++first) {
        for (std::int64_t last = first + 1; last <= 15; ++last) {
            graph::Tensor tensor;
            graph::add_cells(tensor, 0, {{}, 1000}, grid, first, last);
            std::set<std::int64_t> seen;
            std::int64_t elements = 0;
            for (const graph::Piece& piece : tensor.pieces) {
                std::int64_t in_piece = 1;
                std::int64_t furthest = piece.host_offset;
                for (const program::PieceDim& dim : piece.dims) {
                    in_piece *= dim.count;
                    furthest += (dim.count - 1) * dim.host_stride;
                }
                elements += in_piece;
                seen.insert(piece.host_offset);
                CHECK(furthest < 7 * 14);
            }
            std::int64_t wanted = 0;
            for (std::int64_t cell = first; cell < last; ++cell) {
                wanted += cell / 5 == 2 ? 2 : 4;
            }
            CHECK(elements == wanted);
            CHECK(seen.size() == tensor.pieces.size());
        }
    }
}

TEST_CASE("equal vertex lists have equal stubs", "[kernels]") {
    const program::Vertex supervisor{0x4c100, program::VertexKind::Supervisor, 0x50000, 0};
    const program::Vertex workers{0x4c200, program::VertexKind::MultiWorker, 0x50100, 0};
    const program::Vertex worker{0x4c300, program::VertexKind::Worker, 0x50200, 0};
    CHECK(lower::make_stub({supervisor}, 0x4c000).size() == 4); // mov, setzi, call, br
    CHECK(lower::make_stub({workers}, 0x4c000).size() == 5);    // two setzi, runall, sync, br
    CHECK(lower::make_stub({worker}, 0x4c000).size() == 5);     // the same with run
    CHECK(lower::make_stub({workers, supervisor}, 0x4c000).size() == 8);
    CHECK(lower::make_stub({workers}, 0x4c000) == lower::make_stub({workers}, 0x4c000));
}

TEST_CASE("equal rows of a tile stand once, others by themselves", "[kernels]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    const Address data = machine.memory.region1_begin();
    std::vector<program::Exchange> exchanges;
    for (const Bytes bytes : {64, 128, 64}) {
        exchanges.push_back(exchange_plan::plan_exchange(machine, "message",
                                                         {{0, data, bytes, false, {{1, data}}}}));
    }
    // a longer one from tile 0, the same one as before to tile 1
    exchanges.push_back(exchanges.back());
    exchanges.back().rows.at(0).words.resize(100);
    const lower::RowHomes homes =
        lower::find_row_homes(exchanges, std::vector<std::uint32_t>{3, 5, 9, 7});
    using Homes = std::vector<std::uint32_t>;
    CHECK(homes.of_row == std::vector<Homes>{{0, 0}, {1, 1}, {0, 0}, {3, 0}});
    const auto bytes_of = [&](std::size_t exchange, std::size_t row) {
        return static_cast<Bytes>(4 * exchanges.at(exchange).rows.at(row).words.size());
    };
    std::vector<Bytes> bytes;
    std::vector<std::uint32_t> last;
    for (const lower::RowRoom& room : homes.rooms) {
        bytes.push_back(room.bytes);
        last.push_back(room.last);
    }
    CHECK(bytes == std::vector<Bytes>{std::max(bytes_of(0, 0), bytes_of(0, 1)),
                                      std::max(bytes_of(1, 0), bytes_of(1, 1)), 0, 400});
    // rows of the first exchange are those of the third and one of the fourth, too
    CHECK(last == std::vector<std::uint32_t>{9, 5, 0, 7});
}

TEST_CASE("the room for code holds all code and the window that is fetched ahead", "[kernels]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    const Bytes fetch_window = machine.tile.fetch_window_bytes;
    constexpr Bytes kCodelets = 1004;
    CHECK(lower::lay_out_code(machine, 0, {}, 0).bytes == 0);
    CHECK(lower::lay_out_code(machine, kCodelets, {}, 0).bytes == 1008 + fetch_window);
    CHECK(lower::lay_out_code(machine, 0, {}, 12).bytes == 16 + fetch_window);
    const lower::CodeZone zone =
        lower::lay_out_code(machine, kCodelets, std::vector<Bytes>{20, 8}, 36);
    CHECK(zone.codelets == machine.memory.code_begin());
    CHECK(zone.stubs == std::vector<Address>{zone.codelets + 1008, zone.codelets + 1032});
    CHECK(zone.control == zone.codelets + 1040);
    CHECK(zone.control_bytes == 36);
    CHECK(zone.bytes == 1080 + fetch_window);
}

TEST_CASE("rows that go together stand behind each other, those that stay longest first",
          "[kernels]") {
    const spec::MachineSpec machine;
    const Bytes window = machine.tile.fetch_window_bytes;
    using Rooms = std::vector<lower::RowRoom>;
    for (Bytes more = 0; more < 9; ++more) {
        const Rooms rooms{{100, 4}, {20 + more, 9}, {0, 7}, {48, 4}, {8, 9}};
        const lower::RowBlocks rows = lower::lay_out_rows(machine, rooms);
        REQUIRE(rows.blocks.size() == 2);
        const Bytes second = plan::round_up(20 + more, 8);
        CHECK(rows.blocks[0].last == 9);
        CHECK(rows.blocks[0].bytes == second + 8 + window);
        CHECK(rows.blocks[1].last == 4);
        CHECK(rows.blocks[1].bytes == 104 + 48 + window);
        const auto at = [&](std::size_t exchange) {
            return std::pair(rows.of_exchange[exchange].block, rows.of_exchange[exchange].offset);
        };
        CHECK(at(0) == std::pair(1U, Bytes{0}));
        CHECK(at(1) == std::pair(0U, Bytes{0}));
        CHECK(at(3) == std::pair(1U, Bytes{104}));
        CHECK(at(4) == std::pair(0U, second));
    }
    CHECK(lower::lay_out_rows(machine, Rooms{{0, 3}}).blocks.empty());
    CHECK(lower::have_room(Rooms{{8, 3}, {0, 9}}, Rooms{{8, 3}, {0, 0}}));
    CHECK_FALSE(lower::have_room(Rooms{{9, 3}}, Rooms{{8, 3}}));
    CHECK_FALSE(lower::have_room(Rooms{{8, 4}}, Rooms{{8, 3}}));
}

TEST_CASE("code of a control program is that of its steps, a loop's once", "[kernels]") {
    using program::Step;
    spec::ControlSpec control;
    control.step_bytes = 3;
    control.exchange_bytes = 70;
    control.sync_bytes = 500;
    control.branch_bytes = 11'000;
    control.repeat_bytes = 130'000;
    const auto leaf = [](Step::Kind kind, std::uint32_t index = 0, std::int64_t row = 0) {
        Step step;
        step.kind = kind;
        step.index = index;
        step.row = row;
        return step;
    };
    const auto over = [](Step::Kind kind, std::vector<Step> children) {
        Step step;
        step.kind = kind;
        step.children = std::move(children);
        return step;
    };
    const auto bytes = [&](const Step& step) { return lower::control_bytes(control, step); };
    for (const auto& [kind, expected] :
         {std::pair(Step::Kind::ComputeSet, Bytes{3}), std::pair(Step::Kind::Exchange, Bytes{70}),
          std::pair(Step::Kind::StreamCopy, Bytes{70}),
          std::pair(Step::Kind::StreamStart, Bytes{70}),
          std::pair(Step::Kind::StreamWait, Bytes{500}), std::pair(Step::Kind::Sync, Bytes{500})}) {
        CHECK(bytes(leaf(kind)) == expected);
        CHECK(bytes(over(Step::Kind::Repeat, {leaf(kind)})) == control.repeat_bytes + expected);
        CHECK(bytes(over(Step::Kind::While, {leaf(kind)})) == control.branch_bytes + expected);
        CHECK(bytes(over(Step::Kind::If, {leaf(kind), over(Step::Kind::Sequence, {})})) ==
              control.branch_bytes + expected);
    }
    CHECK(bytes({}) == 0);

    control.repeat_bytes = 24;
    // Steps of which some come again, with other rows: as they stand, or as a loop.
    const auto start = [&](std::int64_t row) { return leaf(Step::Kind::StreamStart, 1, row); };
    const auto sync = leaf(Step::Kind::Sync);
    const auto work = [&](std::uint32_t set) { return leaf(Step::Kind::ComputeSet, set); };
    const auto of = [&](std::vector<Step> steps) {
        return bytes(over(Step::Kind::Sequence, std::move(steps)));
    };
    CHECK(of({work(0), work(0)}) == 2 * 3);
    CHECK(of({work(0), work(1), work(0)}) == 3 * 3);
    CHECK(of({start(0), start(7)}) == 24 + 70);
    CHECK(of({start(0), leaf(Step::Kind::StreamStart, 2, 7)}) == 2 * 70);
    for (const int rounds : {2, 3, 1000}) {
        std::vector<Step> steps{work(5)};
        for (int round = 0; round < rounds; ++round) {
            steps.insert(steps.end(), {start(round), work(0), sync});
        }
        steps.push_back(start(rounds));
        CHECK(of(steps) == 3 + 24 + 70 + 3 + 500 + 70);
    }
    // no step is looked at often, though no loop is shorter
    control.repeat_bytes = 100'000;
    control.exchange_bytes = 0;
    constexpr std::int64_t kMany = 200'000;
    std::vector<Step> many;
    for (std::int64_t i = 0; i < kMany; ++i) {
        many.insert(many.end(), {start(2 * i), start(2 * i + 1)});
    }
    CHECK(of(many) == 0);
    Step nested = work(0);
    for (int depth = 0; depth < 40; ++depth) {
        nested = over(Step::Kind::Sequence, {work(1), nested, work(2), work(3)});
    }
    CHECK(bytes(nested) == 3 * (1 + 40 * 3));
}
