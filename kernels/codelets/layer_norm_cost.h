// SPDX-License-Identifier: MIT
// Worker issues of layer_norm.S and layer_norm_gradient.S, waits for results counted as issues.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kLayerNormNothing = 7; ///< a worker without rows

/// The issues of one of these vertices. Shares of a row, units and elements behind them come on top of a row.
struct RowShareCost {
    std::int64_t frame = 0; ///< around the rows
    std::int64_t row = 0;
    std::int64_t share = 0; ///< whose partials a worker adds up
    std::int64_t round = 0; ///< a unit; of gradients a pair of elements
    std::int64_t tail = 0;  ///< an element behind the rounds
};
[[nodiscard]] constexpr RowShareCost layer_norm_sums_cost(ElementType type) {
    return {.frame = 17, .row = 11, .round = 1, .tail = type == ElementType::F16 ? 2 : 1};
}
[[nodiscard]] constexpr RowShareCost layer_norm_squares_cost(ElementType type) {
    const bool is_half = type == ElementType::F16;
    return {.frame = 21, .row = 11, .share = 1, .round = is_half ? 6 : 2, .tail = is_half ? 4 : 3};
}
/// The cycles that f32oorx waits beyond its issue.
constexpr std::int64_t kLayerNormWait = 3;
/// The wait apart.
[[nodiscard]] constexpr RowShareCost layer_norm_apply_cost(ElementType type) {
    return {.frame = 26, .row = 26, .share = 2, .round = type == ElementType::F16 ? 9 : 5};
}
[[nodiscard]] constexpr RowShareCost layer_norm_gradient_sums_cost(ElementType type) {
    const bool is_half = type == ElementType::F16;
    return {.frame = 29, .row = 10, .round = is_half ? 7 : 5, .tail = is_half ? 10 : 9};
}
[[nodiscard]] constexpr RowShareCost layer_norm_gradient_apply_cost(ElementType type) {
    const bool is_half = type == ElementType::F16;
    return {.frame = 35, .row = is_half ? 27 : 25, .share = 1, .round = is_half ? 13 : 10};
}

/// Rows of one worker.
[[nodiscard]] constexpr std::int64_t row_share_issues(const RowShareCost& cost, std::int64_t rows,
                                                      std::int64_t shares, std::int64_t rounds,
                                                      std::int64_t tail) {
    return rows == 0 ? kLayerNormNothing
                     : cost.frame + rows * (cost.row + shares * cost.share + rounds * cost.round +
                                            tail * cost.tail);
}

} // namespace tessera::codelets
