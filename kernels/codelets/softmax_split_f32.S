// SPDX-License-Identifier: MIT
// softmax_split.S of FP32.
#define ELEMENT_BITS 32
#include "softmax_split.S"
