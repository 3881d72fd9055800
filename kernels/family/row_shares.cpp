// SPDX-License-Identifier: MIT
#include "kernels/family/row_shares.h"

#include "kernels/graph/unit_rows.h"

#include <algorithm>

namespace tessera::family {

using graph::kUnitBytes;
using graph::RowBlock;

RowShare share_of(const RowCut& cut, std::int64_t workers, std::int64_t worker) {
    RowShare share{.number = worker % cut.shares, .first_row = worker / cut.shares};
    const std::int64_t together = cut.together(workers);
    share.rows = std::max<std::int64_t>(cut.rows - share.first_row + together - 1, 0) / together;
    share.first = cut.units * share.number / cut.shares;
    share.units = cut.units * (share.number + 1) / cut.shares - share.first;
    share.tail_bytes = share.number + 1 == cut.shares ? cut.tail_bytes : 0;
    return share;
}

RowCut best_cut(std::int64_t workers, std::int64_t rows, Bytes row_bytes,
                const std::function<Cycles(const RowCut&)>& cycles_of) {
    RowCut best{rows, graph::units_of(row_bytes), row_bytes % kUnitBytes, 1};
    Cycles least = cycles_of(best);
    for (std::int64_t shares = 2; shares <= std::min(workers, best.units); ++shares) {
        RowCut cut = best;
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

void add_side(std::vector<graph::Field>& state, const RowBlock& side, const RowShare& share,
              const RowCut& cut, std::int64_t workers, Bytes moved) {
    add_words(state, {share.first_row * side.step + share.first * kUnitBytes,
                      cut.together(workers) * side.step - moved});
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

} // namespace tessera::family
