// SPDX-License-Identifier: MIT
#include "kernels/softmax/shares.h"

#include "kernels/codelets/softmax_gradient_cost.h"
#include "kernels/graph/unit_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tessera::softmax {

using graph::kUnitBytes;
using graph::RowBlock;

Share share_of(const Cut& cut, std::int64_t workers, std::int64_t worker) {
    Share share{.number = worker % cut.shares, .first_row = worker / cut.shares};
    const std::int64_t together = workers / cut.shares; // rows
    share.rows = std::max<std::int64_t>(cut.rows - share.first_row + together - 1, 0) / together;
    share.first = cut.units * share.number / cut.shares;
    share.units = cut.units * (share.number + 1) / cut.shares - share.first;
    share.has_tail = cut.has_tail && share.number + 1 == cut.shares;
    return share;
}

Cut best_cut(std::int64_t workers, std::int64_t rows, Bytes row_bytes,
             const std::function<Cycles(const Cut&)>& cycles_of) {
    Cut best{rows, graph::units_of(row_bytes), row_bytes % kUnitBytes != 0, 1};
    Cycles least = cycles_of(best);
    for (std::int64_t shares = 2; shares <= std::min(workers, best.units); ++shares) {
        Cut cut = best;
        cut.shares = shares;
        if (workers % shares == 0 && cycles_of(cut) < least) {
            least = cycles_of(cut);
            best = cut;
        }
    }
    return best;
}

void add_words(std::vector<graph::Field>& state, std::initializer_list<std::int64_t> words) {
    for (const std::int64_t word : words) {
        state.push_back(graph::word(word));
    }
}

void add_side(std::vector<graph::Field>& state, const RowBlock& side, const Share& share,
              const Cut& cut, std::int64_t workers, std::int64_t units) {
    add_words(state, {share.first_row * side.step + share.first * kUnitBytes,
                      workers / cut.shares * side.step - units * kUnitBytes});
}

std::array<std::uint32_t, 2> tail_mask(Bytes row_bytes) {
    std::array<std::uint32_t, 2> mask{};
    for (std::size_t word = 0; word < mask.size(); ++word) {
        const Bytes before = 4 * static_cast<Bytes>(word);
        const Bytes here = std::clamp<Bytes>(row_bytes % kUnitBytes - before, 0, 4);
        mask[word] = here == 4 ? ~std::uint32_t{0} : (std::uint32_t{1} << 8 * here) - 1;
    }
    return mask;
}

void add_other_rows(std::vector<graph::Field>& state, std::initializer_list<RowBlock> sides,
                    Bytes row_bytes) {
    for (const RowBlock& side : sides) {
        for (std::int64_t row = 1; row < side.rows; ++row) {
            state.push_back(
                graph::use(side.place + row * side.step, row_bytes, graph::Access::Read));
        }
    }
}

std::vector<std::int64_t> sums_issues(std::int64_t workers, const Cut& cut) {
    std::vector<std::int64_t> issues;
    for (std::int64_t w = 0; w < workers; ++w) {
        const Share share = share_of(cut, workers, w);
        issues.push_back(codelets::softmax_gradient_sums_issues(share.rows, share.whole_units(),
                                                                share.has_tail));
    }
    return issues;
}

void add_sums(graph::Graph& graph, graph::ComputeSetId set, std::int64_t workers, ElementType type,
              Bytes row_bytes, const Cut& cut, const RowBlock& y, const RowBlock& dy,
              graph::Place partials) {
    const auto mask = tail_mask(row_bytes);
    std::vector<graph::Field> state{
        graph::read(y.place, row_bytes), graph::read(dy.place, row_bytes),
        graph::write(partials, cut.rows * cut.shares * bytes_of(ElementType::F32)),
        graph::word(mask[0]), graph::word(mask[1])};
    for (std::int64_t w = 0; w < workers; ++w) {
        const Share share = share_of(cut, workers, w);
        const std::int64_t whole = share.whole_units();
        add_words(state, {share.rows, whole, share.has_tail ? 1 : 0});
        for (const RowBlock& side : {y, dy}) {
            add_side(state, side, share, cut, workers, whole);
        }
    }
    add_other_rows(state, {y, dy}, row_bytes);
    graph.need_codelet(fmt::format("softmax_gradient_{}", name_of(type)));
    graph.add_vertex(set, y.tile, fmt::format("softmax_gradient_sums_{}", name_of(type)),
                     program::VertexKind::MultiWorker, state);
}

} // namespace tessera::softmax
