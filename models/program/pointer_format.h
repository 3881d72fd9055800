// SPDX-License-Identifier: MIT
// How vertex state holds pointers: one table for the states that kernels plan and those of vertex
// files (docs/abi.md#vertex-state).
//
//   low bits    (address - base) / unit       base 0 and unit 1 where the format has none
//   high bits   length, in elements           of spans
#pragma once

#include "base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::program {

enum class PointerFormat : std::uint8_t { Word, ShortSpan, Scaled16, Span, Delta };

struct PointerFacts {
    PointerFormat format = PointerFormat::Word;
    std::string_view name; ///< in vertex files: "short_span"
    Bytes bytes = 4;       ///< words where there is more than one
    int address_bits = 32;
    int length_bits = 0;   ///< above them; 0: the format has no length
    bool relative = false; ///< counts units of its own from a base, which the codelet knows
};

/// In the order of PointerFormat.
inline constexpr std::array<PointerFacts, 5> kPointerFormats{{
    {PointerFormat::Word, "word", 4, 32, 0, false},
    {PointerFormat::ShortSpan, "short_span", 4, 20, 12, false},
    {PointerFormat::Scaled16, "scaled16", 2, 16, 0, true}, ///< with unit 1 an offset in bytes
    {PointerFormat::Span, "span", 8, 32, 32, false},
    {PointerFormat::Delta, "delta", 4, 20, 12, true}, ///< units are elements
}};

[[nodiscard]] constexpr const PointerFacts& facts_of(PointerFormat format) {
    return kPointerFormats[static_cast<std::size_t>(format)];
}
/// The largest offset in the format's units: bytes, except in a relative format.
[[nodiscard]] constexpr std::int64_t largest_offset(PointerFormat format) {
    return (std::int64_t{1} << facts_of(format).address_bits) - 1;
}
/// Elements; 0 where the format has no length.
[[nodiscard]] constexpr std::int64_t largest_length(PointerFormat format) {
    return (std::int64_t{1} << facts_of(format).length_bits) - 1;
}

/// Entries that stand one behind the other, away from the field that leads to them.
struct PointerTable {
    std::string_view name; ///< of the field in vertex files
    PointerFormat entry = PointerFormat::Word;
    /// The field is a word that points to the table; where entries count from a base, that stands
    /// before it.
    [[nodiscard]] constexpr bool has_base() const { return facts_of(entry).relative; }
};
inline constexpr PointerTable kListOfPointers{"pointers", PointerFormat::Word};
inline constexpr PointerTable kListOfDeltas{"delta_n", PointerFormat::Delta};

/// What a pointer leads to.
struct PointerTarget {
    std::int64_t address = 0;
    std::int64_t length = 0; ///< elements
    std::int64_t base = 0;   ///< bytes
    std::int64_t unit = 1;   ///< bytes
};

/// Why the format cannot hold the pointer: "got address 0x80002 from base 0x0, expected a multiple
/// of 16 B above it, of 16 bits". Empty where it can.
[[nodiscard]] std::string pointer_mistake(PointerFormat format, const PointerTarget& target);

/// The bits of the field, the first word lowest. @throws ProgramError that names `what` where the
/// format cannot hold them
[[nodiscard]] std::uint64_t pack_pointer(PointerFormat format, const PointerTarget& target,
                                         std::string_view what);

} // namespace tessera::program
