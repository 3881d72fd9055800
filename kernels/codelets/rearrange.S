// SPDX-License-Identifier: MIT
// Changes of layout by all workers: worker w takes the lines w, w + workers, ...
//
// State of every vertex, words:
//     0 from, 1 to      of line 0
//     2, 3              bytes from line to line, of `from` and of `to`
//     4 lines
//     5 items           of a line; at least one
//     6                 from item to item of `from`: in words of the item, for rearrange_transpose_f16 in FP16 elements
//   rearrange_lines32, _lines64    items of 4 and 8 bytes; in `to` they are neighbours. With a step of a whole row these
//                                  are the columns of a matrix: an FP32 transpose
//   rearrange_transpose_f16        items are pairs of FP16 elements, which become neighbours in `to`
//   rearrange_cast_f16_f32, _f32_f16   items are pairs of neighbours, which stay so; word 6 is not used
// Timing, worker issues with l lines of n items: 19 + l (7 + k n), k = 2 (lines), 4 (transpose), 3 (casts); 7 without lines.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define from_line m2
#define to_line m3
#define lines m4
#define items m5
#define step m6
#define line_from m7
#define line_to m8

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $m9
        ld32    $lines, $mvertex_base, $mzero, 4
        // lines from this worker's first on, in steps of all workers
        sub     $lines, $lines, $m9
        add     $lines, $lines, -1
        brneg   $lines, .Lend_\NAME
.Lsome_lines_\NAME:
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $from_line, $mvertex_base, $mzero, 2
        ld32    $to_line, $mvertex_base, $mzero, 3
        ld32    $items, $mvertex_base, $mzero, 5
        ld32    $step, $mvertex_base, $mzero, 6
        mul     $m10, $m9, $from_line
        add     $from, $from, $m10
        mul     $m10, $m9, $to_line
        add     $to, $to, $m10
        mul     $from_line, $from_line, CTXT_WORKERS
        mul     $to_line, $to_line, CTXT_WORKERS
.Lline_\NAME:
        mov     $line_from, $from
        mov     $line_to, $to
.endm

.macro END NAME
.Lnext_line_\NAME:
        add     $from, $from, $from_line
        add     $to, $to, $to_line
        add     $lines, $lines, -CTXT_WORKERS
        brpos   $lines, .Lline_\NAME
.Lend_\NAME:
        exitz   $mzero
.endm

        START rearrange_lines32
        { rpt   $items, 1 ; fnop }
.Litem_rearrange_lines32:
        { ld32step $a0, $mzero, $line_from+=, $step ; fnop }
        { st32step $a0, $mzero, $line_to+=, 1 ; fnop }
        END rearrange_lines32

        START rearrange_lines64
        { rpt   $items, 1 ; fnop }
.Litem_rearrange_lines64:
        { ld64step $a0:1, $mzero, $line_from+=, $step ; fnop }
        { st64step $a0:1, $mzero, $line_to+=, 1 ; fnop }
        END rearrange_lines64

        START rearrange_transpose_f16
        { rpt   $items, 3 ; fnop }
.Litem_rearrange_transpose_f16:
        { ldb16step $a0, $mzero, $line_from+=, $step ; fnop }
        { ldb16step $a1, $mzero, $line_from+=, $step ; fnop }
        { nop   ; sort4x16lo $a2, $a0, $a1 }
        { st32step $a2, $mzero, $line_to+=, 1 ; fnop }
        END rearrange_transpose_f16

        START rearrange_cast_f16_f32
        { rpt   $items, 2 ; fnop }
.Litem_rearrange_cast_f16_f32:
        { ld32step $a0, $mzero, $line_from+=, 1 ; fnop }
        { nop   ; f16v2tof32 $a2:3, $a0 }
        { st64step $a2:3, $mzero, $line_to+=, 1 ; fnop }
        END rearrange_cast_f16_f32

        START rearrange_cast_f32_f16
        { rpt   $items, 2 ; fnop }
.Litem_rearrange_cast_f32_f16:
        { ld64step $a0:1, $mzero, $line_from+=, 1 ; fnop }
        { nop   ; f32v2tof16 $a2, $a0:1 }
        { st32step $a2, $mzero, $line_to+=, 1 ; fnop }
        END rearrange_cast_f32_f16
