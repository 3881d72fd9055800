// SPDX-License-Identifier: MIT
// Sum of partial slices: of FP16 or FP32 in FP16 (reduce_add_f16.S, reduce_add_f32.S), or of FP32 in FP32
// (reduce_add_single.S). out[i] = own[i] + sum over s of slice[s][i]; with no slices, a cast.
//
// Vertex reduce_p (multi worker; p: f16, f32, single). State, words:
//     0 own           first summand, region 1, 16-byte aligned; one unit more than there is is read
//     1 slices        region 1, 16-byte aligned
//     2 stride        from slice to slice, in units of 16 bytes
//     3 number of slices (besides own)
//     4 out           8-byte aligned
//     5, 6            units / workers, units % workers; a unit is 16 bytes of summands = 8 (f16) or 4 elements
// Timing, worker issues with u units: 24 + u * (slices + 8 (f16), 6 (f32) or 7), 11 without units.
// Source: docs/evidence.md#instruction-set (accumulator instructions).

#include "partials.inc"
#include "worker_share.inc"

// Bytes of a unit of out, as a power of two.
#if PARTIAL_BITS == DATA_BITS
#define UNIT_OUT_SHIFT 4
#else
#define UNIT_OUT_SHIFT 3
#endif

        .section .text.TYPED(reduce), "ax"
        .worker
        .align 8
        .globl TYPED(reduce)
TYPED(reduce):
        WORKER_INDEX
        WORKER_SHARE 5
        brz     $m6, .Ldone
.Lsome_units:
        add     $m6, $m6, -1
        ld32    $m3, $mvertex_base, $mzero, 2
        ld32    $m2, $mvertex_base, $mzero, 3
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        { ld32  $m4, $mvertex_base, $mzero, 4 ; setzi $a4, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { shl   $m9, $m11, 4 ; uput $FP_CLR, $a4 }
        add     $m0, $m0, $m9
        add     $m1, $m1, $m9
        shl     $m9, $m11, UNIT_OUT_SHIFT
        add     $m4, $m4, $m9
        mov     $m8, $m1
        { ld128step $a0:3, $mzero, $m0+=, 1 ; fnop }
.Lunit:
        { rpt   $m2, 0 ; fnop }
.Lslice:
        { ld128step $a0:3, $mzero, $m8+=, $m3 ; ACC $a0:3 }
.Lend_unit:
        { add   $m1, $m1, 16 ; ACC $a0:3 }
#if DATA_BITS == 32
        { mov   $m8, $m1 ; f32v2gina $a4:5, $azeros, 0 }
        { ld128step $a0:3, $mzero, $m0+=, 1 ; f32v2gina $a6:7, $azeros, 0 }
        st64step $a4:5, $mzero, $m4+=, 1
        st64step $a6:7, $mzero, $m4+=, 1
#else
        { mov   $m8, $m1 ; f16v2gina $a4, $azero, 0 }
        { ld128step $a0:3, $mzero, $m0+=, 1 ; f16v2gina $a5, $azero, 0 }
#if PARTIAL_BITS == 16
        { st64step $a4:5, $mzero, $m4+=, 1 ; f16v2gina $a6, $azero, 0 }
        { nop ; f16v2gina $a7, $azero, 0 }
        st64step $a6:7, $mzero, $m4+=, 1
#else
        st64step $a4:5, $mzero, $m4+=, 1
#endif
#endif
        brnzdec $m6, .Lunit
.Ldone:
        exitz   $mzero
