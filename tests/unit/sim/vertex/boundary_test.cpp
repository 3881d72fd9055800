// SPDX-License-Identifier: MIT
// The last value that is taken and the first that is not: of expressions, element types, places,
// state, values and checks.
#include "base/expression/expression.h"
#include "kernels/workload/npy.h"
#include "sim/vertex/check.h"
#include "sim/vertex/fit.h"
#include "sim/vertex/placement.h"
#include "tests/unit/sim/vertex/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

using namespace tessera;
using test::VertexFolder;
using vertex::Bench;
using vertex::place;
using vertex::PlacementRequest;
using vertex::Region;

namespace {

const spec::MachineSpec kMachine;
const spec::MemorySpec& kMemory = kMachine.memory;
const Bytes kElement = kMemory.element_bytes;
const Address kBegin = kMemory.region0_begin();

double of(const std::string& text) {
    return expression::evaluate(text, {{{"n", 12}}, {}, {{"x", {3, 1, 4}}}});
}
bool is_refused(const std::string& text) {
    try {
        static_cast<void>(of(text));
    } catch (const expression::Error&) {
        return true;
    }
    return false;
}

PlacementRequest block(const std::string& name, Bytes bytes) {
    PlacementRequest request;
    request.name = name;
    request.bytes = bytes;
    return request;
}
PlacementRequest at(const std::string& name, Bytes bytes, Address address) {
    PlacementRequest request = block(name, bytes);
    request.address = address;
    return request;
}
/// "placed", "no place" or the message.
std::string placing(const std::vector<PlacementRequest>& requests) {
    try {
        static_cast<void>(place(kMemory, requests));
    } catch (const DoesNotFit&) {
        return "no place";
    } catch (const vertex::PlacementError& error) {
        return error.what();
    }
    return "placed";
}

vertex::Point point(double rows) {
    return {{{{"rows", rows}}, {}, {}}, {{"rows", rows}}};
}

} // namespace

TEST_CASE("expressions take what they can hold", "[unit][vertex]") {
    struct Row {
        std::string text;
        double value;
    };
    const std::vector<Row> rows = {
        {"1 << 0", 1},
        {"1 << 52", 4503599627370496.0},
        {"5 >> 0", 5},
        {"-1 >> 52", -1},
        {"9007199254740992 | 0", 9007199254740992.0},
        {"-9007199254740992 | 0", -9007199254740992.0},
        {"n < 12", 0},
        {"n < 13", 1},
        {"n <= 12", 1},
        {"n <= 11", 0},
        {"n > 12", 0},
        {"n > 11", 1},
        {"n >= 12", 1},
        {"n >= 13", 0},
        {"n == 12", 1},
        {"n == 13", 0},
        {"n != 12", 0},
        {"n != 13", 1},
        {"6 ^ 3", 5},
        {"6 & 3", 2},
        {"6 | 3", 7},
        {"1 | 6 ^ 6 & 4", 3},
        {"2 ^ 1 == 1", 3},
        {"8 >> 2 << 1", 4},
        {"1 << 2 + 1", 8},
        {"7 - 3 - 2", 2},
        {"16 / 4 / 2", 2},
        {"17 % 5 * 2", 4},
        {"-7 % 4", -3},
        {"7 % -4", 3},
        {"~0", -1},
        {"-2 * -3", 6},
        {"+n", 12},
        {"0x1F + 0X1f", 62},
        {".5 + 1.5e1", 15.5},
        {"0 ? 1 : 2", 2},
        {"0.5 ? 1 : 2", 1},
        {"1 ? 0 ? 3 : 4 : 5", 4},
        {"min(3, 1, 2)", 1},
        {"max(1, 3, 2)", 3},
        {"min(5)", 5},
        {"ceildiv(12, 4)", 3},
        {"ceildiv(13, 4)", 4},
        {"ceildiv(-13, 4)", -3},
        {"floordiv(12, 4)", 3},
        {"floordiv(11, 4)", 2},
        {"floordiv(-13, 4)", -4},
        {"floor(-2.5)", -3},
        {"ceil(-2.5)", -2},
        {"round(2.5)", 3},
        {"round(-2.5)", -3},
        {"abs(-2)", 2},
        {"log2(1)", 0},
        {"at(x, 0)", 3},
        {"at(x, 2)", 4},
        {"sum(k, 3, 2, 1)", 0},
        {"sum(k, 2, 3, k)", 2},
        {"sum(k, -1, 2, k + 10)", 30},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(of(row.text) == row.value);
    }
    for (const std::string text : {"1 << 53",
                                   "1 << -1",
                                   "1 >> 53",
                                   "9007199254740994 | 0",
                                   "-9007199254740994 | 0",
                                   "0.5 & 1",
                                   "1 % 0",
                                   "1 / 0",
                                   "floordiv(1, 0)",
                                   "at(x, -1)",
                                   "at(x, 3)",
                                   "at(x, 0.5)",
                                   "min()",
                                   "floor(1, 2)",
                                   "ceildiv(1, 2, 3)",
                                   "0x",
                                   "1 < ",
                                   "n n",
                                   "1 ? 2",
                                   "sum(k, 0, 2)"}) {
        CAPTURE(text);
        CHECK(is_refused(text));
    }
    const auto nested = [](int levels) {
        return std::string(static_cast<std::size_t>(levels), '(') + "1" +
               std::string(static_cast<std::size_t>(levels), ')');
    };
    CHECK_FALSE(is_refused(nested(99)));
    CHECK(is_refused(nested(100)));
    const auto chosen = [](int levels) {
        std::string text = "1";
        for (int i = 0; i < levels; ++i) {
            text = "1 ? " + text + " : 0";
        }
        return text;
    };
    CHECK_FALSE(is_refused(chosen(90)));
    CHECK(is_refused(chosen(101)));
}

