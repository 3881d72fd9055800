// SPDX-License-Identifier: MIT
// Numbers as the little-endian bytes of an element of any type, and back.
#pragma once

#include "base/element_type.h"

#include <cstddef>
#include <vector>

namespace tessera::workload {

/// The number of the element that starts at `bytes`.
[[nodiscard]] double element_value(ElementType type, const std::byte* bytes);

/// Appends the element nearest to the number, of floats ties to even. For a type of whole numbers it has
/// to be one of them.
void append_element(ElementType type, double number, std::vector<std::byte>& bytes);

} // namespace tessera::workload
