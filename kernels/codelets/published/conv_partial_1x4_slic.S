// SPDX-License-Identifier: MIT
// Convolution with a 1x4 kernel by the systolic mode of the matrix unit: four FP16 inputs a pixel, every step takes a pixel in and
// gives the sums of the pixel four steps earlier.
//
//   ConvPartial1x4SLIC_half_half    FP16 partials, both sets: 4 outputs
//   ConvPartial1x4SLIC_half_float   FP32 partials, one set: 2 outputs
//
//   out[y][x][o] += sum over groups g, taps t, inputs i of  in[g][y][x + t][i] * weights[g][t][o][i]
//
// State: pointers (32 bits each) and a 16-bit field
//     0  out         [field][outputs], 8 bytes a pixel, interleaved region
//     4  inPtr       table of input pointers, [in group]; inputs in no 32 KiB pair that `out` is in
//     8  weights     [in group][tap][output][4 inputs]
//    12  worklists   a word a worker: address[19:0] | partitions << 20; a partition is three 16-bit words: first output pixel, pixels,
//                    first input pixel. A partition of n pixels reads n + 3 inputs
//    16  numInGroupsM1
// Timing, worker issues of a partition with n pixels: n + 22, n > 7.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define VERTEX_OUT 0
#define VERTEX_IN 1
#define VERTEX_WEIGHTS 2
#define VERTEX_WORKLISTS 3
#define VERTEX_IN_GROUPS_M1 8

#define STACK_OUT 0
#define STACK_IN 1
#define STACK_WORKLISTS 2
#define STACK_BYTES 16

// supervisor registers
#define s_state m0
#define s_in m1
#define s_groups m2
#define s_entry m3
#define s_ptr m4

// worker registers
#define w_list m0
#define w_partitions m1
#define w_in_base m2
#define w_out_base m3
#define w_in m4
#define w_out m5
#define w_triple m6:7
#define w_pixels m8
#define w_pairs m9

#define w_x a0:1
#define w_p a2:3
#define w_xp a0:3
#define w_even a4:5
#define w_odd a6:7

#define SPAN_POINTER_BITS 20
#define CWEI_UNIT 4
#define CWEI_SECOND_SET 32
#define W0 TSLIC_F16V4_1x4_W0

#define NEXT 0
#define STILL 1
#define PXP(IN, PARTIAL) ((IN) | ((PARTIAL) << 2))
#define PXPO(IN, PARTIAL, OUT) ((IN) | ((PARTIAL) << 2) | ((OUT) << 4))

// The first tap meets a pixel first: it belongs to the units where partials enter.
.macro LOAD_SLIC_WEIGHTS SETS
.irp unit, 6, 4, 2, 0
    ld64putcs   \unit * CWEI_UNIT
    ld64putcs   (\unit + 1) * CWEI_UNIT
.if \SETS == 2
    ld64putcs   CWEI_SECOND_SET + \unit * CWEI_UNIT
    ld64putcs   CWEI_SECOND_SET + (\unit + 1) * CWEI_UNIT
.endif
.endr
.endm

.macro LOAD_STEP SLIC RESULT PARTIAL
    { ld2x64pace $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, \PARTIAL) ; \SLIC \RESULT, $w_x, $w_p, W0 }
.endm
.macro LOAD_STORE_STEP SLIC RESULT PARTIAL
    { ld2xst64pace $w_xp, \RESULT, $w_triple+=, $mzero, PXPO(NEXT, \PARTIAL, NEXT) ; \SLIC \RESULT, $w_x, $w_p, W0 }
.endm
.macro INPUT_STORE_STEP SLIC RESULT P
    { ldst64pace $w_x, \RESULT, $w_triple+=, $mzero, PXP(NEXT, NEXT) ; \SLIC \RESULT, $w_x, \P, W0 }
.endm
.macro STORE_STEP SLIC RESULT X
    { st64pace  \RESULT, $w_triple+=, $mzero, NEXT ; \SLIC \RESULT, \X, $azeros, W0 }
.endm

// The last pixels leave; A holds the result that is stored first.
.macro LAST_PIXELS SLIC NAME A B
    LOAD_STORE_STEP \SLIC \A STILL
    INPUT_STORE_STEP \SLIC \B $w_p
    INPUT_STORE_STEP \SLIC \A $azeros
    INPUT_STORE_STEP \SLIC \B $azeros
    STORE_STEP  \SLIC \A $w_x
    STORE_STEP  \SLIC \B $azeros
    st64pace    \A, $w_triple+=, $mzero, NEXT
    st64pace    \B, $w_triple+=, $mzero, NEXT
    brnzdec     $w_partitions, .Lpartition_\NAME
    exitz       $mzero
.endm

.macro CONV1X4_SLIC NAME SLIC SETS
DEF_STACK_USAGE STACK_BYTES .text.ConvPartial1x4SLIC_\NAME
    .section .text.ConvPartial1x4SLIC_\NAME, "ax"
    .globl ConvPartial1x4SLIC_\NAME
    .type ConvPartial1x4SLIC_\NAME, @function
    .supervisor
    .align 8
