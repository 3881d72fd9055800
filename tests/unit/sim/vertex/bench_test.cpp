// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "models/isa/assembler.h"
#include "sim/vertex/bench.h"
#include "sim/vertex/code_text.h"
#include "sim/vertex/placement.h"
#include "tests/unit/sim/vertex/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace tessera;
using test::VertexFolder;
using test::word_of;
using vertex::place;
using vertex::PlacementRequest;
using vertex::Region;

namespace {

const spec::MachineSpec kMachine;
const spec::MemorySpec& kMemory = kMachine.memory;
const Address kElement = static_cast<Address>(kMemory.element_bytes);

PlacementRequest block(const std::string& name, Bytes bytes) {
    PlacementRequest request;
    request.name = name;
    request.bytes = bytes;
    return request;
}

std::int64_t element(const vertex::Placed& placed) {
    return vertex::element_of(kMemory, placed.address);
}

const std::string kTwoArrays =
    R"("arrays": {"x": {"type": "f16", "length": 10, "region": "interleaved"},
                  "y": {"type": "f32", "length": 6, "region": "interleaved"}}, "state": )";

} // namespace

TEST_CASE("what wants its own memory element shares it with nothing", "[unit][vertex]") {
    auto own = block("own", 100);
    own.own_element = true;
    const auto placed = place(kMemory, {block("a", 100), own, block("b", 100)});
    CHECK(element(placed[1]) == 0); // placed first
    CHECK(element(placed[0]) == 1);
    CHECK(placed[2].address == placed[0].address + 100);
    own.region = Region::Interleaved;
    auto other = block("other", 8);
    other.region = Region::Interleaved;
    const auto pairs = place(kMemory, {other, own});
    CHECK(pairs[1].address == kMemory.region1_begin());
    CHECK(pairs[0].address == kMemory.region1_begin() + 2 * kElement);
}

TEST_CASE("regions and elements and addresses are obeyed", "[unit][vertex]") {
    auto fast = block("fast", 8);
    fast.region = Region::Interleaved;
    auto numbered = block("numbered", 8);
    numbered.element = 3;
    auto fixed = block("fixed", 8);
    fixed.address = kMemory.region0_begin() + 64;
    auto apart = block("apart", 8);
    apart.not_with = {2};
    auto aligned = block("aligned", 8);
    aligned.alignment = 128;
    const auto placed = place(kMemory, {fast, numbered, fixed, apart, aligned});
    CHECK(placed[0].address == kMemory.region1_begin());
    CHECK(placed[1].address == kMemory.region0_begin() + 3 * kElement);
    CHECK(placed[2].address == kMemory.region0_begin() + 64);
    CHECK(element(placed[3]) == 1);
    CHECK(placed[4].address == (kMemory.region0_begin() + 127) / 128 * 128);
}

TEST_CASE("fixed addresses are in memory and aligned", "[unit][vertex]") {
    auto fixed = block("fixed", 8);
    fixed.alignment = 8;
    const auto said = [&](Bytes address) -> std::string {
        fixed.address = address;
        try {
            return place(kMemory, {fixed})[0].address == address ? "placed" : "elsewhere";
        } catch (const std::exception& error) {
            return error.what();
        }
    };
    const Bytes begin = kMemory.region0_begin();
    CHECK(said(begin) == "placed");
    CHECK(said(kMemory.end() - 8) == "placed");
    const std::string expected = ", expected a multiple of 8 in tile memory, 0x4c000..0xe7fff";
    CHECK(said(begin - 8) == "got 0x4bff8" + expected);
    CHECK(said(begin + 4) == "got 0x4c004" + expected);
    CHECK(said(kMemory.end()) != "placed");
    fixed.bytes = 16;
    CHECK(said(kMemory.end() - 8) ==
          "'fixed' of 16 bytes at 0xe7ff8: 8 bytes over; memory is empty");
}

