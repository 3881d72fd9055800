// SPDX-License-Identifier: MIT
// A second way to multiply, in plain loops: whole numbers, and binary16 rounded after every step.
#pragma once

#include "base/float16.h"
#include "kernels/workload/operands.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace tessera::test {

/// Calls visit(products of one element of the result) for every element of a * b.
template <typename Visit>
void for_each_contraction(const workload::DenseF16& a, const workload::DenseF16& b, Visit visit) {
    std::vector<double> products(static_cast<std::size_t>(a.columns));
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (std::int64_t column = 0; column < b.columns; ++column) {
            for (std::int64_t i = 0; i < a.columns; ++i) {
                products[static_cast<std::size_t>(i)] =
                    static_cast<double>(
                        f16_to_f32(a.values[static_cast<std::size_t>(row * a.columns + i)])) *
                    static_cast<double>(
                        f16_to_f32(b.values[static_cast<std::size_t>(i * b.columns + column)]));
            }
            visit(products);
        }
    }
}

inline double largest_absolute_sum(const workload::DenseF16& a, const workload::DenseF16& b) {
    double largest = 0;
    for_each_contraction(a, b, [&](const std::vector<double>& products) {
        double sum = 0;
        for (const double product : products) {
            sum += std::fabs(product);
        }
        largest = std::max(largest, sum);
    });
    return largest;
}

/// How many elements of a * b differ from the exact sum when every partial sum is rounded to
/// binary16: in the given order, with all positive products first, and shuffled.
inline int inexact_f16_sums(const workload::DenseF16& a, const workload::DenseF16& b) {
    int inexact = 0;
    std::mt19937 shuffler(1);
    for_each_contraction(a, b, [&](std::vector<double> products) {
        double exact = 0;
        for (const double product : products) {
            exact += product;
        }
        const auto rounded_sum = [&] {
            float sum = 0;
            for (const double product : products) {
                const float term = f16_to_f32(f32_to_f16(static_cast<float>(product)));
                sum = f16_to_f32(f32_to_f16(sum + term));
            }
            return static_cast<double>(sum);
        };
        bool right = rounded_sum() == exact;
        std::sort(products.rbegin(), products.rend());
        right = right && rounded_sum() == exact;
        std::shuffle(products.begin(), products.end(), shuffler);
        right = right && rounded_sum() == exact;
        inexact += right ? 0 : 1;
    });
    return inexact;
}

/// The dense form of a block-sparse matrix.
inline workload::DenseF16 densified(const workload::SparseF16& sparse) {
    workload::DenseF16 matrix{sparse.rows, sparse.columns, {}};
    matrix.values.assign(static_cast<std::size_t>(sparse.rows * sparse.columns), 0);
    for (std::int64_t block_row = 0; block_row < sparse.block_rows(); ++block_row) {
        for (auto at = sparse.row_start.at(static_cast<std::size_t>(block_row));
             at < sparse.row_start.at(static_cast<std::size_t>(block_row) + 1); ++at) {
            for (std::int64_t i = 0; i < sparse.block * sparse.block; ++i) {
                const auto row = block_row * sparse.block + i / sparse.block;
                const auto column =
                    sparse.block_column.at(static_cast<std::size_t>(at)) * sparse.block +
                    i % sparse.block;
                const auto value = sparse.values.at(
                    static_cast<std::size_t>(at * sparse.block * sparse.block + i));
                if (row < sparse.rows && column < sparse.columns) {
                    matrix.values[static_cast<std::size_t>(row * sparse.columns + column)] = value;
                }
            }
        }
    }
    return matrix;
}

} // namespace tessera::test
