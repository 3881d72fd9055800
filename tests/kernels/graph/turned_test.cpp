// SPDX-License-Identifier: MIT
// Squares that are turned, carried out by hand on random tensors of lines.
#include "kernels/graph/turned.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using graph::At;

constexpr std::int64_t kSide = 16;
constexpr Bytes kElement = 2;
constexpr Bytes kRow = kSide * kElement;
constexpr Bytes kSquare = kSide * kRow;
constexpr TileId kTiles = 4;

/// How the 16 lines of a square stand: rows in the order of memory, in the order of weights, with a gap
/// between any two, or in no even order.
enum class Order { InRow, Weights, Apart, Uneven };

/// Offset of line `i` in the memory of a square.
Bytes offset_of(Order order, std::int64_t i) {
    switch (order) {
    case Order::InRow:
        return i * kRow;
    case Order::Weights:
        return ((i >> 2) * 2 + (i >> 1 & 1) * 8 + (i & 1)) * kRow;
    case Order::Apart:
        return 2 * i * kRow;
    case Order::Uneven:
        break;
    }
    return (i == 5 ? 20 : i) * kRow;
}
constexpr Bytes kMostOfSquare = 2 * kSide * kRow;

class Dealer {
public:
    Dealer(graph::Graph& graph, std::uint64_t seed) : graph_(graph), random_(seed, 5) {}

    std::int64_t below(std::int64_t bound) {
        return static_cast<std::int64_t>(
            random_.below(static_cast<std::uint64_t>(bound), drawn_++));
    }

    /// A stack of matrices in squares, each on any tile; neighbours of rows or of columns stand together.
    /// `is_mixed`: some squares have a second place, of some the lines are on two tiles.
    graph::TensorId deal(const std::string& name, std::vector<std::int64_t> shape, bool is_by_rows,
                         Order order, bool is_mixed) {
        const auto buffer = graph_.add_buffer({.name = name});
        const std::int64_t columns = shape.back();
        const std::int64_t rows = shape[shape.size() - 2];
        std::int64_t matrices = 1;
        for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
            matrices *= shape[i];
        }
        graph::Tensor tensor{.name = name, .type = ElementType::F16, .shape = std::move(shape)};
        const std::int64_t along = is_by_rows ? 1 : columns;
        const std::int64_t across = is_by_rows ? columns : 1;
        std::map<TileId, Bytes> held;
        for (std::int64_t first = 0; first < matrices * rows; first += kSide) {
            for (std::int64_t column = 0; column < columns; column += kSide) {
                const bool is_split = is_mixed && below(4) == 0;
                const std::int64_t places = is_mixed && below(4) == 0 ? 2 : 1;
                for (std::int64_t place = 0; place < places; ++place) {
                    const auto tile = static_cast<TileId>(below(kTiles));
                    for (std::int64_t i = 0; i < kSide; ++i) {
                        const TileId there = is_split && i >= 7 ? (tile + 1) % kTiles : tile;
                        tensor.pieces.push_back({there,
                                                 {buffer, held[there] + offset_of(order, i)},
                                                 first * columns + column + i * across,
                                                 {{kSide, along, kElement}}});
                    }
                    for (const TileId there : {tile, (tile + 1) % kTiles}) {
                        held[there] += kMostOfSquare;
                    }
                }
            }
        }
        for (const auto& [tile, bytes] : held) {
            graph_.hold(buffer, tile, bytes);
        }
        return graph_.add_tensor(std::move(tensor));
    }

private:
    graph::Graph& graph_;
    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
};

/// Calls `visit(element, place)`.
template <class Visit>
void for_elements(const graph::Piece& piece, const Visit& visit, std::size_t depth = 0,
                  std::int64_t host = 0, Bytes offset = 0) {
    if (depth == piece.dims.size()) {
        visit(piece.host_offset + host,
              At{piece.tile, piece.place.buffer.index,
                 static_cast<std::uint32_t>(piece.place.offset + offset)});
        return;
    }
    const program::PieceDim& dim = piece.dims[depth];
    for (std::int64_t i = 0; i < dim.count; ++i) {
        for_elements(piece, visit, depth + 1, host + i * dim.host_stride,
                     offset + i * dim.tile_stride);
    }
}

