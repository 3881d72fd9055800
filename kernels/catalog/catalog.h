// SPDX-License-Identifier: MIT
// The families of kernels that a pipeline's steps may name.
#pragma once

#include "kernels/family/family.h"

#include <span>
#include <string_view>
#include <vector>

namespace tessera::catalog {

using Families = std::span<const family::Family* const>;

/// All of them, in the order in which they are listed.
[[nodiscard]] const std::vector<const family::Family*>& families();

/// Null where there is none of that name.
[[nodiscard]] const family::Family* find(std::string_view name, Families among = families());

/// Tells the state that an optimiser's steps read and write beside the weights and their gradient. It is
/// 0 at first: the inputs from the third on, and the outputs from the second on.
[[nodiscard]] std::vector<family::TensorType> optimiser_state(const family::Family& optimiser,
                                                              const family::TensorType& weights);

} // namespace tessera::catalog