TEST_CASE("two that are kept apart are so whichever of them says it", "[unit][vertex]") {
    auto first = block("first", 8);
    auto second = block("second", 8);
    for (const bool first_says : {true, false}) {
        first.not_with.clear();
        second.not_with.clear();
        (first_says ? first : second).not_with = {first_says ? 1U : 0U};
        const auto placed = place(kMemory, {first, second});
        CHECK(element(placed[0]) != element(placed[1]));
        // the one that says so is placed first, the other one meets it
        auto fixed = first_says ? first : second;
        fixed.address = kMemory.region0_begin();
        auto other = first_says ? second : first;
        other.address = kMemory.region0_begin() + 64;
        fixed.not_with = {1};
        CHECK_THROWS_AS(place(kMemory, {fixed, other}), vertex::PlacementError);
        fixed.not_with = {0};
        CHECK_THROWS_AS(place(kMemory, {other, fixed}), vertex::PlacementError);
        other.address = kMemory.region0_begin() + kElement;
        CHECK_NOTHROW(place(kMemory, {other, fixed}));
    }
}

TEST_CASE("nothing lies across the border of the regions", "[unit][vertex]") {
    const auto placed =
        place(kMemory, {block("most", kMemory.region0_bytes - 100), block("next", 200)});
    CHECK(placed[1].address == kMemory.region1_begin());
}

TEST_CASE("what does not fit says by how much", "[unit][vertex]") {
    auto large = block("large", kMemory.region0_bytes + 1);
    large.region = Region::Executable;
    CHECK_THROWS_AS(place(kMemory, {large}), DoesNotFit);
    CHECK_THROWS_WITH(place(kMemory, {large}),
                      "'large' of 212993 bytes in the executable region: 1 bytes over; memory is "
                      "empty");
    std::vector<PlacementRequest> many;
    for (int i = 0; i < 27; ++i) { // one more than there are elements and pairs of elements
        many.push_back(block("own", 8));
        many.back().own_element = true;
    }
    CHECK_THROWS_AS(place(kMemory, many), DoesNotFit);
    auto here = block("here", 8);
    here.address = kMemory.region0_begin();
    CHECK_THROWS_WITH(place(kMemory, {here, here}),
                      "0x4c000 meets 'here' at 0x4c000, or its memory element");
}

TEST_CASE("state fields lie as in a C++ struct", "[unit][vertex]") {
    const VertexFolder folder;
    const auto bench = folder.bench(kTwoArrays + R"([
        {"u8": 7}, {"u16": "2 * 4"}, {"i8": -1}, {"f32": 1.5}, {"f16": [1, 2]}, {"align": 16},
        {"word": -2}, {"bytes": [1, 2, 3, 4]}, {"i32": -3}])");
    CHECK(word_of(bench, "state", 0) == 0x00080007);
    CHECK(word_of(bench, "state", 1) == 0x000000ff);
    CHECK(word_of(bench, "state", 2) == 0x3fc00000);
    CHECK(word_of(bench, "state", 3) == 0x40003c00);
    CHECK(word_of(bench, "state", 4) == 0xfffffffe);
    CHECK(word_of(bench, "state", 5) == 0x04030201);
    CHECK(word_of(bench, "state", 6) == 0xfffffffd);
}

TEST_CASE("pointers are packed in each of the known ways", "[unit][vertex]") {
    const VertexFolder folder;
    const auto bench = folder.bench(kTwoArrays + R"j([
        {"pointer": "x"}, {"pointer": "x", "offset_elements": 2, "offset_bytes": 4},
        {"pointer": "x", "packing": "short_span", "offset_elements": 3},
        {"pointer": "y", "packing": "span", "length": 5},
        {"pointer": "x", "packing": "scaled16"},
        {"pointer": "y", "packing": "scaled16", "shift": 3, "base": 524288},
        {"word": "addr(y) | elements(y) << 20"}, {"u32": "symbol(back)"}])j");
    const Address x = test::array_of(bench, "x").address;
    const Address y = test::array_of(bench, "y").address;
    CHECK(word_of(bench, "state", 0) == x);
    CHECK(word_of(bench, "state", 1) == x + 8);
    CHECK(word_of(bench, "state", 2) == ((x + 6) | 7U << 20));
    CHECK(word_of(bench, "state", 3) == y);
    CHECK(word_of(bench, "state", 4) == 5);
    CHECK(word_of(bench, "state", 5) == (x >> 4 | (y - 0x80000) >> 3 << 16));
    CHECK(word_of(bench, "state", 6) == (y | 6U << 20));
    CHECK(word_of(bench, "state", 7) == bench.codelets.front().symbols.at("back"));
}

