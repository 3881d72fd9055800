// SPDX-License-Identifier: MIT
// 1x1 convolution (a matrix product) on the matrix unit in FP32: 8 inputs and 16 outputs a group, both sets.
//
//   ConvPartial1x1Out_float_float   weights by 8 bytes a cycle
//   ..._128                         by 16, from the interleaved region
//
// Weights of an (in group, out group): [output channel][8 inputs]. Partials in the interleaved region, in no 32 KiB pair that inputs
// are in. State: conv_partial_1x1_common.h.
// Timing, worker issues with n pixels, n > 2: 8 n + 25, 42 for two, and 8 n + 5 to zero the partials of the first in group. A word of inputs feeds
// two steps and is loaded twice, so that partials can come with it.
#ifdef __IPU__

#include "conv_partial_1x1_common.h"
#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define w_x a0:1
#define w_x_0 a0
#define w_x_1 a1
#define w_p a2:3
#define w_xp a0:3
#define w_even a4:5
#define w_odd a6:7

#define PXO(IN, OUT) ((IN) | ((OUT) << 2))

// Steps of the matrix unit by what the main lane does beside them: IN, PARTIAL, OUT say how each address goes on.
.macro LOAD_STEP FLAG X RESULT IN PARTIAL
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(\IN, \PARTIAL) ; f32sisov2amp \RESULT, \X, $w_p, \FLAG }
.endm
.macro LOAD_STORE_STEP FLAG X RESULT IN PARTIAL OUT
    { ld2xst64pace $w_xp, \RESULT, $w_triple+=, $w_strides, PXPO(\IN, \PARTIAL, \OUT) ; f32sisov2amp \RESULT, \X, $w_p, \FLAG }
.endm
.macro INPUT_STORE_STEP FLAG X RESULT P IN OUT
    { ldst64pace $w_x, \RESULT, $w_triple+=, $w_strides, PXO(\IN, \OUT) ; f32sisov2amp \RESULT, \X, \P, \FLAG }
.endm
.macro STORE_STEP FLAG X RESULT OUT
    { st64pace  \RESULT, $w_triple+=, $w_strides, \OUT ; f32sisov2amp \RESULT, \X, $azeros, \FLAG }
.endm

    .section .text.ConvPartial1x1Out_float_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
float_zero_first:
    CONV1X1_FIRST
float_zero_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
float_zero_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
    add         $w_scratch, $w_pixels_m3, 3
    tapack      $w_triple, $mzero, $mzero, $w_out
    .align 8
    { rpt       $w_scratch, (2f - 1f) / 8 - 1 ; fnop }
1:
.rept 7
    { st64pace  $azeros, $w_triple+=, $w_strides, NEXT ; fnop }
.endr
    { st64pace  $azeros, $w_triple+=, $w_strides, PIXEL_OUT ; fnop }
2:
    bri         .Lpixels_float
float_add_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
float_add_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
.Lpixels_float:
    brneg       $w_pixels_m3, .Lfew_float
    tapack      $w_triple, $w_in, $w_out, $w_out
    // the partials of the first pixel enter
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT)
    LOAD_STEP   TAMP_F32_E4_P0 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P1 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P2 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P3 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P4 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P5 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P6 $azero $azeros STILL PIXEL_OUT
    LOAD_STEP   TAMP_F32_E4_P7 $azero $azeros STILL NEXT
    // the first pixel is multiplied
    LOAD_STEP   TAMP_F32_E4_P0 $w_x_0 $azeros NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P1 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P2 $w_x_0 $azeros NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P3 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P4 $w_x_0 $azeros NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P5 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P6 $w_x_0 $azeros PIXEL_IN PIXEL_OUT
    LOAD_STEP   TAMP_F32_E4_P7 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P0 $w_x_0 $w_even NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P1 $w_x_1 $w_odd STILL NEXT
    .align 8
    { rpt       $w_pixels_m3, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STORE_STEP TAMP_F32_E4_P2 $w_x_0 $w_even NEXT NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P3 $w_x_1 $w_odd STILL NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P4 $w_x_0 $w_even NEXT NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P5 $w_x_1 $w_odd STILL NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P6 $w_x_0 $w_even PIXEL_IN PIXEL_OUT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P7 $w_x_1 $w_odd STILL NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P0 $w_x_0 $w_even NEXT NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P1 $w_x_1 $w_odd STILL NEXT PIXEL_OUT
2:
    // the last partials enter
    LOAD_STORE_STEP TAMP_F32_E4_P2 $w_x_0 $w_even NEXT NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P3 $w_x_1 $w_odd STILL NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P4 $w_x_0 $w_even NEXT NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P5 $w_x_1 $w_odd STILL NEXT NEXT
    LOAD_STORE_STEP TAMP_F32_E4_P6 $w_x_0 $w_even PIXEL_IN STILL NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P7 $w_x_1 $w_odd $w_p STILL NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P0 $w_x_0 $w_even $azeros NEXT NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P1 $w_x_1 $w_odd $azeros STILL PIXEL_OUT
.Llast_float:
    INPUT_STORE_STEP TAMP_F32_E4_P2 $w_x_0 $w_even $azeros NEXT NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P3 $w_x_1 $w_odd $azeros STILL NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P4 $w_x_0 $w_even $azeros NEXT NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P5 $w_x_1 $w_odd $azeros STILL NEXT
    INPUT_STORE_STEP TAMP_F32_E4_P6 $w_x_0 $w_even $azeros STILL NEXT
    STORE_STEP  TAMP_F32_E4_P7 $w_x_1 $w_odd NEXT
    // the results of the last pixel leave
    STORE_STEP  TAMP_F32_E4_P0 $azero $w_even NEXT
    STORE_STEP  TAMP_F32_E4_P1 $azero $w_odd PIXEL_OUT
    STORE_STEP  TAMP_F32_E4_P2 $azero $w_even NEXT
    STORE_STEP  TAMP_F32_E4_P3 $azero $w_odd NEXT
    STORE_STEP  TAMP_F32_E4_P4 $azero $w_even NEXT
    STORE_STEP  TAMP_F32_E4_P5 $azero $w_odd NEXT
    STORE_STEP  TAMP_F32_E4_P6 $azero $w_even NEXT
    STORE_STEP  TAMP_F32_E4_P7 $azero $w_odd NEXT
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// Two pixels: the partials end while inputs still come, so their pointer stands still on the last word.
.Lfew_float:
    brneg       $w_pixels_m2, .Lone_float
    tapack      $w_triple, $w_in, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT)
    LOAD_STEP   TAMP_F32_E4_P0 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P1 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P2 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P3 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P4 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P5 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P6 $azero $azeros STILL PIXEL_OUT
    LOAD_STEP   TAMP_F32_E4_P7 $azero $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P0 $w_x_0 $azeros NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P1 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P2 $w_x_0 $azeros NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P3 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P4 $w_x_0 $azeros NEXT NEXT
    LOAD_STEP   TAMP_F32_E4_P5 $w_x_1 $azeros STILL NEXT
    LOAD_STEP   TAMP_F32_E4_P6 $w_x_0 $azeros PIXEL_IN STILL
    LOAD_STEP   TAMP_F32_E4_P7 $w_x_1 $azeros STILL STILL
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; f32sisov2amp $w_even, $w_x_0, $azeros, TAMP_F32_E4_P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, STILL) ; f32sisov2amp $w_odd, $w_x_1, $azeros, TAMP_F32_E4_P1 }
    bri         .Llast_float
