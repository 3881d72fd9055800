// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP16, with a mask.
#define ELEMENT_BITS 16
#define MASKED 1
#define CAUSAL 0
#define WHOLE softmax_masked_f16
#define PARTS softmax_masked_parts_f16
#include "softmax_scaled.S"
