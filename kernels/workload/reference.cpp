// SPDX-License-Identifier: MIT
#include "kernels/workload/reference.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/float16.h"
#include "kernels/workload/blas.h"
#include "kernels/workload/stored_elements.h"

#include <Eigen/SparseCore>
#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

namespace tessera::workload {
namespace {

constexpr double kUnitF16 = unit_roundoff(ElementType::F16);
constexpr double kUnitF32 = unit_roundoff(ElementType::F32);

template <typename Real>
using RowMajor = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Real> using SparseRows = Eigen::SparseMatrix<Real, Eigen::RowMajor>;

float in_binary32(std::uint16_t half) {
    return f16_to_f32(half);
}
float in_binary32(float element) {
    return element;
}

template <typename Element> double widened(Element element) {
    return static_cast<double>(in_binary32(element));
}

template <typename Real, typename Element>
std::vector<Real> all_widened(std::span<const Element> elements) {
    std::vector<Real> values(elements.size());
    std::transform(elements.begin(), elements.end(), values.begin(),
                   [](Element element) { return static_cast<Real>(in_binary32(element)); });
    return values;
}
template <typename Real, typename Element>
std::vector<Real> all_widened(const std::vector<Element>& elements) {
    return all_widened<Real>(std::span(elements));
}

template <typename Element> std::vector<float> magnitudes(std::span<const Element> elements) {
    std::vector<float> values(elements.size());
    std::transform(elements.begin(), elements.end(), values.begin(),
                   [](Element element) { return std::fabs(in_binary32(element)); });
    return values;
}

int eigen_int(std::int64_t value) {
    TESSERA_ASSERT(value >= 0 && value <= std::numeric_limits<int>::max());
    return static_cast<int>(value);
}

/// All references give rows [first, first + rows) of the products and of the absolute sums, several
/// of them at once if `at_once()` is more, and single products in binary64.
template <typename Product, typename Element> class DenseReference {
public:
    using Real = Product;

    DenseReference(const Dense<Element>& a, const Dense<Element>& b)
        : a_(a), b_elements_(b), b_(all_widened<Real>(b.values)),
          b_magnitudes_(magnitudes(std::span(b.values))), n_(b.columns) {}

    void rows(std::int64_t first, std::int64_t rows, Real* products, float* sums) const {
        if (rows == 0 || n_ == 0) {
            return;
        }
        const Blas& blas = Blas::loaded();
        const std::span<const Element> panel(a_.values.data() + first * a_.columns,
                                             static_cast<std::size_t>(rows * a_.columns));
        blas.multiply(rows, n_, a_.columns, all_widened<Real>(panel).data(), b_.data(), products);
        blas.multiply(rows, n_, a_.columns, magnitudes(panel).data(), b_magnitudes_.data(), sums);
    }

    [[nodiscard]] double product(std::int64_t row, std::int64_t column) const {
        double sum = 0.0;
        for (std::int64_t k = 0; k < a_.columns; ++k) {
            sum += widened(a_.values[static_cast<std::size_t>(row * a_.columns + k)]) *
                   widened(b_elements_.values[static_cast<std::size_t>(k * n_ + column)]);
        }
        return sum;
    }

    [[nodiscard]] static int at_once() { return Blas::loaded().most_at_once(); }

private:
    const Dense<Element>& a_;
    const Dense<Element>& b_elements_;
    std::vector<Real> b_;
    std::vector<float> b_magnitudes_;
    std::int64_t n_;
};

template <class Element> SparseRows<double> element_rows(const Sparse<Element>& a) {
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
bool nearly_dense(const SparsePattern& a) {
    static constexpr std::int64_t kDenseShare = 8;
    return a.stored_elements() * kDenseShare >= a.rows * a.columns;
}

template <class Element> Dense<Element> densified(const Sparse<Element>& a) {
    Dense<Element> matrix{a.rows, a.columns, {}};
    matrix.values.assign(static_cast<std::size_t>(a.rows * a.columns), Element{});
    for_each_stored(a, [&](std::size_t at, std::int64_t row, std::int64_t column, std::int64_t) {
        matrix.values[static_cast<std::size_t>(row * a.columns + column)] = a.values[at];
    });
    return matrix;
}

class SparseReference {
public:
    using Real = double;

    template <class Element>
    SparseReference(const Sparse<Element>& a, const Dense<Element>& b)
        : a_(element_rows(a)), a_magnitudes_(a_.cwiseAbs().cast<float>()),
          b_(all_widened<double>(b.values)), b_magnitudes_(magnitudes(std::span(b.values))),
          n_(b.columns) {}

    void rows(std::int64_t first, std::int64_t rows, double* products, float* sums) const {
        multiply(a_, b_, first, rows, products);
        multiply(a_magnitudes_, b_magnitudes_, first, rows, sums);
    }

    [[nodiscard]] double product(std::int64_t row, std::int64_t column) const {
        return (a_.row(eigen_int(row)) *
                Eigen::Map<const RowMajor<double>>(b_.data(), a_.cols(), n_).col(column))
            .value();
    }

    [[nodiscard]] static int at_once() { return tbb::this_task_arena::max_concurrency(); }

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
    /// `uncertainty`: how far the reference may be off, relative to the sum of absolute products.
    Comparison(const CheckOptions& options, std::int64_t k, std::int64_t columns,
               ElementType result, double uncertainty)
        : after_(options.after), uncertainty_(uncertainty),
          saturates_inside_(result == ElementType::F16 &&
                            (options.partials == ElementType::F16 || options.half_products)) {
        found_.exact_required = options.exact_required;
        found_.type = result;
        found_.columns = columns;
        if (result == ElementType::F32) {
            constexpr double kLeastNormal = 0x1p-126;
            found_.tolerance = tolerance_f32(options);
            lost_ = kLeastNormal * static_cast<double>(k + options.roundings + 1);
        } else {
            found_.tolerance = tolerance(options, k);
            half_roundings_ = (options.partials == ElementType::F16 ? options.roundings + 1 : 1) +
                              (options.half_products ? k : 0);
        }
    }

    /// `exact()` gives the reference in binary64, where `expected` does not decide.
    template <typename Result, typename Exact>
    void element(std::int64_t row, std::int64_t column, Result result, double expected,
                 float absolute_sum, const Exact& exact) {
        const double got = widened(result);
        Expected made = made_of(row, column, expected, absolute_sum);
        const double allowed = made.tolerance;
        double error = error_of(row, column, made.value, expected, absolute_sum, got);
        if (uncertainty_ > 0.0 &&
            std::fabs(error - allowed) <= uncertainty_ * static_cast<double>(absolute_sum)) {
            made.value = expected = exact();
            error = error_of(row, column, made.value, expected, absolute_sum, got);
        }
        if (overflows_here(made, absolute_sum, got)) {
            found_.overflow.note(row * found_.columns + column, made.value);
            if (found_.type == ElementType::F32 && !std::isfinite(got)) { // as it must be
                ++found_.elements;
                return;
            }
        }
        expected = in_range(found_.type, made.value);
        // An operand that is not finite makes `allowed` infinite or NaN: no result is right then.
        const bool finite = std::isfinite(got) && std::isfinite(error) && std::isfinite(allowed);
        const bool right = finite && (found_.exact_required ? error == 0.0 : error <= allowed);
        const Element now{
            row, column, got, expected, allowed, error, may_saturate_inside(absolute_sum)};
        double badness = std::numeric_limits<double>::infinity();
        if (finite) {
            if (largest_.row < 0 || error > found_.max_error) {
                found_.max_error = error;
                largest_ = now;
            }
            if (allowed > 0.0) {
                badness = error / allowed;
                if (furthest_.row < 0 || badness > found_.max_error_over_tolerance) {
                    found_.max_error_over_tolerance = badness;
                    furthest_ = now;
                }
            } else if (error == 0.0) {
                badness = 0.0;
            }
        }
        ++found_.elements;
        found_.failed_elements += right ? 0 : 1;
        found_.non_finite_elements += std::isfinite(got) ? 0 : 1;
        const bool first_non_finite = !finite && !worst_is_non_finite_;
        if (worst_.row < 0 || first_non_finite ||
            (!worst_is_non_finite_ && badness > worst_badness_)) {
            worst_badness_ = badness;
            worst_is_non_finite_ = !finite;
            worst_ = now;
        }
    }

    /// What has been found in later elements.
    void add(const Comparison& later) {
        const CheckResult& other = later.found_;
        if (later.largest_.row >= 0 && (largest_.row < 0 || other.max_error > found_.max_error)) {
            found_.max_error = other.max_error;
            largest_ = later.largest_;
        }
        if (later.furthest_.row >= 0 &&
            (furthest_.row < 0 ||
             other.max_error_over_tolerance > found_.max_error_over_tolerance)) {
            found_.max_error_over_tolerance = other.max_error_over_tolerance;
            furthest_ = later.furthest_;
        }
        found_.elements += other.elements;
        found_.failed_elements += other.failed_elements;
        found_.non_finite_elements += other.non_finite_elements;
        found_.overflow.add(other.overflow);
        const bool worse = !worst_is_non_finite_ &&
                           (later.worst_is_non_finite_ || later.worst_badness_ > worst_badness_);
        if (later.worst_.row >= 0 && (worst_.row < 0 || worse)) {
            worst_badness_ = later.worst_badness_;
            worst_is_non_finite_ = later.worst_is_non_finite_;
            worst_ = later.worst_;
        }
    }

    /// What was found; of the elements it tells of, with the reference in binary64.
    template <typename Reference> [[nodiscard]] CheckResult result(const Reference& product) const {
        CheckResult complete = found_;
        complete.passed = found_.failed_elements == 0;
        const auto expected = [&](const Element& element) {
            return uncertainty_ > 0.0
                       ? in_range(found_.type, product.product(element.row, element.column))
                       : element.expected;
        };
        const auto error = [&](const Element& element) {
            return uncertainty_ > 0.0 && !element.saturated
                       ? std::fabs(element.got - expected(element))
                       : element.error;
        };
        if (largest_.row >= 0) {
            complete.max_error = error(largest_);
        }
        if (furthest_.row >= 0) {
            complete.max_error_over_tolerance = error(furthest_) / furthest_.allowed;
        }
        if (worst_.row >= 0) {
            complete.worst_row = worst_.row;
            complete.worst_column = worst_.column;
            complete.worst_got = worst_.got;
            complete.worst_expected = expected(worst_);
        }
        return complete;
    }

private:
    /// What is expected of an element, `product` being that of the reference.
    [[nodiscard]] Expected made_of(std::int64_t row, std::int64_t column, double product,
                                   float absolute_sum) const {
        const Expected made{product, allowed_of(absolute_sum)};
        return after_ ? after_(row, column, made) : made;
    }

    /// Sums or products on the way to the element may have saturated.
    [[nodiscard]] bool may_saturate_inside(float absolute_sum) const {
        return saturates_inside_ && static_cast<double>(absolute_sum) > kLargestF16;
    }

    /// How far `got` is from what is right, `made` being the element's exact value.
    [[nodiscard]] double error_of(std::int64_t row, std::int64_t column, double made,
                                  double product, float absolute_sum, double got) const {
        if (!may_saturate_inside(absolute_sum)) {
            return std::fabs(got - in_range(found_.type, made));
        }
        const auto sum = static_cast<double>(absolute_sum);
        const double positive = (sum + product) / 2;
        const double negative = (sum - product) / 2;
        const auto limit = [&](double of_product) {
            return in_range(found_.type, made_of(row, column, of_product, absolute_sum).value);
        };
        const double one = limit(std::min(product, kLargestF16 - negative));
        const double other = limit(std::max(product, positive - kLargestF16));
        return std::max({std::min(one, other) - got, got - std::max(one, other), 0.0});
    }

    [[nodiscard]] bool overflows_here(const Expected& made, float absolute_sum, double got) const {
        if (overflows(found_.type, made.value)) {
            return true;
        }
        if (found_.type == ElementType::F32) { // of operands that are finite: the reference is
            return !std::isfinite(absolute_sum) && std::isfinite(made.value) && !std::isfinite(got);
        }
        return may_saturate_inside(absolute_sum) && std::isfinite(made.value) &&
               !(std::fabs(got - made.value) <= made.tolerance);
    }

    /// What roundings to binary16 may be off by where the normal numbers have ended: half a step is
    /// 2^-25 there, however small the number.
    [[nodiscard]] double below_normal(double absolute_sum) const {
        constexpr double kHalfStep = 0x1p-25;
        return absolute_sum > 0.0 ? static_cast<double>(half_roundings_) *
                                        std::max(0.0, kHalfStep - kUnitF16 * absolute_sum)
                                  : 0.0;
    }

    [[nodiscard]] double allowed_of(float absolute_sum) const {
        return found_.tolerance * static_cast<double>(absolute_sum) +
               below_normal(static_cast<double>(absolute_sum)) + lost_;
    }

    struct Element {
        std::int64_t row = -1; ///< none
        std::int64_t column = -1;
        double got = 0.0;
        double expected = 0.0;
        double allowed = 0.0;
        double error = 0.0;
        bool saturated = false; ///< perhaps
    };

    AfterProduct after_;
    double uncertainty_;
    bool saturates_inside_; ///< sums or products are of binary16
    CheckResult found_;
    Element largest_;  ///< that with found_.max_error
    Element furthest_; ///< that with found_.max_error_over_tolerance
    Element worst_;
    std::int64_t half_roundings_ = 0; ///< to binary16, on the longest path
    double lost_ = 0.0;               ///< where subnormal numbers become zero
    double worst_badness_ = 0.0;
    bool worst_is_non_finite_ = false;
};

/// Rows of a panel, which a thread makes alone: enough for a matrix product at full speed, few
/// enough that panels stay near 2 Mi elements. Fixed, so that no bit depends on the threads.
std::int64_t panel_rows(std::int64_t rows, std::int64_t columns) {
    static constexpr std::int64_t kMostRows = 1024;
    static constexpr std::int64_t kPanelElements = std::int64_t{1} << 22;
    const std::int64_t fitting = kPanelElements / std::max<std::int64_t>(columns, 1);
    return std::clamp<std::int64_t>(std::min(fitting, kMostRows), 1,
                                    std::max<std::int64_t>(rows, 1));
}

/// Calls `panel(number, first row, rows)` for all panels, on `threads`, 0 for all of them.
template <typename Reference, typename Panel>
void for_panels(std::int64_t m, std::int64_t n, int threads, const Panel& panel) {
    const std::int64_t height = panel_rows(m, n);
    const int most = Reference::at_once();
    const Activity comparing("row", m);
    tbb::task_arena(threads > 0 ? std::min(threads, most) : most).execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, (m + height - 1) / height, 1),
            [&](const tbb::blocked_range<std::int64_t>& range) {
                for (std::int64_t number = range.begin(); number < range.end(); ++number) {
                    const std::int64_t first = number * height;
                    panel(number, first, std::min(height, m - first));
                    comparing.step(std::min(height, m - first));
                }
            },
            tbb::simple_partitioner());
    });
}

