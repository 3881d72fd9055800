// SPDX-License-Identifier: MIT
// The gradients of c = a b with a sparse a, or of that added to another tensor.
#pragma once

#include "kernels/family/gradient.h"

namespace tessera::sparse {

/// That of b by a product with the same matrix, read as its transpose; that of the values of a by a
/// product at the places that a stores.
[[nodiscard]] family::Steps gradient(const family::GradientRequest& request);

} // namespace tessera::sparse
