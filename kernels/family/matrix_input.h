// SPDX-License-Identifier: MIT
// The input of families that take one matrix.
#pragma once

#include "base/element_type.h"
#include "kernels/family/family.h"

#include <span>

namespace tessera::family {

/// The request's only input: dense, two sizes of at least 1, one of the types.
/// @throws Refused, which names what it got
[[nodiscard]] const TensorType& matrix_input(const Request& request,
                                             std::span<const ElementType> types);

} // namespace tessera::family
