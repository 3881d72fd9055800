// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP32, without a mask.
#define ELEMENT_BITS 32
#define MASKED 0
#define CAUSAL 0
#define WHOLE softmax_scaled_f32
#define PARTS softmax_scaled_parts_f32
#include "softmax_scaled.S"
