// SPDX-License-Identifier: MIT
// Reductions side by side, FP16 partials and outputs: ReduceMany_add_half. State and timing: reduce_many.h.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "reduce_many.h"
#include "vector_work.h"

REDUCE_MANY_OF half f16v4acc $a0:1

#endif
