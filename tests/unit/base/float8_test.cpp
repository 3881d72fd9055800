// SPDX-License-Identifier: MIT
#include "base/float8.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <map>

namespace {

using namespace tessera;

/// All numbers of a format, ascending, with their codes.
std::map<float, std::uint8_t> numbers(ElementType type) {
    std::map<float, std::uint8_t> found;
    for (int code = 0; code < 256; ++code) {
        if (code != kFloat8Nan) {
            found.emplace(f8_to_f32(static_cast<std::uint8_t>(code), type),
                          static_cast<std::uint8_t>(code));
        }
    }
    return found;
}

} // namespace

TEST_CASE("FP8 codes are 255 numbers and NaN, each itself as a number", "[base]") {
    for (const ElementType type : {ElementType::F143, ElementType::F152}) {
        const auto all = numbers(type);
        CHECK(all.size() == 255);
        CHECK(std::isnan(f8_to_f32(kFloat8Nan, type)));
        for (const auto& [value, code] : all) {
            CAPTURE(name_of(type), value);
            CHECK(f32_to_f8(value, type) == code);
            CHECK(f16_to_f32(f32_to_f16(value)) == value);
        }
        const int bias = type == ElementType::F143 ? 8 : 16;
        const int bits = type == ElementType::F143 ? 3 : 2;
        CHECK(f8_to_f32(1, type) == std::ldexp(1.0F, 1 - bias - bits));
        CHECK(all.rbegin()->first == (type == ElementType::F143 ? 240.0F : 57344.0F));
        CHECK(f8_to_f32(static_cast<std::uint8_t>(bias << bits), type) == 1.0F);
    }
}

TEST_CASE("numbers become the nearest FP8 codes, ties even, the largest beyond it", "[base]") {
    for (const ElementType type : {ElementType::F143, ElementType::F152}) {
        const auto all = numbers(type);
        for (auto at = all.begin(); std::next(at) != all.end(); ++at) {
            const auto next = std::next(at);
            const float middle = (at->first + next->first) / 2; // exact
            CAPTURE(name_of(type), at->first, next->first);
            const std::uint8_t even = at->second % 2 == 0 ? at->second : next->second;
            CHECK(f32_to_f8(middle, type) == even);
            CHECK(f32_to_f8(std::nextafter(middle, at->first), type) == at->second);
            CHECK(f32_to_f8(std::nextafter(middle, next->first), type) == next->second);
        }
        CHECK(f32_to_f8(1e30F, type) == 0x7f);
        CHECK(f32_to_f8(-std::numeric_limits<float>::infinity(), type) == 0xff);
        CHECK(f32_to_f8(-0.0F, type) == 0);
        CHECK(f32_to_f8(std::numeric_limits<float>::quiet_NaN(), type) == kFloat8Nan);
    }
}
