// SPDX-License-Identifier: MIT
// dynamic_elements.S with FP32 partials, values where the metadata say.
#define VALUE_PLACES 1
#define PARTIAL_BITS 32
#include "dynamic_elements.S"
