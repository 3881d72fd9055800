// SPDX-License-Identifier: MIT
// dynamic_elements.S with FP16 partials.
#define PARTIAL_BITS 16
#include "dynamic_elements.S"
