// SPDX-License-Identifier: MIT
// The backward steps of functions of every element.
#pragma once

#include "kernels/family/gradient.h"

namespace tessera::elementwise {

[[nodiscard]] family::Steps relu_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps gelu_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps tanh_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps sigmoid_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps swish_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps rsqrt_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps glu_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps scale_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps dropout_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps cast_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps add_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps multiply_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps subtract_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps divide_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps maximum_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps minimum_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps exp_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps log_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps sqrt_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps bias_backward(const family::GradientRequest& request);
[[nodiscard]] family::Steps sum_of_squares_backward(const family::GradientRequest& request);

} // namespace tessera::elementwise
