// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"

#include "kernels/family/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::family {
namespace {

constexpr double kLeastF16 = 0x1p-24;
constexpr double kLeastF32 = 0x1p-126;

} // namespace

std::string shape_text(const TensorType& type) {
    return type.shape.empty() ? "one element" : fmt::format("{}", fmt::join(type.shape, " x "));
}

void require_numbers(const Request& request, int number, const char* name,
                     std::span<const ElementType> types) {
    const TensorType& type = request.inputs.at(static_cast<std::size_t>(number));
    const auto refuse = [&](const std::string& what) {
        throw Refused(number, "", fmt::format("{}: {}", name, what));
    };
    if (std::find(types.begin(), types.end(), type.type) == types.end()) {
        std::string expected;
        for (std::size_t i = 0; i < types.size(); ++i) {
            expected += i == 0 ? "" : i + 1 == types.size() ? " or " : ", ";
            expected += name_of(types[i]);
        }
        refuse(fmt::format("got {}, expected {}", name_of(type.type), expected));
    }
    if (type.elements() == 0) {
        refuse(fmt::format("got {}, expected at least one element", shape_text(type)));
    }
}

void require_dense(const Request& request, int number, const char* name) {
    if (request.inputs.at(static_cast<std::size_t>(number)).sparse != nullptr) {
        throw Refused(number, "",
                      fmt::format("{}: got a sparse matrix, expected a dense tensor", name));
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
    if (request.inputs[0].sparse != request.inputs[1].sparse) {
        throw Refused(1, "", "got two patterns, expected that of the same sparse matrix");
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
    for (std::int64_t i = 0; i < output.type.stored_elements(); ++i) {
        const auto [exact, tolerance] = expected(i);
        comparison.add_rounded(output.type.type, element_of(output, i), exact, tolerance);
    }
    return comparison.finish();
}

} // namespace tessera::family
