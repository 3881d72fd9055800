// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"

#include "base/float16.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::family {
namespace {

constexpr double kMostF16 = 65504;
constexpr double kLeastF16 = 0x1p-24;
constexpr double kLeastF32 = 0x1p-126;
/// Rounds to infinity in FP32.
constexpr double kBeyondF32 = 0x1.ffffffp127;

double in_range(ElementType type, double exact) {
    if (type == ElementType::F16 && std::isfinite(exact)) {
        return std::clamp(exact, -kMostF16, kMostF16);
    }
    return std::fabs(exact) >= kBeyondF32
               ? std::copysign(std::numeric_limits<double>::infinity(), exact)
               : exact;
}

template <class Number> Number read(const Value& value, std::int64_t index) {
    Number number{};
    std::memcpy(&number, &value.bytes.at(static_cast<std::size_t>(index) * sizeof number),
                sizeof number);
    return number;
}

} // namespace

std::string shape_text(const TensorType& type) {
    return type.shape.empty() ? "one element" : fmt::format("{}", fmt::join(type.shape, " x "));
}

void require_numbers(const Request& request, int number, const char* name) {
    const TensorType& type = request.inputs.at(static_cast<std::size_t>(number));
    const auto refuse = [&](const std::string& what) {
        throw Refused(number, "", fmt::format("{}: {}", name, what));
    };
    if (type.sparse != nullptr) {
        refuse("got a sparse matrix, expected a dense tensor");
    }
    if (type.type != ElementType::F16 && type.type != ElementType::F32) {
        refuse(fmt::format("got {}, expected f16 or f32", name_of(type.type)));
    }
    if (type.elements() == 0) {
        refuse(fmt::format("got {}, expected at least one element", shape_text(type)));
    }
}

void require_same_type(const Request& request) {
    const ElementType first = request.inputs.at(0).type;
    const ElementType second = request.inputs.at(1).type;
    if (first != second) {
        throw Refused(
            1, "",
            fmt::format("got {} and {}, expected equal types", name_of(first), name_of(second)));
    }
}

double number_at(const Value& value, std::int64_t index) {
    if (value.type.type == ElementType::F16) {
        return f16_to_f32(read<std::uint16_t>(value, index));
    }
    const auto single = read<float>(value, index);
    return std::fpclassify(single) == FP_SUBNORMAL ? std::copysign(0.0, single) : single;
}

double rounding(ElementType type, double exact) {
    return std::max(unit_roundoff(type) * std::fabs(exact),
                    type == ElementType::F16 ? kLeastF16 / 2 : kLeastF32);
}

Checked compare(const Value& output, const std::function<Expected(std::int64_t)>& expected) {
    Checked checked;
    checked.elements = output.type.elements();
    std::string first_wrong;
    for (std::int64_t i = 0; i < checked.elements; ++i) {
        const auto [exact, tolerance] = expected(i);
        const double wanted = in_range(output.type.type, exact);
        const double got = number_at(output, i);
        bool passed = !std::isfinite(got) && !std::isfinite(wanted);
        if (std::isfinite(got) && std::isfinite(wanted)) {
            const double error = std::fabs(got - wanted);
            passed = error <= tolerance;
            checked.max_error = std::max(checked.max_error, error);
            if (tolerance > 0) {
                checked.max_error_over_tolerance =
                    std::max(checked.max_error_over_tolerance, error / tolerance);
            }
        }
        if (!passed && checked.failed_elements++ == 0) {
            first_wrong = fmt::format("element {}: got {}, expected {}", i, got, wanted);
        }
    }
    checked.passed = checked.failed_elements == 0;
    checked.sentence =
        checked.passed
            ? fmt::format("{:.1f} % of what is allowed", 100 * checked.max_error_over_tolerance)
            : fmt::format("WRONG: {} of {} elements; first {}", checked.failed_elements,
                          checked.elements, first_wrong);
    return checked;
}

} // namespace tessera::family
