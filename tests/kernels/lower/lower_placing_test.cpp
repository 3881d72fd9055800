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

/// Buffers of random sizes, rules and lifetimes on some tiles each.
struct RandomBuffers {
    explicit RandomBuffers(std::uint64_t seed) : random(seed, 1) {
        constexpr std::uint64_t kBuffers = 9;
        constexpr std::uint64_t kTiles = 5;
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
            for (std::uint64_t tile = 0; tile < kTiles; ++tile) {
                if (below(3) == 0) {
                    sketch.graph.hold(id, static_cast<TileId>(tile),
                                      static_cast<Bytes>(1 + below(60'000)));
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

std::set<TileId> tiles_of(const graph::Buffer& buffer) {
    std::set<TileId> tiles;
    for (const graph::Held& held : buffer.held) {
        tiles.insert(held.tile);
    }
    return tiles;
}

bool share_a_tile(const graph::Buffer& one, const graph::Buffer& other) {
    const auto tiles = tiles_of(one);
    return std::any_of(other.held.begin(), other.held.end(),
                       [&](const graph::Held& held) { return tiles.contains(held.tile); });
}

bool names(const graph::Buffer& buffer, std::size_t other) {
    return std::find(buffer.apart.begin(), buffer.apart.end(),
                     graph::BufferId{static_cast<std::uint32_t>(other)}) != buffer.apart.end();
}

void check_alone(const graph::Buffer& asked, const lower::Need& need,
                 const lower::MemoryPlan::Buffer& got, const lower::CodeRoom& room) {
    Bytes most = 0;
    for (const graph::Held& held : asked.held) {
        most = std::max(most, held.bytes);
    }
    REQUIRE(got.bytes == (most == 0 ? 0 : most + asked.read_beyond));
    if (most == 0) {
        return;
    }
    const Address code_end = kMemory.region0_begin() + static_cast<Address>(room.code);
    const Address rows_end = code_end + static_cast<Address>(room.rows);
    REQUIRE(got.begin >= (asked.where == Where::Region1 ? kMemory.region1_begin() : rows_end));
    REQUIRE((!need.by_codelets || room.code == 0 || granule(got.begin) > granule(code_end - 1)));
    REQUIRE((!need.by_rows || room.rows == 0 || granule(got.begin) > granule(rows_end - 1)));
    REQUIRE(end_of(got) <=
            (asked.where == Where::Region0 ? kMemory.region1_begin() : kMemory.end()));
    REQUIRE(got.begin % static_cast<Address>(asked.alignment) == 0);
}

} // namespace

TEST_CASE("buffers of random graphs stand where they may", "[kernels]") {
    constexpr std::uint64_t kGraphs = 400;
    constexpr lower::CodeRoom kCode{9000, 3000};
    int placed_graphs = 0;
    int kept_apart = 0;
    int shared = 0;
    int beside_code = 0;
    const Address code_end = kMemory.region0_begin() + static_cast<Address>(kCode.bytes());
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
        REQUIRE(placing.code.bytes() == kCode.bytes());
        for (std::size_t i = 0; i < asked.size(); ++i) {
            check_alone(asked[i], random.needs[i], placing.buffers[i], kCode);
            beside_code += placing.buffers[i].bytes > 0 &&
                                   granule(placing.buffers[i].begin) <= granule(code_end - 1)
                               ? 1
                               : 0;
            for (std::size_t k = 0; k < i; ++k) {
                if (!share_a_tile(asked[i], asked[k])) {
                    continue;
                }
                CAPTURE(i, k);
                const bool meet = random.needs[i].lifetime.meets(random.needs[k].lifetime);
                REQUIRE((!meet || !overlap(placing.buffers[i], placing.buffers[k])));
                shared += overlap(placing.buffers[i], placing.buffers[k]) ? 1 : 0;
                if (meet && (names(asked[i], k) || names(asked[k], i))) {
                    REQUIRE(are_apart(placing.buffers[i], placing.buffers[k]));
                    ++kept_apart;
                }
            }
        }
    }
    CHECK(placed_graphs > 200);
    CHECK(kept_apart > 100);
    CHECK(shared > 100);
    CHECK(beside_code > 20);
}

TEST_CASE("buffers that no tile has together know nothing of each other", "[kernels]") {
    Sketch sketch;
    const auto a = sketch.buffer("a", 0, 64);
    const auto b = sketch.buffer("b", 1, 128);
    CHECK(placed(sketch).buffers[a.index].begin == placed(sketch).buffers[b.index].begin);
    CHECK(placed(sketch).bytes_used == 128); // of the fuller one
    CHECK(placed(sketch).bytes_by_buffer == std::map<std::string, Bytes>{{"code", 0}, {"b", 128}});

    const auto both = sketch.buffer("both", 0, 32);
    sketch.graph.hold(both, 1, 32);
    const auto placing = placed(sketch);
    for (const auto id : {a, b}) {
        CHECK_FALSE(overlap(placing.buffers[id.index], placing.buffers[both.index]));
    }
    CHECK(placing.buffers[both.index].name == "both");
}

TEST_CASE("buffers of one name are as many buffers", "[kernels]") {
    Sketch sketch;
    const auto one = sketch.buffer("x", 0, 64);
    const auto other = sketch.buffer("x", 0, 128);
    const auto third = sketch.buffer("x (2)", 0, 32);
    const auto code = sketch.buffer("code", 0, 16);
    sketch.graph.buffers[other.index].apart = {one};
    const auto placing = placed(sketch);
    const auto& at = placing.buffers;
    CHECK(at[one.index].bytes == 64);
    CHECK(at[other.index].bytes == 128);
    CHECK(are_apart(at[one.index], at[other.index]));
    CHECK_FALSE(overlap(at[third.index], at[other.index]));
    std::set<std::string> names{"code"};
    for (const auto id : {one, other, third, code}) {
        CHECK(names.insert(at[id.index].name).second);
        CHECK(placing.bytes_by_buffer.at(at[id.index].name) == at[id.index].bytes);
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
        for (const lower::CodeRoom code : {lower::CodeRoom{bytes, 0}, lower::CodeRoom{0, bytes},
                                           lower::CodeRoom{16, bytes - 16}}) {
            CAPTURE(bytes, code.rows);
            Sketch sketch;
            sketch.buffer("x", 0, 16);
            const auto begin = [&](bool by_codelets, bool by_rows) {
                const std::vector<lower::Need> needs{{Lifetime{}, by_codelets, by_rows}};
                return lower::place(kMachine, sketch.graph, needs, code, {}).buffers[0].begin -
                       kMemory.region0_begin();
            };
            const Bytes elements = plan::round_up(bytes, element);
            const bool together =
                plan::round_up(code.code, element) == plan::round_up(code.bytes(), element);
            CHECK(begin(false, false) == bytes);
            CHECK(begin(true, true) == elements);
            CHECK(begin(true, false) == (code.code > 0 && together ? elements : bytes));
            CHECK(begin(false, true) == (code.rows > 0 ? elements : bytes));
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
    sketch.step("fill", 0,
                {graph::write({codelets}, 16), graph::write({sent}, 16),
                 graph::table(sketch.graph.add_table(0, std::vector{graph::write({table}, 16)}))});
    const auto only_sent = sketch.buffer("only sent", 0, 16);
    sketch.graph.buffers[only_sent.index].zeroed = true;
    sketch.message("bring", {0, {only_sent}}, 16, {1, {both}});
    sketch.step("use", 1, {graph::read({both}, 16)});
    sketch.graph.remote_buffers.push_back({.name = "remote", .rows = 1, .row_bytes = 16});
    sketch.then(
        graph::stream(program::Step::Kind::StreamCopy,
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
}
