// SPDX-License-Identifier: MIT
// The types that elements of arrays and fields of vertex state can have, and their bytes.
#pragma once

#include "base/units.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::vertex {

struct ElementType {
    enum class Kind { Unsigned, Signed, Half, Single };
    std::string_view name; ///< "f16"
    Kind kind = Kind::Unsigned;
    Bytes bytes = 1;
    std::string_view npy; ///< NumPy's name of the type: "<f2"
};

/// u8, i8, u16, i16, u32, i32, f16, f32, and `bytes` and `f8` (both bit patterns of 8 bits).
[[nodiscard]] std::span<const ElementType> element_types();
/// Null where there is none of that name.
[[nodiscard]] const ElementType* find_element_type(std::string_view name);

/// Appends the little-endian bytes of `value`, rounded to nearest even for f16 and f32. Returns why
/// the type cannot hold it, or nothing.
[[nodiscard]] std::string append_element(const ElementType& type, double value,
                                         std::vector<std::byte>& bytes);

/// The value of the element that starts at `bytes`.
[[nodiscard]] double element_value(const ElementType& type, const std::byte* bytes);

/// All elements of an array.
[[nodiscard]] std::vector<double> element_values(const ElementType& type,
                                                 std::span<const std::byte> bytes);

} // namespace tessera::vertex
