// SPDX-License-Identifier: MIT
// softmax.S of FP16.
#define ELEMENT_BITS 16
#include "softmax.S"