.Lone_float:
    add         $w_scratch, $w_pixels_m2, 1
    brneg       $w_scratch, .Lnone_float
    ld64        $w_p, $w_out, $mzero, 0
    { ld64      $w_p, $w_out, $mzero, 1 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P0 }
    { ld64      $w_p, $w_out, $mzero, 2 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P1 }
    { ld64      $w_p, $w_out, $mzero, 3 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P2 }
    { ld64      $w_p, $w_out, $mzero, 4 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P3 }
    { ld64      $w_p, $w_out, $mzero, 5 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P4 }
    { ld64      $w_p, $w_out, $mzero, 6 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P5 }
    { ld64      $w_p, $w_out, $mzero, 7 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P6 }
    { ld64      $w_x, $w_in, $mzero, 0 ; f32sisov2amp $azeros, $azero, $w_p, TAMP_F32_E4_P7 }
    { nop ; f32sisov2amp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P0 }
    { ld64      $w_x, $w_in, $mzero, 1 ; f32sisov2amp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P1 }
    { nop ; f32sisov2amp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P2 }
    { ld64      $w_x, $w_in, $mzero, 2 ; f32sisov2amp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P3 }
    { nop ; f32sisov2amp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P4 }
    { ld64      $w_x, $w_in, $mzero, 3 ; f32sisov2amp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P5 }
    { nop ; f32sisov2amp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P6 }
    { nop ; f32sisov2amp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P7 }
    { nop ; f32sisov2amp $w_even, $azero, $azeros, TAMP_F32_E4_P0 }
    { st64      $w_even, $w_out, $mzero, 0 ; f32sisov2amp $w_odd, $azero, $azeros, TAMP_F32_E4_P1 }
    { st64      $w_odd, $w_out, $mzero, 1 ; f32sisov2amp $w_even, $azero, $azeros, TAMP_F32_E4_P2 }
    { st64      $w_even, $w_out, $mzero, 2 ; f32sisov2amp $w_odd, $azero, $azeros, TAMP_F32_E4_P3 }
    { st64      $w_odd, $w_out, $mzero, 3 ; f32sisov2amp $w_even, $azero, $azeros, TAMP_F32_E4_P4 }
    { st64      $w_even, $w_out, $mzero, 4 ; f32sisov2amp $w_odd, $azero, $azeros, TAMP_F32_E4_P5 }
    { st64      $w_odd, $w_out, $mzero, 5 ; f32sisov2amp $w_even, $azero, $azeros, TAMP_F32_E4_P6 }
    { st64      $w_even, $w_out, $mzero, 6 ; f32sisov2amp $w_odd, $azero, $azeros, TAMP_F32_E4_P7 }
    st64        $w_odd, $w_out, $mzero, 7
.Lnone_float:
    exitz       $mzero

DEF_STACK_USAGE STACK_BYTES .text.ConvPartial1x1Out_float_float
CONV1X1_SUPERVISOR ConvPartial1x1Out_float_float float 1 0 LOAD_WEIGHTS_TWO_SETS 16 4 8
CONV1X1_SUPERVISOR ConvPartial1x1Out_float_float_128 float 1 0 LOAD_WEIGHTS_TWO_SETS 16 4 16

#endif
