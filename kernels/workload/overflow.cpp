// SPDX-License-Identifier: MIT
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::workload {
namespace {

/// From here on rounding to nearest leaves the range.
double beyond(ElementType type) {
    return type == ElementType::F16 ? 65520 : 0x1.ffffffp127;
}

} // namespace

bool overflows(ElementType type, double exact) {
    return std::isfinite(exact) && std::fabs(exact) >= beyond(type);
}

double in_range(ElementType type, double exact) {
    if (type == ElementType::F16 && std::isfinite(exact)) {
        return std::clamp(exact, -kLargestF16, kLargestF16);
    }
    return overflows(type, exact) ? std::copysign(std::numeric_limits<double>::infinity(), exact)
                                  : exact;
}

double rounding(ElementType type, double exact) {
    constexpr double kLeastF16 = 0x1p-24;
    constexpr double kLeastF32 = 0x1p-126;
    return std::max(unit_roundoff(type) * std::fabs(exact),
                    type == ElementType::F16 ? kLeastF16 / 2 : kLeastF32);
}

void Overflow::note(std::int64_t element, double exact) {
    ++elements;
    first = first < 0 ? element : std::min(first, element);
    largest = std::max(largest, std::fabs(exact));
}

void Overflow::add(const Overflow& later, std::int64_t first_element) {
    elements += later.elements;
    if (later.first >= 0) {
        const std::int64_t other = first_element + later.first;
        first = first < 0 ? other : std::min(first, other);
    }
    largest = std::max(largest, later.largest);
}

std::string text_of(const Overflow& overflow, ElementType type, std::int64_t elements,
                    const std::string& first) {
    return fmt::format("the values overflow {}{}, which the machine {}: {} of {} elements, the "
                       "first at {}, magnitudes of the reference up to {:.6g}",
                       name_of(type),
                       overflows(type, overflow.largest) ? "" : " in sums on the way",
                       type == ElementType::F16 ? "saturates" : "makes infinite", overflow.elements,
                       elements, first, overflow.largest);
}

} // namespace tessera::workload
