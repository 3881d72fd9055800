// SPDX-License-Identifier: MIT
// Converts between numbers and the little-endian bytes of an element of any type.
#pragma once

#include "base/element_type.h"

#include <cstddef>
#include <vector>

namespace tessera::workload {

/// Returns the value of the element that starts at `bytes`.
[[nodiscard]] double element_value(ElementType type, const std::byte* bytes);

/// Appends the element nearest to `number`. Floating-point types round ties to even. For an integer
/// type, `number` must be an integer that the type can hold.
void append_element(ElementType type, double number, std::vector<std::byte>& bytes);

} // namespace tessera::workload
