// SPDX-License-Identifier: MIT
#include "kernels/lower/lower.h"
#include "kernels/lower/state.h"
#include "kernels/workload/random.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using program::Lifetime;
using test::Sketch;

constexpr TileId kTiles = 3;
constexpr Bytes kWord = lower::kStateWordBytes;

} // namespace

TEST_CASE("words of state stand in turn on their tile, with what goes in the same step",
          "[kernels][state]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        const workload::CounterRandom random(seed, 12);
        std::uint64_t drawn = 0;
        const auto below = [&](std::uint32_t bound) {
            return static_cast<std::uint32_t>(random.below(bound, drawn++));
        };
        Sketch sketch;
        graph::Graph& graph = sketch.graph;
        const auto x = graph.add_buffer({.name = "x"});
        // fields of a tile, which may point to its tables that there are
        const auto fields_of = [&](TileId tile) {
            std::vector<graph::Field> fields;
            for (std::uint32_t left = below(4); left > 0; --left) {
                std::vector<std::uint32_t> tables;
                for (std::uint32_t i = 0; i < graph.tables.size(); ++i) {
                    if (graph.tables[i].tile == tile) {
                        tables.push_back(i);
                    }
                }
                const std::uint32_t kind = below(4);
                if (kind == 0 && !tables.empty()) {
                    const auto chosen = below(static_cast<std::uint32_t>(tables.size()));
                    fields.push_back(graph::table({tables[chosen]}));
                } else if (kind == 1) {
                    fields.push_back(graph::use({x}, 4, graph::Access::Read));
                } else if (kind == 2) {
                    fields.push_back(graph::read({x}, 4));
                } else {
                    fields.push_back(graph::word(below(100)));
                }
            }
            return fields;
        };
        for (std::uint32_t left = below(6); left > 0; --left) {
            const TileId tile = below(kTiles);
            const auto fields = fields_of(tile);
            static_cast<void>(graph.add_table(tile, fields));
        }
        std::vector<std::uint32_t> last;
        for (std::uint32_t set = 0; set < 3; ++set) {
            const auto made = graph.add_compute_set({"set", program::Role::Work, "test"});
            last.push_back(below(3));
            for (std::uint32_t left = below(4); left > 0; --left) {
                const TileId tile = below(kTiles);
                const auto fields = fields_of(tile);
                graph.add_vertex(made, tile, "entry", program::VertexKind::Worker, fields);
            }
        }

        // by buffer in the order of adding: when it goes, and words by tile
        std::vector<std::uint32_t> goes;
        std::map<std::pair<std::uint32_t, TileId>, Bytes> held;
        std::vector<std::pair<std::uint32_t, Bytes>> of_vertex;
        std::map<std::uint32_t, std::pair<std::uint32_t, Bytes>> of_table;
        std::vector<std::uint32_t> table_goes(graph.tables.size());
        using Visit = std::function<void(const graph::Fields&, std::uint32_t)>;
        const Visit keep = [&](const graph::Fields& fields, std::uint32_t step) {
            for (const graph::Field& field : graph.fields_of(fields)) {
                if (field.kind == graph::Field::Kind::Table) {
                    table_goes[field.word] = std::max(table_goes[field.word], step);
                    keep(graph.tables[field.word].fields, step);
                }
            }
        };
        const auto place = [&](TileId tile, const graph::Fields& fields, std::uint32_t step) {
            const auto found = std::find(goes.begin(), goes.end(), step);
            const auto buffer = static_cast<std::uint32_t>(found - goes.begin());
            if (found == goes.end()) {
                goes.push_back(step);
            }
            Bytes words = 0;
            for (const graph::Field& field : graph.fields_of(fields)) {
                words += field.kind == graph::Field::Kind::Use ? 0 : kWord;
            }
            Bytes& used = held[{buffer, tile}];
            return std::pair(buffer, std::exchange(used, used + words));
        };
        const Visit place_tables = [&](const graph::Fields& fields, std::uint32_t) {
            for (const graph::Field& field : graph.fields_of(fields)) {
                if (field.kind == graph::Field::Kind::Table && of_table.count(field.word) == 0) {
                    const graph::Table& table = graph.tables[field.word];
                    of_table[field.word] = {};
                    place_tables(table.fields, 0);
                    of_table[field.word] = place(table.tile, table.fields, table_goes[field.word]);
                }
            }
        };
        std::vector<std::size_t> first_vertex;
        std::size_t vertices = 0;
        for (std::uint32_t set = 0; set < 3; ++set) {
            first_vertex.push_back(vertices);
            vertices += graph.compute_sets[set].vertices.size();
            for (const graph::Vertex& vertex : graph.compute_sets[set].vertices) {
                keep(vertex.fields, last[set]);
            }
        }
        for (std::uint32_t set = 0; set < 3; ++set) {
            for (const graph::Vertex& vertex : graph.compute_sets[set].vertices) {
                place_tables(vertex.fields, 0);
                of_vertex.push_back(place(vertex.tile, vertex.fields, last[set]));
            }
        }

        const std::size_t buffers = graph.buffers.size();
        const lower::State state = lower::lay_out_state(graph, last);
        REQUIRE(state.first_vertex == first_vertex);
        REQUIRE(state.buffers.size() == goes.size());
        REQUIRE(graph.buffers.size() == buffers + goes.size());
        for (std::size_t i = 0; i < goes.size(); ++i) {
            REQUIRE(state.lifetimes.at(i) == Lifetime{0, goes[i]});
            REQUIRE(state.buffers[i].index == buffers + i);
            const graph::Buffer& buffer = graph.buffers[buffers + i];
            REQUIRE(buffer.kind == program::SegmentKind::VertexState);
            REQUIRE(buffer.alignment == 16);
            for (TileId tile = 0; tile < kTiles; ++tile) {
                Bytes found = 0;
                for (const graph::Held& one : buffer.held) {
                    found += one.tile == tile ? one.bytes : 0;
                }
                REQUIRE(found == held[{static_cast<std::uint32_t>(i), tile}]);
            }
        }
        REQUIRE(state.of_vertex.size() == of_vertex.size());
        for (std::size_t i = 0; i < of_vertex.size(); ++i) {
            REQUIRE(state.of_vertex[i].buffer.index == buffers + of_vertex[i].first);
            REQUIRE(state.of_vertex[i].offset == of_vertex[i].second);
        }
        for (const auto& [table, at] : of_table) {
            REQUIRE(state.of_table.at(table).buffer.index == buffers + at.first);
            REQUIRE(state.of_table[table].offset == at.second);
        }
    }
}

