// SPDX-License-Identifier: MIT
// out[i] = apply_element(in[i]), where the function is another source's; six workers.
//
//   ApplyElements_float
//
// State: pointer in, pointer out, u32 elements. `apply_element` is as apply.h says: with apply_default.S alone the function doubles; another source that
// defines it wins.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "apply.h"
#include "vector_work.h"

#define in m0
#define out m1
#define elements m2
#define worker m3
#define divisor m4

    .extern apply_element

WORKER_FUNCTION ApplyElements_float
    GET_WORKER  $worker
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $elements, $mvertex_base, 2
    SHARE_OF_WORKER $elements $elements $worker $divisor
    ld32step    $mzero, $mzero, $in+=, $worker
    shl         $worker, $worker, 2
    add         $out, $out, $worker
    bri         2f
1:
    ld32step    $element, $mzero, $in+=, CTXT_WORKERS
    call        $lr, apply_element
    st32step    $element, $mzero, $out+=, CTXT_WORKERS
2:
    brnzdec     $elements, 1b
    exitz       $mzero

#endif
