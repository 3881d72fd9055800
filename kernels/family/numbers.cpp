// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"

#include "base/error.h"
#include "kernels/workload/element_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::family {
namespace {

constexpr double kLeastF32 = 0x1p-126;

/// "f16, i32 or u32"
std::string names_of(std::span<const ElementType> types) {
    std::string names;
    for (std::size_t i = 0; i < types.size(); ++i) {
        names += i == 0 ? "" : i + 1 == types.size() ? " or " : ", ";
        names += name_of(types[i]);
    }
    return names;
}

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
        refuse(fmt::format("got {}, expected {}", name_of(type.type), names_of(types)));
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

const TensorType& matrices_input(const Request& request, std::span<const ElementType> types) {
    TESSERA_ASSERT(request.inputs.size() == 1);
    const TensorType& input = request.inputs.front();
    const auto refuse = [](const std::string& what) { throw Refused(0, "", what); };
    if (input.sparse != nullptr) {
        refuse("got a sparse matrix, expected a dense one");
    }
    if (input.shape.size() < 2) {
        refuse(fmt::format("got a tensor of {} size{}, expected rows and columns",
                           input.shape.size(), input.shape.size() == 1 ? "" : "s"));
    }
    if (input.elements() < 1) {
        refuse(fmt::format("got {} elements, expected at least one row and one column",
                           shape_text(input)));
    }
    if (std::find(types.begin(), types.end(), input.type) == types.end()) {
        refuse(fmt::format("got elements of type {}, expected {}", name_of(input.type),
                           names_of(types)));
    }
    return input;
}

double element_of(const Value& value, std::int64_t index) {
    const auto size = static_cast<std::size_t>(bytes_of(value.type.type));
    const std::size_t at = static_cast<std::size_t>(index) * size;
    TESSERA_ASSERT(at + size <= value.bytes.size());
    return workload::element_value(value.type.type, value.bytes.data() + at);
}

double number_at(const Value& value, std::int64_t index) {
    const double element = element_of(value, index);
    const bool is_zero = value.type.type == ElementType::F32 && std::fabs(element) < kLeastF32;
    return is_zero ? std::copysign(0.0, element) : element;
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
    checked.sentence = sentence_of(checked, first_failure_);
    return checked;
}

std::string sentence_of(const workload::CheckResult& result, const std::string& failure) {
    return result.passed
               ? fmt::format("{:.1f} % of what is allowed", 100 * result.max_error_over_tolerance)
               : fmt::format("WRONG: {} of {} elements; {}", result.failed_elements,
                             result.elements, failure);
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
