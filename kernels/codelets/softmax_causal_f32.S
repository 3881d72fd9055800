// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP32, of causal rows.
#define ELEMENT_BITS 32
#define MASKED 0
#define CAUSAL 1
#define WHOLE softmax_causal_f32
#define PARTS softmax_causal_parts_f32
#include "softmax_scaled.S"
