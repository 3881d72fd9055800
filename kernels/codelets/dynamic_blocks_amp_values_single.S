// SPDX-License-Identifier: MIT
// dynamic_blocks_amp_values.S with FP32 data.
#define DATA_BITS 32
#define PARTIAL_BITS 32
#include "dynamic_blocks_amp_values.S"