TEST_CASE("a state stands in the region and at the alignment that its call asks for",
          "[unit][vertex]") {
    const VertexFolder folder;
    const auto state_at = [&](const std::string& keys) {
        const auto bench = folder.bench(kTwoArrays + R"([{"u32": 1}])" + keys);
        const auto state = std::find_if(bench.memory.begin(), bench.memory.end(),
                                        [](const auto& placed) { return placed.name == "state"; });
        REQUIRE(state != bench.memory.end());
        return state->address;
    };
    CHECK(state_at(R"(, "state_region": "interleaved")") >= kMemory.region1_begin());
    CHECK(state_at("") < kMemory.region1_begin());
    for (const Address alignment : {8U, 256U, 4096U}) {
        CHECK(state_at(R"(, "state_alignment": )" + std::to_string(alignment)) % alignment == 0);
    }
}

TEST_CASE("tables of pointers and of offsets stand behind the state", "[unit][vertex]") {
    const VertexFolder folder;
    const auto bench = folder.bench(
        R"("arrays": {"a": {"type": "f16", "length": 4}, "b": {"type": "f16", "length": 8}},
           "state": [{"pointers": ["b", {"array": "a", "offset_elements": 1}], "list": true,
                      "count": true},
                     {"pointers": ["a"]},
                     {"delta_n": ["a", {"array": "b", "offset_elements": 2, "length": 3}]}])");
    const Address a = test::array_of(bench, "a").address;
    const Address b = test::array_of(bench, "b").address;
    const auto state =
        std::find_if(bench.memory.begin(), bench.memory.end(),
                     [](const vertex::Placed& placed) { return placed.name == "state"; });
    REQUIRE(state != bench.memory.end());
    CHECK(word_of(bench, "state", 0) == state->address + 5 * 4);
    CHECK(word_of(bench, "state", 1) == 2);
    CHECK(word_of(bench, "state", 2) == a);
    CHECK(word_of(bench, "state", 3) == a);
    CHECK(word_of(bench, "state", 4) == state->address + 7 * 4);
    CHECK(word_of(bench, "state", 5) == b);
    CHECK(word_of(bench, "state", 6) == a + 2);
    CHECK(word_of(bench, "state", 7) == 4U << 20);
    CHECK(word_of(bench, "state", 8) == ((b + 4 - a) / 2 | 3U << 20));
}

