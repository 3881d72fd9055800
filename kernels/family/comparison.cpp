// SPDX-License-Identifier: MIT
#include "kernels/family/comparison.h"

#include "base/error.h"
#include "base/float16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::family {
namespace {

template <class Element> Element read(const Value& value, std::int64_t index) {
    Element element{};
    const auto at = static_cast<std::size_t>(index) * sizeof element;
    TESSERA_ASSERT(at + sizeof element <= value.bytes.size());
    std::memcpy(&element, value.bytes.data() + at, sizeof element);
    return element;
}

} // namespace

double element_of(const Value& value, std::int64_t index) {
    switch (value.type.type) {
    case ElementType::F16:
        return f16_to_f32(read<std::uint16_t>(value, index));
    case ElementType::F32:
        return read<float>(value, index);
    case ElementType::I32:
        return read<std::int32_t>(value, index);
    case ElementType::U32:
        return read<std::uint32_t>(value, index);
    default:
        break;
    }
    TESSERA_ASSERT(!"an element of a type that no family checks");
    return 0;
}

void Comparison::add(double got, double expected, double tolerance) {
    bool right = std::isnan(got) == std::isnan(expected);
    if (std::isfinite(got) && std::isfinite(expected)) {
        const double error = std::fabs(got - expected);
        right = error <= tolerance;
        so_far_.max_error = std::max(so_far_.max_error, error);
        if (error > 0) {
            const double of_tolerance =
                tolerance > 0 ? error / tolerance : std::numeric_limits<double>::infinity();
            so_far_.max_error_over_tolerance =
                std::max(so_far_.max_error_over_tolerance, of_tolerance);
        }
    } else if (!std::isnan(got) && !std::isnan(expected)) {
        right = got == expected; // the same infinity
    }
    if (!right && so_far_.failed_elements++ == 0) {
        first_failure_ = fmt::format("element {}: got {:g}, expected {:g} within {:g}",
                                     so_far_.elements, got, expected, tolerance);
    }
    ++so_far_.elements;
}

void Comparison::add_rounded(ElementType type, double got, double exact, double tolerance) {
    if (workload::overflows(type, exact)) {
        type_ = type;
        so_far_.overflow.note(so_far_.elements, exact);
    }
    const double wanted = workload::in_range(type, exact);
    const bool both_beyond = !std::isfinite(got) && !std::isfinite(wanted);
    add(got, both_beyond ? got : wanted, tolerance);
}

Checked Comparison::finish() const {
    Checked checked = so_far_;
    if (checked.overflow.elements > 0) {
        checked.overflow_warning =
            workload::text_of(checked.overflow, type_, checked.elements,
                              fmt::format("element {}", checked.overflow.first));
    }
    checked.passed = checked.failed_elements == 0;
    checked.sentence =
        checked.passed
            ? fmt::format("{:.1f} % of what is allowed", 100 * checked.max_error_over_tolerance)
            : fmt::format("WRONG: {} of {} elements; {}", checked.failed_elements, checked.elements,
                          first_failure_);
    return checked;
}

} // namespace tessera::family
