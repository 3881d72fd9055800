// SPDX-License-Identifier: MIT
#include "kernels/rearrange/rearrange.h"

#include "base/error.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

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

} // namespace

Call copy(const spec::MachineSpec& machine, Address from, Address to, Bytes bytes) {
    TESSERA_ASSERT(bytes % 4 == 0 && from % 4 == 0 && to % 4 == 0);
    const bool wide = bytes % 8 == 0 && from % 8 == 0 && to % 8 == 0;
    const std::int64_t words = bytes / (wide ? 8 : 4);
    const std::int64_t workers = machine.tile.workers;
    plan::check_repeat_count(machine, "copy", (words + workers - 1) / workers);
    return {wide ? "copy64" : "copy32",
            program::VertexKind::MultiWorker,
            {from, to, static_cast<std::uint32_t>(words / workers),
             static_cast<std::uint32_t>(words % workers)},
            dealt(machine, words, plan::copy_issues)};
}

Call paced_copy(const spec::MachineSpec& machine, Address from, Address to, Bytes bytes) {
    TESSERA_ASSERT(bytes % 8 == 0 && from % 8 == 0 && to % 8 == 0);
    const std::int64_t words = bytes / 8;
    const std::int64_t workers = machine.tile.workers;
    plan::check_repeat_count(machine, "copy", (words + workers - 1) / workers);
    return {"copy64_paced",
            program::VertexKind::MultiWorker,
            {from, to, static_cast<std::uint32_t>(words / workers),
             static_cast<std::uint32_t>(words % workers)},
            dealt(machine, words, [](std::int64_t own) { return own == 0 ? 16 : 20 + own; })};
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

/// What the vertices of rearrange.S share; `item_issues` of the loop over a line's items.
Call by_lines(const spec::MachineSpec& machine, const std::string& symbol, const Layout& from,
              const Layout& to, Bytes from_line, std::int64_t items, Bytes step,
              std::int64_t item_issues) {
    constexpr std::int64_t kFrame = 19;
    constexpr std::int64_t kLine = 7;
    constexpr std::int64_t kNoLine = 7;
    const std::int64_t lines = to.lines();
    return {symbol,
            program::VertexKind::MultiWorker,
            {from.address, to.address, static_cast<std::uint32_t>(from_line),
             static_cast<std::uint32_t>(to.step), static_cast<std::uint32_t>(lines),
             static_cast<std::uint32_t>(items), static_cast<std::uint32_t>(step)},
            dealt(machine, lines, [&](std::int64_t own) {
                return own == 0 ? kNoLine : kFrame + own * (kLine + item_issues * items);
            })};
}

bool same(const Layout& a, const Layout& b) {
    return a.address == b.address && a.type == b.type &&
           a.lines_are_columns == b.lines_are_columns && (a.step == b.step || a.lines() == 1);
}

} // namespace

std::optional<Call> change(const spec::MachineSpec& machine, const Layout& from, const Layout& to) {
    using program::DType;
    TESSERA_ASSERT(from.rows == to.rows && from.columns == to.columns);
    if (same(from, to)) {
        return std::nullopt;
    }
    const bool turned = from.lines_are_columns != to.lines_are_columns;
    const std::int64_t elements = to.line_elements();
    if ((elements % 2 != 0 && (to.type == DType::F16 || from.type == DType::F16)) ||
        (turned && from.type != to.type)) {
        throw NotModelled("rearrangement: not modelled: FP16 lines of an odd number of elements, "
                          "and a cast that is also a transpose; see docs/kernels/micro.md");
    }
    if (from.type != to.type) {
        const bool widens = to.type == DType::F32;
        return by_lines(machine, widens ? "rearrange_cast_f16_f32" : "rearrange_cast_f32_f16", from,
                        to, from.step, elements / 2, 0, 3);
    }
    const Bytes element = program::bytes_of(from.type);
    if (turned && to.type == DType::F16) {
        return by_lines(machine, "rearrange_transpose_f16", from, to, element, elements / 2,
                        from.step / element, 4);
    }
    if (turned) {
        return by_lines(machine, "rearrange_lines32", from, to, element, elements,
                        from.step / element, 2);
    }
    const Bytes line_bytes = elements * element;
    if (to.lines() == 1 || (from.step == line_bytes && to.step == line_bytes)) {
        return copy(machine, from.address, to.address, to.lines() * line_bytes);
    }
    const auto wide = [&](Bytes value) { return value % 8 == 0; };
    const bool words = wide(from.address) && wide(to.address) && wide(from.step) && wide(to.step) &&
                       wide(line_bytes);
    return words
               ? by_lines(machine, "rearrange_lines64", from, to, from.step, line_bytes / 8, 1, 2)
               : by_lines(machine, "rearrange_lines32", from, to, from.step, line_bytes / 4, 1, 2);
}

Cycles cycles(const spec::MachineSpec& machine, const std::vector<Call>& calls) {
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
