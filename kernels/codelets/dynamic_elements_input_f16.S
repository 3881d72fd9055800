// SPDX-License-Identifier: MIT
// dynamic_elements_input.S with FP16 partials.
#define PARTIAL_BITS 16
#include "dynamic_elements_input.S"
