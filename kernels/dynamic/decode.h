// SPDX-License-Identifier: MIT
// Buckets as a pattern again: reads their metadata alone. Format: layout.h.
#pragma once

#include "kernels/dynamic/layout.h"
#include "kernels/workload/operands.h"

#include <cstdint>
#include <vector>

namespace tessera::dynamic {

struct Decoded {
    workload::SparsePattern pattern; ///< in blocks of the layout; sizes are whole blocks
    /// Where each block of the pattern has its values: bucket * Bucket::blocks + its number there.
    std::vector<std::int64_t> places;
};

/// `metadata` are those of all buckets. Throws ProgramError, with the bucket and the word, where
/// they are not what encode() writes: a sub-group, row or place that does not exist, lists that end
/// elsewhere than the header says, more blocks than a bucket holds, a block twice.
[[nodiscard]] Decoded decode(const Layout& layout, const std::vector<std::uint16_t>& metadata);

} // namespace tessera::dynamic
