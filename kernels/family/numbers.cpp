// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"

#include "kernels/family/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    const double element = element_of(value, index);
    const bool is_zero = value.type.type == ElementType::F32 && std::fabs(element) < kLeastF32;
    return is_zero ? std::copysign(0.0, element) : element;
}

double rounding(ElementType type, double exact) {
    return std::max(unit_roundoff(type) * std::fabs(exact),
                    type == ElementType::F16 ? kLeastF16 / 2 : kLeastF32);
}

Checked compare(const Value& output, const std::function<Expected(std::int64_t)>& expected) {
    Comparison comparison;
    for (std::int64_t i = 0; i < output.type.elements(); ++i) {
        const auto [exact, tolerance] = expected(i);
        const double wanted = in_range(output.type.type, exact);
        const double got = element_of(output, i);
        const bool both_beyond = !std::isfinite(got) && !std::isfinite(wanted);
        comparison.add(got, both_beyond ? got : wanted, tolerance);
    }
    return comparison.finish();
}

} // namespace tessera::family
