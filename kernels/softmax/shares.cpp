// SPDX-License-Identifier: MIT
#include "kernels/softmax/shares.h"

#include "kernels/codelets/softmax_gradient_cost.h"
#include "kernels/family/row_shares.h"
#include "kernels/graph/unit_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tessera::softmax {

using family::RowCut;
using family::RowShare;
using graph::kUnitBytes;
using graph::RowBlock;

std::array<std::uint32_t, 2> tail_mask(Bytes row_bytes) {
    std::array<std::uint32_t, 2> mask{};
    for (std::size_t word = 0; word < mask.size(); ++word) {
        const Bytes before = 4 * static_cast<Bytes>(word);
        const Bytes here = std::clamp<Bytes>(row_bytes % kUnitBytes - before, 0, 4);
        mask[word] = here == 4 ? ~std::uint32_t{0} : (std::uint32_t{1} << 8 * here) - 1;
    }
    return mask;
}

std::vector<std::int64_t> sums_issues(std::int64_t workers, const RowCut& cut) {
    std::vector<std::int64_t> issues;
    for (std::int64_t w = 0; w < workers; ++w) {
        const RowShare share = family::share_of(cut, workers, w);
        issues.push_back(codelets::softmax_gradient_sums_issues(share.rows, share.whole_units(),
                                                                share.has_tail()));
    }
    return issues;
}

void add_sums(graph::Graph& graph, graph::ComputeSetId set, std::int64_t workers, ElementType type,
              Bytes row_bytes, const RowCut& cut, const RowBlock& y, const RowBlock& dy,
              graph::Place partials) {
    const auto mask = tail_mask(row_bytes);
    std::vector<graph::Field> state{
        graph::read(y.place, row_bytes), graph::read(dy.place, row_bytes),
        graph::write(partials, cut.rows * cut.shares * bytes_of(ElementType::F32)),
        graph::word(mask[0]), graph::word(mask[1])};
    for (std::int64_t w = 0; w < workers; ++w) {
        const RowShare share = family::share_of(cut, workers, w);
        const std::int64_t whole = share.whole_units();
        family::add_words(state, {share.rows, whole, share.has_tail() ? 1 : 0});
        for (const RowBlock& side : {y, dy}) {
            family::add_side(state, side, share, cut, workers, whole * kUnitBytes);
        }
    }
    family::add_other_rows(state, {y, dy}, row_bytes);
    graph.need_codelet(fmt::format("softmax_gradient_{}", name_of(type)));
    graph.add_vertex(set, y.tile, fmt::format("softmax_gradient_sums_{}", name_of(type)),
                     program::VertexKind::MultiWorker, state);
}

} // namespace tessera::softmax
