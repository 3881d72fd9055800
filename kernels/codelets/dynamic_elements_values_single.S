// SPDX-License-Identifier: MIT
// dynamic_elements_values.S of FP32 data.
#define DATA_BITS 32
#define PARTIAL_BITS 32
#include "dynamic_elements_values.S"
