// SPDX-License-Identifier: MIT
// What is kept for rows before they are known, whose memory is told, and names beside rows.
#include "base/error.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/control_code.h"
#include "kernels/lower/lower.h"
#include "kernels/lower/placing.h"
#include "kernels/plan/lowest_fit.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <map>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using Catch::Matchers::Contains;
using graph::Where;
using program::Lifetime;
using test::Sketch;

const spec::MachineSpec kMachine;
const spec::MemorySpec kMemory = kMachine.memory;

lower::Placing placed(const Sketch& sketch, const lower::CodeRoom& room = {},
                      const std::vector<std::string>& steps = {}) {
    const std::vector<lower::Need> always(sketch.graph.buffers.size());
    return lower::place(kMachine, sketch.graph, always, room, steps);
}

template <class Do> std::string refusal(const Do& what) {
    try {
        what();
    } catch (const DoesNotFit& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("24 bytes of rows are expected for each message that a tile sends or takes",
          "[kernels][room]") {
    constexpr Bytes kOfMessage = 24;
    spec::MachineSpec machine;
    machine.chip.tiles = 16;
    machine.memory.element_bytes = 8;
    struct Case {
        Bytes to_one;  ///< messages from tile 0 to tile 1
        Bytes more;    ///< and from tile 2 to tile 1
        Bytes to_many; ///< and from tile 0 to one tile each
        Bytes on;      ///< and from tile 1 to tile 3
        Bytes most;    ///< of one tile
    };
    for (const Case& each : {Case{1, 0, 0, 0, 1}, Case{5, 0, 0, 0, 5}, Case{3, 4, 0, 0, 7},
                             Case{2, 0, 7, 0, 9}, Case{3, 2, 0, 4, 9}}) {
        Sketch sketch;
        const auto from =
            sketch.graph.add_buffer({.name = "from", .where = Where::Region1, .zeroed = true});
        const auto to = sketch.graph.add_buffer({.name = "to", .where = Where::Region0});
        for (TileId tile = 0; tile < 16; ++tile) {
            sketch.graph.hold(from, tile, 1024);
            sketch.graph.hold(to, tile, 1024);
        }
        const auto bring = sketch.graph.add_exchange({"bring", program::Role::Bring, "test"});
        Bytes next = 0;
        const auto add = [&](TileId sender, TileId receiver) {
            next += 12; // apart from the others
            sketch.graph.add_message(bring, sender, {from, next}, 4, {receiver, {to, next}});
        };
        for (Bytes i = 0; i < each.to_one; ++i) {
            add(0, 1);
        }
        for (Bytes i = 0; i < each.more; ++i) {
            add(2, 1);
        }
        for (Bytes i = 0; i < each.to_many; ++i) {
            add(0, 4 + static_cast<TileId>(i));
        }
        for (Bytes i = 0; i < each.on; ++i) {
            add(1, 3);
        }
        sketch.then(graph::run(bring));
        const Bytes code =
            lower::lay_out_code(machine, 0, {}, machine.control.exchange_bytes).bytes;
        const auto lowered = lower::lower(machine, sketch.graph);
        CAPTURE(each.most, code);
        REQUIRE(lowered.exchanges.at(0).longest_row_bytes <= kOfMessage * each.most);
        const auto& transfer = lowered.program.exchanges.at(0).transfers.at(0);
        const Bytes begin = transfer.destinations.at(0).address - 12 -
                            static_cast<Bytes>(machine.memory.region0_begin());
        CHECK(begin ==
              plan::round_up(code + kOfMessage * each.most + lower::fetched_behind(machine), 16));
    }
}

TEST_CASE("of tiles that hold most the first is told, and the step in which they do",
          "[kernels][room]") {
    for (const TileId first : {1, 3}) {
        Sketch sketch;
        const auto x = sketch.buffer("x", 5, kMemory.bytes() + 4);
        sketch.graph.hold(x, first, kMemory.bytes() + 4);
        sketch.graph.hold(x, 0, 64);
        // each pair by itself: that of the first tile is tried, and told, first
        CHECK_THAT(refusal([&] { static_cast<void>(placed(sketch, {}, {"work"})); }),
                   Contains("tile_" + std::to_string(first) +
                            " is 4 bytes over ('x' finds no "
                            "place); most is kept in step "
                            "'work': "));
    }
    Sketch sketch;
    const auto x = sketch.buffer("x", 4, kMemory.bytes());
    sketch.graph.hold(x, 2, kMemory.bytes());
    sketch.graph.hold(x, 1, 64);
    const auto told =
        refusal([&] { lower::check_together(kMachine, sketch.graph, {x}, "multiply"); });
    CHECK_THAT(told, Contains("sketch does not fit in tile memory: tile_2 is " +
                              std::to_string(kMemory.element_bytes) + " bytes over") &&
                         Contains("in step 'multiply'"));
}

TEST_CASE("of plans that are equally full the first is told", "[kernels][room]") {
    for (const Bytes more : {-4, 0, 4}) {
        Sketch sketch;
        sketch.buffer("a", 0, 64);
        sketch.buffer("b", 2, 64 + more);
        const auto placing = placed(sketch);
        REQUIRE(placing.plans.size() == 2);
        CHECK(placing.bytes_used == std::max<Bytes>(64, 64 + more));
        CHECK(
            placing.bytes_by_buffer ==
            std::map<std::string, Bytes>{{"code", 0}, {more > 0 ? "b" : "a", placing.bytes_used}});
    }
}

TEST_CASE("a buffer may be called as rows are", "[kernels][room]") {
    for (const std::size_t blocks : {0U, 1U, 2U}) {
        Sketch sketch;
        const auto one = sketch.buffer("exchange rows", 0, 64);
        const auto other = sketch.buffer("exchange rows (2)", 0, 32);
        lower::CodeRoom room{.code = 16, .rows = {}};
        for (std::size_t i = 0; i < blocks; ++i) {
            room.rows.push_back({40 + 8 * static_cast<Bytes>(i), Lifetime::kEnd});
        }
        const auto placing = placed(sketch, room);
        REQUIRE(placing.rows.size() == blocks);
        CHECK(placing.at(0, one).name == (blocks == 0   ? "exchange rows"
                                          : blocks == 1 ? "exchange rows (2)"
                                                        : "exchange rows (3)"));
        CHECK(placing.at(0, other).name ==
              (blocks == 0 ? "exchange rows (2)" : "exchange rows (2) (2)"));
        CHECK(placing.at(0, one).bytes == 64);
        CHECK(placing.at(0, other).bytes == 32);
        CHECK(placing.plans.at(0).buffers().size() == 2 + blocks);
    }
}

TEST_CASE("without buffers there is no room for rows, and none is needed", "[kernels][room]") {
    const Sketch sketch;
    auto placing = placed(sketch, {.code = 64, .rows = {{16, 3}}});
    CHECK(placing.plans.empty());
    CHECK(placing.rows.empty());
    CHECK(placing.bytes_used == 0);
    CHECK(lower::move_rows(kMachine, placing, {}));
    CHECK_FALSE(lower::move_rows(kMachine, placing, std::vector<lower::RowBlock>{{16, 3}}));
}

TEST_CASE("rows go from the plan of some tiles to a place that is free on all", "[kernels][room]") {
    // Tile 0 holds the memory behind the rows, tile 2 what is behind that.
    for (const Bytes longer : {0, 8, 16, 64}) {
        Sketch sketch;
        const auto a = sketch.buffer("a", 0, 64);
        const auto b = sketch.buffer("b", 2, 128);
        for (auto& buffer : sketch.graph.buffers) {
            buffer.where = Where::Region0;
        }
        const std::vector<lower::Need> by_codelets(2, {{}, false, false});
        auto placing = lower::place(kMachine, sketch.graph, by_codelets,
                                    {.code = 64, .rows = {{16, Lifetime::kEnd}}}, {});
        const Address rows = kMemory.region0_begin() + 64;
        REQUIRE(placing.rows == std::vector<Address>{rows});
        REQUIRE(placing.at(0, a).begin == rows + 16);
        REQUIRE(placing.at(2, b).begin == rows + 16);
        REQUIRE(lower::move_rows(kMachine, placing,
                                 std::vector<lower::RowBlock>{{16 + longer, Lifetime::kEnd}}));
        CHECK(placing.rows == std::vector<Address>{longer == 0 ? rows : rows + 16 + 128});
        for (const auto& plan : placing.plans) {
            CHECK(plan.bytes("exchange rows") == 16 + longer);
            CHECK(plan.buffers().size() == 2);
        }
    }
}

TEST_CASE("rows that find no place are told", "[kernels][room]") {
    for (const Bytes over : {0, 8}) {
        for (const std::size_t before : {0U, 1U}) {
            Sketch sketch;
            sketch.buffer("x", 0, 64);
            std::vector<lower::RowBlock> rows(before, {64, 3});
            rows.push_back({kMemory.region0_bytes - 64 * static_cast<Bytes>(before) + over, 3});
            const auto told = refusal([&] { static_cast<void>(placed(sketch, {0, rows})); });
            CHECK(told.empty() == (over == 0));
            if (over > 0) {
                CHECK_THAT(told, Contains("tile_0 is 8 bytes over ('" +
                                          std::string(before == 0 ? "exchange rows"
                                                                  : "exchange rows (2)") +
                                          "' finds no place)"));
            }
        }
    }
}

TEST_CASE("what codelets read behind a buffer is kept where the buffer is", "[kernels][room]") {
    Sketch sketch;
    const auto x = sketch.buffer("x", 0, 64);
    sketch.graph.buffers[x.index].read_beyond = 48;
    const auto y = sketch.buffer("y", 2, 32);
    const auto placing = placed(sketch);
    CHECK(placing.at(0, x).bytes == 64 + 48);
    CHECK(placing.at(2, x).bytes == 0);
    CHECK(placing.at(0, y).bytes == 0);
    for (const auto& plan : placing.plans) {
        CHECK(plan.buffers().size() == 1);
    }
    CHECK(placing.at(0, x).begin == placing.at(2, y).begin);
}

TEST_CASE("buffers that are needed together are told in any order", "[kernels][room]") {
    Sketch sketch;
    std::vector<graph::BufferId> ids;
    for (int i = 0; i < 5; ++i) {
        ids.push_back(sketch.buffer("b", 0, kMemory.bytes() / 4));
    }
    const auto fits = [&](const std::vector<std::size_t>& some) {
        std::vector<graph::BufferId> together;
        for (const std::size_t i : some) {
            together.push_back(ids[i]);
        }
        return refusal([&] { lower::check_together(kMachine, sketch.graph, together, "work"); })
            .empty();
    };
    CHECK(fits({2, 1, 0}));
    CHECK(fits({4, 0, 3}));
    CHECK_FALSE(fits({3, 2, 1, 0}));
    CHECK_FALSE(fits({4, 0, 3, 1}));
    CHECK_FALSE(fits({1, 3, 0, 4}));
}

TEST_CASE("rows stand behind each other as long as they are, not as they were expected",
          "[kernels][room]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    for (const bool repeated : {false, true}) {
        Sketch sketch;
        const auto from = sketch.graph.add_buffer({.name = "from", .zeroed = true});
        const auto to = sketch.graph.add_buffer({.name = "to"});
        sketch.graph.hold(from, 0, 8192);
        sketch.graph.hold(to, 1, 8192);
        for (const Bytes words : {40, 60, 80}) { // each goes on where the one before ends
            const auto bring = sketch.graph.add_exchange({"bring", program::Role::Bring, "test"});
            for (Bytes i = 0; i < words; ++i) {
                sketch.graph.add_message(bring, 0, {from, 16 + 4 * i}, 4,
                                         {1, {to, 8 * words + 4 * i}});
            }
            sketch.then(graph::run(bring));
        }
        if (repeated) {
            sketch.graph.control = graph::repeat(2, std::move(sketch.graph.control.children));
        }
        const auto lowered = lower::lower(machine, sketch.graph);
        const auto& exchanges = lowered.program.exchanges;
        REQUIRE(exchanges.size() == 3);
        const Address first = machine.memory.region0_begin() +
                              static_cast<Address>(lowered.bytes_by_buffer.at("code"));
        // those that go together one behind the other, those that stay longest first
        std::vector<Bytes> longest;
        for (const auto& exchange : exchanges) {
            Bytes bytes = 0;
            for (const auto& row : exchange.rows) {
                CHECK(row.address == exchange.rows.at(0).address);
                bytes = std::max(bytes, static_cast<Bytes>(4 * row.words.size()));
            }
            longest.push_back(plan::round_up(bytes, 8) +
                              (repeated ? 0 : lower::fetched_behind(machine)));
        }
        const auto address = [&](std::size_t i) {
            return static_cast<Bytes>(exchanges.at(i).rows.at(0).address - first);
        };
        CAPTURE(repeated);
        CHECK(address(0) == (repeated ? 0 : longest[2] + longest[1]));
        CHECK(address(1) == (repeated ? longest[0] : longest[2]));
        CHECK(address(2) == (repeated ? longest[0] + longest[1] : 0));
        Bytes all = 0;
        for (const auto& [name, bytes] : lowered.bytes_by_buffer) {
            all += name.rfind("exchange rows", 0) == 0 ? bytes : 0;
        }
        CHECK(all == longest[0] + longest[1] + longest[2] +
                         (repeated ? lower::fetched_behind(machine) : 0));
    }
}
