// SPDX-License-Identifier: MIT
// Functions of every element, as families of kernels. f16 and f32; vertices go over an input where
// it stands, and the output stands alike in buffers of its own.
//
//   relu      max(x, 0)
//   gelu      0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
//   scale     factor * x
//   cast      x as another type
//   add       x + y
//   multiply  x * y, element by element
//   bias      x + bias, a vector, in every row
#pragma once

#include "kernels/family/family.h"

namespace tessera::elementwise {

[[nodiscard]] const family::Family& relu();
[[nodiscard]] const family::Family& gelu();
[[nodiscard]] const family::Family& scale();
[[nodiscard]] const family::Family& cast();
[[nodiscard]] const family::Family& add();
[[nodiscard]] const family::Family& multiply();
[[nodiscard]] const family::Family& bias();

} // namespace tessera::elementwise