std::uint32_t row_of(const graph::RowPattern& rows, std::uint32_t row) {
    return (row & 1U) * rows.one + (row >> 1U & 1U) * rows.two + (row >> 2U) * rows.four;
}

using Memory = std::map<At, std::int64_t>; ///< the element that stands at a place

Bytes held_of(const graph::Graph& graph, std::uint32_t buffer, TileId tile) {
    Bytes bytes = 0;
    for (const graph::Held& held : graph.buffers[buffer].held) {
        bytes += held.tile == tile ? held.bytes : 0;
    }
    return bytes;
}

/// What `turned` says is done: squares arrive, or stand on their tiles, are turned, and their rows are copied.
void check_turned(const graph::Graph& graph, const graph::Turned& turned, graph::TensorId from_id,
                  graph::TensorId to_id) {
    const graph::Tensor& to = graph.tensors[to_id.index];
    const std::uint32_t from_buffer =
        graph.tensors[from_id.index].pieces.front().place.buffer.index;
    Memory memory;
    for (const graph::Piece& piece : graph.tensors[from_id.index].pieces) {
        for_elements(piece, [&](std::int64_t element, const At& at) { memory[at] = element; });
    }
    std::set<std::uint32_t> arrival_buffers;
    for (const graph::Piece& piece : turned.arrives.pieces) {
        arrival_buffers.insert(piece.place.buffer.index);
        for_elements(piece, [&](std::int64_t element, const At& at) {
            CHECK(memory.emplace(at, element).second); // nothing arrives over something else
        });
    }
    REQUIRE(arrival_buffers.size() <= 1);
    const std::uint32_t squares = arrival_buffers.empty() ? from_buffer : *arrival_buffers.begin();
    CHECK((arrival_buffers.empty() || graph.buffers[squares].name == "name: squares"));

    std::map<TileId, Bytes> in;
    std::map<TileId, Bytes> out;
    std::uint32_t turned_buffer = to.pieces.front().place.buffer.index;
    CHECK(
        std::ranges::is_sorted(turned.squares, {}, [](const auto& one) { return one.from.tile; }));
    for (const graph::Square& square : turned.squares) {
        REQUIRE((square.from.buffer == squares || square.from.buffer == from_buffer));
        in[square.from.tile] += square.from.buffer == from_buffer ? 0 : kSquare;
        REQUIRE(square.to.tile == square.from.tile);
        if (square.to.buffer != to.pieces.front().place.buffer.index) {
            turned_buffer = square.to.buffer;
            CHECK(graph.buffers[turned_buffer].name == "name: turned");
            out[square.to.tile] += kSquare;
        }
        for (std::uint32_t row = 0; row < kSide; ++row) {
            for (std::uint32_t column = 0; column < kSide; ++column) {
                const At from = square.from + (row_of(square.from_rows, column) + 2 * row);
                REQUIRE(memory.contains(from));
                const At there = square.to + (row_of(square.to_rows, row) + 2 * column);
                CHECK(memory.emplace(there, memory.at(from)).second);
            }
        }
    }
    for (const auto& [tile, bytes] : in) {
        CHECK((squares == from_buffer || held_of(graph, squares, tile) == bytes));
    }
    for (const auto& [tile, bytes] : out) {
        CHECK(held_of(graph, turned_buffer, tile) == bytes);
    }
    CHECK(out.empty() == turned.rows.empty());
    for (const graph::Atom& row : turned.rows) {
        CHECK(row.from.tile == row.to.tile);
        for (std::uint32_t at = 0; at < row.bytes; at += 2) {
            REQUIRE(memory.contains(row.from + at));
            CHECK(memory.emplace(row.to + at, memory.at(row.from + at)).second);
        }
    }

    std::set<At> places;
    for (const graph::Piece& piece : to.pieces) {
        for_elements(piece, [&](std::int64_t element, const At& at) {
            places.insert(at);
            REQUIRE(memory.contains(at));
            CHECK(memory.at(at) == element);
        });
    }
    for (const auto& [at, element] : memory) {
        CHECK((at.buffer != to.pieces.front().place.buffer.index || places.contains(at)));
    }
    std::set<At> covered;
    for (const graph::Atom& atom : turned.covered) {
        CHECK(atom.from == atom.to);
        for (std::uint32_t at = 0; at < atom.bytes; at += 2) {
            CHECK(covered.insert(atom.to + at).second);
        }
    }
    CHECK(covered == places);
}

