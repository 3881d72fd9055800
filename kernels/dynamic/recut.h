// SPDX-License-Identifier: MIT
// A pattern in smaller blocks: each of its blocks becomes several, none is left out.
#pragma once

#include "kernels/workload/operands.h"

#include <cstdint>
#include <vector>

namespace tessera::dynamic {

struct RecutPattern {
    workload::SparsePattern pattern;
    std::vector<std::int64_t> first_value; ///< of each block, in the values of the original
};

/// `block` divides that of the pattern.
[[nodiscard]] RecutPattern recut(const workload::SparsePattern& pattern, std::int64_t block);

} // namespace tessera::dynamic
