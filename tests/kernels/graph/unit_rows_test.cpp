// SPDX-License-Identifier: MIT
// Pieces of random tensors as vertices go over them, beside what their bytes say one by one.
#include "kernels/graph/cells.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/workload/random.h"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using graph::Graph;
using graph::Piece;
using graph::Tensor;
using graph::TensorId;

constexpr Bytes kUnit = graph::kUnitBytes;

/// Random pieces on two tiles and in two buffers.
class RandomPieces {
public:
    explicit RandomPieces(std::uint64_t seed) : random_(seed, 4) {}

    std::int64_t below(std::int64_t bound) {
        return static_cast<std::int64_t>(
            random_.below(static_cast<std::uint64_t>(bound), drawn_++));
    }
    Tensor tensor() {
        const ElementType type = below(2) == 0 ? ElementType::F16 : ElementType::F32;
        Tensor made{.name = "t", .type = type, .shape = {100}};
        const Bytes element = bytes_of(type);
        for (std::int64_t pieces = 1 + below(4); pieces > 0; --pieces) {
            Piece piece;
            piece.tile = static_cast<TileId>(below(2));
            piece.place = {{static_cast<std::uint32_t>(below(2))}, 800 + element * below(24)};
            piece.host_offset = below(50);
            for (std::int64_t dims = below(4); dims > 0; --dims) {
                const std::int64_t count = below(12) == 0 ? 0 : 1 + below(4);
                piece.dims.push_back({count, 1 + below(9), element * (below(25) - 8)});
            }
            made.pieces.push_back(piece);
        }
        return made;
    }

private:
    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
};

/// Tile, buffer and first byte.
using At = std::tuple<TileId, std::uint32_t, Bytes>;

/// Calls `visit(place, host offset)` for each element of a piece.
template <class Visit>
void for_elements(const Piece& piece, std::size_t dim, Bytes offset, std::int64_t host,
                  const Visit& visit) {
    if (dim == piece.dims.size()) {
        visit(At{piece.tile, piece.place.buffer.index, offset}, host);
        return;
    }
    for (std::int64_t i = 0; i < piece.dims[dim].count; ++i) {
        for_elements(piece, dim + 1, offset + i * piece.dims[dim].tile_stride,
                     host + i * piece.dims[dim].host_stride, visit);
    }
}
template <class Visit> void for_elements(const Tensor& tensor, const Visit& visit) {
    for (const Piece& piece : tensor.pieces) {
        for_elements(piece, 0, piece.place.offset, piece.host_offset, visit);
    }
}

/// Neighbours of `size` bytes each, as runs: where one begins and how many bytes it has.
std::vector<std::pair<At, Bytes>> joined(const std::set<At>& all, Bytes size) {
    std::vector<std::pair<At, Bytes>> runs;
    for (const auto& [tile, buffer, offset] : all) {
        if (!runs.empty()) {
            auto& [begin, bytes] = runs.back();
            if (At{tile, buffer, offset - bytes} == begin) {
                bytes += size;
                continue;
            }
        }
        runs.push_back({{tile, buffer, offset}, size});
    }
    return runs;
}

} // namespace

