// SPDX-License-Identifier: MIT
// The types of values in files of matrices, and their bytes, lowest first. Readers take a value as
// binary64, which has every value of all types but i64 and u64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera::workload {

/// A mask says only which elements are kept; it has no values.
enum class ValueType : std::uint8_t {
    Mask,
    F16,
    BF16,
    F32,
    F64,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64
};

struct ValueTypeFacts {
    ValueType type = ValueType::Mask;
    std::string_view name;        ///< on the command line and in messages
    std::size_t bytes = 0;        ///< of one value; of a mask one truth value
    std::string_view npy;         ///< NumPy's name; empty: it has none
    std::string_view safetensors; ///< as the head of a .safetensors file names it
};

/// In the order of ValueType, so that a type is its own index.
inline constexpr std::array<ValueTypeFacts, 13> kValueTypes{{
    {ValueType::Mask, "mask", 1, "|b1", "BOOL"},
    {ValueType::F16, "f16", 2, "<f2", "F16"},
    {ValueType::BF16, "bf16", 2, "", "BF16"},
    {ValueType::F32, "f32", 4, "<f4", "F32"},
    {ValueType::F64, "f64", 8, "<f8", "F64"},
    {ValueType::I8, "i8", 1, "|i1", "I8"},
    {ValueType::U8, "u8", 1, "|u1", "U8"},
    {ValueType::I16, "i16", 2, "<i2", "I16"},
    {ValueType::U16, "u16", 2, "<u2", "U16"},
    {ValueType::I32, "i32", 4, "<i4", "I32"},
    {ValueType::U32, "u32", 4, "<u4", "U32"},
    {ValueType::I64, "i64", 8, "<i8", "I64"},
    {ValueType::U64, "u64", 8, "<u8", "U64"},
}};

[[nodiscard]] constexpr const ValueTypeFacts& facts_of(ValueType type) {
    return kValueTypes[static_cast<std::size_t>(type)];
}

/// Whole numbers have no fraction, infinity or NaN.
[[nodiscard]] constexpr bool is_whole(ValueType type) {
    return type >= ValueType::I8;
}

/// The type whose `field` is that text; null where there is none.
[[nodiscard]] constexpr const ValueTypeFacts*
find_value_type(std::string_view ValueTypeFacts::*field, std::string_view text) {
    for (const ValueTypeFacts& facts : kValueTypes) {
        if (!text.empty() && facts.*field == text) {
            return &facts;
        }
    }
    return nullptr;
}

/// The value of a type's bytes; of a mask 1 or 0. Values of i64 and u64 from 2^53 on are rounded.
[[nodiscard]] double decoded(ValueType type, const char* bytes);

/// Writes the bytes of a value; false where the type does not have exactly this value, or where it
/// is a whole number of 2^53 or more, which may have been rounded. A mask takes every value: its
/// bytes say that the element is kept.
[[nodiscard]] bool encode(ValueType type, double value, char* bytes);

} // namespace tessera::workload