template <typename Result, typename Reference>
CheckResult check_panels(std::span<const Result> result, const Reference& product, std::int64_t m,
                         std::int64_t k, std::int64_t n, const CheckOptions& options,
                         double uncertainty) {
    TESSERA_ASSERT(result.size() == static_cast<std::size_t>(m * n));
    using Real = typename Reference::Real;
    struct Panel {
        std::vector<Real> products;
        std::vector<float> sums;
    };
    const auto height = panel_rows(m, n);
    tbb::enumerable_thread_specific<Panel> panels([height, n] {
        const auto elements = static_cast<std::size_t>(height * n);
        return Panel{std::vector<Real>(elements), std::vector<float>(elements)};
    });
    constexpr bool kIsF32 = std::is_same_v<Result, float>;
    const Comparison nothing(options, k, n, kIsF32 ? ElementType::F32 : ElementType::F16,
                             uncertainty);
    std::vector<Comparison> comparisons(static_cast<std::size_t>((m + height - 1) / height),
                                        nothing);
    for_panels<Reference>(
        m, n, options.threads, [&](std::int64_t number, std::int64_t first, std::int64_t rows) {
            Panel& panel = panels.local();
            Comparison& comparison = comparisons[static_cast<std::size_t>(number)];
            product.rows(first, rows, panel.products.data(), panel.sums.data());
            auto at = static_cast<std::size_t>(first * n);
            std::size_t in_panel = 0;
            for (std::int64_t row = first; row < first + rows; ++row) {
                for (std::int64_t column = 0; column < n; ++column, ++at, ++in_panel) {
                    comparison.element(row, column, result[at], panel.products[in_panel],
                                       panel.sums[in_panel],
                                       [&] { return product.product(row, column); });
                }
            }
        });
    Comparison all = nothing;
    for (const Comparison& comparison : comparisons) {
        all.add(comparison);
    }
    return all.result(product);
}

