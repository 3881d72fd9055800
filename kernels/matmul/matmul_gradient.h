// SPDX-License-Identifier: MIT
// The gradients of c = activation(a b + bias), or of that added to another tensor.
#pragma once

#include "kernels/family/gradient.h"

namespace tessera::matmul {

/// Products with an operand read as its transpose, and sums of rows for the bias. In front of an
/// activation whose argument is not at hand the product is made again.
[[nodiscard]] family::Steps gradient(const family::GradientRequest& request);

} // namespace tessera::matmul
