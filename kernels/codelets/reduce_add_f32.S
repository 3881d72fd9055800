// SPDX-License-Identifier: MIT
// reduce_add.S with FP32 partials.
#define PARTIAL_BITS 32
#include "reduce_add.S"
