// SPDX-License-Identifier: MIT
#include "kernels/rearrange/rearrange.h"

#include "base/error.h"
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
    Address from;
    Address to;
};

template <class IssuesOf>
Calls copy_by_words(const spec::MachineSpec& machine, const WordLoop& loop, const Places& places,
                    Bytes bytes, const IssuesOf& issues_of) {
    const std::int64_t workers = machine.tile.workers;
    Calls calls;
    plan::for_cuts(bytes / loop.word_bytes, workers * plan::most_rounds(machine),
                   [&](std::int64_t first, std::int64_t words) {
                       const auto offset = static_cast<Address>(first * loop.word_bytes);
                       calls.push_back({loop.symbol,
                                        program::VertexKind::MultiWorker,
                                        {places.from + offset, places.to + offset,
                                         static_cast<std::uint32_t>(words / workers),
                                         static_cast<std::uint32_t>(words % workers)},
                                        dealt(machine, words, issues_of)});
                   });
    return calls;
}

} // namespace

Calls copy(const spec::MachineSpec& machine, Address from, Address to, Bytes bytes) {
    TESSERA_ASSERT(bytes % 4 == 0 && from % 4 == 0 && to % 4 == 0);
    const bool wide = bytes % 8 == 0 && from % 8 == 0 && to % 8 == 0;
    return copy_by_words(machine, {wide ? "copy64" : "copy32", wide ? 8 : 4}, {from, to}, bytes,
                         plan::copy_issues);
}

Calls paced_copy(const spec::MachineSpec& machine, Address from, Address to, Bytes bytes) {
    TESSERA_ASSERT(bytes % 8 == 0 && from % 8 == 0 && to % 8 == 0);
    return copy_by_words(machine, {"copy64_paced", 8}, {from, to}, bytes,
                         [](std::int64_t own) { return own == 0 ? 16 : 20 + own; });
}

Call strided(Row from, Row to, std::int64_t items, Bytes item_bytes) {
    TESSERA_ASSERT(items > 0 && (item_bytes == 8 || item_bytes == 16));
    TESSERA_ASSERT(from.address % 8 == 0 && from.step % 8 == 0 && to.address % 8 == 0 &&
                   to.step % 8 == 0);
    const std::int64_t words = item_bytes / 8;
    return {words == 1 ? "rearrange_strided8" : "rearrange_strided16",
            program::VertexKind::Worker,
            {from.address, to.address, static_cast<std::uint32_t>(from.step / 8),
             static_cast<std::uint32_t>(to.step / 8), static_cast<std::uint32_t>(items - 1)},
            {4 + 2 * words + (2 * words + 1) * items}};
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
    constexpr std::int64_t kFrame = 19;
    constexpr std::int64_t kLine = 7;
    constexpr std::int64_t kNoLine = 7;
    const std::int64_t lines = to.lines();
    Calls calls;
    plan::for_cuts(
        loop.items, plan::most_rounds(machine), [&](std::int64_t first, std::int64_t items) {
            calls.push_back(
                {loop.symbol,
                 program::VertexKind::MultiWorker,
                 {from.address + static_cast<Address>(first * loop.from_bytes),
                  to.address + static_cast<Address>(first * loop.to_bytes),
                  static_cast<std::uint32_t>(from_line), static_cast<std::uint32_t>(to.step),
                  static_cast<std::uint32_t>(lines), static_cast<std::uint32_t>(items),
                  static_cast<std::uint32_t>(loop.step)},
                 dealt(machine, lines, [&](std::int64_t own) {
                     return own == 0 ? kNoLine : kFrame + own * (kLine + loop.item_issues * items);
                 })});
        });
    return calls;
}

bool same(const Layout& a, const Layout& b) {
    return a.address == b.address && a.type == b.type &&
           a.lines_are_columns == b.lines_are_columns && (a.step == b.step || a.lines() == 1);
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
                         0, 2 * from_element, 2 * to_element, 3});
    }
    if (turned && to.type == ElementType::F16) {
        return by_lines(machine, from, to, from_element,
                        {"rearrange_transpose_f16", elements / 2, from.step / from_element,
                         2 * from.step, 2 * to_element, 4});
    }
    if (turned) {
        return by_lines(
            machine, from, to, from_element,
            {"rearrange_lines32", elements, from.step / from_element, from.step, to_element, 2});
    }
    const Bytes line_bytes = elements * to_element;
    if (to.lines() == 1 || (from.step == line_bytes && to.step == line_bytes)) {
        return copy(machine, from.address, to.address, to.lines() * line_bytes);
    }
    const bool wide = from.address % 8 == 0 && to.address % 8 == 0 && from.step % 8 == 0 &&
                      to.step % 8 == 0 && line_bytes % 8 == 0;
    const Bytes word_bytes = wide ? 8 : 4;
    return by_lines(machine, from, to, from.step,
                    {wide ? "rearrange_lines64" : "rearrange_lines32", line_bytes / word_bytes, 1,
                     word_bytes, word_bytes, 2});
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
