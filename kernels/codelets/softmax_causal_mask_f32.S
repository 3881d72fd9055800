// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP32, of causal rows with a mask.
#define ELEMENT_BITS 32
#define MASKED 1
#define CAUSAL 1
#define WHOLE softmax_causal_mask_f32
#define PARTS softmax_causal_mask_parts_f32
#include "softmax_scaled.S"
