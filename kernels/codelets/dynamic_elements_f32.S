// SPDX-License-Identifier: MIT
// dynamic_elements.S with FP32 partials.
#define PARTIAL_BITS 32
#include "dynamic_elements.S"