template <typename Reference>
ReferenceResult whole(const Reference& product, std::int64_t m, std::int64_t n, int threads) {
    const auto elements = static_cast<std::size_t>(m * n);
    ReferenceResult result{std::vector<double>(elements), std::vector<float>(elements)};
    for_panels<Reference>(m, n, threads, [&](std::int64_t, std::int64_t first, std::int64_t rows) {
        product.rows(first, rows, result.products.data() + first * n,
                     result.absolute_sums.data() + first * n);
    });
    return result;
}

template <typename Element> void check_shapes(std::int64_t a_columns, const Dense<Element>& b) {
    TESSERA_ASSERT(a_columns == b.rows);
    TESSERA_ASSERT(b.values.size() == static_cast<std::size_t>(b.rows * b.columns));
}

} // namespace

ReferenceResult reference(const DenseF16& a, const DenseF16& b, int threads) {
    check_shapes(a.columns, b);
    return whole(DenseReference<double, std::uint16_t>(a, b), a.rows, b.columns, threads);
}

ReferenceResult reference(const SparseF16& a, const DenseF16& b) {
    check_shapes(a.columns, b);
    return whole(SparseReference(a, b), a.rows, b.columns, 0);
}

double single_precision_error(std::int64_t k) {
    const double sum = static_cast<double>(k) * kUnitF32;
    const double gamma = sum / (1.0 - sum);
    return sum < 0.5 ? gamma / (1.0 - gamma) : std::numeric_limits<double>::infinity();
}

