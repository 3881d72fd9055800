// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_block_kind.h"

#include "base/error.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::spmm {

double fullest_blocks(const PartMeans& means) {
    const double mean_row = means.blocks / std::max(means.rows, 1.0);
    return std::max(
        {means.blocks, means.longest_row, std::min(means.all_rows, means.rows + 1) * mean_row});
}

const BlockKind& kind_of(std::int64_t block, codelets::ProductTypes types) {
    switch (block) {
    case 1:
        return elements(types);
    case 4:
    case 8:
        return small_blocks(block, types);
    case 16:
        return types.data == ElementType::F32 ? small_blocks(block, types) : blocks16(types);
    default:
        throw NotModelled(
            fmt::format("spmm in blocks of {0} x {0}: not modelled: expected 1, 4, 8 or 16; see "
                        "docs/kernels.md",
                        block));
    }
}

bool has_kind(const spec::MachineSpec& machine, std::int64_t block, codelets::ProductTypes types) {
    return block == 1 || !types.sums_are_results() || spec::matrix_unit(machine).sets > 1;
}

} // namespace tessera::spmm