TEST_CASE("element types hold their least and greatest values", "[unit][vertex]") {
    struct Row {
        const char* type;
        double least;
        double most;
        double below;
        double above;
    };
    const double most_single = static_cast<double>(std::numeric_limits<float>::max());
    const std::vector<Row> rows = {
        {"i8", -128, 127, -129, 128},
        {"u8", 0, 255, -1, 256},
        {"f8", 0, 255, -1, 256},
        {"f8_143", -240, 240, -248, 248},
        {"f8_152", -57344, 57344, -61440, 61440},
        {"bytes", 0, 255, -1, 256},
        {"i16", -32768, 32767, -32769, 32768},
        {"u16", 0, 65535, -1, 65536},
        {"i32", -2147483648.0, 2147483647.0, -2147483649.0, 2147483648.0},
        {"u32", 0, 4294967295.0, -1, 4294967296.0},
        {"f16", -65504, 65504, -65520, 65520},
        {"f32", -most_single, most_single, -most_single * 1.1, most_single * 1.1},
    };
    CHECK(rows.size() == vertex::value_types().size());
    for (const Row& row : rows) {
        CAPTURE(row.type);
        const auto& type = *vertex::find_value_type(row.type);
        for (const double value : {row.least, row.most, 0.0, 1.0}) {
            std::vector<std::byte> bytes;
            CHECK(vertex::append_element(type, value, bytes).empty());
            CHECK(vertex::element_value(type, bytes.data()) == value);
        }
        for (const double value : {row.below, row.above}) {
            std::vector<std::byte> bytes;
            CHECK_FALSE(vertex::append_element(type, value, bytes).empty());
            CHECK(bytes.empty());
        }
        std::vector<std::byte> bytes;
        const std::string name = row.type;
        const bool has_infinity = name == "f16" || name == "f32";
        const bool is_real = has_infinity || type.fraction_bits != 0;
        CHECK(vertex::append_element(type, 0.5, bytes).empty() == is_real);
        bytes.clear();
        CHECK(
            vertex::append_element(type, std::numeric_limits<double>::infinity(), bytes).empty() ==
            has_infinity);
    }
    std::vector<std::byte> half;
    CHECK(vertex::append_element(*vertex::find_value_type("f16"), 65519, half).empty());
    CHECK(vertex::element_value(*vertex::find_value_type("f16"), half.data()) == 65504);
}

