// SPDX-License-Identifier: MIT
#include "kernels/dynamic/recut.h"

#include "base/error.h"

namespace tessera::dynamic {

RecutPattern recut(const workload::SparsePattern& pattern, std::int64_t block) {
    TESSERA_ASSERT(block >= 1 && pattern.block % block == 0);
    const std::int64_t cut = pattern.block / block;
    RecutPattern made;
    made.pattern.rows = pattern.block_rows() * pattern.block;
    made.pattern.columns = pattern.block_columns() * pattern.block;
    made.pattern.block = block;
    made.pattern.row_start.push_back(0);
    for (std::int64_t row = 0; row < pattern.block_rows(); ++row) {
        for (std::int64_t down = 0; down < cut; ++down) {
            for (std::int64_t b = pattern.first_block(row); b < pattern.first_block(row + 1); ++b) {
                for (std::int64_t right = 0; right < cut; ++right) {
                    made.pattern.block_column.push_back(
                        static_cast<std::int32_t>(pattern.column_of(b) * cut + right));
                    made.first_value.push_back((b * pattern.block + down * block) * pattern.block +
                                               right * block);
                }
            }
            made.pattern.row_start.push_back(made.pattern.blocks());
        }
    }
    return made;
}

} // namespace tessera::dynamic
