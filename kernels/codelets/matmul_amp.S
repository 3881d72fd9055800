// SPDX-License-Identifier: MIT
// Dense matrix product on the matrix unit, FP16 inputs, partials of type p (f16, f32; matmul_amp_f16.S, matmul_amp_f32.S):
// g = 16 (f16) or 8 outputs x 16 inputs a weight load.
//
// Vertices (supervisor): matmul_p_fresh starts the sums from zero and does not read `out`;
//   matmul_p_add adds onto `out`. State, words:
//     0 weights       16-byte aligned, region 1; [out group][k group] blocks of 32 g bytes in weight store order
//     1 x             [k group][row][16] FP16
//     2 out           [out group][row][g] p, region 1, in no 32 KiB pair that x is in
//     3 stride        bytes from group to group of x and of out: rows * 32
//     4, 5            rows / workers, rows % workers
//     6, 7            out groups - 1, k groups - 1
//   The first rows % workers workers take one row more; 0 rows are allowed. `weights`, `x` and `out` are 8-byte aligned.
// Weight store order: output channel c and inputs 4n .. 4n+3 stand in CWEI[4 u + n]; u = c with f32, and
//   8 * ((c >> 1) & 1) + 2 * (c >> 2) + (c & 1) with f16.
// Timing: W workers, n = ceil(rows / W) > 2: a weight load costs 2 g cycles of ld128putcs, about 20 of launch and
//   sync, and W * (4 n + 16) of workers (W * (4 n + 14) when fresh). Exactly: matmul_amp_cost.h.
// Workers keep, between the launches of a vertex: $m0 x of the group, $m1 out, $m2 rows - 3, $m3 stride, $m4 x, $m5 rows - 2.
// Source: matrix-unit recipe and paced accesses of the instruction set, docs/evidence.md#instruction-set;
//   docs/models/amp_vertex.md lists the cycles of every instruction.

#include "partials.inc"
#include "worker_share.inc"

        .section .text.TYPED(matmul), "ax"
        .supervisor
        .align 8
        .globl TYPED(matmul, _fresh)
        .globl TYPED(matmul, _add)

TYPED(matmul, _fresh):
        ld32    $m1, $m0, 0
        setzi   $m5, .Lstart_fresh
        setzi   $m6, .Lnext_out_fresh
        bri     .Lwalk
TYPED(matmul, _add):
        ld32    $m1, $m0, 0
        setzi   $m5, .Lstart_add
        setzi   $m6, .Lnext_out_add
.Lwalk:
        ld32    $m3, $m0, 6
        ld32    $m2, $m0, 7
        setzi   $m7, .Lnext_k_add
        put     $CCCSLOAD, $m1
        mov     $m4, $m2
.Lload:
        sync    TEXCH_SYNCZONE_LOCAL
        LOAD_WEIGHTS
        runall  $m5, $m0, 0
        // what follows fills the slots of workers that end early
        mov     $m5, $m7
        brnzdec $m4, .Lload
.Lloaded_group:
        mov     $m4, $m2
        mov     $m5, $m6
        brnzdec $m3, .Lload
.Lloaded:
        sync    TEXCH_SYNCZONE_LOCAL
        br      $lr

        .worker
// $m0 .. $m5 of this worker from the vertex state; then the first group.
.macro START ENTRY
        WORKER_INDEX
        LOAD_SHARE 4
        ld32    $m0, $mvertex_base, $mzero, 1
        ld32    $m1, $mvertex_base, $mzero, 2
        ld32    $m3, $mvertex_base, $mzero, 3
        FIRST_UNIT SPARE=$m2
        shl     $m11, $m11, 5
        add     $m4, $m0, $m11
        add     $m1, $m1, $m11
        OWN_UNITS UNITS=$m5
        add     $m2, $m5, -3
        add     $m5, $m5, -2
        mov     $m0, $m4
        bri     \ENTRY
.endm
.Lstart_fresh:
        START   TYPED(amp_fresh)
.Lstart_add:
        START   TYPED(amp_add)
.Lstarted:

// One weight load over this worker's rows, starting from zero. Phase p of a row multiplies the inputs 4p .. 4p+3;
// the sums of a row leave in the phases of the row after next, so two rows are in flight and a result is
// stored two bundles after it left.
        .align 8
.Lnext_out_fresh:
        add     $m1, $m1, $m3
        mov     $m0, $m4
        .globl TYPED(amp_fresh)
TYPED(amp_fresh):
        brneg   $m5, .Lfew_fresh