TEST_CASE("lists of spans, and how many entries lists have", "[unit][vertex]") {
    const VertexFolder folder;
    const std::string arrays =
        R"("arrays": {"a": {"type": "f16", "length": 4}, "b": {"type": "f16", "length": 8}}, )";
    const std::string entries = R"(["b", {"array": "a", "offset_elements": 1, "length": 2}])";
    const auto made = [&](const std::string& keys) {
        return folder.bench(arrays + R"("state": [{"spans": )" + entries + keys + "}]");
    };
    const auto list = made(R"(, "list": true, "count": "u8")");
    const Address a = test::array_of(list, "a").address;
    const Address b = test::array_of(list, "b").address;
    const auto state =
        std::find_if(list.memory.begin(), list.memory.end(),
                     [](const vertex::Placed& placed) { return placed.name == "state"; });
    REQUIRE(state != list.memory.end());
    CHECK(word_of(list, "state", 0) == state->address + 8);
    CHECK(word_of(list, "state", 1) == 2);
    const std::vector<Address> table{b, 8, a + 2, 2};
    for (std::size_t i = 0; i < table.size(); ++i) {
        CHECK(word_of(list, "state", 2 + i) == table[i]);
    }
    const auto in_place = made(R"(, "packing": "short_span", "count": true)");
    CHECK(word_of(in_place, "state", 0) == (b | (8U << 20U)));
    CHECK(word_of(in_place, "state", 1) == ((a + 2) | (2U << 20U)));
    CHECK(word_of(in_place, "state", 2) == 2);
    const auto packed = made(R"(, "list": true, "count": "bits31_24")");
    CHECK(word_of(packed, "state", 0) == ((state->address + 4) | (2U << 24U)));
    const auto deltas = folder.bench(
        arrays + R"("state": [{"delta_n": ["a", "b"], "count": "bits31_24"}, {"u8": 7}])");
    CHECK(word_of(deltas, "state", 0) == (std::min(a, b) | (2U << 24U)));
    CHECK(word_of(deltas, "state", 2) == 7);
    // two counts of 8 bits share a word
    const auto bytes = folder.bench(arrays + R"("state": [
        {"pointers": ["a"], "count": "u8"}, {"u8": 9}, {"u16": 5}])");
    CHECK(word_of(bytes, "state", 1) == (1U | (9U << 8U) | (5U << 16U)));
    CHECK(folder.refusal(arrays + R"("state": [{"pointers": ["a"], "count": "u7"}])") ==
          "/state/0/count: got string \"u7\", expected true, false, u8, u16, u32 or bits31_24");
    CHECK(folder.refusal(arrays + R"("state": [{"pointers": ["a"], "count": "bits31_24"}])") ==
          "/state/0/count: got bits31_24 of a pointer that is not there; it goes with list: true");
    std::string many = "\"a\"";
    for (int i = 0; i < 255; ++i) {
        many += ", \"a\"";
    }
    for (const std::string count : {"u8", "bits31_24"}) {
        CHECK(folder.bench_refusal(arrays + R"("state": [{"pointers": [)" + many +
                                   R"(], "list": true, "count": ")" + count + "\"}]") ==
              "/state/0/count: got 256, expected a whole number of 0..255" +
                  std::string(" entries"));
    }
    CHECK(folder.bench_refusal(arrays + R"("state": [{"spans": [{"array": "a", "length": 5}]}])") ==
          "/state/0/spans/0/length: got 5, expected a whole number of 0..4 elements, what 'a' has "
          "from there");
}

TEST_CASE("padding before an array may be read and pointed to", "[unit][vertex]") {
    const VertexFolder folder;
    const auto file = [](const std::string& array, const std::string& offset) {
        return R"("arrays": {"x": {"length": 2, )" + array +
               R"(}}, "state": [{"pointer": "x", "offset_bytes": )" + offset + "}]";
    };
    const auto padded = R"("padding_before_bytes": 20, "element": "own")";
    const auto bench = folder.bench(file(padded, "-20"));
    const Address x = test::array_of(bench, "x").address;
    CHECK(x % 16 == 0);
    CHECK(word_of(bench, "state", 0) == x - 20);
    const auto block =
        std::find_if(bench.memory.begin(), bench.memory.end(),
                     [](const vertex::Placed& placed) { return placed.name == "x"; });
    REQUIRE(block != bench.memory.end());
    CHECK(block->address == x - 32); // of its alignment
    CHECK(block->bytes == 32 + 8 + 32);
    CHECK(folder.bench_refusal(file(padded, "-33")) ==
          "/state/0: got an offset of -33 B, expected one inside 'x' of 8 B and 32 B of padding, "
          "32 B of it before");
    const auto fixed = folder.bench(file(R"("padding_before_bytes": 16, "address": 335872)", "0"));
    CHECK(test::array_of(fixed, "x").address == 335872);
}

TEST_CASE("words that synchronise are parts of arrays", "[unit][vertex]") {
    const VertexFolder folder;
    const std::string arrays = R"("arrays": {"x": {"type": "u16", "length": 8}}, )";
    const auto bench = folder.bench(
        arrays + R"("synchronises": ["x", {"array": "x", "offset_elements": 2, "length": 4},
                                     {"array": "x", "offset_elements": 6}])");
    const Address x = test::array_of(bench, "x").address;
    CHECK(bench.synchronising ==
          std::vector<std::pair<Address, Bytes>>{{x, 16}, {x + 4, 8}, {x + 12, 4}});
    CHECK(folder.refusal(arrays + R"("synchronises": ["y"])") ==
          "/synchronises/0: unknown array 'y'");
    CHECK(folder.refusal(arrays + R"("synchronises": [{"array": "x", "lenght": 1}])") ==
          "/synchronises/0/lenght: unknown key; did you mean 'length'?");
    CHECK(folder.bench_refusal(arrays + R"("synchronises": [{"array": "x", "length": 9}])") ==
          "/synchronises/0/length: got 9, expected a whole number of 0..8 elements");
}