TEST_CASE("FP8 numbers are the nearest code", "[unit][vertex]") {
    const auto code = [](const char* type, double value) {
        std::vector<std::byte> bytes;
        CHECK(vertex::append_element(*vertex::find_value_type(type), value, bytes) == "");
        return bytes.empty() ? -1 : std::to_integer<int>(bytes.front());
    };
    const auto value = [](const char* type, int bits) {
        const auto byte = static_cast<std::byte>(bits);
        return vertex::element_value(*vertex::find_value_type(type), &byte);
    };
    // every code but that of NaN stands for a number that gives it again
    for (const char* type : {"f8_143", "f8_152"}) {
        CAPTURE(type);
        for (int bits = 0; bits < 256; ++bits) {
            if (bits != 0x80) {
                CHECK(code(type, value(type, bits)) == bits);
            }
        }
        CHECK(std::isnan(value(type, 0x80)));
        CHECK(code(type, std::numeric_limits<double>::quiet_NaN()) == 0x80);
        CHECK(code(type, -0.0) == 0);
        CHECK(code(type, -1e-9) == 0);
    }
    CHECK(code("f8_143", 1) == 0x40);
    CHECK(value("f8_143", 1) == std::ldexp(1, -10)); // the smallest
    CHECK(value("f8_152", 1) == std::ldexp(1, -17));
    CHECK(code("f8_152", 1) == 0x40);
    // ties to even, on both sides; and just beside one
    CHECK(code("f8_143", 1.0625) == 0x40);
    CHECK(code("f8_143", 1.1875) == 0x42);
    CHECK(code("f8_143", -1.1875) == 0xc2);
    CHECK(code("f8_143", 1.0626) == 0x41);
    CHECK(code("f8_143", 247.9) == 0x7f);
}

TEST_CASE("fixed addresses lie in memory and on their alignment", "[unit][vertex]") {
    CHECK(placing({at("x", 16, kBegin)}) == "placed");
    CHECK(placing({at("x", 16, kBegin - 16)}).find("expected a multiple of 1 in tile memory") !=
          std::string::npos);
    CHECK(placing({at("x", 16, 0)}).find("in tile memory") != std::string::npos);
    const auto end = static_cast<Address>(kMemory.end());
    CHECK(placing({at("x", 16, end - 16)}) == "placed");
    CHECK(placing({at("x", 17, end - 16)}) == "no place");
    CHECK(placing({at("x", 16, end)}) == "no place");
    auto aligned = at("x", 16, kBegin + 8);
    aligned.alignment = 8;
    CHECK(placing({aligned}) == "placed");
    aligned.alignment = 16;
    CHECK(placing({aligned}).find("multiple of 16") != std::string::npos);
    // beside another, and into it by a byte from either side
    CHECK(placing({at("a", 16, kBegin + 16), at("b", 16, kBegin)}) == "placed");
    CHECK(placing({at("a", 16, kBegin + 16), at("b", 16, kBegin + 32)}) == "placed");
    CHECK(placing({at("a", 16, kBegin + 16), at("b", 17, kBegin)}).find("meets 'a'") !=
          std::string::npos);
    CHECK(placing({at("a", 17, kBegin + 16), at("b", 16, kBegin + 32)}).find("meets 'a'") !=
          std::string::npos);
    // a byte meets what it stands in
    CHECK(placing({at("a", 1, kBegin), at("b", 16, kBegin)}).find("meets 'a'") !=
          std::string::npos);
    CHECK(placing({at("a", 16, kBegin), at("b", 1, kBegin + 15)}).find("meets 'a'") !=
          std::string::npos);
    CHECK(placing({at("a", 16, kBegin), at("b", 1, kBegin + 16)}) == "placed");
    // what is empty meets nothing
    CHECK(placing({at("a", 0, kBegin), at("b", 16, kBegin)}) == "placed");
    CHECK(placing({at("a", 16, kBegin), at("b", 0, kBegin)}) == "placed");
    CHECK(placing({at("a", 16, kBegin), at("b", 0, kBegin + 8)}) == "placed");
}

