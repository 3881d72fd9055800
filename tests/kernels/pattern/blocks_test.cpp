// SPDX-License-Identifier: MIT
#include "kernels/pattern/blocks.h"
#include "tests/kernels/pattern/scene.h"

#include <set>
#include <utility>

using namespace tessera::pattern;
using tessera::test::check_same;
using tessera::test::random_matrix;
using tessera::workload::CoordinateMatrix;
using tessera::workload::ValueType;

TEST_CASE("a matrix that is transposed twice is itself", "[pattern]") {
    const CoordinateMatrix matrix = random_matrix(13, 29, 5, ValueType::F32, 3);
    const CoordinateMatrix turned = transposed(matrix);
    CHECK(turned.rows == matrix.columns);
    CHECK(turned.columns == matrix.rows);
    check_same(transposed(turned), matrix);
}

TEST_CASE("whole blocks are the elements of all blocks that have an entry", "[pattern]") {
    for (const ValueType type : {ValueType::F32, ValueType::Mask}) {
        for (const std::int64_t block : {1, 2, 4, 7, 64}) {
            const CoordinateMatrix matrix = random_matrix(13, 29, 20, type, 4);
            std::set<std::pair<std::int64_t, std::int64_t>> kept;
            for (const auto& entry : matrix.entries) {
                kept.insert({entry.row / block, entry.column / block});
            }
            CoordinateMatrix wanted{matrix.rows, matrix.columns, type, {}};
            auto entry = matrix.entries.begin();
            for (std::int32_t row = 0; row < matrix.rows; ++row) {
                for (std::int32_t column = 0; column < matrix.columns; ++column) {
                    const bool is_entry = entry != matrix.entries.end() && entry->row == row &&
                                          entry->column == column;
                    if (kept.count({row / block, column / block}) != 0) {
                        const double other = matrix.has_values() ? 0.0 : 1.0;
                        wanted.entries.push_back({row, column, 0, is_entry ? entry->value : other});
                    }
                    entry += is_entry ? 1 : 0;
                }
            }
            const CoordinateMatrix whole = whole_blocks(matrix, block);
            check_same(whole, wanted);
            check_same(whole_blocks(whole, block), whole);
            CHECK(zeros(whole) ==
                  (matrix.has_values()
                       ? static_cast<std::int64_t>(whole.entries.size() - matrix.entries.size())
                       : 0));
        }
    }
}

TEST_CASE("blocks and their values are the elements of whole blocks", "[pattern]") {
    for (const std::int64_t block : {1, 2, 4, 7, 64}) {
        const CoordinateMatrix matrix = random_matrix(13, 29, 20, ValueType::F32, 5);
        const auto blocks = blocked(matrix, block);
        CHECK(blocks.block == block);
        CHECK(blocks.values.size() == static_cast<std::size_t>(blocks.stored_elements()));
        check_same(elements_of(blocks, blocks.values, matrix.type), whole_blocks(matrix, block));
    }
    const CoordinateMatrix empty{5, 6, ValueType::F32, {}};
    CHECK(blocked(empty, 4).blocks() == 0);
    check_same(elements_of(blocked(empty, 4), {}, ValueType::F32), empty);
}
