// SPDX-License-Identifier: MIT
// The types that array elements and fields of vertex state can have in a vertex file: the number
// types of base/element_type.h, and two names for bit patterns. Also converts numbers to the bytes
// of these types, and back.
#pragma once

#include "base/element_type.h"
#include "base/units.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::vertex {

struct ValueType {
    std::string_view name;               ///< as the file spells it
    ElementType type = ElementType::F32; ///< type of the stored bytes
    int fraction_bits = 0;               ///< of FP8 numbers: 3 or 2, else 0

    [[nodiscard]] Bytes bytes() const { return bytes_of(type); }
};

/// f16, f32, i8, u8, i16, u16, i32, u32; `f8_143` and `f8_152`, FP8 numbers of scale 0
/// (docs/deviations.md#fp8); and `f8` and `bytes`, stored as u8, whose meaning only the codelet
/// knows.
[[nodiscard]] std::span<const ValueType> value_types();
/// Null where there is none of that name.
[[nodiscard]] const ValueType* find_value_type(std::string_view name);

/// Appends the little-endian bytes of `value`, rounded to nearest even for floats. Returns why
/// the type cannot hold it, or nothing.
[[nodiscard]] std::string append_element(const ValueType& type, double value,
                                         std::vector<std::byte>& bytes);

/// The value of the element that starts at `bytes`.
[[nodiscard]] double element_value(const ValueType& type, const std::byte* bytes);

/// All elements of an array.
[[nodiscard]] std::vector<double> element_values(const ValueType& type,
                                                 std::span<const std::byte> bytes);

} // namespace tessera::vertex
