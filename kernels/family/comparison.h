// SPDX-License-Identifier: MIT
// Compares elements that a run left with those of a host reference.
#pragma once

#include "kernels/family/family.h"

#include <cstdint>
#include <string>

namespace tessera::family {

/// An element of an f16 or f32 value.
[[nodiscard]] double element_of(const Value& value, std::int64_t index);

class Comparison {
public:
    /// The next element. Right is what differs by at most `tolerance`; an infinity or a NaN is
    /// right where the reference has the same.
    void add(double got, double expected, double tolerance);
    /// The same of a number that was rounded to the type: see workload/overflow.h. FP16 arithmetic on
    /// an infinity gives NaN, so where the exact number is infinite or NaN either is right.
    void add_rounded(ElementType type, double got, double exact, double tolerance);
    [[nodiscard]] Checked finish() const;

private:
    Checked so_far_;
    ElementType type_ = ElementType::F16; ///< of elements that were rounded
    std::string first_failure_;
};

} // namespace tessera::family