TEST_CASE("what keeps apart does so whichever says it", "[unit][vertex]") {
    const auto element = [](const vertex::Placed& placed) {
        return vertex::element_of(kMemory, placed.address);
    };
    const auto saying = [](vertex::PlacementRequest request, std::size_t not_with) {
        request.not_with = {not_with};
        return request;
    };
    const auto says = block("says", 8);
    const auto other = block("other", 8);
    for (const auto& order :
         {std::vector{saying(says, 1), other}, std::vector{other, saying(says, 0)}}) {
        const auto placed = place(kMemory, order);
        CHECK(element(placed[0]) != element(placed[1]));
    }
    // also where both have addresses
    const auto first = at("says", 8, kBegin);
    const auto near = at("other", 8, kBegin + 8);
    const auto far = at("other", 8, static_cast<Address>(kBegin + kElement));
    CHECK(placing({saying(first, 1), near}).find("or its memory element") != std::string::npos);
    CHECK(placing({near, saying(first, 0)}).find("or its memory element") != std::string::npos);
    CHECK(placing({saying(first, 1), far}) == "placed");
    CHECK(placing({far, saying(first, 0)}) == "placed");
    // others may lie between them
    CHECK(placing({saying(first, 2), at("third", 8, kBegin + 8), far}) == "placed");
    // names are for messages: one that is called alike is another one
    CHECK(placing({saying(first, 2), at("other", 8, kBegin + 8), far}) == "placed");
    auto own = at("own", 8, kBegin);
    own.own_element = true;
    CHECK(placing({own, near}).find("or its memory element") != std::string::npos);
    CHECK(placing({near, own}).find("or its memory element") != std::string::npos);
    CHECK(placing({own, far}) == "placed");
    // the last byte of one and the first of the other, in the element before and behind
    auto last = at("own", 16, static_cast<Address>(kBegin + kElement - 16));
    last.own_element = true;
    CHECK(placing({last, far}) == "placed");
    last.bytes = 17;
    CHECK(placing({last, at("other", 8, static_cast<Address>(kBegin + kElement + 64))})
              .find("or its memory element") != std::string::npos);
}

TEST_CASE("elements and regions end where they end", "[unit][vertex]") {
    auto numbered = block("x", kElement);
    numbered.element = 3;
    CHECK(place(kMemory, {numbered})[0].address == kBegin + 3 * kElement);
    numbered.bytes = kElement + 1;
    CHECK(placing({numbered}) == "no place");
    const Bytes elements_of_region0 = kMemory.region0_bytes / kElement;
    auto paired = block("x", 2 * kElement); // of region 1
    paired.element = elements_of_region0;
    CHECK(place(kMemory, {paired})[0].address == kMemory.region1_begin());
    paired.bytes = 2 * kElement + 1;
    CHECK(placing({paired}) == "no place");
    for (const auto& [region, bytes] : {std::pair{Region::Executable, kMemory.region0_bytes},
                                        std::pair{Region::Interleaved, kMemory.region1_bytes}}) {
        auto whole = block("x", bytes);
        whole.region = region;
        CHECK(placing({whole}) == "placed");
        whole.bytes = bytes + 1;
        CHECK(placing({whole}) == "no place");
    }
    CHECK(placing({block("x", kMemory.bytes())}) == "placed"); // more than either region
    CHECK(placing({block("x", kMemory.bytes() + 1)}) == "no place");
    // at the border: in front of it, or behind
    const auto front = place(kMemory, {block("a", kMemory.region0_bytes - 8), block("b", 8)});
    CHECK(front[1].address == kMemory.region1_begin() - 8);
    const auto behind = place(kMemory, {block("a", kMemory.region0_bytes - 8), block("b", 9)});
    CHECK(behind[1].address == kMemory.region1_begin());
    const auto all = place(kMemory, {block("a", 8), block("b", kMemory.region1_bytes)});
    CHECK(all[1].address == kMemory.region1_begin());
    CHECK(vertex::element_of(kMemory, static_cast<Address>(kMemory.region1_begin())) ==
          elements_of_region0);
    CHECK(vertex::element_of(kMemory, static_cast<Address>(kMemory.region1_begin() - 1)) ==
          elements_of_region0 - 1);
    CHECK(vertex::element_of(kMemory, static_cast<Address>(kMemory.region1_begin() + 2 * kElement -
                                                           1)) == elements_of_region0);
    CHECK(
        vertex::element_of(kMemory, static_cast<Address>(kMemory.region1_begin() + 2 * kElement)) ==
        elements_of_region0 + 2);
}