TEST_CASE("a memory element is named by its number, and there are as many as memory has",
          "[unit][vertex]") {
    const VertexFolder folder;
    const std::int64_t elements = kMemory.bytes() / kMemory.element_bytes;
    const auto array = [](std::int64_t number) {
        return R"("arrays": {"x": {"type": "u8", "length": 8, "element": )" +
               std::to_string(number) + "}}";
    };
    for (const std::int64_t number : {std::int64_t{3}, elements - 2}) { // the last of pairs
        const auto bench = folder.bench(array(number));
        CHECK(vertex::element_of(kMemory, test::array_of(bench, "x").address) == number);
    }
    for (const std::int64_t number : {std::int64_t{-1}, elements}) {
        CHECK(folder.bench_refusal(array(number)) ==
              "/arrays/x/element: got " + std::to_string(number) +
                  ", expected a whole number of 0.." + std::to_string(elements - 1));
    }
}

TEST_CASE("pointers that do not fit their packing are refused", "[unit][vertex]") {
    const VertexFolder folder;
    CHECK(
        folder.bench_refusal(kTwoArrays +
                             R"([{"pointer": "x", "packing": "scaled16", "offset_bytes": 2}])") ==
        "/state/0: got address 0x80002 from base 0x0, expected a multiple of 16 B above it, of 16 "
        "bits");
    CHECK(folder.bench_refusal(kTwoArrays +
                               R"([{"pointer": "x", "packing": "short_span", "length": 4096}])") ==
          "/state/0/length: got 4096, expected a whole number of 0..10 elements, what 'x' has from "
          "there");
    CHECK(folder.bench_refusal(
              R"("arrays": {"x": {"type": "u8", "length": 5000}},
                 "state": [{"pointer": "x", "packing": "short_span"}])") ==
          "/state/0/length: got 5000, expected a whole number of 0..4095 elements");
    CHECK(folder
              .bench_refusal(kTwoArrays + R"([{"delta_n": ["y"], "base_array": "x",
                                                 "element_bytes": 16},
                                                {"delta_n": ["x"], "base_array": "y"}])")
              .find("/state/1/delta_n/0: got address 0x80000 from base") != std::string::npos);
}

TEST_CASE("pointers and spans stay inside their arrays", "[unit][vertex]") {
    const VertexFolder folder;
    const auto refusal = [&](const std::string& field) {
        return folder.bench_refusal(kTwoArrays + "[" + field + "]");
    };
    const std::string inside = ", expected one inside 'y' of 24 B and 32 B of padding";
    // The end of the array and its padding may be pointed to.
    CHECK(refusal(R"({"pointer": "y", "offset_elements": 6})") == "accepted");
    CHECK(refusal(R"({"pointer": "y", "offset_bytes": 56})") == "accepted");
    CHECK(refusal(R"({"pointer": "y", "offset_elements": -2, "offset_bytes": 8})") == "accepted");
    CHECK(refusal(R"({"pointer": "y", "offset_bytes": 57})") ==
          "/state/0: got an offset of 57 B" + inside);
    CHECK(refusal(R"({"pointer": "y", "offset_bytes": 57, "packing": "scaled16"})") ==
          "/state/0: got an offset of 57 B" + inside);
    CHECK(refusal(R"({"pointer": "y", "offset_elements": -1})") ==
          "/state/0: got an offset of -4 B" + inside);
    CHECK(refusal(R"({"pointers": ["x", {"array": "y", "offset_elements": 15}], "list": true})") ==
          "/state/0/pointers/1: got an offset of 60 B" + inside);
    CHECK(refusal(R"({"delta_n": [{"array": "y", "offset_elements": 15}]})") ==
          "/state/0/delta_n/0: got an offset of 60 B" + inside);
    // What is left of six elements behind the second.
    const std::string left =
        "length: got 5, expected a whole number of 0..4 elements, what 'y' has from there";
    for (const std::string packing : {"span", "short_span"}) {
        INFO(packing);
        const auto span = [&](const std::string& length) {
            return refusal(R"({"pointer": "y", "offset_elements": 2, "packing": ")" + packing +
                           R"(", "length": )" + length + "}");
        };
        CHECK(span("4") == "accepted");
        CHECK(span("5") == "/state/0/" + left);
    }
    const std::string item = R"({"array": "y", "offset_elements": 2, "length": )";
    CHECK(refusal(R"({"delta_n": [)" + item + "4}]}") == "accepted");
    CHECK(refusal(R"({"delta_n": [)" + item + "5}]}") == "/state/0/delta_n/0/" + left);
    // Behind the array nothing is left.
    CHECK(refusal(R"({"pointer": "y", "offset_elements": 7, "packing": "span", "length": 1})")
              .find("0..0 elements") != std::string::npos);
    CHECK(refusal(R"({"word": "addr(y) + 4000"})") == "accepted");
}

