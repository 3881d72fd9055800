// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/lower/placing.h"
#include "kernels/workload/random.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <algorithm>
#include <set>
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

lower::Placing placed(const Sketch& sketch, lower::CodeRoom code = {}) {
    const std::vector<lower::Need> always(sketch.graph.buffers.size());
    return lower::place(kMachine, sketch.graph, always, code, {});
}

std::string refusal(const Sketch& sketch, lower::CodeRoom code = {}) {
    try {
        static_cast<void>(placed(sketch, code));
    } catch (const DoesNotFit& error) {
        return error.what();
    }
    return "";
}

Address end_of(const lower::MemoryPlan::Buffer& buffer) {
    return buffer.begin + static_cast<Address>(buffer.bytes);
}

/// Number of the memory element, or of the pair of elements in region 1, at `address`.
std::int64_t granule(Address address) {
    const bool in0 = address < kMemory.region1_begin();
    const Address begin = in0 ? kMemory.region0_begin() : kMemory.region1_begin();
    const Bytes offset = static_cast<Bytes>(address - begin);
    return in0 ? offset / kMemory.element_bytes
               : kMemory.bytes() + offset / (2 * kMemory.element_bytes);
}

bool are_apart(const lower::MemoryPlan::Buffer& one, const lower::MemoryPlan::Buffer& other) {
    return granule(end_of(one) - 1) < granule(other.begin) ||
           granule(end_of(other) - 1) < granule(one.begin);
}

bool overlap(const lower::MemoryPlan::Buffer& one, const lower::MemoryPlan::Buffer& other) {
    return one.begin < end_of(other) && other.begin < end_of(one);
}

constexpr TileId kTiles = 5;

