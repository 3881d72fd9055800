// SPDX-License-Identifier: MIT
// softmax_gradient.S of FP16.
#define ELEMENT_BITS 16
#include "softmax_gradient.S"
