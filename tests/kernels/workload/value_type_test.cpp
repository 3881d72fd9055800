// SPDX-License-Identifier: MIT
#include "kernels/workload/value_type.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

using namespace tessera::workload;

namespace {

std::array<char, 8> encoded(ValueType type, double value) {
    std::array<char, 8> bytes{};
    REQUIRE(encode(type, value, bytes.data()));
    return bytes;
}

bool has(ValueType type, double value) {
    std::array<char, 8> bytes{};
    return encode(type, value, bytes.data());
}

} // namespace

TEST_CASE("types are their own indices and have one name each", "[value_type]") {
    for (std::size_t i = 0; i < kValueTypes.size(); ++i) {
        const ValueTypeFacts& facts = kValueTypes[i];
        CHECK(static_cast<std::size_t>(facts.type) == i);
        CHECK(find_value_type(&ValueTypeFacts::name, facts.name) == &facts);
        CHECK(find_value_type(&ValueTypeFacts::safetensors, facts.safetensors) == &facts);
        CHECK((facts.npy.empty() || find_value_type(&ValueTypeFacts::npy, facts.npy) == &facts));
    }
    CHECK(find_value_type(&ValueTypeFacts::npy, "") == nullptr);
}

TEST_CASE("every finite pattern of 16 bits is kept", "[value_type]") {
    for (const ValueType type : {ValueType::F16, ValueType::BF16}) {
        for (std::uint32_t bits = 0; bits < (1U << 16U); ++bits) {
            std::array<char, 8> bytes{};
            std::memcpy(bytes.data(), &bits, 2);
            const double value = decoded(type, bytes.data());
            if (std::isfinite(value) && encoded(type, value) != bytes) {
                FAIL("type " << facts_of(type).name << ", bits " << bits);
            }
        }
    }
}

TEST_CASE("values that a type lacks are told", "[value_type]") {
    CHECK(has(ValueType::F16, 65504));
    CHECK_FALSE(has(ValueType::F16, 65505));
    CHECK_FALSE(has(ValueType::F16, 0.1));
    CHECK(has(ValueType::BF16, 0x1.02p0));
    CHECK_FALSE(has(ValueType::BF16, 0x1.01p0));
    CHECK_FALSE(has(ValueType::BF16, 1e300));
    CHECK(has(ValueType::F32, std::numeric_limits<float>::max()));
    CHECK_FALSE(has(ValueType::F32, 1e300));
    CHECK_FALSE(has(ValueType::F32, 0.1));
    CHECK(has(ValueType::F64, 0.1));
    CHECK(has(ValueType::I8, -128));
    CHECK_FALSE(has(ValueType::I8, 128));
    CHECK_FALSE(has(ValueType::U8, -1));
    CHECK_FALSE(has(ValueType::I32, 1.5));
    CHECK(has(ValueType::U32, 4294967295.0));
    CHECK_FALSE(has(ValueType::U32, 4294967296.0));
    CHECK(has(ValueType::I64, 1 - 0x1p53));
    CHECK_FALSE(has(ValueType::I64, 0x1p53));
    CHECK_FALSE(has(ValueType::U64, 0x1p53));
}

TEST_CASE("whole numbers are kept to the ends of their range", "[value_type]") {
    for (const auto& [type, least, most] : {std::tuple{ValueType::I8, -128.0, 127.0},
                                            {ValueType::U8, 0.0, 255.0},
                                            {ValueType::I16, -32768.0, 32767.0},
                                            {ValueType::U16, 0.0, 65535.0},
                                            {ValueType::I32, -2147483648.0, 2147483647.0},
                                            {ValueType::U32, 0.0, 4294967295.0}}) {
        for (const double value : {least, most, 1.0}) {
            CHECK(decoded(type, encoded(type, value).data()) == value);
        }
        CHECK_FALSE(has(type, least - 1));
        CHECK_FALSE(has(type, most + 1));
    }
}