TEST_CASE("what setzi names lies below its reach, what it does not name also above",
          "[unit][vertex]") {
    spec::MemorySpec large = kMemory; // it ends above what setzi can load
    large.region1_bytes = spec::kCodeReach - large.region1_begin() + 4 * kElement;
    REQUIRE(large.end() == spec::kCodeReach + 4 * kElement);
    const auto begin_of = [&](bool by_setzi, Bytes bytes) {
        auto one = block("x", bytes);
        one.by_setzi = by_setzi;
        const auto below = at("below", spec::kCodeReach - large.region1_begin() - 64,
                              static_cast<Address>(large.region1_begin()));
        const auto region0 = at("region 0", large.region0_bytes, kBegin);
        return static_cast<Bytes>(place(large, {region0, below, one})[2].address);
    };
    CHECK(begin_of(true, 64) == spec::kCodeReach - 64);
    CHECK_THROWS_AS(begin_of(true, 65), DoesNotFit);
    CHECK(begin_of(false, 65) == spec::kCodeReach - 64);
    CHECK(begin_of(false, 4 * kElement) == spec::kCodeReach - 64);
    // it is placed first there, before what stands in the file before it and may lie anywhere
    auto named = block("named", 8);
    named.by_setzi = true;
    CHECK(place(large, {block("a", 8), named})[1].address == kBegin);
    CHECK(place(kMemory, {block("a", 8), named})[0].address == kBegin);
}

TEST_CASE("what may stand in fewer places is placed before what may stand in more",
          "[unit][vertex]") {
    spec::MemorySpec large = kMemory; // it ends above what setzi can load
    large.region1_bytes = spec::kCodeReach - large.region1_begin() + 4 * kElement;
    std::vector<vertex::PlacementRequest> all{block("plain", 8), block("apart", 8), block("own", 8),
                                              block("numbered", 8), block("named", 8)};
    all[1].not_with = {0};
    all[2].own_element = true;
    all[3].element = 0;
    all[4].by_setzi = true;
    const auto addresses = [&](const spec::MemorySpec& memory) {
        std::vector<Bytes> behind; // the begin of memory
        for (const auto& placed : place(memory, all)) {
            behind.push_back(static_cast<Bytes>(placed.address) - kBegin);
        }
        return behind;
    };
    const Bytes own = kElement;
    const Bytes next = 2 * kElement; // of neither the own nor the apart
    CHECK(addresses(large) == std::vector<Bytes>{next, 16, own, 8, 0});
    // where setzi names all of memory, it makes no difference
    spec::MemorySpec reached = kMemory;
    reached.region1_bytes = spec::kCodeReach - reached.region1_begin();
    REQUIRE(reached.end() == spec::kCodeReach);
    for (const spec::MemorySpec& memory : {kMemory, reached}) {
        CHECK(addresses(memory) == std::vector<Bytes>{next, 8, own, 0, 16});
    }
}

TEST_CASE("the largest residual of a fit may be below it", "[unit][vertex]") {
    const auto residual = [](const std::vector<double>& measured) {
        return vertex::fit("a", {point(1), point(2), point(3), point(4)}, measured)
            .largest_residual;
    };
    CHECK(residual({10, 10, 10, 14}) == Approx(3)); // one above
    CHECK(residual({14, 14, 14, 10}) == Approx(3)); // one below
    CHECK(residual({14, 10, 14, 14}) == Approx(3));
    const auto fit = vertex::fit("a + 5", {point(1), point(2)}, {10, 14});
    CHECK(fit.coefficients.front().second == Approx(7));
    CHECK(fit.fitted.front() == Approx(12));
    CHECK(fit.fitted.back() == Approx(12));
    // as many points as unknowns are enough
    CHECK(vertex::fit("a + b*rows", {point(1), point(3)}, {10, 14}).largest_residual < 1e-9);
    CHECK_THROWS_AS(vertex::fit("a + b*rows", {point(1)}, {10}), vertex::FitError);
}