TEST_CASE("rows are of the units that have bytes of elements, and runs are these bytes",
          "[kernels][places]") {
    int several = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        const Tensor tensor = RandomPieces(seed).tensor();
        std::set<At> units;
        std::set<At> halves;
        for_elements(tensor, [&](const At& at, std::int64_t) {
            const auto [tile, buffer, first] = at;
            for (Bytes byte = first; byte < first + bytes_of(tensor.type); byte += 2) {
                units.insert({tile, buffer, byte / kUnit * kUnit});
                halves.insert({tile, buffer, byte});
            }
        });
        using Row = std::tuple<At, std::int64_t, std::int64_t, Bytes>; // rows, units, stride
        std::vector<Row> expected;
        for (const auto& [at, bytes] : joined(units, kUnit)) {
            if (!expected.empty()) {
                auto& [first, rows, of_row, stride] = expected.back();
                const Bytes step = std::get<2>(at) - std::get<2>(first);
                const bool same = std::get<0>(at) == std::get<0>(first) &&
                                  std::get<1>(at) == std::get<1>(first) && of_row * kUnit == bytes;
                if (same && (rows == 1 || step == rows * stride)) {
                    stride = step / rows;
                    ++rows;
                    continue;
                }
            }
            expected.push_back({at, 1, bytes / kUnit, bytes});
        }
        std::vector<Row> found;
        std::vector<std::pair<At, Bytes>> runs;
        for (const graph::UnitRows& rows : graph::unit_rows_of(tensor)) {
            found.push_back({{rows.tile, rows.first.buffer.index, rows.first.offset},
                             rows.rows,
                             rows.units,
                             rows.stride});
            several += rows.rows > 2 ? 1 : 0;
            for (const graph::ByteRun& run : rows.runs) {
                runs.push_back({{run.tile, run.place.buffer.index, run.place.offset}, run.bytes});
            }
        }
        REQUIRE(found == expected);
        REQUIRE(runs == joined(halves, 2));
    }
    CHECK(several > 100);
}

TEST_CASE("a buffer begins at a unit at least", "[kernels][places]") {
    for (const Bytes alignment : {4, 8, 16}) {
        Graph graph("test");
        const auto used = graph.add_buffer({.name = "used", .alignment = alignment});
        const auto other = graph.add_buffer({.name = "other", .alignment = 4});
        Tensor tensor = graph::array_tensor("t", ElementType::F16, 4);
        tensor.pieces.push_back(graph::run_of(0, {used}, 0, 4, ElementType::F16));
        graph::align_to_units(graph, graph.add_tensor(std::move(tensor)));
        CHECK(graph.buffers[used.index].alignment == std::max(alignment, kUnit));
        CHECK(graph.buffers[other.index].alignment == 4);
    }
}

TEST_CASE("a tensor that stands as another has its elements where that has them",
          "[kernels][places]") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        RandomPieces random(seed);
        Graph graph("test");
        for (const char* name : {"a", "b"}) {
            graph.add_buffer({.name = name});
        }
        Tensor model = random.tensor();
        model.given = model.wanted = true;
        const Bytes from = bytes_of(model.type);
        const ElementType type = random.below(2) == 0 ? ElementType::F16 : ElementType::F32;
        const Bytes to = bytes_of(type);
        const auto made = graph::add_alike(graph, "made", type, graph.add_tensor(model));
        const Tensor& tensor = graph.tensors[made.index];
        REQUIRE(tensor.name == "made");
        REQUIRE(tensor.type == type);
        REQUIRE_FALSE(tensor.given);
        REQUIRE_FALSE(tensor.wanted);

        // the model's buffers in the order of its pieces have one each
        std::map<std::uint32_t, std::uint32_t> buffer_of;
        std::map<std::pair<TileId, std::uint32_t>, Bytes> held;
        REQUIRE(tensor.pieces.size() == model.pieces.size());
        for (std::size_t i = 0; i < model.pieces.size(); ++i) {
            const Piece& was = model.pieces[i];
            const auto next = static_cast<std::uint32_t>(2 + buffer_of.size());
            const auto buffer = buffer_of.try_emplace(was.place.buffer.index, next).first->second;
            REQUIRE(tensor.pieces[i].place.buffer.index == buffer);
            REQUIRE(tensor.pieces[i].tile == was.tile);
            REQUIRE(tensor.pieces[i].host_offset == was.host_offset);
            REQUIRE(tensor.pieces[i].place.offset == was.place.offset / from * to);
            REQUIRE(tensor.pieces[i].dims.size() == was.dims.size());
            Bytes last = was.place.offset;
            for (std::size_t dim = 0; dim < was.dims.size(); ++dim) {
                const program::PieceDim& is = tensor.pieces[i].dims[dim];
                REQUIRE(is.count == was.dims[dim].count);
                REQUIRE(is.host_stride == was.dims[dim].host_stride);
                REQUIRE(is.tile_stride == was.dims[dim].tile_stride / from * to);
                const Bytes reach = (is.count - 1) * was.dims[dim].tile_stride;
                last += reach > 0 ? reach : 0;
            }
            Bytes& bytes = held[{was.tile, buffer}];
            bytes = std::max(bytes, (last + from + 7) / 8 * 8 * to / from);
        }
        REQUIRE(graph.buffers.size() == 2 + buffer_of.size());
        std::map<std::pair<TileId, std::uint32_t>, Bytes> found;
        for (std::uint32_t buffer = 2; buffer < graph.buffers.size(); ++buffer) {
            CHECK(graph.buffers[buffer].name == "made");
            for (const graph::Held& here : graph.buffers[buffer].held) {
                REQUIRE(found.emplace(std::pair{here.tile, buffer}, here.bytes).second);
            }
        }
        REQUIRE(found == held);
        const auto pairs = graph::alike(model, tensor);
        REQUIRE(pairs);
        REQUIRE(pairs->size() == buffer_of.size());
        for (const auto& [before, after] : buffer_of) {
            REQUIRE(pairs->at(before).index == after);
        }
    }
}