TEST_CASE("values come from lists and formulas and generators", "[unit][vertex]") {
    const VertexFolder folder;
    const auto bench = folder.bench(
        R"j("parameters": {"n": 6}, "arrays": {
             "fill": {"type": "i16", "length": 3, "values": "-n"},
             "list": {"type": "f16", "values": [[1, "n / 4"], [2.5, -1]]},
             "each": {"type": "i32", "shape": [2, 3], "values": {"each": "10 * i0 + i1 + at(fill, 0)"}},
             "up": {"type": "u8", "length": 4, "values": {"generator": "arange", "start": 3, "step": 2}},
             "mixed": {"type": "u16", "length": 50, "values": {"generator": "permutation", "seed": 4}},
             "dice": {"type": "i8", "length": 200, "values": {"generator": "integers", "low": -1, "high": 1}},
             "other": {"type": "i8", "length": 200, "values": {"generator": "integers", "low": -1, "high": 1}},
             "unit": {"length": 200, "values": {"generator": "uniform", "low": 2, "high": 3}},
             "bell": {"length": 2000, "values": {"generator": "normal", "mean": 5, "deviation": 2}},
             "table": {"type": "u32", "values": ["addr(fill)", "bytes(list)"]}})j");
    using test::initial_of;
    using Values = std::vector<double>;
    CHECK(initial_of(bench, "fill") == Values{-6, -6, -6});
    CHECK(initial_of(bench, "list") == Values{1, 1.5, 2.5, -1});
    CHECK(test::array_of(bench, "list").shape == vertex::ArrayShape{2, 2});
    CHECK(initial_of(bench, "each") == Values{-6, -5, -4, 4, 5, 6});
    CHECK(initial_of(bench, "up") == Values{3, 5, 7, 9});
    auto mixed = initial_of(bench, "mixed");
    CHECK_FALSE(std::is_sorted(mixed.begin(), mixed.end()));
    std::sort(mixed.begin(), mixed.end());
    for (std::size_t i = 0; i < mixed.size(); ++i) {
        CHECK(mixed[i] == static_cast<double>(i));
    }
    const auto dice = initial_of(bench, "dice");
    for (const double face : {-1, 0, 1}) {
        CHECK(std::count(dice.begin(), dice.end(), face) > 40);
    }
    CHECK(dice != initial_of(bench, "other"));
    const auto unit = initial_of(bench, "unit");
    CHECK(*std::min_element(unit.begin(), unit.end()) >= 2);
    CHECK(*std::max_element(unit.begin(), unit.end()) <= 3);
    double sum = 0;
    for (const double value : initial_of(bench, "bell")) {
        sum += value;
    }
    CHECK(sum / 2000 == Approx(5).margin(0.2));
    CHECK(initial_of(bench, "table") ==
          Values{static_cast<double>(test::array_of(bench, "fill").address), 8});
}

TEST_CASE("files give values and shapes", "[unit][vertex]") {
    const VertexFolder folder;
    folder.write("raw.bin", std::string("\x01\x02\x03\x04", 4));
    const auto bench =
        folder.bench(R"("arrays": {"raw": {"type": "u16", "values": {"file": "raw.bin"}}})");
    CHECK(test::initial_of(bench, "raw") == std::vector<double>{0x0201, 0x0403});
    CHECK(
        folder
            .bench_refusal(
                R"("arrays": {"raw": {"type": "u16", "length": 3, "values": {"file": "raw.bin"}}})")
            .find("got 4 bytes, expected 6") != std::string::npos);
    CHECK_THROWS_AS(folder.bench(R"("arrays": {"x": {"values": {"file": "none.npy"}}})"), IoError);
}

