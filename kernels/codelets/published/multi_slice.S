// SPDX-License-Identifier: MIT
// Gather: copies slices of a table by index, six workers. Indices outside the table leave their output as it is.
//
//   MultiSlice_half, MultiSlice_float
//
// State: pointer to offsets (u32), pointer base (the table), pointer out, u32 first index of the table, u16 offsets, u16 slices in
// the table, u16 elements of a slice. Base and out are aligned to an element.
// Worker w takes the offsets w, w + 6, ...
// A slice whose two addresses and length are multiples of 8 bytes goes by 8, of 4 bytes by 4, else (half only) by half-words:
// there each word of the output is read, changed and written, which is why slices of half-words whose words are shared between
// workers are all done by worker 0.
// Timing, worker issues a slice of n accesses: 2n and a constant (half-words: 8 and 9 in turn).
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_OFFSETS 0
#define VERTEX_BASE 1
#define VERTEX_OUT 2
#define VERTEX_FIRST 3
#define VERTEX_NUM_OFFSETS 8
#define VERTEX_NUM_BASE 9
#define VERTEX_SLICE_ELEMENTS 10

#define offsets m0
#define base m1
#define out m2
#define first m3
#define num_offsets m4
#define num_base m5
#define slice_bytes m6
#define worker m7
#define step m7
#define index m8
#define from m9
#define to m10
#define scratch m11

#define x a0:1
#define x_0 a0
#define keep a2
#define merged a3

// one half-word from $from to $to, both advance
.macro COPY_HALF_WORD
    ldb16step   $x_0, $mzero, $from+=, 1
    and         $scratch, $to, 2
    brz         $scratch, 1f
    // the upper half of the word at $to - 2
    add         $to, $to, -2
    ld32        $keep, $to, $mzero, 0
    sort4x16hi  $merged, $keep:BL, $x_0
    st32step    $merged, $mzero, $to+=, 1
    bri         2f
1:
    ld32        $keep, $to, $mzero, 0
    sort4x16hi  $merged, $x_0:BL, $keep
    st32        $merged, $to, $mzero, 0
    add         $to, $to, 2
2:
.endm

.macro MULTI_SLICE TYPE LOG2_ELEMENT_BYTES
WORKER_FUNCTION MultiSlice_\TYPE
    GET_WORKER  $worker
    ld32        $offsets, $mvertex_base, VERTEX_OFFSETS
    ld32        $base, $mvertex_base, VERTEX_BASE
    ld32        $out, $mvertex_base, VERTEX_OUT
    ld32        $first, $mvertex_base, VERTEX_FIRST
    ldz16       $num_offsets, $mvertex_base, $mzero, VERTEX_NUM_OFFSETS
    ldz16       $num_base, $mvertex_base, $mzero, VERTEX_NUM_BASE
    ldz16       $slice_bytes, $mvertex_base, $mzero, VERTEX_SLICE_ELEMENTS
    shl         $slice_bytes, $slice_bytes, \LOG2_ELEMENT_BYTES
.if \LOG2_ELEMENT_BYTES == 1
    or          $scratch, $slice_bytes, $out
    and         $scratch, $scratch, 3
    brz         $scratch, 1f
    brnz        $worker, .Lend_\TYPE
    setzi       $step, 1
    bri         .Lnext_\TYPE
1:
.endif
    SHARE_OF_WORKER $num_offsets $num_offsets $worker $scratch
    ld32step    $mzero, $mzero, $offsets+=, $worker
    mul         $scratch, $worker, $slice_bytes
    add         $out, $out, $scratch
    setzi       $step, CTXT_WORKERS
    bri         .Lnext_\TYPE
.Lslice_\TYPE:
    ld32step    $index, $mzero, $offsets+=, $step
    sub         $index, $index, $first
    cmpult      $scratch, $index, $num_base
    brz         $scratch, .Lskip_\TYPE
    mul         $from, $index, $slice_bytes
    add         $from, $from, $base
    mov         $to, $out
    or          $scratch, $from, $to
    or          $scratch, $scratch, $slice_bytes
    and         $index, $scratch, 7
    brnz        $index, .Lby_4_\TYPE
    shr         $index, $slice_bytes, 3
    .align 8
    { rpt       $index, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $from+=, 1 ; fnop }
    { st64step  $x, $mzero, $to+=, 1 ; fnop }
2:
    bri         .Lskip_\TYPE
.Lby_4_\TYPE:
.if \LOG2_ELEMENT_BYTES == 1
    and         $index, $scratch, 3
    brnz        $index, .Lby_2_\TYPE
.endif
    shr         $index, $slice_bytes, 2
    .align 8
    { rpt       $index, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld32step  $x_0, $mzero, $from+=, 1 ; fnop }
    { st32step  $x_0, $mzero, $to+=, 1 ; fnop }
2:
.Lskip_\TYPE:
    mul         $scratch, $slice_bytes, $step
    add         $out, $out, $scratch
.Lnext_\TYPE:
    brnzdec     $num_offsets, .Lslice_\TYPE
.Lend_\TYPE:
    exitz       $mzero
.if \LOG2_ELEMENT_BYTES == 1
.Lby_2_\TYPE:
    shr         $index, $slice_bytes, 1
    bri         .Lhalf_words_\TYPE
.Lhalf_word_\TYPE:
    COPY_HALF_WORD
.Lhalf_words_\TYPE:
    brnzdec     $index, .Lhalf_word_\TYPE
    bri         .Lskip_\TYPE
.endif
.endm

MULTI_SLICE half 1
MULTI_SLICE float 2

#endif
