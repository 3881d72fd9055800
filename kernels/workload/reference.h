// SPDX-License-Identifier: MIT
// The host's own result of a product, and the check of a machine's result against it.
//
// The reference C = A * B is computed from the operands, binary16 or, both of them and the result,
// binary32, dense by OpenBLAS and sparse by Eigen, in binary64. That one's own error is left out of the tolerance: at most k * 2^-53 of
// |A||B|, 2^-29 of the smallest term k * 2^-24 that the tolerance allows; and it is exact, so the
// same on every host, when all products are multiples of one power of two u and |A||B| <= 2^53 u, as
// with every generated operand.
//
// A dense binary16 result that need not be exact is first held against a product in binary32, at half the
// time. Whatever the order of its sums, that one is off by at most single_precision_error(k) of
// |A||B|: an element nearer than that to what is just allowed is computed again in binary64, so that
// no verdict depends on it. So are the elements that are told of. Which those are may be off by as
// much: an error hardly smaller than the largest may be told instead.
//
// The sums of absolute products |A||B| are computed in binary32: they only scale the tolerance,
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

/// m x n, row-major.
struct ReferenceResult {
    std::vector<double> products;     ///< A * B
    std::vector<float> absolute_sums; ///< |A| * |B|
};

/// The reference of a whole product. A's columns must be B's rows. `threads` of the host, for dense
/// products, 0 for all of them; the bits do not depend on it.
[[nodiscard]] ReferenceResult reference(const DenseF16& a, const DenseF16& b, int threads = 0);
[[nodiscard]] ReferenceResult reference(const SparseF16& a, const DenseF16& b);

/// An element as exact arithmetic has it, and by how much the result may differ from that.
struct Expected {
    double value = 0;
    double tolerance = 0;
};

/// What is expected where a product's element is not the result yet, but goes on:
/// empty where it is.
using AfterProduct =
    std::function<Expected(std::int64_t row, std::int64_t column, Expected product)>;

/// How a result was computed, as far as the check needs to know.
struct CheckOptions {
    ElementType partials = ElementType::F16; ///< F32 with binary32 operands
    /// Roundings to the partials type on the longest path from a product to its element of the
    /// result: those of accumulation and of reduction between workers and tiles. The planner knows.
    std::int64_t roundings = 0;
    /// Products of binary16 elements are rounded to binary16 before they are summed.
    bool half_products = false;
    /// Integer operands: the result must equal the reference.
    bool exact_required = false;
    AfterProduct after = {};
    int threads = 0; ///< of the host, 0 for all of them
};

/// How far a product in binary32 may be from the exact one, relative to |A||B| as computed in
/// binary32: gamma / (1 - gamma) with gamma = k u / (1 - k u), u = 2^-24 (N. J. Higham, Accuracy and
/// Stability of Numerical Algorithms, section 3.5); infinite where k u is a half or more.
[[nodiscard]] double single_precision_error(std::int64_t k);

/// The relative tolerance for results of a contraction of length k, in binary16:
///     F16 partials: (roundings + 1) * 2^-11 + k * 2^-24
///     F32 partials: (roundings + 1) * 2^-24 + k * 2^-24 + 2^-11
/// and 2^-11 more where products are rounded.
/// The term k * 2^-24 is for sums inside a dot product in binary32. With F32 partials the result is
/// rounded once more, to binary16: the 2^-11. With F16 partials that last rounding is the + 1.
[[nodiscard]] double tolerance(const CheckOptions& options, std::int64_t k);
/// In binary32, with binary32 operands: (roundings + 1) * 2^-24, the + 1 for that of a product.
[[nodiscard]] double tolerance_f32(const CheckOptions& options);

/// Where the values overflow binary16 the machine saturates, and that is right: in the result, and
/// where it sums in binary16 or rounds products to it, in each sum and product on the way. With P the
/// sum of the positive products, N that of the magnitudes of the negative ones and M = 65504, such
/// an element is between min(P - N, M - N) and max(P - N, P - M), whatever the order of its sums.
/// An overflow in binary32 makes infinities, and NaN of several.
///
/// What the check found. An element passes if it is finite and |c - reference| <= tolerance *
/// (|A||B|) (where 0 < |A||B| < 2^-14, the least normal binary16, each rounding to binary16 may be
/// off by 2^-25 instead of 2^-11 |A||B|; with binary32 operands each of the k products and of the
/// roundings may lose 2^-126, as subnormal numbers become zero), or, where exactness is required, if
/// c == reference. What CheckOptions::after says of the two is compared in their place.
struct CheckResult {
    bool passed = false;
    bool exact_required = false;
    std::int64_t elements = 0;
    std::int64_t failed_elements = 0;
    std::int64_t non_finite_elements = 0; ///< infinite or NaN in the result; they fail
    double tolerance = 0.0;               ///< of the product
    double max_error = 0.0;               ///< largest |c - reference| of the finite elements
    /// Largest |c - reference| over what is allowed of the finite elements where that is not 0: 1 is
    /// just allowed.
    double max_error_over_tolerance = 0.0;
    /// The element that is worst: one that is not finite, else the largest error over its tolerance
    /// (infinite where |A||B| is 0 and the error is not), else the first. -1 without elements.
    std::int64_t worst_row = -1;
    std::int64_t worst_column = -1;
    double worst_got = 0.0;
    double worst_expected = 0.0;
    ElementType type = ElementType::F16; ///< of the result
    std::int64_t columns = 1;            ///< of the result
    Overflow overflow;
};

/// Where the overflow begins, and how far it goes, as a sentence.
[[nodiscard]] std::string overflow_text(const CheckResult& result);

/// Adds what was found of the rows from `first_row` on.
void join(CheckResult& all, const CheckResult& part, std::int64_t first_row);

/// Checks a machine's result, row-major of a.rows x b.columns, against the host reference,
/// whose rows are computed a panel at a time. Shapes that do not match are a broken invariant.
[[nodiscard]] CheckResult check(std::span<const std::uint16_t> result, const DenseF16& a,
                                const DenseF16& b, const CheckOptions& options);
[[nodiscard]] CheckResult check(std::span<const float> result, const DenseF32& a, const DenseF32& b,
                                const CheckOptions& options);
[[nodiscard]] CheckResult check(std::span<const std::uint16_t> result, const SparseF16& a,
                                const DenseF16& b, const CheckOptions& options);
[[nodiscard]] CheckResult check(std::span<const float> result, const SparseF32& a,
                                const DenseF32& b, const CheckOptions& options);

} // namespace tessera::workload
