// SPDX-License-Identifier: MIT
// The shapes of the parts of a vertex file.
#pragma once

#include "kernels/vertex/spec.h"

namespace tessera::vertex {

[[nodiscard]] const config::Shape& array_shape();
[[nodiscard]] const config::Shape& state_shape();
[[nodiscard]] const config::Shape& call_shape();

} // namespace tessera::vertex
