// SPDX-License-Identifier: MIT
// How the dense operands of dynamic products are shared out, and what is told of their vertices.
#include "base/ceil_div.h"
#include "kernels/dynamic/lines.h"
#include "kernels/dynamic/vertices.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

/// Calls `visit` with lines of many layouts, and the elements that a run has a whole number of.
template <class Visit> void for_many_lines(const Visit& visit) {
    for (const Split& split : {Split{1, 1, 1}, Split{2, 1, 1}, Split{4, 1, 1}, Split{1, 4, 1},
                               Split{2, 3, 1}, Split{4, 3, 2}, Split{6, 5, 1}, Split{3, 6, 2}}) {
        for (const std::int64_t block : {1, 4, 16}) {
            for (const std::int64_t n : {4, 12, 64}) {
                for (const ElementType type : {ElementType::F16, ElementType::F32}) {
                    for (const auto of : {Lines::Of::Columns, Lines::Of::Rows}) {
                        for (const std::int64_t unit : {1, 4, 24}) {
                            Layout layout = test::small_layout(split, 2);
                            layout.block = block;
                            layout.n = n;
                            const bool is_columns = of == Lines::Of::Columns;
                            const std::int64_t size =
                                (is_columns ? layout.columns : layout.rows) * block;
                            const Lines lines(layout, of, size, n * split.z, type, unit);
                            const std::int64_t grain =
                                std::lcm(std::lcm(block, 8 / bytes_of(type)), unit);
                            CAPTURE(split.x, split.y, split.z, block, n, name_of(type), is_columns,
                                    unit);
                            visit(layout, lines, size, grain, is_columns);
                        }
                    }
                }
            }
        }
    }
}

} // namespace

TEST_CASE("sharers of dense lines have whole grains, equally many from 128 bytes on",
          "[kernels][dynamic]") {
    int short_runs = 0;
    int no_runs = 0;
    for_many_lines([&](const Layout& layout, const Lines& lines, std::int64_t, std::int64_t grain,
                       bool is_columns) {
        const std::int64_t all =
            (is_columns ? layout.part_columns : layout.part_rows) * layout.n * layout.block;
        CHECK(lines.elements() == all);
        const std::int64_t grains = all / grain + (all % grain == 0 ? 0 : 1);
        CHECK(lines.whole_elements() == grains * grain);
        CHECK(lines.sharers() == (is_columns ? layout.split.x : layout.split.y));
        CHECK(lines.parts() == (is_columns ? layout.split.y : layout.split.x));
        const Bytes grain_bytes = grain * lines.bytes() / lines.elements();
        std::int64_t each = 1; // grains: 128 bytes, or what makes enough for all
        while (each * grain_bytes < 128 || each * lines.sharers() < grains) {
            ++each;
        }
        std::int64_t left = grains;
        std::int64_t at = 0;
        for (std::int64_t sharer = 0; sharer < lines.sharers(); ++sharer) {
            const Range run = lines.run_of(sharer);
            const std::int64_t own = std::min(each, left);
            CHECK(run.first == at);
            CHECK(run.size() == own * grain);
            at = run.last;
            left -= own;
            short_runs += own > 0 && own < each ? 1 : 0;
            no_runs += own == 0 ? 1 : 0;
        }
        CHECK(left == 0);
    });
    CHECK(short_runs > 0);
    CHECK(no_runs > 0);
}

TEST_CASE("dense lines are padded where they go beyond the matrix or end inside a grain",
          "[kernels][dynamic]") {
    for_many_lines([&](const Layout& layout, const Lines& lines, std::int64_t size,
                       std::int64_t grain, bool is_columns) {
        const bool ends_inside = lines.elements() % grain != 0;
        CHECK(lines.pads() == ends_inside);
        const auto of = is_columns ? Lines::Of::Columns : Lines::Of::Rows;
        const std::int64_t n = layout.n * layout.split.z;
        const std::int64_t unit = grain; // the same grain
        const ElementType type =
            lines.bytes() == 2 * lines.elements() ? ElementType::F16 : ElementType::F32;
        CHECK(Lines(layout, of, size - 1, n, type, unit).pads());
        CHECK(Lines(layout, of, size, n - 1, type, unit).pads());
    });
}

