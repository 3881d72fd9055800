// SPDX-License-Identifier: MIT
// layer_norm.S of FP16.
#define ELEMENT_BITS 16
#include "layer_norm.S"
