// SPDX-License-Identifier: MIT
// spmm_sampled.S of FP16 data.
#define PARTIAL_BITS 32
#include "spmm_sampled.S"
