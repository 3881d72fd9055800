// SPDX-License-Identifier: MIT
// Worker issues of block_norms.S. tests/kernels/codelets/codelet_cost_test.cpp counts them in the
// assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kBlockNormsNothing = 7;   ///< a worker without blocks
constexpr std::int64_t kBlockNormsFrameF16 = 17; ///< around the blocks
constexpr std::int64_t kBlockNormsFrameF32 = 16;
constexpr std::int64_t kBlockNormsBlockF16 = 10; ///< its units apart
constexpr std::int64_t kBlockNormsBlockF32 = 7;
constexpr std::int64_t kBlockNormsUnit = 1; ///< of 8 bytes

/// block_norms_<type>: blocks of one worker, of so many units each.
[[nodiscard]] constexpr std::int64_t block_norms_issues(ElementType type, std::int64_t blocks,
                                                        std::int64_t units) {
    const bool half = type == ElementType::F16;
    const std::int64_t block =
        (half ? kBlockNormsBlockF16 : kBlockNormsBlockF32) + units * kBlockNormsUnit;
    return blocks == 0 ? kBlockNormsNothing
                       : (half ? kBlockNormsFrameF16 : kBlockNormsFrameF32) + blocks * block;
}

} // namespace tessera::codelets
