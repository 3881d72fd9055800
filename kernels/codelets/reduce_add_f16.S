// SPDX-License-Identifier: MIT
// reduce_add.S with FP16 partials.
#define PARTIAL_BITS 16
#include "reduce_add.S"
