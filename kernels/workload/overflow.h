// SPDX-License-Identifier: MIT
// Elements of a result that the values themselves drive out of its type's range. The machine is right
// there: binary16 saturates, binary32 becomes infinite. It is told, because nobody wants such a
// result.
#pragma once

#include "base/element_type.h"

#include <cstdint>
#include <string>

namespace tessera::workload {

inline constexpr double kLargestF16 = 65504;

/// The number that the machine has for an exact one: of binary16 at most the largest in magnitude, of
/// binary32 an infinity where that is what rounding gives.
[[nodiscard]] double in_range(ElementType type, double exact);
/// Whether rounding an exact number to the type overflows.
[[nodiscard]] bool overflows(ElementType type, double exact);

/// What one rounding to the type changes at most: half of the last place; of FP16 subnormals half
/// of the least one. FP32 has none: what would be one is zero.
[[nodiscard]] double rounding(ElementType type, double exact);

struct Overflow {
    std::int64_t elements = 0;
    std::int64_t first = -1; ///< the lowest number of such an element, row-major; -1: there is none
    double largest = 0;      ///< magnitude of the exact elements

    void note(std::int64_t element, double exact);
    /// What has been found in elements from number `first_element` on.
    void add(const Overflow& later, std::int64_t first_element = 0);
};

/// "the values overflow f16, which the machine saturates: 3 of 40 elements, the first at element 7,
/// magnitudes of the reference up to 131072". `first`: where the first one is.
[[nodiscard]] std::string text_of(const Overflow& overflow, ElementType type, std::int64_t elements,
                                  const std::string& first);

} // namespace tessera::workload
