// SPDX-License-Identifier: MIT
#include "kernels/workload/value_type.h"

#include "base/error.h"
#include "base/float16.h"
#include "kernels/workload/half.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::workload {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied, not swapped");

constexpr unsigned kBfloatShift = 16; ///< bfloat16 is the upper half of binary32

template <class Value> Value read_as(const char* bytes) {
    Value value;
    std::memcpy(&value, bytes, sizeof(Value));
    return value;
}

template <class Value> void write_as(Value value, char* bytes) {
    std::memcpy(bytes, &value, sizeof(Value));
}

template <class Whole> bool encode_whole(double value, char* bytes) {
    constexpr double kRounded = 0x1p53;
    const bool fits = std::trunc(value) == value && std::fabs(value) < kRounded &&
                      value >= static_cast<double>(std::numeric_limits<Whole>::min()) &&
                      value <= static_cast<double>(std::numeric_limits<Whole>::max());
    if (fits) {
        write_as(static_cast<Whole>(value), bytes);
    }
    return fits;
}

bool encode_f32(double value, float& nearest) {
    if (std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max()) &&
        std::isfinite(value)) {
        return false;
    }
    nearest = static_cast<float>(value);
    return static_cast<double>(nearest) == value;
}

} // namespace

double decoded(ValueType type, const char* bytes) {
    switch (type) {
    case ValueType::Mask:
        return *bytes != 0 ? 1 : 0;
    case ValueType::F16:
        return static_cast<double>(f16_to_f32(read_as<std::uint16_t>(bytes)));
    case ValueType::BF16:
        return static_cast<double>(
            std::bit_cast<float>(std::uint32_t{read_as<std::uint16_t>(bytes)} << kBfloatShift));
    case ValueType::F32:
        return static_cast<double>(read_as<float>(bytes));
    case ValueType::F64:
        return read_as<double>(bytes);
    case ValueType::I8:
        return read_as<std::int8_t>(bytes);
    case ValueType::U8:
        return read_as<std::uint8_t>(bytes);
    case ValueType::I16:
        return read_as<std::int16_t>(bytes);
    case ValueType::U16:
        return read_as<std::uint16_t>(bytes);
    case ValueType::I32:
        return read_as<std::int32_t>(bytes);
    case ValueType::U32:
        return read_as<std::uint32_t>(bytes);
    case ValueType::I64:
        return static_cast<double>(read_as<std::int64_t>(bytes));
    case ValueType::U64:
        return static_cast<double>(read_as<std::uint64_t>(bytes));
    }
    TESSERA_ASSERT(false);
    return 0;
}

bool encode(ValueType type, double value, char* bytes) {
    float nearest = 0;
    switch (type) {
    case ValueType::Mask:
        *bytes = 1;
        return true;
    case ValueType::F16: {
        const std::uint16_t half = f64_to_f16(value);
        write_as(half, bytes);
        return static_cast<double>(f16_to_f32(half)) == value;
    }
    case ValueType::BF16: {
        const bool fits = encode_f32(value, nearest);
        const auto bits = std::bit_cast<std::uint32_t>(nearest);
        write_as(static_cast<std::uint16_t>(bits >> kBfloatShift), bytes);
        return fits && (bits & ((std::uint32_t{1} << kBfloatShift) - 1)) == 0;
    }
    case ValueType::F32: {
        const bool fits = encode_f32(value, nearest);
        write_as(nearest, bytes);
        return fits;
    }
    case ValueType::F64:
        write_as(value, bytes);
        return true;
    case ValueType::I8:
        return encode_whole<std::int8_t>(value, bytes);
    case ValueType::U8:
        return encode_whole<std::uint8_t>(value, bytes);
    case ValueType::I16:
        return encode_whole<std::int16_t>(value, bytes);
    case ValueType::U16:
        return encode_whole<std::uint16_t>(value, bytes);
    case ValueType::I32:
        return encode_whole<std::int32_t>(value, bytes);
    case ValueType::U32:
        return encode_whole<std::uint32_t>(value, bytes);
    case ValueType::I64:
        return encode_whole<std::int64_t>(value, bytes);
    case ValueType::U64:
        return encode_whole<std::uint64_t>(value, bytes);
    }
    TESSERA_ASSERT(false);
    return false;
}

} // namespace tessera::workload
