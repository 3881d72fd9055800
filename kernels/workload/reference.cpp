// SPDX-License-Identifier: MIT
#include "kernels/workload/reference.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/float16.h"
#include "kernels/workload/blas.h"
#include "kernels/workload/stored_elements.h"

#include <Eigen/SparseCore>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tessera::workload {
namespace {

constexpr double kUnitF16 = unit_roundoff(ElementType::F16);
constexpr double kUnitF32 = unit_roundoff(ElementType::F32);

template <typename Real>
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Real> using SparseRows = Eigen::SparseMatrix<Real, Eigen::RowMajor>;

double widened(std::uint16_t half) {
    return static_cast<double>(f16_to_f32(half));
}

std::vector<double> widened(std::span<const std::uint16_t> halves) {
    std::vector<double> values(halves.size());
    std::transform(halves.begin(), halves.end(), values.begin(),
                   [](std::uint16_t half) { return widened(half); });
    return values;
}

std::vector<float> magnitudes(std::span<const std::uint16_t> halves) {
    std::vector<float> values(halves.size());
    std::transform(halves.begin(), halves.end(), values.begin(),
                   [](std::uint16_t half) { return std::fabs(f16_to_f32(half)); });
    return values;
}

int eigen_int(std::int64_t value) {
    TESSERA_ASSERT(value >= 0 && value <= std::numeric_limits<int>::max());
    return static_cast<int>(value);
}

/// Both kinds of reference give rows [first, first + rows) of the products and of the absolute
/// sums.
class DenseReference {
public:
    DenseReference(const DenseF16& a, const DenseF16& b, int threads)
        : a_(a), b_(widened(b.values)), b_magnitudes_(magnitudes(b.values)), n_(b.columns),
          threads_(threads) {}

    void rows(std::int64_t first, std::int64_t rows, double* products, float* sums) const {
        if (rows == 0 || n_ == 0) {
            return;
        }
        const Blas& blas = Blas::loaded();
        const std::int64_t parts = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
        const int threads =
            threads_ > 0 ? std::min(threads_, blas.most_at_once()) : blas.most_at_once();
        tbb::task_arena(threads).execute([&] {
            tbb::parallel_for(std::int64_t{0}, parts, [&](std::int64_t part) {
                const std::int64_t at = part * kRowsAtOnce;
                multiply(blas, first + at, std::min(kRowsAtOnce, rows - at), products + at * n_,
                         sums + at * n_);
            });
        });
    }

private:
    /// Of a product that a thread makes alone: fixed, so that no bit depends on the threads.
    static constexpr std::int64_t kRowsAtOnce = 256;

    void multiply(const Blas& blas, std::int64_t first, std::int64_t rows, double* products,
                  float* sums) const {
        const std::span<const std::uint16_t> panel(a_.values.data() + first * a_.columns,
                                                   static_cast<std::size_t>(rows * a_.columns));
        blas.multiply(rows, n_, a_.columns, widened(panel).data(), b_.data(), products);
        blas.multiply(rows, n_, a_.columns, magnitudes(panel).data(), b_magnitudes_.data(), sums);
    }

    const DenseF16& a_;
    std::vector<double> b_;
    std::vector<float> b_magnitudes_;
    std::int64_t n_;
    int threads_;
};

SparseRows<double> element_rows(const SparseF16& a) {
    std::vector<Eigen::Triplet<double>> elements;
    elements.reserve(a.values.size());
    for_each_stored(a, [&](std::size_t at, std::int64_t row, std::int64_t column, std::int64_t) {
        const double value = widened(a.values[at]);
        if (value != 0.0) {
            elements.emplace_back(eigen_int(row), eigen_int(column), value);
        }
    });
    SparseRows<double> matrix(a.rows, a.columns);
    matrix.setFromTriplets(elements.begin(), elements.end());
    return matrix;
}

/// From about one stored element in eight on, the dense product is the faster way to the same sums.
bool nearly_dense(const SparseF16& a) {
    static constexpr std::size_t kDenseShare = 8;
    return a.values.size() * kDenseShare >= static_cast<std::size_t>(a.rows * a.columns);
}

DenseF16 densified(const SparseF16& a) {
    DenseF16 matrix{a.rows, a.columns, {}};
    matrix.values.assign(static_cast<std::size_t>(a.rows * a.columns), 0);
    for_each_stored(a, [&](std::size_t at, std::int64_t row, std::int64_t column, std::int64_t) {
        matrix.values[static_cast<std::size_t>(row * a.columns + column)] = a.values[at];
    });
    return matrix;
}

class SparseReference {
public:
    SparseReference(const SparseF16& a, const DenseF16& b)
        : a_(element_rows(a)), a_magnitudes_(a_.cwiseAbs().cast<float>()), b_(widened(b.values)),
          b_magnitudes_(magnitudes(b.values)), n_(b.columns) {}

