// SPDX-License-Identifier: MIT
// The types of elements: one table for tensors of programs, workload and vertex files, .npy files
// and host references. Who takes only some of them says which; the names are the same everywhere.
#pragma once

#include "base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// F143 and F152 are FP8 with three and two fraction bits (docs/deviations.md#fp8).
enum class ElementType : std::uint8_t { F16, F32, I8, U8, I16, U16, I32, U32, F143, F152, Bool };

struct ElementFacts {
    enum class Kind { Float, Signed, Unsigned, Bool };

    ElementType type = ElementType::F16;
    std::string_view name; ///< in JSON, reports and symbols of codelets: "f16"
    Bytes bytes = 0;
    std::string_view npy; ///< NumPy's name: "<f2"; of FP8, which it lacks, that of the bit pattern
    Kind kind = Kind::Float;
    int significand_bits = 0; ///< of floats, the hidden one counted
};

/// In the order of ElementType, so that a type is its own index.
inline constexpr std::array<ElementFacts, 11> kElementTypes{{
    {ElementType::F16, "f16", 2, "<f2", ElementFacts::Kind::Float, 11},
    {ElementType::F32, "f32", 4, "<f4", ElementFacts::Kind::Float, 24},
    {ElementType::I8, "i8", 1, "|i1", ElementFacts::Kind::Signed, 0},
    {ElementType::U8, "u8", 1, "|u1", ElementFacts::Kind::Unsigned, 0},
    {ElementType::I16, "i16", 2, "<i2", ElementFacts::Kind::Signed, 0},
    {ElementType::U16, "u16", 2, "<u2", ElementFacts::Kind::Unsigned, 0},
    {ElementType::I32, "i32", 4, "<i4", ElementFacts::Kind::Signed, 0},
    {ElementType::U32, "u32", 4, "<u4", ElementFacts::Kind::Unsigned, 0},
    {ElementType::F143, "f143", 1, "|u1", ElementFacts::Kind::Float, 4},
    {ElementType::F152, "f152", 1, "|u1", ElementFacts::Kind::Float, 3},
    {ElementType::Bool, "bool", 1, "|b1", ElementFacts::Kind::Bool, 0},
}};

[[nodiscard]] constexpr const ElementFacts& facts_of(ElementType type) {
    return kElementTypes[static_cast<std::size_t>(type)];
}
[[nodiscard]] constexpr std::string_view name_of(ElementType type) {
    return facts_of(type).name;
}
[[nodiscard]] constexpr Bytes bytes_of(ElementType type) {
    return facts_of(type).bytes;
}
[[nodiscard]] constexpr std::string_view npy_of(ElementType type) {
    return facts_of(type).npy;
}
[[nodiscard]] constexpr bool is_float(ElementType type) {
    return facts_of(type).kind == ElementFacts::Kind::Float;
}

/// Largest relative error of one rounding to nearest of a normal number: 2^-11 of f16.
[[nodiscard]] constexpr double unit_roundoff(ElementType type) {
    double unit = 1;
    for (int bit = 0; bit < facts_of(type).significand_bits; ++bit) {
        unit /= 2;
    }
    return unit;
}

/// Null where there is none of that name. Names to suggest instead: element_type_texts().
[[nodiscard]] constexpr const ElementFacts* find_element_type(std::string_view name) {
    for (const ElementFacts& facts : kElementTypes) {
        if (facts.name == name) {
            return &facts;
        }
    }
    return nullptr;
}

/// The type that NumPy names so, the number where it is also an FP8 bit pattern; null where there
/// is none.
[[nodiscard]] constexpr const ElementFacts* find_npy_type(std::string_view npy) {
    for (const ElementFacts& facts : kElementTypes) {
        if (facts.npy == npy) {
            return &facts;
        }
    }
    return nullptr;
}

/// A choice among some types as a field of a JSON object has it: names and types.
[[nodiscard]] inline std::vector<std::pair<std::string, ElementType>>
element_type_texts(const std::vector<ElementType>& types) {
    std::vector<std::pair<std::string, ElementType>> texts;
    texts.reserve(types.size());
    for (const ElementType type : types) {
        texts.emplace_back(name_of(type), type);
    }
    return texts;
}

} // namespace tessera