TEST_CASE("a linear formula of large values is linear, and one of small values may not be",
          "[unit][vertex]") {
    // what rounding leaves grows with the values
    for (const char* factor : {"1e9/3", "1e12/7", "1e15/11"}) {
        CAPTURE(factor);
        const std::string formula = std::string("a*") + factor + " + b*rows*" + factor;
        CHECK_NOTHROW(vertex::check_formula(formula, {point(1), point(3), point(7)}));
    }
    CHECK_THROWS_AS(vertex::check_formula("a*b*1e-6", {point(1), point(3)}), vertex::FitError);
    CHECK_THROWS_AS(vertex::check_formula("1e9*a*b", {point(1), point(3)}), vertex::FitError);
}

TEST_CASE("a check takes what the tolerance allows and nothing more", "[unit][vertex]") {
    const auto wrong = [](double got, double expected, const vertex::ToleranceSpec& tolerance) {
        Bench bench;
        vertex::BenchArray array;
        array.name = "x";
        array.type = vertex::find_value_type("f32");
        array.shape = {1};
        array.expected = {expected};
        bench.arrays.push_back(array);
        vertex::PointResult result;
        result.arrays.emplace_back();
        CHECK(vertex::append_element(*array.type, got, result.arrays.back()).empty());
        return vertex::check_arrays(bench, result, tolerance).front().wrong;
    };
    const double nan = std::nan("");
    const double inf = std::numeric_limits<double>::infinity();
    CHECK(wrong(8, 8, {}) == 0);
    CHECK(wrong(8, 9, {}) == 1);
    CHECK(wrong(8, 10, {2, 0}) == 0);
    CHECK(wrong(12, 10, {2, 0}) == 0);
    CHECK(wrong(8, 10.5, {2, 0}) == 1);
    CHECK(wrong(13, 10, {2, 0}) == 1);
    CHECK(wrong(8, 16, {0, 0.5}) == 0);
    CHECK(wrong(7.5, 16, {0, 0.5}) == 1);
    CHECK(wrong(-8, -16, {0, 0.5}) == 0);
    CHECK(wrong(5, 16, {3, 0.5}) == 0);
    CHECK(wrong(4.5, 16, {3, 0.5}) == 1);
    CHECK(wrong(nan, nan, {}) == 0);
    CHECK(wrong(nan, 1, {100, 0}) == 1);
    CHECK(wrong(1, nan, {100, 0}) == 1);
    CHECK(wrong(inf, inf, {}) == 0);
    CHECK(wrong(inf, 1, {100, 0}) == 1);
}

TEST_CASE("the first ten wrong elements are listed and all counted", "[unit][vertex]") {
    for (const int elements : {9, 10, 11, 30}) {
        Bench bench;
        vertex::BenchArray array;
        array.type = vertex::find_value_type("u8");
        array.shape = {elements};
        array.expected = std::vector<double>(static_cast<std::size_t>(elements), 1);
        bench.arrays.push_back(array);
        vertex::PointResult result;
        result.arrays.emplace_back(static_cast<std::size_t>(elements));
        const auto check = vertex::check_arrays(bench, result, {}).front();
        CHECK(check.elements == elements);
        CHECK(check.wrong == elements);
        CHECK(check.first.size() == static_cast<std::size_t>(std::min(elements, 10)));
        CHECK(check.first.back().index == std::min(elements, 10) - 1);
    }
}