TEST_CASE(
    "dense lines reach every tile of their part once, pairs together where they are neighbours",
    "[kernels][dynamic]") {
    int paired_messages = 0;
    for_many_lines([&](const Layout& layout, const Lines& lines, std::int64_t, std::int64_t,
                       bool is_columns) {
        for (const bool pair_double : {false, true}) {
            spec::MachineSpec machine;
            machine.exchange.pair_double = pair_double;
            graph::Graph graph("test");
            const auto exchange = graph.add_exchange({"bring", program::Role::Bring, "test"});
            const auto copies = graph.add_compute_set({"copy", program::Role::Work, "test"});
            const auto home = graph.add_buffer({.name = "home"});
            const auto to = graph.add_buffer({.name = "to"}, layout.buckets(), lines.whole_bytes());
            graph::Bringing bringing{graph, machine, exchange, copies};
            lines.bring(bringing, home, to);
            // tiles of a part are neighbours where no other size has parts between them
            const bool neighbours = is_columns || layout.split.x * layout.split.z == 1;
            const bool paired = pair_double && neighbours && lines.sharers() % 2 == 0;
            const auto& made = graph.exchanges[exchange.index];
            std::vector<std::int64_t> got(static_cast<std::size_t>(layout.buckets()));
            for (const graph::Message& message : made.messages) {
                std::set<TileId> tiles;
                for (std::uint32_t i = 0; i < message.receivers; ++i) {
                    const TileId tile = made.to[message.first_to + i].tile;
                    CHECK(tiles.insert(tile).second);
                    CHECK(tile != message.from.tile);
                    got[tile] += message.bytes;
                    if (paired) { // the holder's partner is the only one that is served alone
                        CHECK(message.paired == (tile / 2 != message.from.tile / 2));
                    } else {
                        CHECK_FALSE(message.paired);
                    }
                }
                for (const TileId tile : tiles) {
                    CHECK((!message.paired || tiles.count(tile ^ 1U) == 1));
                }
                paired_messages += message.paired ? 1 : 0;
            }
            // all but the own run, which is copied
            for (std::int64_t part = 0; part < lines.parts(); ++part) {
                for (std::int64_t z = 0; z < layout.split.z; ++z) {
                    for (std::int64_t sharer = 0; sharer < lines.sharers(); ++sharer) {
                        const Bytes own =
                            lines.run_of(sharer).size() * lines.bytes() / lines.elements();
                        CHECK(got[lines.tile(part, sharer, z)] == lines.whole_bytes() - own);
                    }
                }
            }
        }
    });
    CHECK(paired_messages > 100);
}

TEST_CASE("sums of a dynamic product are rounded as often as its vertex rounds for a block",
          "[kernels][dynamic]") {
    const codelets::ProductTypes half{ElementType::F16, ElementType::F16};
    const codelets::ProductTypes mixed{ElementType::F16, ElementType::F32};
    const codelets::ProductTypes single{ElementType::F32, ElementType::F32};
    struct Known {
        codelets::ProductTypes types;
        std::int64_t block;
        std::int64_t roundings;
    };
    for (const Known& known : std::vector<Known>{{half, 1, 1},
                                                 {half, 4, 1},
                                                 {half, 8, 1},
                                                 {half, 16, 1},
                                                 {mixed, 1, 1},
                                                 {mixed, 4, 1},
                                                 {mixed, 8, 2},
                                                 {mixed, 16, 4},
                                                 {single, 1, 1},
                                                 {single, 4, 4},
                                                 {single, 8, 8}}) {
        CAPTURE(known.block, codelets::suffix(known.types));
        for (const Pass pass : {Pass::Forward, Pass::InputGradient}) {
            CHECK(vertex_of(known.block, known.types, pass).block_roundings == known.roundings);
        }
    }
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const ElementType type : {ElementType::F16, ElementType::F32}) {
            CHECK(values_vertex_of(block, type).block_roundings == 1);
        }
    }
}

TEST_CASE("the matrix unit samples blocks of 32 bytes a row over whole groups of columns",
          "[kernels][dynamic]") {
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const ElementType type : {ElementType::F16, ElementType::F32}) {
            for (std::int64_t columns = 1; columns <= 49; ++columns) {
                CAPTURE(block, name_of(type), columns);
                const auto vertex = matrix_values_vertex_of(block, type, columns);
                const bool is_square = (type == ElementType::F16 && block == 16) ||
                                       (type == ElementType::F32 && block == 8);
                REQUIRE(vertex.has_value() == (is_square && columns % block == 0));
                if (vertex) {
                    CHECK(vertex->block_roundings == 0);
                }
            }
        }
    }
}
