// SPDX-License-Identifier: MIT
#include "kernels/vertex/value_type.h"

#include "kernels/workload/element_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    types.push_back({"f8_143", ElementType::U8, 3});
    types.push_back({"f8_152", ElementType::U8, 2});
    types.push_back({"f8", ElementType::U8});
    types.push_back({"bytes", ElementType::U8});
    return types;
}

std::string beyond_integer(const ValueType& type, double value) {
    const double steps = std::ldexp(1.0, static_cast<int>(8 * type.bytes()));
    const double low = facts_of(type.type).kind == Kind::Signed ? -steps / 2 : 0;
    const double high = low + steps - 1;
    if (!(value >= low && value <= high) || std::floor(value) != value) {
        return fmt::format("got {}, expected a whole number of {:.0f}..{:.0f} ({})", value, low,
                           high, type.name);
    }
    return {};
}

/// A finite number may not become infinite.
std::string beyond_float(ElementType type, double value) {
    constexpr double kFirstTooLarge = 65520; // of f16
    const double magnitude = std::isfinite(value) ? std::fabs(value) : 0;
    if (type == ElementType::F16 && magnitude >= kFirstTooLarge) {
        return fmt::format("got {}, expected -65504..65504 (f16)", value);
    }
    if (magnitude > static_cast<double>(std::numeric_limits<float>::max())) {
        return fmt::format("got {}, expected a number within f32", value);
    }
    return {};
}

constexpr unsigned kNanCode = 0x80; ///< what would be minus zero
constexpr unsigned kLargestCode = 0x7f;

/// The magnitude of an FP8 code of 7 bits: exponents are biased by 2 to the power of their bits
/// less 1.
double magnitude_of(unsigned code, int fraction_bits) {
    const int bias = 1 << (6 - fraction_bits);
    const int exponent = static_cast<int>(code >> static_cast<unsigned>(fraction_bits));
    const int one = 1 << fraction_bits;
    const int fraction = static_cast<int>(code) & (one - 1);
    return std::ldexp(exponent == 0 ? fraction : fraction + one,
                      std::max(exponent, 1) - bias - fraction_bits);
}

std::string append_quarter(const ValueType& type, double value, std::vector<std::byte>& out) {
    if (std::isnan(value)) {
        out.push_back(std::byte{kNanCode});
        return {};
    }
    const double magnitude = std::fabs(value);
    unsigned below = 0; // the greatest code whose number is not above it
    for (unsigned bit = 0x40; bit != 0; bit >>= 1U) {
        below |= magnitude_of(below | bit, type.fraction_bits) <= magnitude ? bit : 0U;
    }
    // beyond the largest number the next one would follow at the same distance
    const double low = magnitude_of(below, type.fraction_bits);
    const double step = below == kLargestCode ? low - magnitude_of(below - 1, type.fraction_bits)
                                              : magnitude_of(below + 1, type.fraction_bits) - low;
    const double over = magnitude - low;
    const unsigned code =
        below + (over > step / 2 || (over == step / 2 && below % 2 == 1) ? 1U : 0U);
    if (code > kLargestCode) {
        const double most = magnitude_of(kLargestCode, type.fraction_bits);
        return fmt::format("got {}, expected {}..{} ({})", value, -most, most, type.name);
    }
    out.push_back(static_cast<std::byte>(code == 0 || value > 0 ? code : code | kNanCode));
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
    if (type.fraction_bits != 0) {
        return append_quarter(type, value, bytes);
    }
    std::string beyond =
        is_float(type.type) ? beyond_float(type.type, value) : beyond_integer(type, value);
    if (beyond.empty()) {
        workload::append_element(type.type, value, bytes);
    }
    return beyond;
}

double element_value(const ValueType& type, const std::byte* bytes) {
    if (type.fraction_bits == 0) {
        return workload::element_value(type.type, bytes);
    }
    const auto code = std::to_integer<unsigned>(*bytes);
    if (code == kNanCode) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double magnitude = magnitude_of(code & kLargestCode, type.fraction_bits);
    return (code & kNanCode) == 0 ? magnitude : -magnitude;
}

std::vector<double> element_values(const ValueType& type, std::span<const std::byte> bytes) {
    std::vector<double> values;
    const auto step = static_cast<std::size_t>(type.bytes());
    for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
        values.push_back(element_value(type, bytes.data() + at));
    }
    return values;
}

} // namespace tessera::vertex