.Lmany_fresh:
        { add   $m8, $m0, 56 ; setzi $a4, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { tapack $m6:7, $m8, $m1, $m1 ; uput $FP_CLR, $a4 }
        ld64    $a0:1, $m0, $mzero, 0
        { ld64  $a0:1, $m0, $mzero, 1 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ld64  $a0:1, $m0, $mzero, 2 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
        { ld64  $a0:1, $m0, $mzero, 3 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { ld64  $a0:1, $m0, $mzero, 4 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { ld64  $a0:1, $m0, $mzero, 5 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ld64  $a0:1, $m0, $mzero, 6 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
        { rpt   $m5, 3 ; fnop }
.Lrow_fresh:
        { ldst64pace $a0:1, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { ldst64pace $a0:1, $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { ldst64pace $a0:1, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ldst64pace $a0:1, $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
.Ldrain_fresh:
        { ldst64pace $a0:1, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { st64pace $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P0 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P1 }
        { st64pace $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P2 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P3 }
        st64pace $a4:5, $m6:7+=, $mzero, 0
        st64pace $a6:7, $m6:7+=, $mzero, 0
        exitz   $mzero

// The same adding onto `out`: its words are loaded 11 words ahead of the store, an odd distance, so the two never
// meet in one element of the interleaved region.
        .align 8
.Lnext_out_add:
        add     $m1, $m1, $m3
        mov     $m0, $m4
        bri     TYPED(amp_add)
.Lnext_k_add:
        add     $m0, $m0, $m3
        .globl TYPED(amp_add)
TYPED(amp_add):
        brneg   $m2, .Lfew_add
.Lmany_add:
        tapack  $m6:7, $m0, $m1, $m1
        ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P0 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P1 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P2 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P3 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P0 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P1 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P2 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P3 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1 }
        rpt     $m2, 3
.Lrow_add:
        { ld2xst64pace $a0:3, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2 }
        { ld2xst64pace $a0:3, $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3 }
        { ld2xst64pace $a0:3, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P0 }
        { ld2xst64pace $a0:3, $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P1 }
.Ldrain_add:
        { ld2xst64pace $a0:3, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $a2:3, TAMP_F16V4_E4_P2 }
        { ldst64pace $a0:1, $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $a2:3, TAMP_F16V4_E4_P3 }
        { ldst64pace $a0:1, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ldst64pace $a0:1, $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
        { ldst64pace $a0:1, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { st64pace $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P0 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P1 }
        { st64pace $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P2 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P3 }
        st64pace $a4:5, $m6:7+=, $mzero, 0
        st64pace $a6:7, $m6:7+=, $mzero, 0
        exitz   $mzero

// One row or none, nothing in flight.
.Lfew_fresh:
        add     $m8, $m5, 1
        brneg   $m8, .Lnone
.Lone_fresh:
        { ld64  $a0:1, $m0, $mzero, 0 ; setzi $a4, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { nop ; uput $FP_CLR, $a4 }
        { ld64  $a0:1, $m0, $mzero, 1 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ld64  $a0:1, $m0, $mzero, 2 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
        { ld64  $a0:1, $m0, $mzero, 3 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { nop ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { nop ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P0 }
        { st64  $a4:5, $m1, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P1 }
        { st64  $a6:7, $m1, $mzero, 1 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P2 }
        { st64  $a4:5, $m1, $mzero, 2 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P3 }
        st64    $a6:7, $m1, $mzero, 3
.Lnone:
        exitz   $mzero

// Two rows: the words of out end while x still comes, so their pointer stands still on the last one.
.Lfew_add:
        brneg   $m5, .Lfewer_add
.Ltwo_add:
        tapack  $m6:7, $m0, $m1, $m1
        ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P0 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P1 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P2 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P3 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P0 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 0 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P1 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 4 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P2 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 4 ; AMP $azeros, $a0:1, $a2:3, TAMP_F16V4_E4_P3 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 4 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ld2x64pace $a0:1, $a2:3, $m6:7+=, $mzero, 4 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
        { ldst64pace $a0:1, $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { st64pace $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P0 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P1 }
        { st64pace $a4:5, $m6:7+=, $mzero, 0 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P2 }
        { st64pace $a6:7, $m6:7+=, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P3 }
        st64pace $a4:5, $m6:7+=, $mzero, 0
        st64pace $a6:7, $m6:7+=, $mzero, 0
        exitz   $mzero
.Lfewer_add:
        add     $m8, $m5, 1
        brneg   $m8, .Lnone
.Lone_add:
        ld64    $a2:3, $m1, $mzero, 0
        { ld64  $a2:3, $m1, $mzero, 1 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P0 }
        { ld64  $a2:3, $m1, $mzero, 2 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P1 }
        { ld64  $a2:3, $m1, $mzero, 3 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P2 }
        { ld64  $a0:1, $m0, $mzero, 0 ; AMP $azeros, $azeros, $a2:3, TAMP_F16V4_E4_P3 }
        { ld64  $a0:1, $m0, $mzero, 1 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P0 }
        { ld64  $a0:1, $m0, $mzero, 2 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P1 }
        { ld64  $a0:1, $m0, $mzero, 3 ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P2 }
        { nop ; AMP $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P3 }
        { nop ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P0 }
        { st64  $a4:5, $m1, $mzero, 0 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P1 }
        { st64  $a6:7, $m1, $mzero, 1 ; AMP $a4:5, $azeros, $azeros, TAMP_F16V4_E4_P2 }
        { st64  $a4:5, $m1, $mzero, 2 ; AMP $a6:7, $azeros, $azeros, TAMP_F16V4_E4_P3 }
        st64    $a6:7, $m1, $mzero, 3
        exitz   $mzero
