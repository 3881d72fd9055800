// SPDX-License-Identifier: MIT
#include "kernels/function/near.h"

#include "kernels/workload/overflow.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::function {
namespace {

/// From here on the logistic function is 0 or 1 in every type, by more than its instruction is off.
constexpr double kSaturated = 32;
/// The instruction of FP32 is right to 2.5 units in the last place.
constexpr double kSigmRoundings = 5;

/// FP16 saturates.
Near rounded(ElementType type, double exact, double off) {
    if (type == ElementType::F16) {
        off += std::max(std::fabs(exact) - workload::kLargestF16, 0.0);
    }
    return {type, exact, off + workload::rounding(type, std::fabs(exact) + off)};
}

double logistic(double v) {
    return 1 / (1 + std::exp(-v));
}

} // namespace

Near near(ElementType type, double exact) {
    return {type, exact, 0};
}

Near near_constant(ElementType type, double exact) {
    return rounded(type, exact, 0);
}

Near operator+(const Near& a, const Near& b) {
    return rounded(a.type, a.exact + b.exact, a.off + b.off);
}

Near operator-(const Near& a, const Near& b) {
    return rounded(a.type, a.exact - b.exact, a.off + b.off);
}

Near operator*(const Near& a, const Near& b) {
    return rounded(a.type, a.exact * b.exact,
                   std::fabs(a.exact) * b.off + std::fabs(b.exact) * a.off + a.off * b.off);
}

Near operator/(const Near& a, const Near& b) {
    const double exact = a.exact / b.exact;
    const double least = std::fabs(b.exact) - b.off;
    const double off = a.off + std::fabs(exact) * b.off;
    return rounded(a.type, exact,
                   off == 0    ? 0
                   : least > 0 ? off / least
                               : std::numeric_limits<double>::infinity());
}

/// A number may be 0 or a little less than it. Then its root is off by no more than the root of that.
Near sqrt(const Near& a) {
    const double exact = std::sqrt(a.exact);
    const double below = exact - std::sqrt(std::max(a.exact - a.off, 0.0));
    return rounded(a.type, exact, std::max(below, std::sqrt(a.exact + a.off) - exact));
}

Near sigm(const Near& v) {
    const double exact = logistic(v.exact);
    if (std::fabs(v.exact) - v.off > kSaturated) {
        return {v.type, exact, std::min(exact, 1 - exact)};
    }
    const double carried =
        std::max(logistic(v.exact + v.off) - exact, exact - logistic(v.exact - v.off));
    const double one = workload::rounding(v.type, exact + carried);
    return {v.type, exact, carried + (v.type == ElementType::F32 ? kSigmRoundings : 1) * one};
}

} // namespace tessera::function
