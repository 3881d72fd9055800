// SPDX-License-Identifier: MIT
// out[j] = sum over rows i of x[i][j], of a block of FP16 or FP32, in FP32. Worker w has neighbouring units of 8 bytes of all rows.
//
// Vertices column_sums_f16, column_sums_f32 (multi worker). State, words:
//     0 x             of row 0; 8-byte aligned
//     1 out           8-byte aligned: 16 (f16) or 8 bytes of each unit of x
//     2               units from row to row
//     3 rows          at least one, at most what a repeat counts
//     4, 5            units / workers, units % workers, of a row
// Timing, worker issues with u units of n rows: f16 22 + u (7 + n), f32 22 + u (6 + n); 11 without units.
// Source: docs/evidence.md#instruction-set (accumulator instructions).

#include "worker_share.inc"

#define x m0
#define out m1
#define stride m2
#define rows m3
#define from m4
#define units m6
#define first m11
#define spare m9

.macro COLUMN_SUMS NAME OUT_SHIFT SUM:vararg
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX
        WORKER_SHARE 4
        brz     $units, .Ldone_\NAME
.Lsome_units_\NAME:
        add     $units, $units, -1
        ld32    $x, $mvertex_base, $mzero, 0
        ld32    $out, $mvertex_base, $mzero, 1
        ld32    $stride, $mvertex_base, $mzero, 2
        shl     $spare, $first, 3
        add     $x, $x, $spare
        shl     $spare, $first, \OUT_SHIFT
        add     $out, $out, $spare
        { ld32  $rows, $mvertex_base, $mzero, 3 ; setzi $a4, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { nop   ; uput $FP_CLR, $a4 }
        { nop   ; zero $a2:3 }
.Lunit_\NAME:
        { mov   $from, $x ; zero $a0:1 }
        { rpt   $rows, 0 ; fnop }
.Lrow_\NAME:
        { ld64step $a0:1, $mzero, $from+=, $stride ; \SUM }
.Lend_row_\NAME:
        { add   $x, $x, 8 ; \SUM }
.endm

.macro END NAME
        brnzdec $units, .Lunit_\NAME
.Ldone_\NAME:
        exitz   $mzero
.endm

        COLUMN_SUMS column_sums_f16, 4, f16v4acc $a0:1
        { nop   ; f32v2gina $a4:5, $azeros, 0 }
        { st64step $a4:5, $mzero, $out+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
        st64step $a6:7, $mzero, $out+=, 1
        END     column_sums_f16

        COLUMN_SUMS column_sums_f32, 3, f32v4acc $a0:3
        { nop   ; f32v2gina $a4:5, $azeros, 0 }
        st64step $a4:5, $mzero, $out+=, 1
        END     column_sums_f32
