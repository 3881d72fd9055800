// SPDX-License-Identifier: MIT
// softmax_gradient.S of FP32.
#define ELEMENT_BITS 32
#include "softmax_gradient.S"
