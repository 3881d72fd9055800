// SPDX-License-Identifier: MIT
// spmm_sampled.S of FP32 data.
#define DATA_BITS 32
#define PARTIAL_BITS 32
#include "spmm_sampled.S"