TEST_CASE("spans and packed pointers take their last value", "[unit][vertex]") {
    const VertexFolder folder;
    const auto refusal = [&](const std::string& field) {
        return folder.bench_refusal(
            R"("arrays": {"x": {"type": "u8", "length": 5000, "region": "interleaved"}}, "state": [)" +
            field + "]");
    };
    const auto starts = [](const std::string& text, const std::string& start) {
        return text.rfind(start, 0) == 0;
    };
    CHECK(refusal(R"({"pointer": "x", "packing": "short_span", "length": 4095})") == "accepted");
    CHECK(starts(refusal(R"({"pointer": "x", "packing": "short_span", "length": 4096})"),
                 "/state/0/length: got 4096, expected a whole number of 0..4095"));
    CHECK(refusal(R"({"pointer": "x", "packing": "span", "length": 5000})") == "accepted");
    CHECK(starts(refusal(R"({"pointer": "x", "packing": "span", "length": 5001})"),
                 "/state/0/length: got 5001, expected a whole number of 0..5000"));
    CHECK(refusal(R"({"delta_n": [{"array": "x", "length": 4095}]})") == "accepted");
    CHECK(starts(refusal(R"({"delta_n": [{"array": "x", "length": 4096}]})"),
                 "/state/0/delta_n/0/length: got 4096"));
    // 16 bits of (address - base) >> shift
    const std::string from = R"({"pointer": "x", "packing": "scaled16", "shift": 0, "base": )";
    const auto x = static_cast<std::int64_t>(kMemory.region1_begin());
    CHECK(refusal(from + std::to_string(x - 0xffff) + "}") == "accepted");
    CHECK(starts(refusal(from + std::to_string(x - 0x10000) + "}"), "/state/0: got address"));
    CHECK(refusal(from + std::to_string(x) + "}") == "accepted");
    CHECK(starts(refusal(from + std::to_string(x + 1) + "}"), "/state/0: got address"));
    CHECK(refusal(R"({"pointer": "x", "packing": "scaled16", "shift": 16, "base": 0})") ==
          "accepted");
    CHECK(refusal(R"({"pointer": "x", "packing": "scaled16", "shift": 17})")
              .find("/state/0/shift: got 17") != std::string::npos);
    // words as registers hold them
    CHECK(refusal(R"({"word": -2147483648})") == "accepted");
    CHECK(refusal(R"({"word": 4294967295})") == "accepted");
    CHECK(starts(refusal(R"({"word": 4294967296})"), "/state/0/word: got"));
    CHECK(starts(refusal(R"({"u32": -1})"), "/state/0/u32: got -1"));
    CHECK(refusal(R"({"align": 32768})") == "accepted");
    CHECK(starts(refusal(R"({"align": 32769})"), "/state/0/align: got 32769"));
}

TEST_CASE("every type of npy gives its numbers", "[unit][vertex]") {
    const VertexFolder folder;
    const auto read = [&](const std::string& descr, const auto& value) {
        std::string bytes(sizeof(value), '\0');
        std::memcpy(bytes.data(), &value, sizeof(value));
        folder.write("v.npy", workload::npy_bytes(descr, {1}, bytes));
        const auto numbers = vertex::read_numbers(folder.path("v.npy"));
        CHECK(numbers.shape == vertex::ArrayShape{1});
        return numbers.values.front();
    };
    CHECK(read("<f2", std::uint16_t{0xc100}) == -2.5);
    CHECK(read("<f4", -2.5F) == -2.5);
    CHECK(read("<f8", -2.5) == -2.5);
    CHECK(read("|i1", std::int8_t{-3}) == -3);
    CHECK(read("|u1", std::uint8_t{253}) == 253);
    CHECK(read("<i2", std::int16_t{-300}) == -300);
    CHECK(read("<u2", std::uint16_t{65000}) == 65000);
    CHECK(read("<i4", std::int32_t{-70000}) == -70000);
    CHECK(read("<u4", std::uint32_t{4000000000U}) == 4000000000.0);
    CHECK(read("<i8", std::int64_t{-5000000000LL}) == -5000000000.0);
    CHECK(read("<u8", std::uint64_t{5000000000ULL}) == 5000000000.0);
}

TEST_CASE("values are made up to the last element and no further", "[unit][vertex]") {
    // Those that fit into a type to its last value: one more would be refused.
    const VertexFolder folder;
    constexpr int kValues = 256; // that a u8 has
    for (const auto& [values, first] : std::vector<std::pair<std::string, int>>{
             {R"({"generator": "arange", "start": 0, "step": 1})", 0},
             {R"({"generator": "arange", "start": 255, "step": -1})", 255},
             {R"({"generator": "permutation"})", -1},
             {R"({"each": "i"})", 0},
             {R"({"each": "255 - i0"})", 255}}) {
        for (const int length : {kValues - 1, kValues, kValues + 1}) {
            CAPTURE(values, length);
            const std::string inner =
                fmt::format(R"("arrays": {{"x": {{"type": "u8", "length": {}, "values": {}}}}})",
                            length, values);
            const std::string refused = folder.bench_refusal(inner);
            CHECK((refused == "accepted") == (length <= kValues));
            // of all mistakes one is told
            CHECK(std::count(refused.begin(), refused.end(), '\n') == 0);
            if (length <= kValues) {
                const auto made = test::initial_of(folder.bench(inner), "x");
                CHECK(made.size() == static_cast<std::size_t>(length));
                CHECK((first < 0 || made.front() == first));
            }
        }
    }
}