/// Squares that a tile wants some of: they travel once.
std::size_t wanted_squares(const graph::Tensor& to) {
    const std::int64_t columns = to.shape.back();
    std::set<std::tuple<TileId, std::int64_t, std::int64_t>> wanted;
    for (const graph::Piece& piece : to.pieces) {
        wanted.emplace(piece.tile, piece.host_offset / columns / kSide,
                       piece.host_offset % columns / kSide);
    }
    return wanted.size();
}

/// Squares that a tile wants some of and does not have in 512 bytes, by their first places.
std::size_t arriving_squares(const graph::Tensor& from, const graph::Tensor& to, Order order) {
    const std::int64_t columns = to.shape.back();
    using Square = std::pair<std::int64_t, std::int64_t>;
    const auto square_of = [&](std::int64_t host) {
        return Square(host / columns / kSide, host % columns / kSide);
    };
    std::map<std::int64_t, TileId> first; // of lines
    std::map<Square, std::set<TileId>> has;
    for (const graph::Piece& piece : from.pieces) {
        if (first.emplace(piece.host_offset, piece.tile).second) {
            has[square_of(piece.host_offset)].insert(piece.tile);
        }
    }
    const bool is_together = order == Order::InRow || order == Order::Weights;
    std::set<std::pair<TileId, Square>> arriving;
    for (const graph::Piece& piece : to.pieces) {
        const Square square = square_of(piece.host_offset);
        if (!is_together || has.at(square) != std::set<TileId>{piece.tile}) {
            arriving.emplace(piece.tile, square);
        }
    }
    return arriving.size();
}

/// Rows that are copied because a tile does not want those of one square once each, in an even order.
std::size_t copied_rows(const graph::Tensor& to, Order order) {
    const std::int64_t columns = to.shape.back();
    std::map<std::tuple<TileId, std::int64_t, std::int64_t>,
             std::vector<std::pair<std::int64_t, Bytes>>>
        wanted; // number of a line, and where it is
    for (const graph::Piece& piece : to.pieces) {
        const std::int64_t row = piece.host_offset / columns;
        const std::int64_t column = piece.host_offset % columns;
        const bool is_row = piece.dims.front().host_stride == 1;
        wanted[{piece.tile, row / kSide, column / kSide}].emplace_back(
            (is_row ? row : column) % kSide, piece.place.offset);
    }
    std::size_t copied = 0;
    for (auto& [square, lines] : wanted) {
        std::sort(lines.begin(), lines.end());
        bool is_even = order != Order::Uneven && lines.size() == kSide;
        for (std::size_t i = 0; is_even && i < lines.size(); ++i) {
            const auto number = static_cast<std::int64_t>(i);
            is_even = lines[i].first == number &&
                      lines[i].second == lines[0].second + offset_of(order, number);
        }
        copied += is_even ? 0 : lines.size();
    }
    return copied;
}

} // namespace

TEST_CASE("squares that are turned bring every element to all of its places", "[kernels][copy]") {
    const std::vector<std::vector<std::int64_t>> shapes{{16, 16}, {32, 48}, {48, 16}, {2, 16, 32}};
    std::uint64_t seed = 0;
    for (const auto& shape : shapes) {
        for (const bool is_by_rows : {false, true}) {
            for (const Order from_order :
                 {Order::InRow, Order::Weights, Order::Apart, Order::Uneven}) {
                for (const Order to_order :
                     {Order::InRow, Order::Weights, Order::Apart, Order::Uneven}) {
                    CAPTURE(shape, is_by_rows, static_cast<int>(from_order),
                            static_cast<int>(to_order));
                    graph::Graph graph("turn");
                    Dealer dealer(graph, ++seed);
                    const auto from = dealer.deal("from", shape, is_by_rows, from_order, true);
                    const auto to = dealer.deal("to", shape, !is_by_rows, to_order, true);
                    const std::size_t tensors = graph.tensors.size();
                    const auto turned = graph::turn_squares(graph, from, to, "name");
                    REQUIRE(turned.has_value());
                    CHECK(graph.tensors.size() == tensors);
                    CHECK(turned->squares.size() == wanted_squares(graph.tensors[to.index]));
                    CHECK(turned->arrives.pieces.size() ==
                          arriving_squares(graph.tensors[from.index], graph.tensors[to.index],
                                           from_order));
                    CHECK(turned->rows.size() == copied_rows(graph.tensors[to.index], to_order));
                    check_turned(graph, *turned, from, to);
                }
            }
        }
    }
}

TEST_CASE("a square keeps the order of its rows on the way where it is of one piece",
          "[kernels][copy]") {
    for (const Order order : {Order::InRow, Order::Weights, Order::Apart, Order::Uneven}) {
        graph::Graph graph("turn");
        Dealer dealer(graph, 1);
        const auto from = dealer.deal("from", {48, 32}, true, order, false);
        const auto to = dealer.deal("to", {48, 32}, false, Order::InRow, false);
        const auto turned = graph::turn_squares(graph, from, to, "name");
        REQUIRE(turned.has_value());
        REQUIRE(turned->squares.size() == 6);
        const bool is_one_piece = order == Order::InRow || order == Order::Weights;
        for (const graph::Square& square : turned->squares) {
            for (std::uint32_t row = 0; row < kSide; ++row) {
                CHECK(row_of(square.from_rows, row) ==
                      offset_of(is_one_piece ? order : Order::InRow, row));
            }
        }
    }
}

TEST_CASE("a square whose rows are all wanted in an even order is turned into their places",
          "[kernels][copy]") {
    for (const Order order : {Order::InRow, Order::Weights, Order::Apart, Order::Uneven}) {
        graph::Graph graph("turn");
        Dealer dealer(graph, 1);
        const auto from = dealer.deal("from", {16, 16}, false, Order::InRow, false);
        const auto to = dealer.deal("to", {16, 16}, true, order, false);
        const auto turned = graph::turn_squares(graph, from, to, "name");
        REQUIRE(turned.has_value());
        CHECK(turned->rows.size() == (order == Order::Uneven ? kSide : 0));
    }
}

TEST_CASE("what squares do not cover whole is not turned", "[kernels][copy]") {
    const auto is_turned = [](const auto& change) {
        graph::Graph graph("turn");
        Dealer dealer(graph, 3);
        const auto from = dealer.deal("from", {32, 32}, true, Order::InRow, false);
        const auto to = dealer.deal("to", {32, 32}, false, Order::InRow, false);
        const std::size_t buffers = graph.buffers.size();
        change(graph.tensors[from.index], graph.tensors[to.index]);
        const bool turned = graph::turn_squares(graph, from, to, "name").has_value();
        CHECK((turned || graph.buffers.size() == buffers)); // nothing is left behind
        return turned;
    };
    const auto alone = [](graph::Tensor& tensor, std::size_t piece) {
        // the last element of a line for itself, where it was
        graph::Piece single = tensor.pieces[piece];
        program::PieceDim& dim = tensor.pieces[piece].dims.front();
        --dim.count;
        single.host_offset += dim.count * dim.host_stride;
        single.place.offset += dim.count * dim.tile_stride;
        single.dims.front().count = 1;
        tensor.pieces.push_back(single);
    };
    CHECK(is_turned([](graph::Tensor&, graph::Tensor&) {}));
    for (const std::size_t piece : {0U, 5U, 63U}) {
        CHECK(!is_turned([&](graph::Tensor& from, graph::Tensor&) { alone(from, piece); }));
        CHECK(!is_turned([&](graph::Tensor&, graph::Tensor& to) { alone(to, piece); }));
        for (const Bytes bytes : {2, 4, 6}) { // within a double word
            CHECK(!is_turned([&](graph::Tensor& from, graph::Tensor&) {
                from.pieces[piece].place.offset += bytes;
            }));
            CHECK(!is_turned([&](graph::Tensor&, graph::Tensor& to) {
                to.pieces[piece].place.offset += bytes;
            }));
        }
    }
    CHECK(!is_turned(
        [](graph::Tensor& from, graph::Tensor& to) { from.type = to.type = ElementType::F32; }));
    CHECK(!is_turned([](graph::Tensor& from, graph::Tensor& to) { from = to; }));
    CHECK(!is_turned([](graph::Tensor& from, graph::Tensor& to) { to.pieces = from.pieces; }));
}