TEST_CASE("tensors are alike up to the last stride and buffer", "[kernels][places]") {
    Graph graph("test");
    const auto a = graph.add_buffer({.name = "a"});
    const auto b = graph.add_buffer({.name = "b"});
    const Tensor model{.name = "t",
                       .type = ElementType::F16,
                       .shape = {100},
                       .pieces = {{0, {a, 6}, 0, {{5, 10, 40}, {5, 1, 2}}}, {1, {a}, 50, {}}}};
    const auto changed = [&](auto change) {
        Tensor other = model;
        change(other);
        return graph::alike(model, other).has_value();
    };
    CHECK(changed([](Tensor&) {}));
    CHECK_FALSE(changed([](Tensor& t) { t.pieces[0].dims[0].host_stride = 11; }));
    CHECK_FALSE(changed([](Tensor& t) { t.pieces[0].dims[1].tile_stride = 4; }));
    CHECK_FALSE(changed([](Tensor& t) { t.pieces[0].dims.pop_back(); }));
    CHECK_FALSE(changed([&](Tensor& t) { t.pieces[1].place.buffer = b; })); // a was a before
    CHECK(changed([&](Tensor& t) { t.pieces[0].place.buffer = t.pieces[1].place.buffer = b; }));
    // places count in elements
    CHECK_FALSE(changed([](Tensor& t) { t.type = ElementType::F32; }));
    CHECK(changed([](Tensor& t) {
        t.type = ElementType::F32;
        t.pieces[0] = {0, {t.pieces[0].place.buffer, 12}, 0, {{5, 10, 80}, {5, 1, 4}}};
    }));
}

TEST_CASE("runs are dealt in grains, evenly, to tiles that get some", "[kernels][places]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const Bytes grain_bytes : {8, 24, 32}) {
            for (std::int64_t tiles = 1; tiles <= 5; ++tiles) {
                for (std::int64_t rows = 0; rows <= 30; ++rows) {
                    CAPTURE(grain_bytes, tiles, rows);
                    Graph graph("test");
                    const Bytes element = bytes_of(type);
                    const std::int64_t elements = rows * 3;
                    const auto made = graph::add_runs(
                        graph, {7, tiles}, {.name = "t", .type = type, .shape = {rows, 3}},
                        grain_bytes);
                    const std::int64_t grain = grain_bytes / element;
                    const std::int64_t grains = (elements + grain - 1) / grain;
                    const auto& pieces = graph.tensors[made.index].pieces;
                    const auto& held = graph.buffers.at(0).held;
                    std::size_t next = 0;
                    for (std::int64_t tile = 0; tile < tiles; ++tile) {
                        const std::int64_t first = grains * tile / tiles * grain;
                        const std::int64_t last =
                            std::min(grains * (tile + 1) / tiles * grain, elements);
                        if (first >= last) {
                            continue;
                        }
                        REQUIRE(next < pieces.size());
                        CHECK(pieces[next].tile == 7 + tile);
                        CHECK(pieces[next].place == graph::Place{});
                        CHECK(pieces[next].host_offset == first);
                        CHECK(pieces[next].dims.at(0).count == last - first);
                        CHECK(held.at(next).tile == 7 + tile);
                        CHECK(held.at(next).bytes == ((last - first) * element + 7) / 8 * 8);
                        ++next;
                    }
                    CHECK(next == pieces.size());
                    CHECK(next == held.size());
                }
            }
        }
    }
}

