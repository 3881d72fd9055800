// SPDX-License-Identifier: MIT
// Block-sparse times dense, 16 x 16 blocks, pattern known when planning, partials of type p (f16, f32; spmm_block16_f16.S,
// spmm_block16_f32.S). A tile walks its list of weight loads of g = 16 (f16) or 8 outputs; the columns of the dense operand
// are the rows of the matrix unit.
//
// Vertex spmm_block16_p (supervisor). State, words:
//     0 weights       16-byte aligned, region 1; blocks of 32 g bytes in weight store order (matmul_amp.S), list order
//     1 entries       list of weight loads, 12 bytes each: {x of the block, out of the block, worker entry}
//     2 entries - 1
//     3, 4            columns / workers, columns % workers
//   x of a block: [column][16] FP16; out: [column][g] p, region 1, in no 32 KiB pair that x is in. The worker
//   entry is spmm_block16_p_fresh (out starts from zero) or spmm_block16_p_add.
// Timing: once 13 worker issues and about 30 cycles; an entry costs as one weight load of matmul_amp.S with 4 worker issues more
//   than amp_add (6 more than amp_fresh). Exactly: spmm_block16_cost.h.
// Workers keep: $m2 columns - 3, $m4 bytes to this worker's columns, $m5 columns - 2.
// Source: docs/evidence.md#instruction-set.

#include "partials.inc"
#include "worker_share.inc"

        .section .text.TYPED(spmm_block16), "ax"
        .supervisor
        .align 8
        .globl TYPED(spmm_block16)
TYPED(spmm_block16):
        ld32    $m1, $m0, 0
        ld32    $m2, $m0, 1
        ld32    $m3, $m0, 2
        setzi   $m5, .Lcolumns
        runall  $m5, $m0, 0
        put     $CCCSLOAD, $m1
.Lload:
        ld32    $m5, $m2, 2
        sync    TEXCH_SYNCZONE_LOCAL
        LOAD_WEIGHTS
        runall  $m5, $m2, 0
        add     $m2, $m2, 12
        brnzdec $m3, .Lload
.Lloaded:
        sync    TEXCH_SYNCZONE_LOCAL
        br      $lr

        .worker
.Lcolumns:
        WORKER_INDEX
        LOAD_SHARE 3
        FIRST_UNIT FIRST=$m4 SPARE=$m11
        shl     $m4, $m4, 5
        OWN_UNITS UNITS=$m5
        add     $m2, $m5, -3
        add     $m5, $m5, -2
        exitz   $mzero

// An entry's blocks of x and out, for this worker.
.macro ENTRY NAME AMP_ENTRY
        .globl \NAME
\NAME:
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        add     $m0, $m0, $m4
        add     $m1, $m1, $m4
        bri     \AMP_ENTRY
.endm

        ENTRY   TYPED(spmm_block16, _fresh), TYPED(amp_fresh)
        ENTRY   TYPED(spmm_block16, _add), TYPED(amp_add)
.Lend:
