// SPDX-License-Identifier: MIT
// layer_norm_gradient.S of FP16.
#define ELEMENT_BITS 16
#include "layer_norm_gradient.S"