TEST_CASE("cells one after the other hold the elements of their rows and groups",
          "[kernels][places]") {
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        CAPTURE(seed);
        RandomPieces random(seed);
        graph::CellGrid grid;
        grid.rows = 1 + random.below(5);
        grid.group = 1 + random.below(5);
        grid.first_row = random.below(4);
        grid.first_group = random.below(3);
        grid.host_inner = 1 + random.below(24);
        grid.host_rows = grid.first_row + 1 + random.below(6);
        grid.host_row_stride = grid.host_inner + random.below(3);
        grid.host_inner_stride = 1 + random.below(2);
        grid.element_bytes = 2;
        grid.cell_bytes = 2 * grid.group + 2 * random.below(2);
        const std::int64_t first = random.below(12);
        const std::int64_t last = first + random.below(20);
        std::vector<std::pair<std::int64_t, At>> expected;
        for (std::int64_t cell = first; cell < last; ++cell) {
            const std::int64_t row = grid.first_row + cell % grid.rows;
            const std::int64_t group = grid.first_group + cell / grid.rows;
            for (std::int64_t i = 0; i < grid.group; ++i) {
                const std::int64_t inner = group * grid.group + i;
                if (row < grid.host_rows && inner < grid.host_inner) {
                    const Bytes offset = 40 + (cell - first) * grid.cell_bytes + 2 * i;
                    expected.push_back({row * grid.host_row_stride + inner * grid.host_inner_stride,
                                        At{3, 1, offset}});
                }
            }
        }
        Tensor tensor;
        graph::add_cells(tensor, 3, {{1}, 40}, grid, first, last);
        std::vector<std::pair<std::int64_t, At>> found;
        for_elements(tensor, [&](const At& at, std::int64_t host) { found.push_back({host, at}); });
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
        REQUIRE(found == expected);
        // a rectangle of whole groups, and what is before and behind
        REQUIRE(tensor.pieces.size() <= 4);
        for (const Piece& piece : tensor.pieces) {
            const auto single = std::count_if(piece.dims.begin(), piece.dims.end(),
                                              [](const auto& dim) { return dim.count == 1; });
            REQUIRE(piece.dims.size() > 0);
            REQUIRE(single <= 1); // that over rows
        }
    }
}

TEST_CASE("units with bytes beside their elements are a tensor's own where nobody reads these",
          "[kernels][graph]") {
    // three elements of two bytes: two bytes of the unit are beside them
    const auto made = [](std::int64_t elements, bool padded, bool zeroed, bool shared) {
        Graph graph("test");
        const auto buffer =
            graph.add_buffer({.name = "t", .padded = padded, .zeroed = zeroed}, 1, 2 * kUnit);
        const auto tensor = [&](const char* name, Bytes offset, std::int64_t count) {
            return graph.add_tensor(Tensor{.name = name,
                                           .type = ElementType::F16,
                                           .shape = {count},
                                           .pieces = {{0, {buffer, offset}, 0, {{count, 1, 2}}}}});
        };
        const TensorId id = tensor("t", 0, elements);
        if (shared) {
            tensor("other", kUnit, 4);
        }
        return graph::has_own_units(graph, id);
    };
    CHECK(made(3, false, false, false));
    CHECK_FALSE(made(3, true, false, false));
    CHECK_FALSE(made(3, false, true, false));
    CHECK_FALSE(made(3, true, true, false));
    CHECK_FALSE(made(3, false, false, true));
    CHECK(made(4, true, true, true)); // nothing is beside them
}
