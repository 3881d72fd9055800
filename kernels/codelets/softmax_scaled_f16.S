// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP16, without a mask.
#define ELEMENT_BITS 16
#define MASKED 0
#define CAUSAL 0
#define WHOLE softmax_scaled_f16
#define PARTS softmax_scaled_parts_f16
#include "softmax_scaled.S"
