// SPDX-License-Identifier: MIT
// layer_norm.S of FP32.
#define ELEMENT_BITS 32
#include "layer_norm.S"
