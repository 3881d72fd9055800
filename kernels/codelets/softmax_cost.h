// SPDX-License-Identifier: MIT
// Worker issues of softmax.S and softmax_split.S, waits for results counted as issues.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

/// What f32exp and f32oox wait beyond their issue.
constexpr std::int64_t kSoftmaxWait = 2;

constexpr std::int64_t kSoftmaxNothing = 7; ///< a worker without rows
constexpr std::int64_t kSoftmaxMaxPair = 1;
constexpr std::int64_t kSoftmaxScalePair = 2; ///< of all pairs but the first

/// What FP16 and FP32 differ in.
struct SoftmaxCost {
    std::int64_t frame = 0; ///< around the rows
    std::int64_t row = 0;   ///< its elements and its waits apart
    std::int64_t pair = 0;  ///< exponentials, their waits apart
    std::int64_t odd = 0;   ///< the last element of an odd number, its wait apart
    std::int64_t pad = 0;   ///< behind an odd number of pairs, one that is not full counted
};
[[nodiscard]] constexpr SoftmaxCost softmax_cost(ElementType type) {
    return type == ElementType::F16 ? SoftmaxCost{25, 22, 5, 5, 1} : SoftmaxCost{21, 21, 4, 4, 0};
}

/// softmax_<type>: rows of one worker.
[[nodiscard]] constexpr std::int64_t softmax_issues(ElementType type, std::int64_t rows,
                                                    std::int64_t elements) {
    if (rows == 0) {
        return kSoftmaxNothing;
    }
    const SoftmaxCost cost = softmax_cost(type);
    const std::int64_t pairs = elements / 2;
    const std::int64_t all_pairs = pairs + elements % 2;
    const std::int64_t row = cost.row + kSoftmaxWait +
                             pairs * (kSoftmaxMaxPair + cost.pair + 2 * kSoftmaxWait) +
                             elements % 2 * (cost.odd + kSoftmaxWait) +
                             (all_pairs - 1) * kSoftmaxScalePair + all_pairs % 2 * cost.pad;
    return cost.frame + rows * row;
}

/// The rows that all workers share, of softmax_split.S.
constexpr std::int64_t kSoftmaxPartsFrame = 23;
constexpr std::int64_t kSoftmaxJoinFrame = 21;
constexpr std::int64_t kSoftmaxJoinAll = 1;  ///< of each worker's partial, for the maximum
constexpr std::int64_t kSoftmaxJoinPart = 4; ///< the same for the sum, its wait apart
/// What FP16 and FP32 differ in, of each row.
struct SoftmaxSplitCost {
    std::int64_t parts_row = 0; ///< its elements apart
    std::int64_t join_row = 0;  ///< its elements, partials and waits apart
};
[[nodiscard]] constexpr SoftmaxSplitCost softmax_split_cost(ElementType type) {
    return type == ElementType::F16 ? SoftmaxSplitCost{15, 18} : SoftmaxSplitCost{16, 16};
}

/// softmax_parts_<type>: `pairs` whole ones of each row are the worker's.
[[nodiscard]] constexpr std::int64_t softmax_parts_issues(ElementType type, std::int64_t rows,
                                                          std::int64_t pairs, bool has_odd) {
    const SoftmaxCost cost = softmax_cost(type);
    return kSoftmaxPartsFrame + rows * (softmax_split_cost(type).parts_row +
                                        pairs * (kSoftmaxMaxPair + cost.pair + 2 * kSoftmaxWait) +
                                        (has_odd ? cost.odd + kSoftmaxWait : 0));
}

/// softmax_join_<type>: `pairs` of each row are the worker's, one that is not full counted.
[[nodiscard]] constexpr std::int64_t softmax_join_issues(ElementType type, std::int64_t workers,
                                                         std::int64_t rows, std::int64_t pairs,
                                                         bool has_padding) {
    return kSoftmaxJoinFrame +
           rows * (softmax_split_cost(type).join_row + 2 * kSoftmaxWait +
                   workers * (kSoftmaxJoinAll + kSoftmaxJoinPart + kSoftmaxWait) +
                   (pairs - 1) * kSoftmaxScalePair + (has_padding ? softmax_cost(type).pad : 0));
}

} // namespace tessera::codelets