TEST_CASE("an expression ends where its text does", "[unit][vertex]") {
    const auto shown = [](std::string_view text) -> std::string {
        try {
            return fmt::format("{}",
                               expression::evaluate(text, {{{"n", 12}}, {}, {{"x", {3, 1, 4}}}}));
        } catch (const expression::Error& error) {
            return fmt::format("{}: {}", error.column(), error.what());
        }
    };
    for (const std::string_view text :
         {"12.5e1+0x1f", "n*(n-1)", "at(x,1)<<2>=3", "n?1:2", "min(n,~3)%7", "1<=2==1", "-n/.5"}) {
        for (std::size_t begin = 0; begin <= text.size(); ++begin) {
            for (std::size_t length = 0; begin + length <= text.size(); ++length) {
                const std::string_view part = text.substr(begin, length);
                CAPTURE(part);
                CHECK(shown(part) == shown(std::string(part)));
            }
        }
    }
}

TEST_CASE("generators reach both ends and stay inside", "[unit][vertex]") {
    const VertexFolder folder;
    const auto values = [&](const std::string& inner, int length = 300) {
        return test::initial_of(folder.bench(R"("arrays": {"x": {"type": "i16", "length": )" +
                                             std::to_string(length) + R"(, "values": )" + inner +
                                             "}}"),
                                "x");
    };
    const auto dice = values(R"({"generator": "integers", "low": -3, "high": -1})");
    CHECK(*std::min_element(dice.begin(), dice.end()) == -3);
    CHECK(*std::max_element(dice.begin(), dice.end()) == -1);
    CHECK(values(R"({"generator": "integers", "low": 4, "high": 4})", 2) ==
          std::vector<double>{4, 4});
    CHECK(values(R"({"generator": "arange", "start": 5, "step": -2})", 3) ==
          std::vector<double>{5, 3, 1});
    CHECK(values(R"({"generator": "permutation", "start": 7})", 1) == std::vector<double>{7});
    CHECK(dice == values(R"({"generator": "integers", "low": -3, "high": -1, "seed": 1})"));
    CHECK(dice != values(R"({"generator": "integers", "low": -3, "high": -1, "seed": 2})"));
    const auto refusal = [&](const std::string& inner) {
        return folder.bench_refusal(R"("arrays": {"x": {"length": 3, "values": )" + inner + "}}");
    };
    CHECK(refusal(R"({"generator": "integers", "low": 1, "high": 0})") ==
          "/arrays/x/values/high: got low 1 and high 0, expected whole numbers, low <= high");
    CHECK(refusal(R"({"generator": "integers", "low": 0.5, "high": 1})") ==
          "/arrays/x/values/high: got low 0.5 and high 1, expected whole numbers, low <= high");
    CHECK(refusal(R"({"generator": "uniform", "low": 1, "high": 0.5})") ==
          "/arrays/x/values/high: got low 1 and high 0.5, expected low <= high");
    CHECK(refusal(R"({"generator": "uniform", "low": 0.5, "high": 0.5})") == "accepted");
    CHECK(folder.bench_refusal(R"("arrays": {"x": {"values": [[1, 2], [3]]}})") ==
          "/arrays/x/values: got lists of different lengths; give the array a length");
    const auto cube =
        test::initial_of(folder.bench(R"("arrays": {"x": {"type": "i16", "shape": [2, 3, 4],
                         "values": {"each": "100 * i0 + 10 * i1 + i2 - i"}}})"),
                         "x");
    for (int i = 0; i < 24; ++i) {
        CHECK(cube[static_cast<std::size_t>(i)] == 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4 - i);
    }
}
