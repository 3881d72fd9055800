// SPDX-License-Identifier: MIT
// reduce_add.S of FP32 data.
#define DATA_BITS 32
#define PARTIAL_BITS 32
#include "reduce_add.S"
