// SPDX-License-Identifier: MIT
// spmm_elementwise.S with FP16 partials.
#define PARTIAL_BITS 16
#include "spmm_elementwise.S"
