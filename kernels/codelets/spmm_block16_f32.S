// SPDX-License-Identifier: MIT
// spmm_block16.S with FP32 partials.
#define PARTIAL_BITS 32
#include "spmm_block16.S"
