// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "base/float8.h"
#include "kernels/workload/element_value.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

using namespace tessera;

namespace {

/// What an element of a number has.
std::vector<std::byte> bytes_of_number(ElementType type, double number) {
    std::vector<std::byte> bytes;
    workload::append_element(type, number, bytes);
    return bytes;
}

} // namespace

TEST_CASE("an element of any type has the bytes of its number, the lowest first", "[kernels]") {
    for (const ElementFacts& facts : kElementTypes) {
        CAPTURE(facts.name);
        const bool is_signed =
            facts.kind == ElementFacts::Kind::Float || facts.kind == ElementFacts::Kind::Signed;
        const double width = 8.0 * static_cast<double>(facts.bytes);
        std::vector<double> numbers{0, 1};
        if (is_signed) {
            numbers.insert(numbers.end(), {-1, 96, -96});
        }
        if (is_float(facts.type)) {
            numbers.insert(numbers.end(), {0.5, -1.25});
        } else if (facts.kind != ElementFacts::Kind::Bool) {
            const double steps = std::exp2(is_signed ? width - 1 : width);
            numbers.insert(numbers.end(), {is_signed ? -steps : 0, steps - 1});
        }
        for (const double number : numbers) {
            CAPTURE(number);
            const auto bytes = bytes_of_number(facts.type, number);
            REQUIRE(static_cast<Bytes>(bytes.size()) == facts.bytes);
            CHECK(workload::element_value(facts.type, bytes.data()) == number);
        }
    }
    CHECK(bytes_of_number(ElementType::U16, 0x1234) ==
          std::vector{std::byte{0x34}, std::byte{0x12}});
}

TEST_CASE("elements of floats are rounded once, to nearest even", "[kernels]") {
    const auto stored = [](ElementType type, double number) {
        return workload::element_value(type, bytes_of_number(type, number).data());
    };
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        CAPTURE(name_of(type));
        const double half_step = unit_roundoff(type);
        CHECK(stored(type, 1 + half_step) == 1);
        CHECK(stored(type, 1 + 3 * half_step) == 1 + 4 * half_step);
        CHECK(stored(type, 1 + half_step + half_step / (1 << 20)) == 1 + 2 * half_step);
    }
    for (const ElementType type : {ElementType::F143, ElementType::F152}) {
        for (int code = 0; code < 256; ++code) {
            const auto byte = static_cast<std::uint8_t>(code);
            const double number = f8_to_f32(byte, type);
            CAPTURE(name_of(type), code);
            const auto bytes = std::vector{std::byte{byte}};
            const double read = workload::element_value(type, bytes.data());
            CHECK((read == number || (std::isnan(read) && byte == kFloat8Nan)));
            CHECK(bytes_of_number(type, number) == bytes);
        }
    }
}