TEST_CASE("lines longer than a square are cut where squares begin", "[kernels][copy]") {
    // One piece with all neighbours of a line, from a column on that is no multiple of 16.
    constexpr std::int64_t kRows = 16;
    constexpr std::int64_t kColumns = 64;
    for (const std::int64_t cut : {0, 16, 32, 5, 20}) {
        CAPTURE(cut);
        graph::Graph graph("turn");
        Dealer dealer(graph, 8);
        const auto to = dealer.deal("to", {kRows, kColumns}, false, Order::InRow, true);
        const auto buffer = graph.add_buffer({.name = "from"});
        graph::Tensor tensor{.name = "from", .type = ElementType::F16, .shape = {kRows, kColumns}};
        graph.hold(buffer, 0, kRows * kColumns * kElement);
        for (const auto& [first, count] :
             {std::pair{std::int64_t{0}, cut}, std::pair{cut, kColumns - cut}}) {
            if (count > 0) {
                tensor.pieces.push_back(
                    {0,
                     {buffer, first * kElement},
                     first,
                     {{kRows, kColumns, kColumns * kElement}, {count, 1, kElement}}});
            }
        }
        const auto from = graph.add_tensor(std::move(tensor));
        const auto turned = graph::turn_squares(graph, from, to, "name");
        REQUIRE(turned.has_value() == (cut % kSide == 0));
        if (turned) {
            check_turned(graph, *turned, from, to);
        }
    }
}

TEST_CASE("a tensor's squares are told before it is copied", "[kernels][copy]") {
    for (const bool is_by_rows : {false, true}) {
        for (const Order order : {Order::InRow, Order::Uneven}) {
            graph::Graph graph("turn");
            Dealer dealer(graph, 11);
            const std::vector<std::int64_t> shape{48, 32};
            const auto id = dealer.deal("from", shape, is_by_rows, order, false);
            graph::Tensor from = graph.tensors[id.index];
            const std::size_t wanted = is_by_rows ? 0 : 1; // the dimension of the other neighbours
            CHECK(!graph::tiles_of_squares(from, 1 - wanted).has_value());
            // one square gets a line, the last or one amid the others, from another tile
            for (const std::size_t moved : {std::size_t{0}, std::size_t{7}, std::size_t{15}}) {
                graph::Tensor split = from;
                graph::Piece& line = split.pieces[moved];
                const TileId before = line.tile;
                line.tile = before + 1;
                const auto found = graph::tiles_of_squares(split, wanted);
                REQUIRE(found.has_value());
                CHECK(found->across == shape[wanted] / kSide);
                REQUIRE(found->squares.size() == 6);
                std::size_t whole = 0;
                for (const graph::Piece& piece : from.pieces) {
                    const std::int64_t at[2] = {piece.host_offset / shape[1] / kSide,
                                                piece.host_offset % shape[1] / kSide};
                    const auto& square = found->squares[static_cast<std::size_t>(
                        at[1 - wanted] * found->across + at[wanted])];
                    CHECK((square.tile == piece.tile || square.other == piece.tile));
                    whole += square.is_whole() ? 1 : 0;
                }
                CHECK(whole == 5 * kSide);
            }
            from.pieces.pop_back();
            CHECK(!graph::tiles_of_squares(from, wanted).has_value());
        }
    }
    graph::Graph graph("turn");
    Dealer dealer(graph, 12);
    const auto id = dealer.deal("from", {2, 16, 32}, true, Order::InRow, false);
    CHECK(!graph::tiles_of_squares(graph.tensors[id.index], 0).has_value()); // no matrix
    const auto other = dealer.deal("from", {16, 32}, true, Order::InRow, false);
    CHECK(graph::tiles_of_squares(graph.tensors[other.index], 0).has_value());
    graph.tensors[other.index].type = ElementType::F32;
    CHECK(!graph::tiles_of_squares(graph.tensors[other.index], 0).has_value());
}
