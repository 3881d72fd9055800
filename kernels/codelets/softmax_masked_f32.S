// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP32, with a mask.
#define ELEMENT_BITS 32
#define MASKED 1
#define CAUSAL 0
#define WHOLE softmax_masked_f32
#define PARTS softmax_masked_parts_f32
#include "softmax_scaled.S"
