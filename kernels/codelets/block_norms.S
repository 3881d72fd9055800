// SPDX-License-Identifier: MIT
// out[i] = sum of the magnitudes of the elements of block i, FP16 or FP32, in FP32. Worker w has blocks w, w + workers, ...
//
// Vertices block_norms_f16, block_norms_f32 (multi worker). State, words:
//     0 x             of block 0; 8-byte aligned. Blocks stand one behind the other
//     1 out           4-byte aligned, does not overlap x; neighbouring words
//     2 units         of 8 bytes in a block, at least one and at most what a repeat counts; what pads a block is zero
//     3 blocks
// Timing, worker issues with n blocks of u units: FP16 17 + n (10 + u), FP32 16 + n (7 + u); 7 without blocks.
// Source: docs/evidence.md#instruction-set (accumulator instructions).

#include "worker_share.inc"

#define x m0
#define out m1
#define step m2
#define units m3
#define blocks m4
#define from m5
#define spare m6

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $spare
        ld32    $blocks, $mvertex_base, $mzero, 3
        // blocks from this worker's first on, in steps of all workers
        sub     $blocks, $blocks, $spare
        add     $blocks, $blocks, -1
        brneg   $blocks, .Ldone_\NAME
.Lsome_blocks_\NAME:
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $out, $mvertex_base, $mzero, 1
        ld32    $units, $mvertex_base, $mzero, 2
        shl     $step, $units, 3
        mul     $from, $step, $spare
        add     $x, $x, $from
        shl     $from, $spare, 2
        add     $out, $out, $from
.endm

.macro END NAME
        st32step $a0, $mzero, $out+=, CTXT_WORKERS
        add     $blocks, $blocks, -CTXT_WORKERS
        brpos   $blocks, .Lblock_\NAME
.Ldone_\NAME:
        exitz   $mzero
.endm

        START   block_norms_f16
        { mul   $step, $step, CTXT_WORKERS ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { nop   ; uput $FP_CLR, $a0 }
.Lblock_block_norms_f16:
        { mov   $from, $x ; zero $a0:1 }
        { rpt   $units, 0 ; fnop }
.Lunit_f16:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f16v4absacc $a0:1 }
.Lend_unit_f16:
        { add   $x, $x, $step ; f16v4absacc $a0:1 }
        { nop   ; f32v2gina $a0:1, $azeros, 0 }
        { nop   ; f32v2gina $a2:3, $azeros, 0 }
        { nop   ; f32v2add $a0:1, $a0:1, $a2:3 }
        { nop   ; f32add $a0, $a0, $a1 }
        END     block_norms_f16

        START   block_norms_f32
        { mul   $step, $step, CTXT_WORKERS ; fnop }
.Lblock_block_norms_f32:
        { mov   $from, $x ; zero $a2:3 }
        { rpt   $units, 0 ; zero $a0:1 }
.Lunit_f32:
        { ld64step $a0:1, $mzero, $from+=, 1 ; f32v2absadd $a2:3, $a2:3, $a0:1 }
.Lend_unit_f32:
        { add   $x, $x, $step ; f32v2absadd $a2:3, $a2:3, $a0:1 }
        { nop   ; f32add $a0, $a2, $a3 }
        END     block_norms_f32
