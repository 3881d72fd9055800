// SPDX-License-Identifier: MIT
// spmm_elementwise.S with FP32 partials.
#define PARTIAL_BITS 32
#include "spmm_elementwise.S"
