// SPDX-License-Identifier: MIT
#include "kernels/dynamic/encode.h"
#include "sim/pattern/bucket_words.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>

#include <random>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using pattern::WordsTold;

namespace {

std::vector<WordsTold> told_of(const dynamic::Layout& layout, const dynamic::Encoding& encoding,
                               std::int64_t number) {
    return pattern::told_words(layout, layout.words_of(encoding.metadata, number), number);
}

/// Each word up to the end is told once, in its place.
void check_told(const dynamic::Layout& layout, const dynamic::Encoding& encoding) {
    for (std::int64_t number = 0; number < layout.buckets(); ++number) {
        const auto words = layout.words_of(encoding.metadata, number);
        std::size_t next = 0;
        std::string last;
        for (const WordsTold& told : told_of(layout, encoding, number)) {
            CHECK(told.word == static_cast<std::int64_t>(next));
            std::istringstream numbers(told.numbers);
            for (int value = 0; numbers >> value; ++next) {
                REQUIRE(next < words.size());
                CHECK(words[next] == value);
            }
            last = told.says;
        }
        CHECK(last == "the end");
        CHECK(words[next - 1] == 0);
    }
}

} // namespace

TEST_CASE("the words of a bucket are told by what they say") {
    const dynamic::Layout layout = test::small_layout({2, 3, 1}, 2);
    const std::int64_t x = 1;
    const std::int64_t y = 2;
    const auto encoding = encode(
        layout, test::blocks_at(layout, {{layout.part_rows + 1, 2 * layout.part_columns},
                                         {layout.part_rows + 1, 2 * layout.part_columns + 2}}));
    const auto told = told_of(layout, encoding, layout.bucket_of(x, y, 0));
    REQUIRE(told.size() == 4);
    CHECK(told[0].says == "sub-group 6, of part x 1, y 2: 2 blocks in 11 words, 1 row; no lists");
    CHECK(told[1].says == "block row 1 of the part, 3 of the matrix: 2 blocks");
    CHECK(told[2].says == "block columns 0 2 of the part, 6 8 of the matrix");
    CHECK(told[3].says == "the end");
    CHECK(told_of(layout, encoding, layout.bucket_of(0, y, 0)).size() == 1);
    check_told(layout, encoding);
}

TEST_CASE("workers of elements have their rows and columns told, and their lists") {
    dynamic::Layout layout = test::small_layout({1, 1, 1}, 4);
    layout.block = 1;
    layout.n = 8;
    layout.n_grain = 4;
    layout.workers = 2;
    layout.lists = true;
    layout.bucket.metadata = layout.header_words() + 2 * (2 + 2) + 1;
    const auto encoding = encode(layout, test::blocks_at(layout, {{0, 1}, {1, 0}, {1, 2}}));
    const auto told = told_of(layout, encoding, 0);
    const std::int64_t rows = layout.header_words();
    const std::string first = std::to_string(rows);
    const std::string second = std::to_string(rows + 3);
    REQUIRE(told.size() == 10);
    CHECK(told[0].says ==
          "sub-group 1, of part x 0, y 0: 3 elements in " + std::to_string(rows + 7) +
              " words, 2 rows; lists of 2 workers; 8 columns; rows from word " + first + " on");
    CHECK(told[1].says ==
          "worker 0: 1 row from word " + first +
              " on, columns 0 to 7 of the dense operand; 0 elements before its own");
    CHECK(told[2].says == "worker 1: 1 row from word " + second +
                              " on, columns 0 to 7 of the dense operand; 1 element before its own");
    CHECK(told[3].says == "list of worker 0: 1 element, the first in the row at word " + first +
                              ", its place at word " + std::to_string(rows + 2) +
                              "; 0 elements before its own; 1 of them in that row");
    CHECK(told[6].says == "column 1 of the part, 1 of the matrix");
    CHECK(told[8].says == "columns 0 2 of the part, 0 2 of the matrix");
    CHECK(told[8].numbers == "0 " + std::to_string(2 * layout.place_step()));
    check_told(layout, encoding);
}

TEST_CASE("the words of buckets of every kind of pattern are told once") {
    std::mt19937_64 random(11);
    for (const bool of_elements : {false, true}) {
        for (const bool lists : {false, true}) {
            dynamic::Layout layout = test::small_layout({2, 3, 2}, 6);
            layout.block = of_elements ? 1 : layout.block;
            layout.lists = lists;
            layout.bucket.metadata = 6 * (layout.header_words() + 3) + 1;
            for (int kind = 0; kind < test::kSkewedKinds; ++kind) {
                CAPTURE(of_elements, lists, kind);
                check_told(layout, encode(layout, test::skewed(layout.rows * layout.block,
                                                               layout.columns * layout.block,
                                                               layout.block, 0.3, kind, random)));
            }
        }
    }
}
