// SPDX-License-Identifier: MIT
// softmax.S of FP32.
#define ELEMENT_BITS 32
#include "softmax.S"