TEST_CASE("element types keep what they can hold", "[unit][vertex]") {
    for (const auto& type : vertex::value_types()) {
        INFO(type.name);
        std::vector<std::byte> bytes;
        CHECK(vertex::append_element(type, 96, bytes).empty());
        CHECK(static_cast<Bytes>(bytes.size()) == type.bytes());
        CHECK(vertex::element_value(type, bytes.data()) == 96);
        CHECK_FALSE(vertex::append_element(type, 1e39, bytes).empty());
    }
    std::vector<std::byte> bytes;
    const auto& half = *vertex::find_value_type("f16");
    // One rounding: by way of binary32 this would become 1.
    CHECK(vertex::append_element(half, 1 + 0x1p-11 + 0x1p-40, bytes).empty());
    CHECK(vertex::element_value(half, bytes.data()) == 1 + 0x1p-10);
    CHECK(vertex::find_value_type("f64") == nullptr);
}

TEST_CASE("every instruction of sources and stubs has a text, and nothing behind them",
          "[unit][vertex]") {
    const VertexFolder folder;
    const auto bench = folder.bench(R"("arrays": {})");
    const auto& code = bench.codelets.front();
    for (const auto& line : isa::disassemble(code.words, code.address)) {
        CAPTURE(line.address);
        CHECK(vertex::instruction_text(bench, line.address) == line.text);
    }
    REQUIRE(bench.phases.size() == 1);
    for (Address at = bench.phases[0].stub; at < bench.phases[0].stub_end; at += 4) {
        CHECK_FALSE(vertex::instruction_text(bench, at).empty());
    }
    Address end = 0;
    for (const auto& segment : bench.image.segments) {
        if (segment.kind == program::SegmentKind::Code) {
            const auto its_end = segment.address + static_cast<Address>(segment.data->size());
            CHECK_FALSE(vertex::instruction_text(bench, its_end - 4).empty());
            end = std::max(end, its_end);
        }
    }
    CHECK(vertex::instruction_text(bench, end).empty());
    // what stands before and behind the sources' words is of the stub
    const auto code_end = code.address + static_cast<Address>(4 * code.words.size());
    CHECK(vertex::source_line(bench, code.address - 4) == "stub");
    CHECK(vertex::source_line(bench, code.address) == "code.S:4");
    CHECK(vertex::source_line(bench, code_end - 4) == "code.S:8");
    CHECK(vertex::source_line(bench, code_end) == "stub");
    // a bundle may be the last of all
    folder.write("code.S", ".worker\n.globl stop\n.align 8\nstop:\nexitz $mzero\nnop\n"
                           "{ add $m0, $m0, 1 ; f32add $a0, $a0, $a1 }\n");
    const auto ends = folder.bench(R"("arrays": {})");
    const auto last = ends.codelets.front().address + 8;
    REQUIRE(ends.codelets.front().words.size() == 4);
    CHECK(vertex::words_at(ends, last).size() == 2);
    CHECK(vertex::instruction_text(ends, last) == "{ add $m0, $m0, 1 ; f32add $a0, $a0, $a1 }");
}

TEST_CASE("code begins at a multiple of 32 bytes, which its own alignments may count on",
          "[unit][vertex]") {
    const VertexFolder folder;
    const auto at = [&](Bytes address) {
        return folder.bench_refusal(fmt::format(R"("code": {{"address": {}}})", address));
    };
    const Bytes place = kMemory.code_begin() + 4096;
    const std::string expected =
        fmt::format("expected a multiple of 32 in tile memory, {:#x}..{:#x}", kMemory.code_begin(),
                    kMemory.end() - 1);
    CHECK(at(place) == "accepted");
    CHECK(at(place + 32) == "accepted");
    CHECK(at(place + 16) == fmt::format("/code/address: got {:#x}, {}", place + 16, expected));
    CHECK(at(kMemory.code_begin() - 32) ==
          fmt::format("/code/address: got {:#x}, {}", kMemory.code_begin() - 32, expected));
}

