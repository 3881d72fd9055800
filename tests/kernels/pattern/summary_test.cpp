// SPDX-License-Identifier: MIT
#include "kernels/pattern/blocks.h"
#include "kernels/pattern/summary.h"
#include "tests/kernels/pattern/scene.h"

using namespace tessera::pattern;
using tessera::test::random_matrix;
using tessera::workload::CoordinateMatrix;
using tessera::workload::ValueType;

TEST_CASE("a summary counts what a small matrix has", "[pattern]") {
    // x x . . .
    // . . . . .
    // x x . . x    blocks of 2: the one at the left and the corner of one element
    const CoordinateMatrix matrix{
        3,
        5,
        ValueType::F16,
        {{0, 0, 0, 1.0}, {0, 1, 0, 0.0}, {2, 0, 0, 1.0}, {2, 1, 0, 1.0}, {2, 4, 0, 1.0}}};
    const Summary summary = summary_of(matrix, 2);
    CHECK(summary.entries == 5);
    CHECK(summary.zeros == 1);
    CHECK(summary.density == Approx(5.0 / 15));
    CHECK(summary.by_row.most == 3);
    CHECK(summary.by_row.line == 2);
    CHECK(summary.by_row.empty == 1);
    CHECK(summary.by_row.skew() == Approx(3 / (5.0 / 3)));
    CHECK(summary.by_row.lines == 3);
    CHECK(summary.by_row.mean == Approx(5.0 / 3));
    CHECK(summary.by_column.most == 2);
    CHECK(summary.by_column.line == 0); // the first of equal ones
    CHECK(summary.by_column.empty == 2);
    CHECK(summary.by_column.lines == 5);
    CHECK(summary.blocks.rows == 2);
    CHECK(summary.blocks.columns == 3);
    CHECK(summary.blocks.kept == 3);
    CHECK(summary.blocks.least == 1);
    CHECK(summary.blocks.whole == 2); // a half and a quarter of a block are all there is
    CHECK(summary.blocks.fill == Approx(5.0 / (4 + 2 + 1)));
    CHECK(summary.blocks.by_row.most == 2);
    CHECK(summary.blocks.by_row.line == 1);
    CHECK(summary.blocks.by_row.empty == 0);
    CHECK(summary.blocks.by_column.most == 2);
    CHECK(summary.blocks.by_column.line == 0);
    CHECK(summary.blocks.by_column.empty == 1);
}

TEST_CASE("bytes follow from entries, lines and blocks", "[pattern]") {
    constexpr std::int64_t kIndex = 4;
    constexpr std::int64_t kBlock = 8;
    for (const ValueType type : {ValueType::F16, ValueType::F32, ValueType::Mask}) {
        const CoordinateMatrix matrix = random_matrix(40, 64, 9, type, 7);
        const Summary summary = summary_of(matrix, kBlock);
        const auto all = static_cast<std::int64_t>(facts_of(type).bytes);
        const std::int64_t value = type == ValueType::Mask ? 0 : all;
        CHECK(summary.bytes.coo == summary.entries * (2 * kIndex + value));
        CHECK(summary.bytes.csr == (40 + 1) * kIndex + summary.entries * (kIndex + value));
        CHECK(summary.bytes.csc == (64 + 1) * kIndex + summary.entries * (kIndex + value));
        CHECK(summary.bytes.bsr == (40 / kBlock + 1) * kIndex +
                                       summary.blocks.kept * (kIndex + kBlock * kBlock * value));
        CHECK(summary.bytes.dense == 40 * 64 * all);
        const Summary one = summary_of(matrix, 1);
        CHECK(one.bytes.bsr == one.bytes.csr);
        CHECK(one.blocks.whole == one.entries);
        const Summary whole = summary_of(whole_blocks(matrix, kBlock), kBlock);
        CHECK(whole.blocks.kept == summary.blocks.kept);
        CHECK(whole.blocks.fill == 1.0);
    }
}

TEST_CASE("a summary of nothing has no skew", "[pattern]") {
    const Summary summary = summary_of({4, 4, ValueType::Mask, {}}, 2);
    CHECK(summary.by_row.skew() == 0);
    CHECK(summary.by_row.empty == 4);
    CHECK(summary.blocks.kept == 0);
    CHECK(summary.blocks.fill == 0);
}
