// SPDX-License-Identifier: MIT
// Reductions side by side, FP32 partials, FP16 outputs: ReduceMany_add_float_half. State and timing: reduce_many.h.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "reduce_many.h"
#include "vector_work.h"

REDUCE_MANY_OF float_half f32v4acc $a0:3

#endif
