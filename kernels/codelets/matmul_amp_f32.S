// SPDX-License-Identifier: MIT
// matmul_amp.S with FP32 partials.
#define PARTIAL_BITS 32
#include "matmul_amp.S"