/// Buffers of random sizes, rules and lifetimes on some tiles each.
struct RandomBuffers {
    explicit RandomBuffers(std::uint64_t seed) : random(seed, 1) {
        constexpr std::uint64_t kBuffers = 9;
        constexpr std::uint64_t kSteps = 6;
        for (std::uint64_t i = 0; i < kBuffers; ++i) {
            graph::Buffer buffer;
            buffer.name = "b" + std::to_string(below(3)); // several of one name
            buffer.alignment = Bytes{4} << below(6);
            buffer.where =
                std::array{Where::Any, Where::Any, Where::Region0, Where::Region1}.at(below(4));
            buffer.read_beyond = below(3) == 0 ? static_cast<Bytes>(below(64)) : 0;
            for (std::uint64_t other = 0; other < i; ++other) {
                if (below(5) == 0) {
                    buffer.apart.push_back({static_cast<std::uint32_t>(other)});
                }
            }
            const auto id = sketch.graph.add_buffer(buffer);
            for (TileId tile = 0; tile < kTiles; ++tile) {
                if (below(3) == 0) {
                    sketch.graph.hold(id, tile, static_cast<Bytes>(1 + below(60'000)));
                }
            }
            const auto first = static_cast<std::uint32_t>(below(kSteps));
            const Lifetime lifetime{
                first, below(4) == 0 ? Lifetime::kEnd
                                     : first + static_cast<std::uint32_t>(below(kSteps - first))};
            needs.push_back({lifetime, below(2) == 0, below(2) == 0});
        }
    }
    std::uint64_t below(std::uint64_t bound) { return random.below(bound, drawn++); }

    workload::CounterRandom random;
    std::uint64_t drawn = 0;
    Sketch sketch;
    std::vector<lower::Need> needs;
};

Bytes held_on(const graph::Buffer& buffer, TileId tile) {
    Bytes bytes = 0;
    for (const graph::Held& held : buffer.held) {
        bytes += held.tile == tile ? held.bytes : 0;
    }
    return bytes;
}

bool shares_nothing(const std::vector<graph::Buffer>& buffers, TileId one, TileId other) {
    return std::none_of(buffers.begin(), buffers.end(), [&](const graph::Buffer& buffer) {
        return held_on(buffer, one) > 0 && held_on(buffer, other) > 0;
    });
}

const lower::MemoryPlan::Buffer& at(const lower::Placing& placing, TileId tile,
                                    std::size_t buffer) {
    return placing.at(tile, graph::BufferId{static_cast<std::uint32_t>(buffer)});
}

bool names(const graph::Buffer& buffer, std::size_t other) {
    return std::find(buffer.apart.begin(), buffer.apart.end(),
                     graph::BufferId{static_cast<std::uint32_t>(other)}) != buffer.apart.end();
}

void check_alone(const graph::Buffer& asked, Bytes held, const lower::Need& need,
                 const lower::MemoryPlan::Buffer& got, const lower::CodeRoom& room) {
    Bytes most = 0;
    for (const graph::Held& other : asked.held) {
        most = std::max(most, other.bytes);
    }
    REQUIRE(got.bytes >= held + asked.read_beyond);
    REQUIRE(got.bytes <= most + asked.read_beyond);
    const Address code_end = kMemory.region0_begin() + static_cast<Address>(room.code);
    REQUIRE(got.begin >= (asked.where == Where::Region1 ? kMemory.region1_begin() : code_end));
    REQUIRE((!need.by_codelets || room.code == 0 || granule(got.begin) > granule(code_end - 1)));
    REQUIRE(end_of(got) <=
            (asked.where == Where::Region0 ? kMemory.region1_begin() : kMemory.end()));
    REQUIRE(got.begin % static_cast<Address>(asked.alignment) == 0);
}

/// Rows as buffers that stand from the start on.
std::vector<lower::MemoryPlan::Buffer> blocks_of(const lower::Placing& placing,
                                                 const std::vector<lower::RowBlock>& rows) {
    std::vector<lower::MemoryPlan::Buffer> blocks;
    REQUIRE(placing.rows.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        blocks.push_back({"rows",
                          program::SegmentKind::ExchangeRow,
                          placing.rows[i],
                          rows[i].bytes,
                          {0, rows[i].last}});
        REQUIRE(end_of(blocks.back()) <= kMemory.region1_begin());
        REQUIRE(placing.rows[i] % 8 == 0);
    }
    return blocks;
}

/// Whether the buffer stands where rows have stood before it.
int check_beside_rows(const lower::Need& need, const lower::MemoryPlan::Buffer& got,
                      const std::vector<lower::MemoryPlan::Buffer>& rows) {
    int behind = 0;
    for (const auto& row : rows) {
        if (got.bytes == 0) {
            continue;
        }
        if (need.lifetime.meets(row.lifetime)) {
            REQUIRE_FALSE(overlap(got, row));
            REQUIRE((!need.by_rows || are_apart(got, row)));
        } else {
            behind += overlap(got, row) ? 1 : 0;
        }
    }
    return behind > 0 ? 1 : 0;
}

} // namespace

TEST_CASE("buffers of random graphs stand where they may", "[kernels]") {
    constexpr std::uint64_t kGraphs = 400;
    const lower::CodeRoom kCode{9000, {{3000, Lifetime::kEnd}, {1000, 4}, {6000, 2}}};
    int placed_graphs = 0;
    int kept_apart = 0;
    int shared = 0;
    int beside_code = 0;
    int behind_rows = 0;
    int divided = 0;
    const Address code_end = kMemory.region0_begin() + static_cast<Address>(kCode.code);
    for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
        const RandomBuffers random(seed);
        const auto& asked = random.sketch.graph.buffers;
        lower::Placing placing;
        try {
            placing = lower::place(kMachine, random.sketch.graph, random.needs, kCode, {});
        } catch (const DoesNotFit&) {
            continue;
        }
        ++placed_graphs;
        CAPTURE(seed);
        const auto rows = blocks_of(placing, kCode.rows);
        divided += placing.plans.size() > 1 ? 1 : 0;
        for (TileId tile = 0; tile < kTiles; ++tile) {
            std::vector<std::size_t> here;
            for (std::size_t i = 0; i < asked.size(); ++i) {
                const Bytes bytes = held_on(asked[i], tile);
                if (bytes == 0) {
                    continue;
                }
                const auto& got = at(placing, tile, i);
                check_alone(asked[i], bytes, random.needs[i], got, kCode);
                beside_code += granule(got.begin) <= granule(code_end - 1) ? 1 : 0;
                behind_rows += check_beside_rows(random.needs[i], got, rows);
                for (const std::size_t k : here) {
                    const auto& other = at(placing, tile, k);
                    CAPTURE(tile, i, k);
                    const bool meet = random.needs[i].lifetime.meets(random.needs[k].lifetime);
                    REQUIRE((!meet || !overlap(got, other)));
                    shared += overlap(got, other) ? 1 : 0;
                    if (meet && (names(asked[i], k) || names(asked[k], i))) {
                        REQUIRE(are_apart(got, other));
                        ++kept_apart;
                    }
                }
                here.push_back(i);
            }
            const TileId partner = tile ^ 1U; // one address for messages of double width
            REQUIRE((here.empty() || placing.group_of(partner) == lower::Placing::kNoGroup ||
                     shares_nothing(asked, tile, partner) ||
                     placing.group_of(partner) == placing.group_of(tile)));
        }
    }
    CHECK(placed_graphs > 200);
    CHECK(kept_apart > 100);
    CHECK(shared > 100);
    CHECK(beside_code > 20);
    CHECK(behind_rows > 20);
    CHECK(divided > 20);
}

TEST_CASE("rows move to where the buffers leave room, or not at all", "[kernels]") {
    constexpr std::uint64_t kGraphs = 200;
    const lower::CodeRoom guess{9000, {{600, Lifetime::kEnd}}};
    int moved = 0;
    int stayed = 0;
    for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
        const RandomBuffers random(seed);
        lower::Placing placing;
        try {
            placing = lower::place(kMachine, random.sketch.graph, random.needs, guess, {});
        } catch (const DoesNotFit&) {
            continue;
        }
        CAPTURE(seed);
        const auto before = placing.buffers;
        const std::vector<lower::RowBlock> rows{
            {static_cast<Bytes>(8 + random.random.below(90'000, 1000)), Lifetime::kEnd},
            {static_cast<Bytes>(8 + random.random.below(9'000, 1001)), 3}};
        if (!lower::move_rows(kMachine, placing, rows)) {
            ++stayed;
            continue;
        }
        ++moved;
        const auto blocks = blocks_of(placing, rows);
        REQUIRE_FALSE(overlap(blocks[0], blocks[1]));
        Bytes most = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            for (std::size_t k = 0; k < before[i].size(); ++k) {
                REQUIRE(placing.buffers[i][k].begin == before[i][k].begin);
                check_beside_rows(random.needs[k], placing.buffers[i][k], blocks);
            }
        }
        for (const lower::MemoryPlan& plan : placing.plans) {
            most = std::max(most, plan.used_bytes());
            REQUIRE(plan.bytes("exchange rows") == rows[0].bytes);
            REQUIRE(plan.bytes("exchange rows (2)") == rows[1].bytes);
        }
        REQUIRE(placing.bytes_used == most);
    }
    CHECK(moved > 50);
    CHECK(stayed > 20);
}

TEST_CASE("buffers that no tile has together know nothing of each other", "[kernels]") {
    Sketch sketch;
    const auto a = sketch.buffer("a", 0, 64);
    const auto b = sketch.buffer("b", 1, 128);
    CHECK(placed(sketch).at(0, a).begin == placed(sketch).at(1, b).begin);
    CHECK(placed(sketch).bytes_used == 128); // of the fuller one
    CHECK(placed(sketch).bytes_by_buffer == std::map<std::string, Bytes>{{"code", 0}, {"b", 128}});

    const auto both = sketch.buffer("both", 0, 32);
    sketch.graph.hold(both, 1, 32);
    const auto placing = placed(sketch);
    CHECK_FALSE(overlap(placing.at(0, a), placing.at(0, both)));
    CHECK_FALSE(overlap(placing.at(1, b), placing.at(1, both)));
    CHECK(placing.at(0, both).begin == placing.at(1, both).begin);
    CHECK(placing.at(0, both).name == "both");
    CHECK(placing.at(2, both).bytes == 0);
    CHECK(placing.at(9, both).bytes == 0);
}

TEST_CASE("tiles are divided where one plan for all of them does not fit", "[kernels]") {
    const Bytes most = kMemory.bytes() - 1024;
    const auto bytes_of = [](const lower::Placing& placing, TileId tile, graph::BufferId buffer) {
        return placing.at(tile, buffer).bytes;
    };
    SECTION("by what they hold, pairs together") {
        Sketch sketch;
        const auto both = sketch.buffer("both", 0, 64);
        const auto one = sketch.buffer("one", 0, most);
        const auto other = sketch.buffer("other", 2, most);
        for (const TileId tile : {1, 2, 3, 4}) {
            sketch.graph.hold(both, tile, tile == 4 ? 512 : 64);
        }
        sketch.graph.hold(one, 4, 128);
        const auto placing = placed(sketch);
        CHECK(placing.plans.size() == 3); // {0, 1}, {2, 3}, {4}, which has no partner
        CHECK(placing.group_of(0) == placing.group_of(1));
        CHECK(placing.group_of(2) == placing.group_of(3));
        CHECK(bytes_of(placing, 0, one) == most);
        CHECK(bytes_of(placing, 0, other) == 0);
        CHECK(bytes_of(placing, 2, other) == most);
        CHECK(bytes_of(placing, 3, both) == 64); // of the group
        CHECK(bytes_of(placing, 4, both) == 512);
        CHECK(bytes_of(placing, 4, one) == 128);
    }
    SECTION("by how much they hold") {
        Sketch sketch;
        const auto x = sketch.buffer("x", 0, most);
        const auto y = sketch.buffer("y", 2, most);
        sketch.graph.hold(x, 2, 64);
        sketch.graph.hold(y, 0, 64);
        const auto placing = placed(sketch);
        CHECK(placing.plans.size() == 2);
        CHECK(bytes_of(placing, 0, y) == 64);
        CHECK(bytes_of(placing, 2, x) == 64);
        CHECK(placing.bytes_used == most + 64);
    }
    SECTION("a pair stays together") {
        Sketch sketch;
        const auto both = sketch.buffer("both", 0, 64);
        sketch.buffer("one", 0, most);
        sketch.buffer("other", 1, most);
        sketch.graph.hold(both, 1, 64);
        CHECK_THAT(refusal(sketch), Contains("tile_0 is "));
    }
    SECTION("what fits together is not divided") {
        Sketch sketch;
        const auto both = sketch.buffer("both", 0, 64);
        sketch.buffer("one", 0, most / 2);
        sketch.buffer("other", 2, most / 2);
        sketch.graph.hold(both, 2, 64);
        CHECK(placed(sketch).plans.size() == 1);
    }
}

TEST_CASE("buffers of one name are as many buffers", "[kernels]") {
    Sketch sketch;
    const auto one = sketch.buffer("x", 0, 64);
    const auto other = sketch.buffer("x", 0, 128);
    const auto third = sketch.buffer("x (2)", 0, 32);
    const auto code = sketch.buffer("code", 0, 16);
    sketch.graph.buffers[other.index].apart = {one};
    const auto placing = placed(sketch);
    CHECK(placing.at(0, one).bytes == 64);
    CHECK(placing.at(0, other).bytes == 128);
    CHECK(are_apart(placing.at(0, one), placing.at(0, other)));
    CHECK_FALSE(overlap(placing.at(0, third), placing.at(0, other)));
    std::set<std::string> names{"code"};
    for (const auto id : {one, other, third, code}) {
        CHECK(names.insert(placing.at(0, id).name).second);
        CHECK(placing.bytes_by_buffer.at(placing.at(0, id).name) == placing.at(0, id).bytes);
    }
}

TEST_CASE("what does not fit is told with tile and bytes", "[kernels]") {
    constexpr Bytes kSmall = 1024;
    constexpr Bytes kOver = 48;
    for (const Bytes over : {Bytes{0}, kOver}) {
        Sketch sketch;
        sketch.buffer("small", 2, kSmall);
        const auto large = sketch.buffer("large", 2, kMemory.bytes() - kSmall + over);
        sketch.graph.hold(large, 1, kMemory.bytes() - kSmall + over);
        if (over == 0) {
            CHECK(refusal(sketch).empty());
        } else {
            CHECK_THAT(refusal(sketch), Contains("sketch does not fit in tile memory: tile_2 is " +
                                                 std::to_string(over) + " bytes over"));
        }
    }
    for (const auto where : {Where::Region0, Where::Region1}) {
        const bool in0 = where == Where::Region0;
        const Bytes room = in0 ? kMemory.region0_bytes : kMemory.region1_bytes;
        for (const Bytes over : {Bytes{0}, kOver}) {
            Sketch sketch;
            const auto x = sketch.buffer("x", 4, room + over);
            sketch.graph.buffers[x.index].where = where;
            CHECK(refusal(sketch).empty() == (over == 0));
            if (over > 0) {
                CHECK_THAT(refusal(sketch), Contains("tile_4 is " + std::to_string(over) +
                                                     " bytes over ('x' finds no place)"));
            }
        }
    }
}

TEST_CASE("data that code and rows do not touch stand right behind them", "[kernels]") {
    const Bytes element = kMemory.element_bytes;
    for (const Bytes bytes : {Bytes{16}, element, element + 16}) {
        for (const Bytes code : {bytes, Bytes{0}, Bytes{16}}) {
            CAPTURE(bytes, code);
            std::vector<lower::RowBlock> rows;
            if (code < bytes) {
                rows.push_back({bytes - code, 3});
            }
            Sketch sketch;
            sketch.buffer("x", 0, 16);
            const auto begin = [&](bool by_codelets, bool by_rows, Lifetime lifetime) {
                const std::vector<lower::Need> needs{{lifetime, by_codelets, by_rows}};
                const auto placing = lower::place(kMachine, sketch.graph, needs, {code, rows}, {});
                return at(placing, 0, 0).begin - kMemory.region0_begin();
            };
            const Bytes elements = plan::round_up(bytes, element);
            const bool together = plan::round_up(code, element) == plan::round_up(bytes, element);
            const Bytes behind_code = plan::round_up(code, element);
            for (const std::uint32_t first : {0U, 3U}) {
                CHECK(begin(false, false, {first, 9}) == bytes);
                CHECK(begin(true, true, {first, 9}) == elements);
                CHECK(begin(true, false, {first, 9}) == (code > 0 && together ? elements : bytes));
                CHECK(begin(false, true, {first, 9}) == (rows.empty() ? bytes : elements));
            }
            // when the rows are gone
            CHECK(begin(false, true, {4, 9}) == code);
            CHECK(begin(true, true, {4, 9}) == behind_code);
        }
    }
}

TEST_CASE("what is needed together is looked at beside one element of code", "[kernels]") {
    for (const auto where : {Where::Any, Where::Region0, Where::Region1}) {
        const Bytes room =
            (where == Where::Region1 ? 0 : kMemory.region0_bytes - kMemory.element_bytes) +
            (where == Where::Region0 ? 0 : kMemory.region1_bytes);
        for (const Bytes over : {Bytes{0}, Bytes{16}}) {
            CAPTURE(static_cast<int>(where), over);
            Sketch sketch;
            const auto x = sketch.buffer("x", 4, room - 64);
            const auto y = sketch.buffer("y", 4, 64 + over);
            const auto alone = sketch.buffer("alone", 4, room);
            for (const auto id : {x, y, alone}) {
                sketch.graph.buffers[id.index].where = where;
            }
            if (over == 0) {
                CHECK_NOTHROW(lower::check_together(kMachine, sketch.graph, {x, y}, "work"));
            } else {
                CHECK_THROWS_AS(lower::check_together(kMachine, sketch.graph, {x, y}, "work"),
                                DoesNotFit);
            }
        }
    }
}

TEST_CASE("who touches a buffer is found from the graph", "[kernels]") {
    Sketch sketch;
    const auto codelets = sketch.buffer("codelets", 0, 16);
    const auto table = sketch.buffer("table", 0, 16);
    const auto sent = sketch.buffer("sent", 0, 16);
    const auto both = sketch.buffer("both", 1, 16);
    const auto copied = sketch.buffer("copied", 0, 16);
    const auto unused = sketch.buffer("unused", 0, 16);
    const auto state = sketch.buffer("state", 0, 16);
    sketch.graph.buffers[state.index].kind = program::SegmentKind::VertexState;
    sketch.step("fill", 0,
                {graph::write({codelets}, 16), graph::write({sent}, 16),
                 graph::table(sketch.graph.add_table(0, std::vector{graph::write({table}, 16)}))});
    const auto only_sent = sketch.buffer("only sent", 0, 16);
    sketch.graph.buffers[only_sent.index].zeroed = true;
    sketch.message("bring", {0, {only_sent}}, 16, {1, {both}});
    sketch.step("use", 1, {graph::read({both}, 16)});
    sketch.graph.remote_buffers.push_back({.name = "remote", .rows = 1, .row_bytes = 16});
    sketch.then(
        graph::stream(graph::Step::Kind::StreamCopy,
                      sketch.graph.add_stream_copy(
                          {.name = "load", .owner = "test", .pieces = {{0, {copied}, 16, 0}}}),
                      0));
    sketch.graph.close();
    const auto needs = lower::needs_of(sketch.graph, lower::Uses(sketch.graph));
    const auto touched = [&](graph::BufferId buffer) {
        return std::pair(needs[buffer.index].by_codelets, needs[buffer.index].by_rows);
    };
    CHECK(touched(codelets) == std::pair(true, false));
    CHECK(touched(table) == std::pair(true, false));
    CHECK(touched(sent) == std::pair(true, false));
    CHECK(touched(both) == std::pair(true, true));
    CHECK(touched(only_sent) == std::pair(false, true));
    CHECK(touched(copied) == std::pair(true, true)); // copies may go on meanwhile
    CHECK(touched(unused) == std::pair(true, true)); // nothing is known of it
    CHECK(touched(state) == std::pair(true, false)); // but that state is never sent
}
