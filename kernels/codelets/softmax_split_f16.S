// SPDX-License-Identifier: MIT
// softmax_split.S of FP16.
#define ELEMENT_BITS 16
#include "softmax_split.S"