double tolerance(const CheckOptions& options, std::int64_t k) {
    const bool half = options.partials == ElementType::F16;
    const double unit = unit_roundoff(options.partials);
    const double result_rounding = half ? 0.0 : kUnitF16;
    return static_cast<double>(options.roundings + 1) * unit + static_cast<double>(k) * kUnitF32 +
           result_rounding + (options.half_products ? kUnitF16 : 0.0);
}

CheckResult check(std::span<const std::uint16_t> result, const DenseF16& a, const DenseF16& b,
                  const CheckOptions& options) {
    check_shapes(a.columns, b);
    TESSERA_ASSERT(a.values.size() == static_cast<std::size_t>(a.rows * a.columns));
    const double uncertainty = single_precision_error(a.columns);
    if (options.exact_required || options.after || uncertainty > tolerance(options, a.columns)) {
        return check_panels(result, DenseReference<double, std::uint16_t>(a, b), a.rows, a.columns,
                            b.columns, options, 0.0);
    }
    return check_panels(result, DenseReference<float, std::uint16_t>(a, b), a.rows, a.columns,
                        b.columns, options, uncertainty);
}

double tolerance_f32(const CheckOptions& options) {
    return static_cast<double>(options.roundings + 1) * kUnitF32;
}

CheckResult check(std::span<const float> result, const DenseF32& a, const DenseF32& b,
                  const CheckOptions& options) {
    check_shapes(a.columns, b);
    TESSERA_ASSERT(options.partials == ElementType::F32);
    TESSERA_ASSERT(a.values.size() == static_cast<std::size_t>(a.rows * a.columns));
    return check_panels(result, DenseReference<double, float>(a, b), a.rows, a.columns, b.columns,
                        options, 0.0);
}

