// SPDX-License-Identifier: MIT
// Matrices that tests of patterns make.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/random.h"
#include "kernels/workload/value_type.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <tuple>
#include <vector>

namespace tessera::test {

using Entries = std::vector<std::tuple<std::int32_t, std::int32_t, double>>;

inline Entries entries_of(const workload::CoordinateMatrix& matrix) {
    Entries entries;
    for (const auto& entry : matrix.entries) {
        entries.emplace_back(entry.row, entry.column, entry.value);
    }
    return entries;
}

/// Each element is an entry in one of `sparse` cases; values are small whole numbers, never 0, that
/// all types have.
inline workload::CoordinateMatrix random_matrix(std::int64_t rows, std::int64_t columns,
                                                std::uint64_t sparse, workload::ValueType type,
                                                std::uint64_t seed) {
    const workload::CounterRandom random(seed, 1);
    workload::CoordinateMatrix matrix{rows, columns, type, {}};
    std::uint64_t drawn = 0;
    for (std::int32_t row = 0; row < rows; ++row) {
        for (std::int32_t column = 0; column < columns; ++column) {
            if (random.below(sparse, drawn++) == 0) {
                const auto value = static_cast<double>(random.below(100, drawn++) + 1);
                matrix.entries.push_back({row, column, 0, matrix.has_values() ? value : 1.0});
            }
        }
    }
    return matrix;
}

inline void check_same(const workload::CoordinateMatrix& got,
                       const workload::CoordinateMatrix& wanted) {
    CHECK(got.rows == wanted.rows);
    CHECK(got.columns == wanted.columns);
    CHECK(got.type == wanted.type);
    CHECK(entries_of(got) == entries_of(wanted));
}

} // namespace tessera::test
