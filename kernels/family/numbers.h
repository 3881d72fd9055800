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

/// As arithmetic of the machine sees it: FP32 subnormals are zero.
[[nodiscard]] double number_at(const Value& value, std::int64_t index);

/// What one rounding to the type changes at most: half of the last place; of FP16 subnormals half
/// of the least one. FP32 has none: what would be one is zero.
[[nodiscard]] double rounding(ElementType type, double exact);

/// An element as it would be with exact arithmetic, and by how much it may differ from that.
struct Expected {
    double exact = 0;
    double tolerance = 0;
};

/// Every element of `output` against what is expected, by Comparison::add_rounded.
[[nodiscard]] Checked compare(const Value& output,
                              const std::function<Expected(std::int64_t element)>& expected);

} // namespace tessera::family
