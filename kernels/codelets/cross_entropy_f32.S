// SPDX-License-Identifier: MIT
// cross_entropy.S of FP32.
#define ELEMENT_BITS 32
#include "cross_entropy.S"
