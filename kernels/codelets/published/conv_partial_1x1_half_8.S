// SPDX-License-Identifier: MIT
// 1x1 convolution (a matrix product) on one set of the matrix unit, FP16 inputs and partials: 16 inputs and 8 outputs a group.
//
//   ConvPartial1x1Out_half_half_8   weights by 8 bytes a cycle
//
// Weights of an (in group, out group): [output channel][16 inputs]. Partials in the interleaved region, in no 32 KiB pair that inputs
// are in. State: conv_partial_1x1_common.h. A step takes two partials and gives two results: a load of partials serves two steps, a store takes
// what two steps gave, and loads and stores of partials take turns.
// Timing: the estimate's form is launches of 6 * (19 + 4 n) cycles, n pixels a worker; here 6 * (18 + 4 n), in the first in group
// 6 * (16 + 4 n).
#ifdef __IPU__

#include "conv_partial_1x1_common.h"
#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define w_x a0:1
#define w_p a2:3
#define w_p_0 a2
#define w_p_1 a3
#define w_out_pair a4:5
#define w_out_0 a4
#define w_out_1 a5
#define w_unused a6:7
#define w_clear a4

// Steps of the matrix unit by what the main lane does beside them: IN, PARTIAL, OUT say how each address goes on.
.macro STEP_H8 PHASE X P RESULT
    { nop ; f16v4hihoamp \RESULT, \X, \P, TAMP_F16V4_E4_P\PHASE }
.endm
.macro LOAD_STEP_H8 PHASE IN P RESULT
    { ld2x64pace $w_x, $w_unused, $w_triple+=, $w_strides, PXP(\IN, STILL) ; f16v4hihoamp \RESULT, $w_x, \P, TAMP_F16V4_E4_P\PHASE }
.endm
.macro LOAD_PARTIALS_STEP_H8 PHASE IN PARTIAL X P RESULT
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(\IN, \PARTIAL) ; f16v4hihoamp \RESULT, \X, \P, TAMP_F16V4_E4_P\PHASE }
.endm
.macro STORE_STEP_H8 PHASE IN OUT P
    { ldst64pace $w_x, $w_out_pair, $w_triple+=, $w_strides, PXP(\IN, \OUT) ; f16v4hihoamp $w_out_0, $w_x, \P, TAMP_F16V4_E4_P\PHASE }
.endm
// The first pixel's partials enter by themselves, then it is multiplied while the second one's come. LAST_PARTIAL: behind the second's.
.macro FIRST_PIXEL_H8 LAST_PARTIAL
    tapack      $w_triple, $w_in, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT)
    STEP_H8     0 $azeros $w_p_0 $azero
    LOAD_PARTIALS_STEP_H8 1 STILL PIXEL_OUT $azeros $w_p_1 $azero
    STEP_H8     2 $azeros $w_p_0 $azero
    LOAD_PARTIALS_STEP_H8 3 NEXT NEXT $azeros $w_p_1 $azero
    LOAD_STEP_H8 0 NEXT $w_p_0 $azero
    LOAD_PARTIALS_STEP_H8 1 NEXT \LAST_PARTIAL $w_x $w_p_1 $azero
    LOAD_STEP_H8 2 PIXEL_IN $w_p_0 $azero
.endm

    .section .text.ConvPartial1x1Out_half_8_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
half_8_zero_first:
    CONV1X1_FIRST
