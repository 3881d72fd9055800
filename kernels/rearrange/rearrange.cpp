// SPDX-License-Identifier: MIT
#include "kernels/rearrange/rearrange.h"

#include "base/error.h"
#include "kernels/codelets/copy_cost.h"
#include "kernels/codelets/rearrange_cost.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

namespace tessera::rearrange {
namespace {

/// Issues of workers that share `units` of work, the first ones one unit more.
template <class IssuesOf>
std::vector<std::int64_t> dealt(const spec::MachineSpec& machine, std::int64_t units,
                                const IssuesOf& issues_of) {
    std::vector<std::int64_t> issues;
    const std::int64_t workers = machine.tile.workers;
    for (std::int64_t w = 0; w < workers; ++w) {
        issues.push_back(issues_of(units / workers + (w < units % workers ? 1 : 0)));
    }
    return issues;
}

struct WordLoop {
    const char* symbol;
    Bytes word_bytes;
};

struct Places {
    graph::Place from;
    graph::Place to;
};

bool is_multiple(graph::Place place, Bytes of) {
    return place.offset % of == 0;
}

template <class IssuesOf>
Calls copy_by_words(const spec::MachineSpec& machine, const WordLoop& loop, const Places& places,
                    Bytes bytes, const IssuesOf& issues_of) {
    const std::int64_t workers = machine.tile.workers;
    Calls calls;
    plan::for_cuts(
        bytes / loop.word_bytes, workers * plan::most_rounds(machine),
        [&](std::int64_t first, std::int64_t words) {
            const Bytes offset = first * loop.word_bytes;
            const Bytes own = words * loop.word_bytes;
            calls.push_back(
                {loop.symbol,
                 program::VertexKind::MultiWorker,
                 {graph::read(places.from + offset, own), graph::write(places.to + offset, own),
                  graph::word(words / workers), graph::word(words % workers)},
                 dealt(machine, words, issues_of)});
        });
    return calls;
}

} // namespace

void add(graph::Graph& graph, graph::ComputeSetId set, TileId tile, const Calls& calls) {
    for (const Call& call : calls) {
        graph.add_vertex(set, tile, call.symbol, call.kind, call.state);
    }
}

Calls copy(const spec::MachineSpec& machine, graph::Place from, graph::Place to, Bytes bytes) {
    TESSERA_ASSERT(bytes % 4 == 0 && is_multiple(from, 4) && is_multiple(to, 4));
    const bool wide = bytes % 8 == 0 && is_multiple(from, 8) && is_multiple(to, 8);
    return copy_by_words(machine, {wide ? "copy64" : "copy32", wide ? 8 : 4}, {from, to}, bytes,
                         codelets::copy_issues);
}

Calls paced_copy(const spec::MachineSpec& machine, graph::Place from, graph::Place to,
                 Bytes bytes) {
    TESSERA_ASSERT(bytes % 8 == 0 && is_multiple(from, 8) && is_multiple(to, 8));
    return copy_by_words(machine, {"copy64_paced", 8}, {from, to}, bytes,
                         codelets::paced_copy_issues);
}

Call strided(Row from, Row to, std::int64_t items, Bytes item_bytes) {
    TESSERA_ASSERT(items > 0 && (item_bytes == 8 || item_bytes == 16));
    TESSERA_ASSERT(is_multiple(from.place, 8) && from.step % 8 == 0 && is_multiple(to.place, 8) &&
                   to.step % 8 == 0);
    const auto span = [&](const Row& row) { return (items - 1) * row.step + item_bytes; };
    const auto written = to.step == item_bytes ? graph::Access::Write : graph::Access::WritePart;
    return {item_bytes == 8 ? "rearrange_strided8" : "rearrange_strided16",
            program::VertexKind::Worker,
            {graph::read(from.place, span(from)), graph::pointer(to.place, span(to), written),
             graph::word(from.step / 8), graph::word(to.step / 8), graph::word(items - 1)},
            {codelets::strided_issues(item_bytes, items)}};
}

namespace {

/// How a vertex of rearrange.S goes along a line.
struct Loop {
    const char* symbol;
    std::int64_t items; ///< of a line
    std::int64_t step;  ///< from item to item of `from`, as the vertex wants it
    Bytes from_bytes;   ///< the same in bytes
    Bytes to_bytes;     ///< of an item of `to`
    std::int64_t item_issues;
};

Calls by_lines(const spec::MachineSpec& machine, const Layout& from, const Layout& to,
               Bytes from_line, const Loop& loop) {
    const std::int64_t lines = to.lines();
    const bool all = loop.items <= plan::most_rounds(machine) &&
                     to.step == to.line_elements() * bytes_of(to.type);
    const auto written = all ? graph::Access::Write : graph::Access::WritePart;
    Calls calls;
    plan::for_cuts(
        loop.items, plan::most_rounds(machine), [&](std::int64_t first, std::int64_t items) {
            calls.push_back({loop.symbol,
                             program::VertexKind::MultiWorker,
                             {graph::read(from.place + first * loop.from_bytes,
                                          from.bytes() - first * loop.from_bytes),
                              graph::pointer(to.place + first * loop.to_bytes,
                                             to.bytes() - first * loop.to_bytes, written),
                              graph::word(from_line), graph::word(to.step), graph::word(lines),
                              graph::word(items), graph::word(loop.step)},
                             dealt(machine, lines, [&](std::int64_t own) {
                                 return codelets::rearrange_issues(own, items, loop.item_issues);
                             })});
        });
    return calls;
}

bool same(const Layout& a, const Layout& b) {
    return a.place == b.place && a.type == b.type && a.lines_are_columns == b.lines_are_columns &&
           (a.step == b.step || a.lines() == 1);
}

} // namespace

Calls change(const spec::MachineSpec& machine, const Layout& from, const Layout& to) {
    TESSERA_ASSERT(from.rows == to.rows && from.columns == to.columns);
    if (same(from, to)) {
        return {};
    }
    const bool turned = from.lines_are_columns != to.lines_are_columns;
    const std::int64_t elements = to.line_elements();
    if (turned && from.type != to.type) {
        throw NotModelled("rearrangement: not modelled: a vertex that casts and transposes; see "
                          "docs/kernels/micro.md");
    }
    if (elements % 2 != 0 && (to.type == ElementType::F16 || from.type == ElementType::F16)) {
        throw NotModelled(fmt::format("rearrangement: not modelled: FP16 lines of {} elements, "
                                      "expected an even number; see docs/kernels/micro.md",
                                      elements));
    }
    const Bytes from_element = bytes_of(from.type);
    const Bytes to_element = bytes_of(to.type);
    if (from.type != to.type) {
        const bool widens = to.type == ElementType::F32;
        return by_lines(machine, from, to, from.step,
                        {widens ? "rearrange_cast_f16_f32" : "rearrange_cast_f32_f16", elements / 2,
                         0, 2 * from_element, 2 * to_element, codelets::kRearrangeCastItem});
    }
    if (turned && to.type == ElementType::F16) {
        return by_lines(machine, from, to, from_element,
                        {"rearrange_transpose_f16", elements / 2, from.step / from_element,
                         2 * from.step, 2 * to_element, codelets::kRearrangeTransposeItem});
    }
    if (turned) {
        return by_lines(machine, from, to, from_element,
                        {"rearrange_lines32", elements, from.step / from_element, from.step,
                         to_element, codelets::kRearrangeLinesItem});
    }
    const Bytes line_bytes = elements * to_element;
    if (to.lines() == 1 || (from.step == line_bytes && to.step == line_bytes)) {
        return copy(machine, from.place, to.place, to.lines() * line_bytes);
    }
    const bool wide = is_multiple(from.place, 8) && is_multiple(to.place, 8) &&
                      from.step % 8 == 0 && to.step % 8 == 0 && line_bytes % 8 == 0;
    const Bytes word_bytes = wide ? 8 : 4;
    return by_lines(machine, from, to, from.step,
                    {wide ? "rearrange_lines64" : "rearrange_lines32", line_bytes / word_bytes, 1,
                     word_bytes, word_bytes, codelets::kRearrangeLinesItem});
}

Cycles cycles(const spec::MachineSpec& machine, const Calls& calls) {
    plan::StubTimeline stub(machine, false);
    for (const Call& call : calls) {
        if (call.kind == program::VertexKind::Worker) {
            stub.worker(call.issues.front());
        } else {
            stub.multi_worker(call.issues);
        }
    }
    return stub.finish();
}

} // namespace tessera::rearrange
