// SPDX-License-Identifier: MIT
// Functions of every element, as families of kernels. f16 and f32; vertices go over an input where
// it stands, and the output stands alike in buffers of its own.
#pragma once

#include "kernels/family/family.h"

namespace tessera::elementwise {

[[nodiscard]] const family::Family& relu();     ///< max(x, 0)
[[nodiscard]] const family::Family& gelu();     ///< 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
[[nodiscard]] const family::Family& tanh();     ///< of every element
[[nodiscard]] const family::Family& sigmoid();  ///< 1 / (1 + exp(-x))
[[nodiscard]] const family::Family& swish();    ///< x sigmoid(x)
[[nodiscard]] const family::Family& rsqrt();    ///< 1 / sqrt(x)
[[nodiscard]] const family::Family& glu();      ///< x sigmoid(gate), element by element
[[nodiscard]] const family::Family& scale();    ///< factor * x
[[nodiscard]] const family::Family& dropout();  ///< some elements of x, larger; others are 0
[[nodiscard]] const family::Family& cast();     ///< x as another type
[[nodiscard]] const family::Family& add();      ///< x + y
[[nodiscard]] const family::Family& subtract(); ///< x - y
[[nodiscard]] const family::Family& multiply(); ///< x * y, element by element
[[nodiscard]] const family::Family& divide();   ///< x / y
[[nodiscard]] const family::Family& maximum();  ///< the larger one of x and y
[[nodiscard]] const family::Family& minimum();
[[nodiscard]] const family::Family& narrow(); ///< whole numbers of fewer bits
[[nodiscard]] const family::Family& exp();
[[nodiscard]] const family::Family& log(); ///< the natural logarithm
[[nodiscard]] const family::Family& square_root();
[[nodiscard]] const family::Family& bias();             ///< x + bias, a vector, in every row
[[nodiscard]] const family::Family& relu_gradient();    ///< dy where y > 0, else 0
[[nodiscard]] const family::Family& gelu_gradient();    ///< dy times the derivative of gelu at x
[[nodiscard]] const family::Family& tanh_gradient();    ///< dy times the derivative of tanh, by y
[[nodiscard]] const family::Family& sigmoid_gradient(); ///< the same of sigmoid
[[nodiscard]] const family::Family& swish_gradient();   ///< dy times the derivative of swish at x
[[nodiscard]] const family::Family& rsqrt_gradient();   ///< dy times the derivative of rsqrt, by y
[[nodiscard]] const family::Family& momentum();         ///< factor * momentum + gradient
[[nodiscard]] const family::Family& sgd();              ///< weights - rate * gradient
[[nodiscard]] const family::Family& adam();             ///< by moments of the gradient
[[nodiscard]] const family::Family& lamb();             ///< the same, by norms of tensors too
[[nodiscard]] const family::Family& scale_by();       ///< factor * x, for a factor of another step
[[nodiscard]] const family::Family& sum_of_squares(); ///< of x, or of x - target, as one number

} // namespace tessera::elementwise
