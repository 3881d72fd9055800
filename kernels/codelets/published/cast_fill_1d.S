// SPDX-License-Identifier: MIT
// Conversions of an array by six workers, and a fill by one.
//
//   Cast1D_half_float, Cast1D_float_half: out[i] = in[i]
//   Fill1D_half, Fill1D_float: out[i] = value
//   Zero1D: out[i] = 0, six workers
//
// State of Cast1D: pointer in, pointer out (8-byte aligned; in different memory elements; the FP32 input in interleaved memory
// and 16-byte aligned), u32 elements: a multiple of 4. Of Fill1D: pointer out (aligned to an element), u32 elements, the
// value: FP16 in both halves of a word, or FP32. Of Zero1D: pointer out (8-byte aligned), u32 8-byte words.
// Timing, worker issues with n = groups of 4 elements of the worker: Cast1D 2n; Fill1D and Zero1D one an 8-byte word.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define in m0
#define out m1
#define groups m2
#define worker m3
#define scratch m4
#define strides m5
#define triple m6:7
#define left m8
#define elements m9

#define x a0:1
#define x_0 a0
#define x_1 a1
#define x_hi a2:3
#define x_all a0:3
#define y_lo a4:5
#define y_hi a6:7
#define value a0:1
#define value_0 a0
#define value_1 a1
#define keep a2

// $groups of this worker less one, $in and $out at its first; it ends if it has none
.macro CAST_PROLOGUE IN_GROUP_BYTES OUT_GROUP_BYTES END
    GET_WORKER  $worker
    ld32        $elements, $mvertex_base, 2
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    shr         $groups, $elements, 2
    SHARE_OF_WORKER $groups $groups $worker $scratch
    brz         $groups, \END
    add         $groups, $groups, -1
    mul         $scratch, $worker, \IN_GROUP_BYTES
    add         $in, $in, $scratch
    mul         $scratch, $worker, \OUT_GROUP_BYTES
    add         $out, $out, $scratch
.endm

WORKER_FUNCTION Cast1D_half_float
    CAST_PROLOGUE 8 16 .Lend_half_float
    // in: 6 words on; out: from the upper word of a group 11 words on
    ldconst     $strides, CTXT_WORKERS | ((2 * CTXT_WORKERS - 1) << 10)
    ld64step    $x, $mzero, $in+=, CTXT_WORKERS
    tapack      $triple, $in, $mzero, $out
    .align 8
    { rpt       $groups, (2f - 1f) / 8 - 1 ; f16v2tof32 $y_lo, $x_0 }
1:
    { ldst64pace $x, $y_lo, $triple+=, $strides, 0b0001 ; f16v2tof32 $y_hi, $x_1 }
    { st64pace  $y_hi, $triple+=, $strides, 0b10 ; f16v2tof32 $y_lo, $x_0 }
2:
    { st64pace  $y_lo, $triple+=, $strides, 0b00 ; f16v2tof32 $y_hi, $x_1 }
    st64pace    $y_hi, $triple+=, $strides, 0b00
.Lend_half_float:
    exitz       $mzero

WORKER_FUNCTION Cast1D_float_half
    CAST_PROLOGUE 16 8 .Lend_float_half
    ldconst     $strides, (2 * CTXT_WORKERS) | (CTXT_WORKERS << 10)
    add         $scratch, $in, 8
    tapack      $triple, $in, $scratch, $out
    ld2x64pace  $x, $x_hi, $triple+=, $strides, 0b0101
    .align 8
    { rpt       $groups, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld2x64pace $x, $x_hi, $triple+=, $strides, 0b0101 ; f32v4tof16 $y_lo, $x_all }
    { st64pace  $y_lo, $triple+=, $strides, 0b10 ; fnop }
2:
    f32v4tof16  $y_lo, $x_all
    st64pace    $y_lo, $triple+=, $strides, 0b00
.Lend_float_half:
    exitz       $mzero

WORKER_FUNCTION Zero1D
    GET_WORKER  $worker
    ld32        $out, $mvertex_base, 0
    ld32        $groups, $mvertex_base, 1
    shl         $scratch, $worker, 3
    add         $out, $out, $scratch
    SHARE_OF_WORKER $groups $groups $worker $scratch
    .align 8
    { rpt       $groups, (2f - 1f) / 8 - 1 ; fnop }
1:
    { st64step  $azeros, $mzero, $out+=, CTXT_WORKERS ; fnop }
2:
    exitz       $mzero

.macro FILL TYPE LOG2_WORD_ELEMENTS
WORKER_FUNCTION Fill1D_\TYPE
    ld32        $out, $mvertex_base, 0
    ld32        $elements, $mvertex_base, 1
    ld32        $value_0, $mvertex_base, 2
    { brz       $elements, .Lend_fill_\TYPE ; mov $value_1, $value_0 }
.if \LOG2_WORD_ELEMENTS == 2
    // a half that has the upper part of its word: what stands below stays
    and         $left, $out, 2
    brz         $left, 1f
    add         $out, $out, -2
    ld32        $keep, $out, $mzero, 0
    sort4x16hi  $keep, $keep:BL, $value_0
    st32step    $keep, $mzero, $out+=, 1
    add         $elements, $elements, -1
1:
.endif
    // a word that has the upper part of its 8 bytes
    and         $left, $out, 4
    brz         $left, 1f
    cmpult      $left, $elements, (\LOG2_WORD_ELEMENTS)
    brnz        $left, 3f
    st32step    $value_0, $mzero, $out+=, 1
    add         $elements, $elements, -(\LOG2_WORD_ELEMENTS)
1:
    shr         $groups, $elements, \LOG2_WORD_ELEMENTS
    .align 8
    { rpt       $groups, (2f - 1f) / 8 - 1 ; fnop }
1:
    { st64step  $value, $mzero, $out+=, 1 ; fnop }
2:
    and         $left, $elements, (\LOG2_WORD_ELEMENTS)
    brz         $left, 3f
    st32step    $value_0, $mzero, $out+=, 1
3:
.if \LOG2_WORD_ELEMENTS == 2
    and         $left, $elements, 1
    brz         $left, .Lend_fill_\TYPE
    ld32        $keep, $out, $mzero, 0
    sort4x16hi  $keep, $value_0:BL, $keep
    st32        $keep, $out, $mzero, 0
.endif
.Lend_fill_\TYPE:
    exitz       $mzero
.endm

FILL half LOG2_WORD_ELEMENTS_half
FILL float LOG2_WORD_ELEMENTS_float

#endif
