// SPDX-License-Identifier: MIT
// Reductions side by side, FP32 partials and outputs: ReduceMany_add_float. State and timing: reduce_many.h.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "reduce_many.h"
#include "vector_work.h"

REDUCE_MANY_OF float f32v4acc $a0:3

#endif
