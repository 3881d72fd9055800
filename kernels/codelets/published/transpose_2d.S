// SPDX-License-Identifier: MIT
// out[c][r] = in[r][c], six workers.
//
//   Transpose2d_half: 4x4 blocks through the accumulators; rows and cols multiples of 4, at most 2044
//   Transpose2d_float: 2x2 blocks by exchanging words; rows and cols even
//
// State: pointer in, pointer out (8-byte aligned; in different memory elements), u16 rows, u16 cols. Worker w takes the blocks of
// columns w, w + 6, ... Up to three rows are read beyond the last one.
// Timing, worker issues: half 4 a block and 13 a column of blocks, float 5 and 7.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_IN 0
#define VERTEX_OUT 1
#define VERTEX_ROWS 4
#define VERTEX_COLS 5

#define in m0
#define out m1
#define rows m2
#define in_stride m3
#define count m4
#define worker m5
#define triple m6:7
#define strides m8
#define scratch m9
#define load m10
#define out_stride m11

#define r0 a0:1
#define r1 a2:3
#define r2 a4:5
#define r3 a6:7

// fields of the stride register, and where they go for the load and for the store
#define DOWN 1
#define NEXT_COLUMN 2
#define NEXT_BLOCK 3
#define FIELDS(LOAD, STORE) ((LOAD) | ((STORE) << 2))

WORKER_FUNCTION Transpose2d_half
    GET_WORKER  $worker
    ldz16       $count, $mvertex_base, $mzero, VERTEX_COLS
    shr         $in_stride, $count, 2
    SHARE_OF_WORKER $count $in_stride $worker $scratch
    ld32        $in, $mvertex_base, VERTEX_IN
    ld32        $out, $mvertex_base, VERTEX_OUT
    ldz16       $rows, $mvertex_base, $mzero, VERTEX_ROWS
    shr         $out_stride, $rows, 2
    ld64step    $azeros, $mzero, $in+=, $worker
    shl         $scratch, $worker, 2 + 3
    mul         $scratch, $scratch, $out_stride
    add         $out, $out, $scratch
    // down a row of in; to the next row of out; back up three of these and one word on
    shl         $scratch, $out_stride, 10
    or          $strides, $in_stride, $scratch
    mul         $scratch, $out_stride, -3
    add         $scratch, $scratch, 1
    shl         $scratch, $scratch, 22
    shr         $scratch, $scratch, 2
    or          $strides, $strides, $scratch
    add         $rows, $out_stride, -1
    bri         .Lnext_half
    .align 8
.Lblocks_half:
    mov         $load, $in
    ld64step    $r0, $mzero, $load+=, $in_stride
    ld64step    $r1, $mzero, $load+=, $in_stride
    ld64step    $r2, $mzero, $load+=, $in_stride
    // the first block: nothing to store until its first column comes out
    { ld64step  $r3, $mzero, $load+=, $in_stride ; f16v4istacc $r0, $r0, $r1, TISTACC_P0 }
    { ld64step  $r0, $mzero, $load+=, $in_stride ; f16v4istacc $r1, $r2, $r3, TISTACC_P1 }
    { ld64step  $r1, $mzero, $load+=, $in_stride ; f16v4stacc $r3, TSTACC_P0 }
    { tapack    $triple, $load, $mzero, $out ; fnop }
    { ldst64pace $r2, $r3, $triple+=, $strides, FIELDS(DOWN, NEXT_COLUMN) ; f16v4stacc $r3, TSTACC_P1 }
    { rpt       $rows, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ldst64pace $r3, $r3, $triple+=, $strides, FIELDS(DOWN, NEXT_COLUMN) ; f16v4istacc $r0, $r0, $r1, TISTACC_P0 }
    { ldst64pace $r0, $r0, $triple+=, $strides, FIELDS(DOWN, NEXT_COLUMN) ; f16v4istacc $r1, $r2, $r3, TISTACC_P1 }
    { ldst64pace $r1, $r1, $triple+=, $strides, FIELDS(DOWN, NEXT_BLOCK) ; f16v4stacc $r3, TSTACC_P0 }
    { ldst64pace $r2, $r3, $triple+=, $strides, FIELDS(DOWN, NEXT_COLUMN) ; f16v4stacc $r3, TSTACC_P1 }
2:
    { st64pace  $r3, $triple+=, $strides, NEXT_COLUMN ; f16v4istacc $r0, $r0, $r1, TISTACC_P0 }
    { st64pace  $r0, $triple+=, $strides, NEXT_COLUMN ; f16v4istacc $r1, $r0, $r1, TISTACC_P1 }
    { st64pace  $r1, $triple+=, $strides, NEXT_BLOCK ; fnop }
    ld64step    $azeros, $mzero, $in+=, CTXT_WORKERS
    mul         $scratch, $out_stride, 8 * 4 * CTXT_WORKERS
    add         $out, $out, $scratch
.Lnext_half:
    brnzdec     $count, .Lblocks_half
    exitz       $mzero

#define x a0:1
#define y a2:3
#define lo a4:5
#define hi a6:7

WORKER_FUNCTION Transpose2d_float
    GET_WORKER  $worker
    ldz16       $count, $mvertex_base, $mzero, VERTEX_COLS
    shr         $in_stride, $count, 1
    SHARE_OF_WORKER $count $in_stride $worker $scratch
    ld32        $in, $mvertex_base, VERTEX_IN
    ld32        $out, $mvertex_base, VERTEX_OUT
    ldz16       $rows, $mvertex_base, $mzero, VERTEX_ROWS
    shr         $out_stride, $rows, 1
    mov         $rows, $out_stride
    ld64step    $azeros, $mzero, $in+=, $worker
    shl         $scratch, $worker, 1 + 3
    mul         $scratch, $scratch, $out_stride
    add         $out, $out, $scratch
    shl         $out_stride, $out_stride, 3
    bri         .Lnext_float
    .align 8
    nop
.Lblocks_float:
    mov         $load, $in
    mov         $scratch, $out
    rpt         $rows, (2f - 1f) / 8 - 1
1:
    { ld64step  $x, $mzero, $load+=, $in_stride ; fnop }
    { ld64step  $y, $mzero, $load+=, $in_stride ; fnop }
    { nop ; sort4x32lo $lo, $x, $y }
    { st64      $lo, $scratch, $mzero, 0 ; sort4x32hi $hi, $x, $y }
    { st64step  $hi, $out_stride, $scratch+=, 1 ; fnop }
2:
    ld64step    $azeros, $mzero, $in+=, CTXT_WORKERS
    mul         $worker, $out_stride, 2 * CTXT_WORKERS
    add         $out, $out, $worker
.Lnext_float:
    brnzdec     $count, .Lblocks_float
    exitz       $mzero

#endif
