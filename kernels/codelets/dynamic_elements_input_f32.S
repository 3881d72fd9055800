// SPDX-License-Identifier: MIT
// dynamic_elements_input.S with FP32 partials.
#define PARTIAL_BITS 32
#include "dynamic_elements_input.S"
