// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/graph/replicate.h"

#include <catch2/catch.hpp>

#include <array>
#include <set>
#include <vector>

namespace {

using namespace tessera;
using namespace tessera::graph;

constexpr std::int64_t kCopies = 3;
constexpr std::int64_t kStride = 4;

/// Two tiles: one sends the other a word, which calls a vertex with a table of it.
Graph two_tiles() {
    Graph graph("two tiles");
    const auto here = graph.add_buffer({.name = "here"});
    const auto there = graph.add_buffer({.name = "there"});
    graph.hold(here, 0, 16);
    graph.hold(there, 1, 16);
    const auto exchange = graph.add_exchange({"send", program::Role::Bring, "test"});
    graph.add_message(exchange, 0, {here}, 8, {1, {there}});
    const auto set = graph.add_compute_set({"work", program::Role::Work, "test", "words"});
    const std::array inside{read({there}, 8), word(5)};
    const auto inner = graph.add_table(1, inside);
    const std::array around{table(inner)};
    const auto outer = graph.add_table(1, around);
    graph.add_vertex(set, 1, "vertex", program::VertexKind::MultiWorker, {table(outer), word(7)});
    graph.add_vertex(set, 0, "vertex", program::VertexKind::MultiWorker, {read({here}, 8)});
    graph.add_work(set, 1, 9);
    graph.add_item(set, 1, {3, 4, 2});
    Tensor tensor{.name = "x", .type = ElementType::F32, .shape = {2, 2}};
    tensor.pieces.push_back(run_of(0, {here}, 0, 2, ElementType::F32));
    tensor.pieces.push_back(run_of(1, {there}, 2, 2, ElementType::F32));
    graph.add_tensor(std::move(tensor));
    graph.control = sequence({run(exchange), run(set)});
    return graph;
}

} // namespace

TEST_CASE("copies of a graph have the part's steps on tiles of their own", "[kernels][graph]") {
    const Graph part = two_tiles();
    const Graph all = replicated(two_tiles(), kCopies, kStride);
    CHECK(all.buffers.size() == part.buffers.size());
    REQUIRE(all.compute_sets.size() == 1);
    REQUIRE(all.exchanges.size() == 1);
    std::set<TileId> calls;
    const auto& vertices = all.compute_sets[0].vertices;
    REQUIRE(vertices.size() == kCopies * part.compute_sets[0].vertices.size());
    for (const Vertex& vertex : vertices) {
        calls.insert(vertex.tile);
        if (vertex.tile % kStride != 1) {
            continue;
        }
        // its tables, and the tables of these, stand on its tile
        const Table& outer = all.tables.at(all.fields_of(vertex.fields)[0].word);
        CHECK(outer.tile == vertex.tile);
        const Table& inner = all.tables.at(all.fields_of(outer.fields)[0].word);
        CHECK(inner.tile == vertex.tile);
        CHECK(all.fields_of(inner.fields)[1].word == 5);
    }
    CHECK(calls == std::set<TileId>{0, 1, 4, 5, 8, 9});
    CHECK(all.compute_sets[0].work ==
          std::vector<std::int64_t>{0, 9, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0});
    REQUIRE(all.compute_sets[0].items.size() == 12);
    for (std::size_t tile = 0; tile < 12; ++tile) {
        CHECK(all.compute_sets[0].items[tile].number == (tile % 4 == 1 ? 3 : -1));
    }
    for (const Message& message : all.exchanges[0].messages) {
        REQUIRE(message.receivers == 1);
        CHECK(all.exchanges[0].to.at(message.first_to).tile == message.from.tile + 1);
    }
    REQUIRE(all.tensors.size() == 1);
    const Tensor& tensor = all.tensors[0];
    CHECK(tensor.shape == std::vector<std::int64_t>{kCopies, 2, 2});
    REQUIRE(tensor.pieces.size() == 2 * kCopies);
    std::set<std::int64_t> offsets;
    for (const Piece& piece : tensor.pieces) {
        offsets.insert(piece.host_offset);
        CHECK(piece.host_offset ==
              piece.tile / kStride * 4 + 2 * static_cast<std::int64_t>(piece.tile % kStride));
    }
    CHECK(offsets.size() == tensor.pieces.size());
}

TEST_CASE("tensors of turns are one behind the other", "[kernels][graph]") {
    Tensor first = replicated(two_tiles(), kCopies, kStride).tensors[0];
    const Tensor behind = replicated(two_tiles(), 2, kStride).tensors[0];
    join(first, behind);
    CHECK(first.shape == std::vector<std::int64_t>{kCopies + 2, 2, 2});
    REQUIRE(first.pieces.size() == 2 * (kCopies + 2));
    CHECK(first.pieces[2 * kCopies].host_offset == kCopies * 4);
}

TEST_CASE("copies of a graph share rows of remote buffers and go by one word", "[kernels][graph]") {
    constexpr Bytes kRow = 24;
    constexpr std::int64_t kRows = 2; // of a copy
    Graph part = two_tiles();
    part.remote_buffers.push_back({.name = "remote", .rows = 5, .row_bytes = kRow});
    const auto rows = part.add_buffer({.name = "rows"});
    part.hold(rows, 0, kRow * kRows);
    part.io_tiles = {1};
    // the second piece goes on in the second row
    const std::vector<StreamPiece> pieces{{0, {rows}, 8, 0}, {0, {rows, 8}, kRow * kRows - 8, 8}};
    const auto copy = part.add_stream_copy(
        {.name = "load", .owner = "test", .remote_buffer = 0, .rows = kRows, .pieces = pieces});
    const TilePlace word(0, {BufferId{0}, 4});
    part.control = as_long_as(word, {stream(Step::Kind::StreamCopy, copy, word)});
    const Graph all = replicated(std::move(part), kCopies, kStride);
    REQUIRE(all.remote_buffers.size() == 1);
    CHECK(all.remote_buffers[0].rows == 5);
    CHECK(all.remote_buffers[0].row_bytes == kCopies * kRow);
    CHECK(all.io_tiles == std::vector<TileId>{1, 1 + kStride, 1 + 2 * kStride});
    REQUIRE(all.stream_copies.size() == 1);
    CHECK(all.stream_copies[0].rows == kRows);
    std::set<Bytes> bytes; // of the rows
    for (const StreamPiece& piece : all.stream_copies[0].pieces) {
        const std::int64_t of_copy = piece.tile / kStride;
        CHECK(piece.tile % kStride == 0);
        CHECK(piece.place.buffer == rows);
        for (Bytes i = 0; i < piece.bytes; ++i) {
            const Bytes in_part = piece.place.offset + i; // pieces of the part lie in their order
            CHECK(piece.offset + i == (in_part / kRow * kCopies + of_copy) * kRow + in_part % kRow);
            CHECK(bytes.insert(piece.offset + i).second);
        }
    }
    CHECK(bytes.size() == static_cast<std::size_t>(kCopies * kRow * kRows));
    REQUIRE(all.control.word);
    CHECK(all.control.word->tile == 0);
    CHECK(all.control.children.at(0).word->tile == 0);
}
