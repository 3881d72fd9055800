// SPDX-License-Identifier: MIT
// dynamic_elements.S of FP32 data, values where the metadata say.
#define VALUE_PLACES 1
#define DATA_BITS 32
#define PARTIAL_BITS 32
#include "dynamic_elements.S"
