// SPDX-License-Identifier: MIT
// dynamic_elements_values.S of FP16 data.
#define PARTIAL_BITS 32
#include "dynamic_elements_values.S"