    void rows(std::int64_t first, std::int64_t rows, double* products, float* sums) const {
        multiply(a_, b_, first, rows, products);
        multiply(a_magnitudes_, b_magnitudes_, first, rows, sums);
    }

private:
    template <typename Real>
    void multiply(const SparseRows<Real>& a, const std::vector<Real>& b, std::int64_t first,
                  std::int64_t rows, Real* out) const {
        const Eigen::Map<const RowMajor<Real>> dense(b.data(), a.cols(), n_);
        Eigen::Map<RowMajor<Real>>(out, rows, n_).noalias() = a.middleRows(first, rows) * dense;
    }

    SparseRows<double> a_;
    SparseRows<float> a_magnitudes_;
    std::vector<double> b_;
    std::vector<float> b_magnitudes_;
    std::int64_t n_;
};

/// Compares element by element and keeps the worst.
class Comparison {
public:
    Comparison(const CheckOptions& options, std::int64_t k) {
        found_.exact_required = options.exact_required;
        found_.tolerance = tolerance(options, k);
        half_roundings_ = options.partials == ElementType::F16 ? options.roundings + 1 : 1;
    }

    void element(std::int64_t row, std::int64_t column, std::uint16_t half, double expected,
                 float absolute_sum) {
        const double got = widened(half);
        const double error = std::fabs(got - expected);
        const double allowed = found_.tolerance * static_cast<double>(absolute_sum) +
                               below_normal(static_cast<double>(absolute_sum));
        // An operand that is not finite makes `allowed` infinite or NaN: no result is right then.
        const bool finite = std::isfinite(got) && std::isfinite(error) && std::isfinite(allowed);
        const bool right = finite && (found_.exact_required ? error == 0.0 : error <= allowed);
        double badness = std::numeric_limits<double>::infinity();
        if (finite) {
            found_.max_error = std::max(found_.max_error, error);
            if (allowed > 0.0) {
                badness = error / allowed;
                found_.max_error_over_tolerance =
                    std::max(found_.max_error_over_tolerance, badness);
            } else if (error == 0.0) {
                badness = 0.0;
            }
        }
        ++found_.elements;
        found_.failed_elements += right ? 0 : 1;
        found_.non_finite_elements += std::isfinite(got) ? 0 : 1;
        const bool first_non_finite = !finite && !worst_is_non_finite_;
        if (found_.worst_row < 0 || first_non_finite ||
            (!worst_is_non_finite_ && badness > worst_badness_)) {
            worst_badness_ = badness;
            worst_is_non_finite_ = !finite;
            found_.worst_row = row;
            found_.worst_column = column;
            found_.worst_got = got;
            found_.worst_expected = expected;
        }
    }

    [[nodiscard]] CheckResult result() const {
        CheckResult complete = found_;
        complete.passed = found_.failed_elements == 0;
        return complete;
    }

private:
    /// What roundings to binary16 may be off by where the normal numbers have ended: half a step is
    /// 2^-25 there, however small the number.
    [[nodiscard]] double below_normal(double absolute_sum) const {
        constexpr double kHalfStep = 0x1p-25;
        return absolute_sum > 0.0 ? static_cast<double>(half_roundings_) *
                                        std::max(0.0, kHalfStep - kUnitF16 * absolute_sum)
                                  : 0.0;
    }