TEST_CASE("what a graph says of itself arrives in the program", "[kernels][state]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    Sketch sketch;
    graph::Graph& graph = sketch.graph;
    graph.codelets = {"copy"};
    const auto x = graph.add_buffer({.name = "x", .zeroed = true});
    const auto y = graph.add_buffer({.name = "y"});
    graph.hold(x, 0, 2048);
    for (const TileId tile : {2, 3}) {
        graph.hold(y, tile, 2048);
    }
    graph.remote_buffers.push_back({.name = "remote", .rows = 3, .row_bytes = 64});
    const auto copy = graph.add_stream_copy({.name = "load",
                                             .owner = "loader",
                                             .direction = program::StreamCopy::Direction::Read,
                                             .rows = 2,
                                             .pieces = {{2, {y, 16}, 32, 8}}});
    const auto bring = graph.add_exchange({"bring", program::Role::Bring, "test"});
    const std::vector<graph::Receiver> pair{{2, {y}}, {3, {y}}};
    graph.add_message(bring, 0, {x}, 1024, pair, true);
    graph.add_message(bring, 0, {x, 1024}, 1024, std::vector<graph::Receiver>{{2, {y, 1024}}});
    const auto work = graph.add_compute_set({"work", program::Role::Work, "test"});
    graph.add_vertex(work, 2, "copy64", program::VertexKind::MultiWorker, {graph::word(7)});
    graph.control = graph::sequence({graph::stream(graph::Step::Kind::StreamCopy, copy, 1),
                                     graph::run(bring), graph::run(work)});
    const auto lowered = lower::lower(machine, graph);
    const program::Program& program = lowered.program;
    REQUIRE(program.remote_buffers.size() == 1);
    CHECK(program.remote_buffers[0].name == "remote");
    CHECK(program.remote_buffers[0].rows == 3);
    CHECK(program.stream_copies.at(0).rows == 2);
    CHECK(program.stream_copies[0].pieces.at(0).bytes == 32);
    CHECK(program.stream_copies[0].pieces[0].offset == 8);
    CHECK(program.control.children.at(0).row == 1);
    const auto& transfers = program.exchanges.at(0).transfers;
    REQUIRE(transfers.size() == 2);
    CHECK(transfers[0].paired);
    CHECK_FALSE(transfers[1].paired);
    CHECK(transfers[1].source_address == transfers[0].source_address + 1024);
    CHECK(transfers[1].destinations.at(0).address == transfers[0].destinations[0].address + 1024);
    CHECK(lowered.exchanges.at(0).wide_messages == 1);
    for (const auto& set : program.compute_sets.at(0).tiles) {
        CHECK((set.stub == 0) == set.vertices.empty());
    }
    for (const auto& image : program.images) {
        CHECK(std::is_sorted(
            image.segments.begin(), image.segments.end(),
            [](const auto& left, const auto& right) { return left.address < right.address; }));
        for (const auto& segment : image.segments) {
            if (segment.kind == program::SegmentKind::ExchangeRow) {
                CHECK(segment.lifetime == Lifetime{0, 1});
            }
        }
    }
}
