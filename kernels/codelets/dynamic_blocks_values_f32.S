// SPDX-License-Identifier: MIT
// dynamic_blocks_values.S with FP16 data.
#define PARTIAL_BITS 32
#include "dynamic_blocks_values.S"
