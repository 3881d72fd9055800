// SPDX-License-Identifier: MIT
// layer_norm_gradient.S of FP32.
#define ELEMENT_BITS 32
#include "layer_norm_gradient.S"
