// SPDX-License-Identifier: MIT
// What families of f16 and f32 tensors have in common: what they refuse, elements as the machine
// sees them, and the check of a result element by element.
#pragma once

#include "base/element_type.h"
#include "kernels/family/family.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace tessera::family {

/// "16 x 7"
[[nodiscard]] std::string shape_text(const TensorType& type);

inline constexpr std::array<ElementType, 2> kNumbers{ElementType::F16, ElementType::F32};

/// @throws Refused unless input `number`, called so, is of one of the types, and has an element
void require_numbers(const Request& request, int number, const char* name,
                     std::span<const ElementType> types = kNumbers);
/// @throws Refused for a sparse one
void require_dense(const Request& request, int number, const char* name);
/// @throws Refused unless the first two inputs have one type and, if they are sparse, one pattern
void require_same_type(const Request& request);

/// The request's only input: dense, of one of the types, two sizes or more. Sizes before the last two
/// number matrices. @throws Refused, which names what it got
[[nodiscard]] const TensorType& matrices_input(const Request& request,
                                               std::span<const ElementType> types);

/// An element of a value of numbers.
[[nodiscard]] double element_of(const Value& value, std::int64_t index);

/// As arithmetic of the machine sees it: FP32 subnormals are zero.
[[nodiscard]] double number_at(const Value& value, std::int64_t index);

using workload::Expected;

/// Compares elements that a run left with those of a host reference.
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

/// The result of a check, in words. `failure` describes one of the wrong elements.
[[nodiscard]] std::string sentence_of(const workload::CheckResult& result,
                                      const std::string& failure);

/// Every element of `output` against what is expected, by Comparison::add_rounded.
[[nodiscard]] Checked compare(const Value& output,
                              const std::function<Expected(std::int64_t element)>& expected);

} // namespace tessera::family
