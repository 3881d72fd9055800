// SPDX-License-Identifier: MIT
// A number that the machine computes in steps, each of which is rounded: what it is in double, and by
// how much the machine's may differ. A tolerance is written as the codelet is:
//
//     const Near q = near(type, x) * near(type, x);      off: one rounding
//     const Near v = near(type, x) * (constant + q);     off: the sum of three, as far as they carry over
#pragma once

#include "base/element_type.h"

namespace tessera::function {

struct Near {
    ElementType type = ElementType::F32; ///< that results are rounded to
    double exact = 0;
    double off = 0; ///< at most
};

/// A number that the machine has as it is.
[[nodiscard]] Near near(ElementType type, double exact);
/// A constant, which is rounded to the type.
[[nodiscard]] Near near_constant(ElementType type, double exact);

[[nodiscard]] Near operator+(const Near& a, const Near& b);
[[nodiscard]] Near operator-(const Near& a, const Near& b);
[[nodiscard]] Near operator*(const Near& a, const Near& b);

[[nodiscard]] Near operator/(const Near& a, const Near& b);
[[nodiscard]] Near sqrt(const Near& a);

/// The logistic function of v, by f16v2sigm or f32sigm.
[[nodiscard]] Near sigm(const Near& v);

} // namespace tessera::function