TEST_CASE("what is to be kept apart is placed before what is not", "[unit][vertex]") {
    auto says = block("says", 8);
    says.not_with = {0};
    auto own = block("own", 8);
    own.own_element = true;
    auto numbered = block("numbered", 8);
    numbered.element = 2;
    const auto placed = place(kMemory, {block("plain", 8), says, own, numbered});
    CHECK(element(placed[3]) == 2);
    CHECK(element(placed[2]) == 0);
    CHECK(element(placed[1]) == 1);
    CHECK(placed[0].address == placed[3].address + 8); // in the first element that it may share
}

TEST_CASE("an array may have as many bytes as a tile's address space, if memory had them",
          "[unit][vertex]") {
    const VertexFolder folder;
    const auto refusal = [&](std::int64_t elements) -> std::string {
        try {
            static_cast<void>(folder.bench(
                fmt::format(R"("arrays": {{"x": {{"type": "f32", "length": {}}}}})", elements)));
        } catch (const DoesNotFit& error) {
            return error.what();
        }
        return "accepted";
    };
    constexpr std::int64_t kMost = (1 << 21) / 4;
    CHECK(refusal(kMost).find("bytes over; there are code") != std::string::npos);
    CHECK(refusal(kMost + 1) == fmt::format("'x' of {} bytes", 4 * (kMost + 1)));
}

TEST_CASE("memory lists what has bytes, by address", "[unit][vertex]") {
    const VertexFolder folder;
    for (const std::string state : {"[]", R"([{"word": 1}])"}) {
        const auto bench = folder.bench(kTwoArrays + state);
        std::int64_t end = 0;
        for (const auto& item : bench.memory) {
            CAPTURE(state, item.name);
            CHECK(item.bytes > 0);
            CHECK(static_cast<std::int64_t>(item.address) >= end);
            end = static_cast<std::int64_t>(item.address) + item.bytes;
        }
    }
}

TEST_CASE("an array may be called as what the bench itself lays out", "[unit][vertex]") {
    const VertexFolder folder;
    const auto places = [&](const std::string& name) {
        const auto bench = folder.bench(fmt::format(
            R"("arrays": {{"first": {{"type": "f32", "length": 4, "element": {{"not_with": ["{0}"]}}}},
                           "{0}": {{"type": "f32", "length": 4}}}}, "state": [{{"pointer": "{0}"}}])",
            name));
        std::vector<Address> addresses;
        for (const auto& array : bench.arrays) {
            addresses.push_back(array.address);
        }
        for (const auto& segment : bench.image.segments) {
            addresses.push_back(segment.address);
        }
        return addresses;
    };
    const auto refusal = [&](const std::string& name) {
        return VertexFolder::mistakes([&] {
            static_cast<void>(folder.bench(fmt::format(
                R"("arrays": {{"{}": {{"type": "f32", "length": 4, "address": 3}}}})", name)));
        });
    };
    std::vector<std::string> names; // all that lie in memory, whatever that will be
    for (const auto& placed : folder.bench(R"("arrays": {}, "state": [{"u32": 1}])").memory) {
        names.push_back(placed.name);
    }
    CHECK(names.size() >= 4);
    for (const std::string& name : names) {
        CAPTURE(name);
        CHECK(places(name) == places("other"));
        CHECK(refusal(name).find("/arrays/" + name + "/address") == 0);
    }
}

TEST_CASE("before the first phase each worker is given its scratch, and nobody else",
          "[unit][vertex]") {
    const VertexFolder folder;
    const auto bench = folder.bench(R"("arrays": {})");
    std::vector<std::string> puts;
    std::string text;
    for (Address at = bench.setup; text.find("br ") == std::string::npos; at += 4) {
        text = vertex::instruction_text(bench, at);
        REQUIRE_FALSE(text.empty());
        if (text.find("put ") != std::string::npos) {
            puts.push_back(text);
        }
    }
    const auto workers = static_cast<std::size_t>(spec::MachineSpec{}.tile.workers);
    REQUIRE(puts.size() == workers);
    for (std::size_t worker = 0; worker < workers; ++worker) {
        CHECK(puts[worker].find("$WORKER" + std::to_string(worker) + "_BASE") != std::string::npos);
    }
}
