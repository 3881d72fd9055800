// SPDX-License-Identifier: MIT
// All buckets as a pattern again: reads their metadata alone. Format: layout.h.
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

/// `metadata` are those of all buckets. Throws ProgramError as read_bucket() does, and where a block
/// is there twice.
[[nodiscard]] Decoded decode(const Layout& layout, const std::vector<std::uint16_t>& metadata);

} // namespace tessera::dynamic
