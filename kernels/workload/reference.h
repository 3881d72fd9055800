// SPDX-License-Identifier: MIT
// The product as the host computes it, and the check of the machine's result against this
// reference.
//
// The operands A and B and the result are all binary16 or all binary32. The reference C = A * B is
// computed in binary64: dense products by OpenBLAS, sparse ones by Eigen. Its own rounding error is
// at most k * 2^-53 of |A||B|. The tolerance leaves this out: it is 2^-29 of the tolerance's
// smallest term, k * 2^-24. The reference is exact, and so the same on every host, if all products
// are multiples of one power of two u and |A||B| <= 2^53 u. This holds for all generated operands.
//
// A dense binary16 result that need not be exact is first compared with a product in binary32,
// which takes half the time. Whatever the order of its sums, this product is off by at most
// single_precision_error(k) of |A||B|. An element whose error is nearer than that to the tolerance
// is computed again in binary64, so no verdict depends on binary32. The elements that are reported
// are computed again too. But they are chosen by their errors in binary32: the element that
// is reported as the worst may have an error that is smaller than the largest by up to that of
// binary32.
//
// The sums of absolute products |A||B| are computed in binary32. They only scale the tolerance,
// whose relative error is then at most k * 2^-24 (2.5e-4 at k = 4096). There is no safety factor.
#pragma once

#include "kernels/workload/operands.h"
#include "kernels/workload/overflow.h"
#include "kernels/workload/workload.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tessera::workload {

/// The reference of an m x n result, row-major.
struct ReferenceResult {
    std::vector<double> products;     ///< A * B
    std::vector<float> absolute_sums; ///< |A| * |B|
};

/// Returns the reference of a whole product. A must have as many columns as B has rows. Dense
/// products use `threads` threads of the host, 0 for all. The bits of the result do not depend on
/// `threads`.
[[nodiscard]] ReferenceResult reference(const DenseF16& a, const DenseF16& b, int threads = 0);
[[nodiscard]] ReferenceResult reference(const SparseF16& a, const DenseF16& b);

/// The exact value of an element, and how far the result may be from it.
struct Expected {
    double value = 0;
    double tolerance = 0;
};

/// Returns what is expected of an element of the result if more is computed after the product, such
/// as a bias. `product` is what is expected of the product's element. Empty if the product is the
/// result.
using AfterProduct =
    std::function<Expected(std::int64_t row, std::int64_t column, Expected product)>;

/// The facts that the check needs about how a result was computed.
struct CheckOptions {
    ElementType partials = ElementType::F16; ///< F32 with binary32 operands
    /// Roundings to the partials type on the longest path from a product to its element of the
    /// result, by accumulation and by reduction between workers and tiles. The planner supplies it.
    std::int64_t roundings = 0;
    /// Whether products of binary16 elements are rounded to binary16 before they are summed.
    bool half_products = false;
    /// Whether the result must equal the reference, as for integer operands.
    bool exact_required = false;
    AfterProduct after = {};
    int threads = 0; ///< threads of the host, 0 for all
};

/// Returns how far a product in binary32 may be from the exact one, relative to |A||B| as computed
/// in binary32. This is gamma / (1 - gamma) with gamma = k u / (1 - k u), u = 2^-24 (N. J. Higham,
/// Accuracy and Stability of Numerical Algorithms, section 3.5). It is infinite if k u >= 1/2.
[[nodiscard]] double single_precision_error(std::int64_t k);

/// Returns the tolerance for binary16 results of a contraction of length k, relative to |A||B|:
///     F16 partials: (roundings + 1) * 2^-11 + k * 2^-24
///     F32 partials: (roundings + 1) * 2^-24 + k * 2^-24 + 2^-11
/// and 2^-11 more if products are rounded to binary16.
/// The term k * 2^-24 allows for sums in binary32 inside a dot product. With F32 partials, 2^-11
/// allows for the last rounding, to binary16. With F16 partials, the + 1 allows for the last
/// rounding.
[[nodiscard]] double tolerance(const CheckOptions& options, std::int64_t k);
/// Returns the same for binary32 operands and results: (roundings + 1) * 2^-24. The + 1 allows for
/// the rounding of a product.
[[nodiscard]] double tolerance_f32(const CheckOptions& options);

/// The result of a check. An element c passes if it is finite and |c - reference| <= tolerance *
/// |A||B|. If exactness is required, it passes if c == reference. With CheckOptions::after, the
/// value and the tolerance that `after` returns are used instead.
///
/// Small numbers are allowed more. If 0 < |A||B| < 2^-14, the smallest normal binary16, each
/// rounding to binary16 may be off by 2^-25 instead of 2^-11 |A||B|. With binary32 operands each of
/// the k products and each rounding may lose 2^-126, because subnormal numbers become zero.
///
/// The check accepts overflow by large numbers. The machine saturates a binary16 result. If it sums
/// in binary16 or rounds products to it, it also saturates each sum and product. Let P be the sum
/// of the positive products, N the sum of the magnitudes of the negative ones, and M = 65504. Such
/// an element is then between min(P - N, M - N) and max(P - N, P - M), whatever the order of its
/// sums. An overflow in binary32 gives infinities, and several infinities may give NaN.
struct CheckResult {
    bool passed = false;
    bool exact_required = false;
    std::int64_t elements = 0;
    std::int64_t failed_elements = 0;
    std::int64_t non_finite_elements = 0; ///< infinite or NaN in the result, which fails
    double tolerance = 0.0;               ///< relative tolerance of the product
    double max_error = 0.0;               ///< largest |c - reference| of the finite elements
    /// The largest quotient of an element's error and the error allowed for it; 1 still passes.
    /// Only finite elements count, and only those whose allowed error is not 0.
    double max_error_over_tolerance = 0.0;
    /// The worst element: the first that is not finite, else the first with the largest quotient of
    /// error and allowed error. The quotient is infinite if 0 is allowed but the error is not 0. -1
    /// if the result has no elements.
    std::int64_t worst_row = -1;
    std::int64_t worst_column = -1;
    double worst_got = 0.0;
    double worst_expected = 0.0;
    ElementType type = ElementType::F16; ///< element type of the result
    std::int64_t columns = 1;            ///< columns of the result
    Overflow overflow;
};

/// Returns a sentence that reports the overflow: how many elements, the first one, the magnitudes.
[[nodiscard]] std::string overflow_text(const CheckResult& result);

/// Adds to `all` the check of further rows of the same result, which begin at `first_row`.
void join(CheckResult& all, const CheckResult& part, std::int64_t first_row);

/// Checks a machine's result, a.rows x b.columns in row-major order, against the host's reference.
/// The reference is computed in panels of several rows. Asserts that the shapes match.
[[nodiscard]] CheckResult check(std::span<const std::uint16_t> result, const DenseF16& a,
                                const DenseF16& b, const CheckOptions& options);
[[nodiscard]] CheckResult check(std::span<const float> result, const DenseF32& a, const DenseF32& b,
                                const CheckOptions& options);
[[nodiscard]] CheckResult check(std::span<const std::uint16_t> result, const SparseF16& a,
                                const DenseF16& b, const CheckOptions& options);
[[nodiscard]] CheckResult check(std::span<const float> result, const SparseF32& a,
                                const DenseF32& b, const CheckOptions& options);

} // namespace tessera::workload
