// SPDX-License-Identifier: MIT
// dynamic_blocks_f16.S for the gradient of the input.
#define DYNAMIC_INPUT
#include "dynamic_blocks_f16.S"
