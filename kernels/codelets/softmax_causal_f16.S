// SPDX-License-Identifier: MIT
// softmax_scaled.S of FP16, of causal rows.
#define ELEMENT_BITS 16
#define MASKED 0
#define CAUSAL 1
#define WHOLE softmax_causal_f16
#define PARTS softmax_causal_parts_f16
#include "softmax_scaled.S"