half_8_zero_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
half_8_zero_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
    brneg       $w_pixels_m2, .Lzero_few_half_8
    { tapack    $w_triple, $w_in, $w_out, $w_out ; setzi $w_clear, ZAACC_BITMASK }
    { ld2x64pace $w_x, $w_unused, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; uput $FP_CLR, $w_clear }
    LOAD_STEP_H8 0 NEXT $azero $azero
    LOAD_STEP_H8 1 NEXT $azero $azero
    LOAD_STEP_H8 2 PIXEL_IN $azero $azero
    LOAD_STEP_H8 3 NEXT $azero $azero
    LOAD_STEP_H8 0 NEXT $azero $w_out_0
    .align 8
    { rpt       $w_pixels_m2, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STEP_H8 1 NEXT $azero $w_out_1
    STORE_STEP_H8 2 PIXEL_IN NEXT $azero
    LOAD_STEP_H8 3 NEXT $azero $w_out_1
    STORE_STEP_H8 0 NEXT PIXEL_OUT $azero
2:
.Llast_half_8:
    LOAD_STEP_H8 1 NEXT $azero $w_out_1
    STORE_STEP_H8 2 STILL NEXT $azero
    STEP_H8     3 $w_x $azero $w_out_1
    { st64pace  $w_out_pair, $w_triple+=, $w_strides, PIXEL_OUT ; f16v4hihoamp $w_out_0, $azeros, $azero, TAMP_F16V4_E4_P0 }
    STEP_H8     1 $azeros $azero $w_out_1
    { st64pace  $w_out_pair, $w_triple+=, $w_strides, NEXT ; f16v4hihoamp $w_out_0, $azeros, $azero, TAMP_F16V4_E4_P2 }
    STEP_H8     3 $azeros $azero $w_out_1
    st64pace    $w_out_pair, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// One pixel or none.
.Lzero_few_half_8:
    add         $w_scratch, $w_pixels_m2, 1
    brneg       $w_scratch, .Lnone_half_8
    { ld64      $w_x, $w_in, $mzero, 0 ; setzi $w_clear, ZAACC_BITMASK }
    { nop ; uput $FP_CLR, $w_clear }
.Lone_half_8:
    { ld64      $w_x, $w_in, $mzero, 1 ; f16v4hihoamp $azero, $w_x, $azero, TAMP_F16V4_E4_P0 }
    { ld64      $w_x, $w_in, $mzero, 2 ; f16v4hihoamp $azero, $w_x, $azero, TAMP_F16V4_E4_P1 }
    { ld64      $w_x, $w_in, $mzero, 3 ; f16v4hihoamp $azero, $w_x, $azero, TAMP_F16V4_E4_P2 }
    STEP_H8     3 $w_x $azero $azero
    STEP_H8     0 $azeros $azero $w_out_0
    STEP_H8     1 $azeros $azero $w_out_1
    { st64      $w_out_pair, $w_out, $mzero, 0 ; f16v4hihoamp $w_out_0, $azeros, $azero, TAMP_F16V4_E4_P2 }
    STEP_H8     3 $azeros $azero $w_out_1
    st64        $w_out_pair, $w_out, $mzero, 1
.Lnone_half_8:
    exitz       $mzero

    .align 8
half_8_add_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
half_8_add_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
    brneg       $w_pixels_m3, .Ladd_few_half_8
    FIRST_PIXEL_H8 PIXEL_OUT
    LOAD_PARTIALS_STEP_H8 3 NEXT NEXT $w_x $w_p_1 $azero
    LOAD_STEP_H8 0 NEXT $w_p_0 $w_out_0
    .align 8
    { rpt       $w_pixels_m3, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_PARTIALS_STEP_H8 1 NEXT PIXEL_OUT $w_x $w_p_1 $w_out_1
    STORE_STEP_H8 2 PIXEL_IN NEXT $w_p_0
    LOAD_PARTIALS_STEP_H8 3 NEXT NEXT $w_x $w_p_1 $w_out_1
    STORE_STEP_H8 0 NEXT PIXEL_OUT $w_p_0
2:
    // behind the last partials their pointer stands still
    LOAD_PARTIALS_STEP_H8 1 NEXT STILL $w_x $w_p_1 $w_out_1
    STORE_STEP_H8 2 PIXEL_IN NEXT $w_p_0
    LOAD_STEP_H8 3 NEXT $w_p_1 $w_out_1
    STORE_STEP_H8 0 NEXT PIXEL_OUT $azero
    bri         .Llast_half_8

.Ladd_few_half_8:
    brneg       $w_pixels_m2, .Ladd_one_half_8
    FIRST_PIXEL_H8 STILL
    LOAD_STEP_H8 3 NEXT $w_p_1 $azero
    LOAD_STEP_H8 0 NEXT $azero $w_out_0
    bri         .Llast_half_8
.Ladd_one_half_8:
    add         $w_scratch, $w_pixels_m2, 1
    brneg       $w_scratch, .Lnone_half_8
    ld64        $w_p, $w_out, $mzero, 0
    STEP_H8     0 $azeros $w_p_0 $azero
    { ld64      $w_p, $w_out, $mzero, 1 ; f16v4hihoamp $azero, $azeros, $w_p_1, TAMP_F16V4_E4_P1 }
    STEP_H8     2 $azeros $w_p_0 $azero
    { ld64      $w_x, $w_in, $mzero, 0 ; f16v4hihoamp $azero, $azeros, $w_p_1, TAMP_F16V4_E4_P3 }
    bri         .Lone_half_8

DEF_STACK_USAGE STACK_BYTES .text.ConvPartial1x1Out_half_half_8
CONV1X1_SUPERVISOR ConvPartial1x1Out_half_half_8 half_8 1 0 LOAD_WEIGHTS_ONE_SET 8 4

#endif
