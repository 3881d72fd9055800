// SPDX-License-Identifier: MIT
// cross_entropy.S of FP16.
#define ELEMENT_BITS 16
#include "cross_entropy.S"
