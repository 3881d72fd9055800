// SPDX-License-Identifier: MIT
// Worker issues of rearrange.S and rearrange_strided.S.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kRearrangeNothing = 7; ///< a worker without lines
constexpr std::int64_t kRearrangeFrame = 19;  ///< around the loop over lines
constexpr std::int64_t kRearrangeLine = 7;    ///< its items apart

/// Worker issues of an item.
constexpr std::int64_t kRearrangeLinesItem = 2;     ///< rearrange_lines32, _lines64
constexpr std::int64_t kRearrangeTransposeItem = 4; ///< rearrange_transpose_f16
constexpr std::int64_t kRearrangeCastItem = 3;      ///< rearrange_cast_f16_f32, _f32_f16

/// A vertex of rearrange.S: lines of one worker.
[[nodiscard]] constexpr std::int64_t rearrange_issues(std::int64_t lines, std::int64_t items,
                                                      std::int64_t item_issues) {
    return lines == 0 ? kRearrangeNothing
                      : kRearrangeFrame + lines * (kRearrangeLine + item_issues * items);
}

constexpr std::int64_t kStrided8Frame = 6;
constexpr std::int64_t kStrided8Item = 3;
constexpr std::int64_t kStrided16Frame = 8;
constexpr std::int64_t kStrided16Item = 5;

/// rearrange_strided8, _strided16.
[[nodiscard]] constexpr std::int64_t strided_issues(std::int64_t item_bytes, std::int64_t items) {
    return item_bytes == 8 ? kStrided8Frame + kStrided8Item * items
                           : kStrided16Frame + kStrided16Item * items;
}

} // namespace tessera::codelets
