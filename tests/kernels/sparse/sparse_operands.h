// SPDX-License-Identifier: MIT
// Sparse operands by a fixed rule with small whole numbers, and their products in binary64.
#pragma once

#include "base/float16.h"
#include "kernels/workload/operands.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tessera::test {

struct SparseShape {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t n;
    std::int64_t block;
    int kept_of_100; ///< blocks
};

/// Every row but each seventh has its blocks chosen by a fixed rule; values are small whole
/// numbers.
inline workload::SparseF16 sparse_operand(const SparseShape& shape) {
    workload::SparseF16 a;
    a.rows = shape.rows;
    a.columns = shape.columns;
    a.block = shape.block;
    a.row_start.push_back(0);
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for (std::int64_t column = 0; column < a.block_columns(); ++column) {
            const auto mixed =
                (static_cast<std::uint64_t>(row * 7919 + column) * 0x9e3779b97f4a7c15U) >> 40U;
            if (row % 7 != 3 && static_cast<int>(mixed % 100) < shape.kept_of_100) {
                a.block_column.push_back(static_cast<std::int32_t>(column));
            }
        }
        a.row_start.push_back(a.blocks());
    }
    std::int64_t row = 0;
    for (std::int64_t b = 0; b < a.blocks(); ++b) {
        while (a.row_start[static_cast<std::size_t>(row + 1)] <= b) {
            ++row;
        }
        for (std::int64_t i = 0; i < shape.block * shape.block; ++i) {
            const std::int64_t r = row * shape.block + i / shape.block;
            const std::int64_t c =
                a.block_column[static_cast<std::size_t>(b)] * shape.block + i % shape.block;
            const bool inside = r < shape.rows && c < shape.columns;
            a.values.push_back(
                inside ? f32_to_f16(small_integer(static_cast<std::size_t>(b * 256 + i), 2))
                       : std::uint16_t{0});
        }
    }
    return a;
}

/// A * X, row-major.
inline std::vector<double> sparse_product(const workload::SparseF16& a,
                                          const std::vector<std::uint16_t>& x, std::int64_t n) {
    std::vector<double> c(static_cast<std::size_t>(a.rows * n));
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for (std::int64_t b = a.row_start[static_cast<std::size_t>(row)];
             b < a.row_start[static_cast<std::size_t>(row + 1)]; ++b) {
            for (std::int64_t i = 0; i < a.block * a.block; ++i) {
                const std::int64_t r = row * a.block + i / a.block;
                const std::int64_t k =
                    a.block_column[static_cast<std::size_t>(b)] * a.block + i % a.block;
                if (r >= a.rows || k >= a.columns) {
                    continue;
                }
                const double value = static_cast<double>(
                    f16_to_f32(a.values[static_cast<std::size_t>(b * a.block * a.block + i)]));
                for (std::int64_t j = 0; j < n; ++j) {
                    c[static_cast<std::size_t>(r * n + j)] +=
                        value *
                        static_cast<double>(f16_to_f32(x[static_cast<std::size_t>(k * n + j)]));
                }
            }
        }
    }
    return c;
}

/// As an operand of the type.
inline std::vector<std::byte> operand(const std::vector<std::uint16_t>& values, ElementType type) {
    std::vector<float> wide;
    for (const std::uint16_t value : values) {
        wide.push_back(f16_to_f32(value));
    }
    const auto bytes = type == ElementType::F32 ? std::as_bytes(std::span(wide))
                                                : std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

/// The elements of a result of the type.
inline std::vector<double> elements(const std::vector<std::byte>& bytes, ElementType type) {
    std::vector<double> values;
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(bytes_of(type))) {
        if (type == ElementType::F32) {
            float value = 0;
            std::memcpy(&value, bytes.data() + at, sizeof(value));
            values.push_back(static_cast<double>(value));
        } else {
            std::uint16_t value = 0;
            std::memcpy(&value, bytes.data() + at, sizeof(value));
            values.push_back(static_cast<double>(f16_to_f32(value)));
        }
    }
    return values;
}

} // namespace tessera::test
