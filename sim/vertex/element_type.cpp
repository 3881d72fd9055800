// SPDX-License-Identifier: MIT
#include "sim/vertex/element_type.h"

#include "base/float16.h"
#include "kernels/workload/half.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tessera::vertex {
namespace {

using Kind = ElementType::Kind;

constexpr std::array kTypes = {
    ElementType{"f16", Kind::Half, 2, "<f2"},    ElementType{"f32", Kind::Single, 4, "<f4"},
    ElementType{"i8", Kind::Signed, 1, "|i1"},   ElementType{"u8", Kind::Unsigned, 1, "|u1"},
    ElementType{"i16", Kind::Signed, 2, "<i2"},  ElementType{"u16", Kind::Unsigned, 2, "<u2"},
    ElementType{"i32", Kind::Signed, 4, "<i4"},  ElementType{"u32", Kind::Unsigned, 4, "<u4"},
    ElementType{"f8", Kind::Unsigned, 1, "|u1"}, ElementType{"bytes", Kind::Unsigned, 1, "|u1"},
};

void append(std::uint64_t bits, Bytes bytes, std::vector<std::byte>& out) {
    for (Bytes i = 0; i < bytes; ++i) {
        out.push_back(static_cast<std::byte>(bits >> (8 * static_cast<unsigned>(i))));
    }
}

std::string append_integer(const ElementType& type, double value, std::vector<std::byte>& out) {
    const double steps = std::ldexp(1.0, static_cast<int>(8 * type.bytes));
    const double low = type.kind == Kind::Signed ? -steps / 2 : 0;
    const double high = low + steps - 1;
    if (!(value >= low && value <= high) || std::floor(value) != value) {
        return fmt::format("got {}, expected a whole number of {:.0f}..{:.0f} ({})", value, low,
                           high, type.name);
    }
    append(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), type.bytes, out);
    return {};
}

/// A finite number may not become infinite.
std::string append_half(double value, std::vector<std::byte>& out) {
    constexpr double kFirstTooLarge = 65520;
    if (std::isfinite(value) && std::fabs(value) >= kFirstTooLarge) {
        return fmt::format("got {}, expected -65504..65504 (f16)", value);
    }
    append(workload::f64_to_f16(value), 2, out);
    return {};
}

} // namespace

std::span<const ElementType> element_types() {
    return kTypes;
}

const ElementType* find_element_type(std::string_view name) {
    for (const auto& type : kTypes) {
        if (type.name == name) {
            return &type;
        }
    }
    return nullptr;
}

std::string append_element(const ElementType& type, double value, std::vector<std::byte>& bytes) {
    switch (type.kind) {
    case Kind::Unsigned:
    case Kind::Signed:
        return append_integer(type, value, bytes);
    case Kind::Half:
        return append_half(value, bytes);
    case Kind::Single:
        break;
    }
    if (std::isfinite(value) &&
        std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
        return fmt::format("got {}, expected a number within f32", value);
    }
    append(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4, bytes);
    return {};
}

double element_value(const ElementType& type, const std::byte* bytes) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes, static_cast<std::size_t>(type.bytes));
    switch (type.kind) {
    case Kind::Unsigned:
        return bits;
    case Kind::Half:
        return static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(bits)));
    case Kind::Single:
        return static_cast<double>(std::bit_cast<float>(bits));
    case Kind::Signed:
        break;
    }
    const unsigned unused = 32U - 8U * static_cast<unsigned>(type.bytes);
    return static_cast<std::int32_t>(bits << unused) >> unused;
}

std::vector<double> element_values(const ElementType& type, std::span<const std::byte> bytes) {
    std::vector<double> values;
    const auto step = static_cast<std::size_t>(type.bytes);
    for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
        values.push_back(element_value(type, bytes.data() + at));
    }
    return values;
}

} // namespace tessera::vertex
