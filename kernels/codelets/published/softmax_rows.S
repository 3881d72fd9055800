// SPDX-License-Identifier: MIT
// Softmax of each row of an FP16 matrix in place, six workers: exp(x - max) / sum of these.
//
//   SoftmaxRows_half
//
// State: pointer data (8-byte aligned), u16 rows, u16 columns: a multiple of 4. Worker w takes the rows w, w + 6, ...
// Sums are FP32. Timing, worker issues a row of n 8-byte words: 10n and a constant.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_DATA 0
#define VERTEX_ROWS 2
#define VERTEX_COLS 3

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)

#define data m0
#define rows m1
#define words m2
#define words_m1 m3
#define worker m4
#define scratch m5
#define load m6
#define store m7

#define x a0:1
#define y a2:3
#define y_0 a2
#define y_1 a3
#define sums a4:5
#define sum_0 a4
#define sum_1 a5
#define more_sums a6:7
#define most a6
#define factor a6

// the larger of the two halves, in both
.macro MAX_OF_HALVES X SCRATCH
    roll16      \SCRATCH, \X, \X
    f16v2max    \X, \X, \SCRATCH
.endm

WORKER_FUNCTION SoftmaxRows_half
    GET_WORKER  $worker
    ldz16       $rows, $mvertex_base, $mzero, VERTEX_ROWS
    SHARE_OF_WORKER $rows $rows $worker $scratch
    ld32        $data, $mvertex_base, VERTEX_DATA
    ldz16       $words, $mvertex_base, $mzero, VERTEX_COLS
    shr         $words, $words, 2
    { add       $words_m1, $words, -1 ; setzi $sum_0, ZAACC_BITMASK }
    { mul       $scratch, $worker, $words ; uput $FP_CLR, $sum_0 }
    shl         $scratch, $scratch, 3
    add         $data, $data, $scratch
    bri         .Lnext
    .align 8
.Lrow:
    mov         $load, $data
    ld64step    $x, $mzero, $load+=, 1
    { rpt       $words_m1, (2f - 1f) / 8 - 1 ; mov $y, $x }
1:
    { ld64step  $x, $mzero, $load+=, 1 ; f16v4max $y, $y, $x }
2:
    f16v4max    $y, $y, $x
    f16v2max    $most, $y_0, $y_1
    MAX_OF_HALVES $most $y_0
    // the larger the column, the nearer to the largest: all exponents are 0 or less
    { mov       $load, $data ; f16v2sub $most, $azero, $most }
    { mov       $store, $data ; fnop }
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $load+=, 1 ; fnop }
    { nop ; f16v4add $y, $most:BL, $x }
    { nop ; f16v2exp $y_0, $y_0 }
    { nop ; f16v2exp $y_1, $y_1 }
    { st64step  $y, $mzero, $store+=, 1 ; f16v4acc $y }
2:
    f32v2gina   $sums, $azeros, 0
    f32v2gina   $more_sums, $azeros, 0
    f32v2add    $sums, $sums, $more_sums
    f32add      $sum_0, $sum_0, $sum_1
    f32oox      $sum_0, $sum_0
    { mov       $load, $data ; f32tof16 $factor, $sum_0 }
    { ld64step  $x, $mzero, $load+=, 1 ; fnop }
    .align 8
    { rpt       $words_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $load+=, 1 ; f16v4mul $y, $factor:BL, $x }
    { st64step  $y, $mzero, $data+=, 1 ; fnop }
2:
    f16v4mul    $y, $factor:BL, $x
    st64step    $y, $mzero, $data+=, 1
    // five rows of other workers
    mul         $scratch, $words, 8 * (CTXT_WORKERS - 1)
    add         $data, $data, $scratch
.Lnext:
    brnzdec     $rows, .Lrow
    exitz       $mzero

#endif
