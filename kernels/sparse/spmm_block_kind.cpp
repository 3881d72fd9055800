// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_block_kind.h"

#include "base/error.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::spmm {

double fullest_blocks(const PartMeans& means) {
    const double mean_row = means.blocks / std::max(means.rows, 1.0);
    return std::max(
        {means.blocks, means.longest_row, std::min(means.all_rows, means.rows + 1) * mean_row});
}

const BlockKind& kind_of(std::int64_t block, codelets::ProductTypes types) {
    constexpr auto kHalf = codelets::of_f16(ElementType::F16);
    constexpr auto kMixed = codelets::of_f16(ElementType::F32);
    constexpr codelets::ProductTypes kSingle{ElementType::F32, ElementType::F32};
    using Key = std::tuple<std::int64_t, ElementType, ElementType>;
    static const auto kinds = [&] {
        std::map<Key, std::unique_ptr<BlockKind>> made;
        for (const codelets::ProductTypes of : {kHalf, kMixed, kSingle}) {
            made[{1, of.data, of.partials}] = elements(of);
            made[{4, of.data, of.partials}] = small_blocks(4, of);
            made[{8, of.data, of.partials}] = small_blocks(8, of);
            made[{16, of.data, of.partials}] = of == kSingle ? small_blocks(16, of) : blocks16(of);
        }
        return made;
    }();
    const auto kind = kinds.find({block, types.data, types.partials});
    if (kind == kinds.end()) {
        throw NotModelled(
            fmt::format("spmm in blocks of {0} x {0}: not modelled: expected 1, 4, 8 or 16; see "
                        "docs/kernels.md",
                        block));
    }
    return *kind->second;
}

bool has_kind(const spec::MachineSpec& machine, std::int64_t block, codelets::ProductTypes types) {
    return block == 1 || !types.sums_are_results() || spec::matrix_unit(machine).sets > 1;
}

} // namespace tessera::spmm
