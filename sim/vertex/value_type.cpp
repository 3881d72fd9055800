// SPDX-License-Identifier: MIT
#include "sim/vertex/value_type.h"

#include "base/error.h"
#include "base/float16.h"
#include "kernels/workload/half.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tessera::vertex {
namespace {

using Kind = ElementFacts::Kind;

std::vector<ValueType> make_types() {
    std::vector<ValueType> types;
    for (const ElementFacts& facts : kElementTypes) {
        const bool is_number = facts.kind == Kind::Signed || facts.kind == Kind::Unsigned ||
                               facts.type == ElementType::F16 || facts.type == ElementType::F32;
        if (is_number) {
            types.push_back({facts.name, facts.type});
        }
    }
    types.push_back({"f8", ElementType::U8});
    types.push_back({"bytes", ElementType::U8});
    return types;
}

void append(std::uint64_t bits, Bytes bytes, std::vector<std::byte>& out) {
    for (Bytes i = 0; i < bytes; ++i) {
        out.push_back(static_cast<std::byte>(bits >> (8 * static_cast<unsigned>(i))));
    }
}

std::string append_integer(const ValueType& type, double value, std::vector<std::byte>& out) {
    const double steps = std::ldexp(1.0, static_cast<int>(8 * type.bytes()));
    const double low = facts_of(type.type).kind == Kind::Signed ? -steps / 2 : 0;
    const double high = low + steps - 1;
    if (!(value >= low && value <= high) || std::floor(value) != value) {
        return fmt::format("got {}, expected a whole number of {:.0f}..{:.0f} ({})", value, low,
                           high, type.name);
    }
    append(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), type.bytes(), out);
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

std::string append_single(double value, std::vector<std::byte>& out) {
    if (std::isfinite(value) &&
        std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
        return fmt::format("got {}, expected a number within f32", value);
    }
    append(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4, out);
    return {};
}

} // namespace

std::span<const ValueType> value_types() {
    static const std::vector<ValueType> types = make_types();
    return types;
}

const ValueType* find_value_type(std::string_view name) {
    for (const auto& type : value_types()) {
        if (type.name == name) {
            return &type;
        }
    }
    return nullptr;
}

std::string append_element(const ValueType& type, double value, std::vector<std::byte>& bytes) {
    if (!is_float(type.type)) {
        return append_integer(type, value, bytes);
    }
    return type.type == ElementType::F16 ? append_half(value, bytes) : append_single(value, bytes);
}

double element_value(ElementType type, const std::byte* bytes) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, bytes, static_cast<std::size_t>(bytes_of(type)));
    if (type == ElementType::F16) {
        return static_cast<double>(f16_to_f32(static_cast<std::uint16_t>(bits)));
    }
    if (type == ElementType::F32) {
        return static_cast<double>(std::bit_cast<float>(bits));
    }
    TESSERA_ASSERT(!is_float(type));
    if (facts_of(type).kind == Kind::Unsigned) {
        return bits;
    }
    const unsigned unused = 32U - 8U * static_cast<unsigned>(bytes_of(type));
    return static_cast<std::int32_t>(bits << unused) >> unused;
}

std::vector<double> element_values(const ValueType& type, std::span<const std::byte> bytes) {
    std::vector<double> values;
    const auto step = static_cast<std::size_t>(type.bytes());
    for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
        values.push_back(element_value(type.type, bytes.data() + at));
    }
    return values;
}

} // namespace tessera::vertex
