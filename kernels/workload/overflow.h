// SPDX-License-Identifier: MIT
// Elements of a result that are too large for its type. The operands cause this overflow; it is no
// fault of machine or kernel. The machine correctly saturates binary16 and makes binary32 infinite.
// The overflow is reported because nobody wants such a result.
#pragma once

#include "base/element_type.h"

#include <cstdint>
#include <string>

namespace tessera::workload {

inline constexpr double kLargestF16 = 65504;

/// Returns the number to which the machine limits an exact one. In binary16 its magnitude is at
/// most 65504. In binary32 it is infinite if rounding gives an infinity.
[[nodiscard]] double in_range(ElementType type, double exact);
/// Returns whether rounding an exact number to the type overflows.
[[nodiscard]] bool overflows(ElementType type, double exact);

/// Returns the largest error of one rounding to the type: half a unit in the last place. For FP16
/// subnormals that is half of the smallest one. FP32 subnormals become zero, an error of up to the
/// smallest normal number.
[[nodiscard]] double rounding(ElementType type, double exact);

/// The elements of a result that overflow.
struct Overflow {
    std::int64_t elements = 0; ///< how many they are
    std::int64_t first = -1;   ///< row-major index of the first such element; -1: none
    double largest = 0;        ///< largest magnitude of their exact values

    /// Adds the element with this row-major index and exact value.
    void note(std::int64_t element, double exact);
    /// Adds the overflow of a later part of the result, which begins at index `first_element`.
    void add(const Overflow& later, std::int64_t first_element = 0);
};

/// Returns a sentence such as "the values overflow f16, which the machine saturates: 3 of 40
/// elements, the first at element 7, magnitudes of the reference up to 131072". `first` is the text
/// for the place of the first one.
[[nodiscard]] std::string text_of(const Overflow& overflow, ElementType type, std::int64_t elements,
                                  const std::string& first);

} // namespace tessera::workload
