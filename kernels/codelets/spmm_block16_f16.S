// SPDX-License-Identifier: MIT
// spmm_block16.S with FP16 partials.
#define PARTIAL_BITS 16
#include "spmm_block16.S"