ConvPartial1x4SLIC_\NAME:
    ld32        $s_ptr, $s_state, VERTEX_WEIGHTS
    ld32        $s_in, $s_state, VERTEX_IN
    ldz16       $s_groups, $s_state, VERTEX_IN_GROUPS_M1
    add         $sp, $sp, -STACK_BYTES
    put         $CCCSLOAD, $s_ptr
    ld32        $s_ptr, $s_state, VERTEX_OUT
    ld32        $s_entry, $s_state, VERTEX_WORKLISTS
    st32        $s_ptr, $sp, $mzero, STACK_OUT
    st32        $s_entry, $sp, $mzero, STACK_WORKLISTS
    setzi       $s_entry, .Lworker_\NAME
    ld32step    $s_ptr, $mzero, $s_in+=, 1
.Lin_group_\NAME:
    sync        TEXCH_SYNCZONE_LOCAL
    st32        $s_ptr, $sp, $mzero, STACK_IN
    LOAD_SLIC_WEIGHTS \SETS
    runall      $s_entry, $sp, 0
    ld32step    $s_ptr, $mzero, $s_in+=, 1
    brnzdec     $s_groups, .Lin_group_\NAME
    sync        TEXCH_SYNCZONE_LOCAL
    add         $sp, $sp, STACK_BYTES
    br          $lr
    .size ConvPartial1x4SLIC_\NAME, . - ConvPartial1x4SLIC_\NAME

    .section .text.ConvPartial1x4SLIC_\NAME\()_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
.Lworker_\NAME:
    get         $w_list, $WSR
    and         $w_list, $w_list, CSR_W_WSR__CTXTID_M1__MASK
    ld32        $w_in, $mvertex_base, STACK_WORKLISTS
    ld32        $w_list, $w_in, $w_list
    shr         $w_partitions, $w_list, SPAN_POINTER_BITS
    brz         $w_partitions, .Ldone_\NAME
    shl         $w_list, $w_list, 32 - SPAN_POINTER_BITS
    shr         $w_list, $w_list, 32 - SPAN_POINTER_BITS
    ld32        $w_in_base, $mvertex_base, STACK_IN
    ld32        $w_out_base, $mvertex_base, STACK_OUT
    add         $w_partitions, $w_partitions, -1
.Lpartition_\NAME:
    ldz16step   $w_out, $mzero, $w_list+=, 1
    ldz16step   $w_pixels, $mzero, $w_list+=, 1
    ldz16step   $w_in, $mzero, $w_list+=, 1
    shl         $w_out, $w_out, 3
    shl         $w_in, $w_in, 3
    add         $w_out, $w_out, $w_out_base
    add         $w_in, $w_in, $w_in_base
    add         $w_pixels, $w_pixels, -8
    brneg       $w_pixels, .Lfew_\NAME
    shr         $w_pairs, $w_pixels, 1
    and         $w_pixels, $w_pixels, 1
    tapack      $w_triple, $w_in, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $mzero, PXP(NEXT, NEXT)
.rept 4
    LOAD_STEP   \SLIC $azeros NEXT
.endr
    LOAD_STEP   \SLIC $w_even NEXT
    LOAD_STEP   \SLIC $w_odd NEXT
    .align 8
    { rpt       $w_pairs, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP \SLIC $w_even NEXT
    LOAD_STORE_STEP \SLIC $w_odd NEXT
2:
    { brnz      $w_pixels, 3f ; fnop }
    LAST_PIXELS \SLIC \NAME $w_even $w_odd
    .align 8
3:
    LOAD_STORE_STEP \SLIC $w_even NEXT
    LAST_PIXELS \SLIC \NAME $w_odd $w_even

// Fewer than eight pixels: one after the other.
.Lfew_\NAME:
    add         $w_pixels, $w_pixels, 7
    brneg       $w_pixels, .Lnext_\NAME
.Lpixel_\NAME:
    ld64        $w_p, $w_out, $mzero, 0
    ld64        $w_x, $w_in, $mzero, 0
    { ld64      $w_x, $w_in, $mzero, 1 ; \SLIC $azeros, $w_x, $w_p, W0 }
    { ld64      $w_x, $w_in, $mzero, 2 ; \SLIC $azeros, $w_x, $azeros, W0 }
    { ld64      $w_x, $w_in, $mzero, 3 ; \SLIC $azeros, $w_x, $azeros, W0 }
    { add       $w_in, $w_in, 8 ; \SLIC $azeros, $w_x, $azeros, W0 }
    { nop ; \SLIC $w_even, $azeros, $azeros, W0 }
    st64step    $w_even, $mzero, $w_out+=, 1
    brnzdec     $w_pixels, .Lpixel_\NAME
.Lnext_\NAME:
    brnzdec     $w_partitions, .Lpartition_\NAME
.Ldone_\NAME:
    exitz       $mzero
.endm

CONV1X4_SLIC half_half f16v4hihov4slic 2
CONV1X4_SLIC half_float f16v4sisoslic 1

#endif
