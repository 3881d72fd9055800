// SPDX-License-Identifier: MIT
// Worker issues of cross_entropy.S and cross_entropy_join.S, waits for results counted as issues.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kCrossEntropyLnWaits = 5;  ///< behind the issue of an f32ln
constexpr std::int64_t kCrossEntropyExpWaits = 2; ///< behind that of an f32exp

constexpr std::int64_t kCrossEntropyPartsNothing = 7; ///< a worker without rows
constexpr std::int64_t kCrossEntropyPartsFrame = 18;  ///< around the rows
constexpr std::int64_t kCrossEntropyMaxUnit = 1;
constexpr std::int64_t kCrossEntropyMaxTail = 7; ///< of a unit that is not whole
/// What FP16 and FP32 differ in.
struct CrossEntropyCost {
    std::int64_t row = 0;        ///< its elements apart
    std::int64_t pair = 0;       ///< its waits apart
    std::int64_t tail = 0;       ///< a unit that is not whole, its waits apart
    std::int64_t unit_pairs = 1; ///< of a unit
};
[[nodiscard]] constexpr CrossEntropyCost cross_entropy_cost(ElementType type) {
    return type == ElementType::F16 ? CrossEntropyCost{16, 5, 16, 2}
                                    : CrossEntropyCost{14, 4, 10, 1};
}

/// cross_entropy_parts_<type>: `units` whole ones of each row are the worker's.
[[nodiscard]] constexpr std::int64_t cross_entropy_parts_issues(ElementType type, std::int64_t rows,
                                                                std::int64_t units, bool has_tail) {
    if (rows == 0) {
        return kCrossEntropyPartsNothing;
    }
    const CrossEntropyCost cost = cross_entropy_cost(type);
    const std::int64_t waits = 2 * kCrossEntropyExpWaits; // of a pair
    const std::int64_t unit = kCrossEntropyMaxUnit + cost.unit_pairs * (cost.pair + waits);
    const std::int64_t tail = kCrossEntropyMaxTail + cost.tail + cost.unit_pairs * waits;
    return kCrossEntropyPartsFrame + rows * (cost.row + units * unit + (has_tail ? tail : 0));
}

constexpr std::int64_t kCrossEntropyJoinNothing = 11; ///< a worker without rows
constexpr std::int64_t kCrossEntropyJoinFrame = 20;   ///< around the rows
constexpr std::int64_t kCrossEntropyJoinRow = 12;     ///< its shares and waits apart
constexpr std::int64_t kCrossEntropyJoinMax = 1;      ///< of a share
constexpr std::int64_t kCrossEntropyJoinPart = 4;     ///< the same for the sum, its wait apart
constexpr std::int64_t kCrossEntropyJoinDot = 1;      ///< the same for the targets

/// cross_entropy_join: rows of one worker, of so many shares each.
[[nodiscard]] constexpr std::int64_t cross_entropy_join_issues(std::int64_t rows,
                                                               std::int64_t shares) {
    return rows == 0 ? kCrossEntropyJoinNothing
                     : kCrossEntropyJoinFrame +
                           rows * (kCrossEntropyJoinRow + kCrossEntropyLnWaits +
                                   shares * (kCrossEntropyJoinMax + kCrossEntropyJoinPart +
                                             kCrossEntropyExpWaits + kCrossEntropyJoinDot));
}

} // namespace tessera::codelets