    CheckResult found_;
    std::int64_t half_roundings_ = 0; ///< to binary16, on the longest path
    double worst_badness_ = 0.0;
    bool worst_is_non_finite_ = false;
};

/// Rows of a panel: enough for a matrix product at full speed, few enough that panels stay near 4
/// Mi elements.
std::int64_t panel_rows(std::int64_t rows, std::int64_t columns) {
    static constexpr std::int64_t kPanelElements = std::int64_t{1} << 22;
    const std::int64_t fitting = kPanelElements / std::max<std::int64_t>(columns, 1);
    return std::clamp<std::int64_t>(fitting, 1, std::max<std::int64_t>(rows, 1));
}

template <typename Reference>
CheckResult check_panels(std::span<const std::uint16_t> result, const Reference& product,
                         std::int64_t m, std::int64_t k, std::int64_t n,
                         const CheckOptions& options) {
    TESSERA_ASSERT(result.size() == static_cast<std::size_t>(m * n));
    const std::int64_t height = panel_rows(m, n);
    std::vector<double> products(static_cast<std::size_t>(height * n));
    std::vector<float> sums(products.size());
    Comparison comparison(options, k);
    const Activity comparing("row", m);
    for (std::int64_t first = 0; first < m; first += height) {
        comparing.at(first, m);
        const std::int64_t rows = std::min(height, m - first);
        product.rows(first, rows, products.data(), sums.data());
        for (std::int64_t i = 0; i < rows * n; ++i) {
            const auto at = static_cast<std::size_t>(i);
            comparison.element(first + i / n, i % n,
                               result[static_cast<std::size_t>(first * n + i)], products[at],
                               sums[at]);
        }
    }
    return comparison.result();
}

template <typename Reference>
ReferenceResult whole(const Reference& product, std::int64_t m, std::int64_t n) {
    const auto elements = static_cast<std::size_t>(m * n);
    ReferenceResult result{std::vector<double>(elements), std::vector<float>(elements)};
    product.rows(0, m, result.products.data(), result.absolute_sums.data());
    return result;
}

void check_shapes(std::int64_t a_columns, const DenseF16& b) {
    TESSERA_ASSERT(a_columns == b.rows);
    TESSERA_ASSERT(b.values.size() == static_cast<std::size_t>(b.rows * b.columns));
}

} // namespace

ReferenceResult reference(const DenseF16& a, const DenseF16& b, int threads) {
    check_shapes(a.columns, b);
    return whole(DenseReference(a, b, threads), a.rows, b.columns);
}

ReferenceResult reference(const SparseF16& a, const DenseF16& b) {
    check_shapes(a.columns, b);
    return whole(SparseReference(a, b), a.rows, b.columns);
}

double tolerance(const CheckOptions& options, std::int64_t k) {
    const bool half = options.partials == ElementType::F16;
    const double unit = unit_roundoff(options.partials);
    const double result_rounding = half ? 0.0 : kUnitF16;
    return static_cast<double>(options.roundings + 1) * unit + static_cast<double>(k) * kUnitF32 +
           result_rounding;
}

CheckResult check(std::span<const std::uint16_t> result, const DenseF16& a, const DenseF16& b,
                  const CheckOptions& options) {
    check_shapes(a.columns, b);
    TESSERA_ASSERT(a.values.size() == static_cast<std::size_t>(a.rows * a.columns));
    return check_panels(result, DenseReference(a, b, options.threads), a.rows, a.columns, b.columns,
                        options);
}

CheckResult check(std::span<const std::uint16_t> result, const SparseF16& a, const DenseF16& b,
                  const CheckOptions& options) {
    check_shapes(a.columns, b);
    if (nearly_dense(a)) {
        return check(result, densified(a), b, options);
    }
    return check_panels(result, SparseReference(a, b), a.rows, a.columns, b.columns, options);
}

} // namespace tessera::workload
