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
    [[nodiscard]] Checked finish() const;

private:
    Checked so_far_;
    std::string first_failure_;
};

} // namespace tessera::family
