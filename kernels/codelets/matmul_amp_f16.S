// SPDX-License-Identifier: MIT
// matmul_amp.S with FP16 partials.
#define PARTIAL_BITS 16
#include "matmul_amp.S"