namespace {

template <class Element>
CheckResult check_sparse(std::span<const Element> result, const Sparse<Element>& a,
                         const Dense<Element>& b, const CheckOptions& options) {
    check_shapes(a.columns, b);
    if (nearly_dense(a)) {
        return check(result, densified(a), b, options);
    }
    return check_panels(result, SparseReference(a, b), a.rows, a.columns, b.columns, options, 0.0);
}

} // namespace

CheckResult check(std::span<const std::uint16_t> result, const SparseF16& a, const DenseF16& b,
                  const CheckOptions& options) {
    return check_sparse(result, a, b, options);
}

CheckResult check(std::span<const float> result, const SparseF32& a, const DenseF32& b,
                  const CheckOptions& options) {
    TESSERA_ASSERT(options.partials == ElementType::F32);
    return check_sparse(result, a, b, options);
}

std::string overflow_text(const CheckResult& result) {
    const Overflow& overflow = result.overflow;
    return text_of(overflow, result.type, result.elements,
                   fmt::format("row {} column {}", overflow.first / result.columns,
                               overflow.first % result.columns));
}

void join(CheckResult& all, const CheckResult& part, std::int64_t first_row) {
    const bool first = all.worst_row < 0;
    const bool worse = first || (part.non_finite_elements > 0 && all.non_finite_elements == 0) ||
                       (all.non_finite_elements == 0 &&
                        part.max_error_over_tolerance > all.max_error_over_tolerance) ||
                       (part.failed_elements > 0 && all.failed_elements == 0);
    if (worse && part.worst_row >= 0) {
        all.worst_row = first_row + part.worst_row;
        all.worst_column = part.worst_column;
        all.worst_got = part.worst_got;
        all.worst_expected = part.worst_expected;
    }
    all.passed = part.passed && (first || all.passed);
    all.exact_required = part.exact_required;
    all.type = part.type;
    all.columns = part.columns;
    all.overflow.add(part.overflow, first_row * part.columns);
    all.elements += part.elements;
    all.failed_elements += part.failed_elements;
    all.non_finite_elements += part.non_finite_elements;
    all.tolerance = std::max(all.tolerance, part.tolerance);
    all.max_error = std::max(all.max_error, part.max_error);
    all.max_error_over_tolerance =
        std::max(all.max_error_over_tolerance, part.max_error_over_tolerance);
}

} // namespace tessera::workload
