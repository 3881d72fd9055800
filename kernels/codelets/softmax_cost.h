// SPDX-License-Identifier: MIT
// Worker issues of softmax.S, softmax_split.S and softmax_scaled.S, waits for results counted as issues.
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
constexpr std::int64_t kSoftmaxJoinFrame = 22;
constexpr std::int64_t kSoftmaxJoinAll = 1;  ///< of each share's partial, for the maximum
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
[[nodiscard]] constexpr std::int64_t softmax_join_issues(ElementType type, std::int64_t shares,
                                                         std::int64_t rows, std::int64_t pairs,
                                                         bool has_padding) {
    return kSoftmaxJoinFrame +
           rows * (softmax_split_cost(type).join_row + 2 * kSoftmaxWait +
                   shares * (kSoftmaxJoinAll + kSoftmaxJoinPart + kSoftmaxWait) +
                   (pairs - 1) * kSoftmaxScalePair + (has_padding ? softmax_cost(type).pad : 0));
}

/// The rows of softmax_scaled.S. A worker without rows takes kSoftmaxNothing.
constexpr std::int64_t kSoftmaxScaledExpPair = 4; ///< its waits apart
constexpr std::int64_t kSoftmaxScaledOdd = 3;     ///< beside the pair that it is part of
constexpr std::int64_t kSoftmaxScaledHide = 1;    ///< of a pair that a causal row does not see
/// The properties of a softmax that change its cost.
struct SoftmaxScaledKind {
    ElementType type = ElementType::F16;
    bool is_masked = false;
    bool is_causal = false;
};
struct SoftmaxScaledCost {
    std::int64_t frame = 0;       ///< around whole rows
    std::int64_t parts_frame = 0; ///< around rows that workers share
    std::int64_t row = 0;         ///< a whole one, its elements and its waits apart
    std::int64_t parts_row = 0;   ///< the same of one that workers share
    std::int64_t prepare = 0;     ///< of a whole pair, before exponentials
};
[[nodiscard]] constexpr SoftmaxScaledCost softmax_scaled_cost(const SoftmaxScaledKind& kind) {
    const bool half = kind.type == ElementType::F16;
    const std::int64_t of_mask = kind.is_masked ? 3 : 0;
    return {.frame = half ? 24 : 20,
            .parts_frame = kind.is_causal ? 12 : 24,
            .row = (half ? 33 : 31) + (kind.is_causal ? 8 : 0) + of_mask,
            .parts_row = (kind.is_causal ? 42 : 22) + of_mask,
            .prepare = !kind.is_masked ? 3
                       : half          ? 5
                                       : 4};
}

/// A worker's share of a row up to its exponentials: of `all_pairs` it sees `pairs` whole ones, and perhaps one that is not full.
[[nodiscard]] constexpr std::int64_t softmax_scaled_pairs_issues(const SoftmaxScaledKind& kind,
                                                                 std::int64_t pairs, bool has_odd,
                                                                 std::int64_t all_pairs) {
    const std::int64_t seen = pairs + (has_odd ? 1 : 0);
    return pairs * softmax_scaled_cost(kind).prepare + (has_odd ? kSoftmaxScaledOdd : 0) +
           seen * (kSoftmaxScaledExpPair + 2 * kSoftmaxWait) +
           (all_pairs - seen) * kSoftmaxScaledHide;
}

/// softmax_<kind>_<type>: one row, which sees `seen` of its elements.
[[nodiscard]] constexpr std::int64_t
softmax_scaled_row_issues(const SoftmaxScaledKind& kind, std::int64_t seen, std::int64_t elements) {
    const std::int64_t all_pairs = (elements + 1) / 2;
    return softmax_scaled_cost(kind).row + kSoftmaxWait +
           softmax_scaled_pairs_issues(kind, seen / 2, seen % 2 != 0, all_pairs) +
           (all_pairs - 1) * kSoftmaxScalePair + all_pairs % 2 * softmax_cost(kind.type).pad;
}

/// softmax_<kind>_parts_<type>: one row. `all_pairs` are the worker's, of which it sees `pairs` whole ones,
/// and perhaps one that is not full.
[[nodiscard]] constexpr std::int64_t softmax_scaled_parts_row_issues(const SoftmaxScaledKind& kind,
                                                                     std::int64_t pairs,
                                                                     bool has_odd,
                                                                     std::int64_t all_pairs) {
    return softmax_scaled_cost(kind).parts_row +
           softmax_scaled_pairs_issues(kind, pairs, has_odd, all_pairs);
}

} // namespace tessera::codelets
