// SPDX-License-Identifier: MIT
// 1x1 convolution (a matrix product) on the matrix unit in FP32: 8 inputs and 8 outputs a group, one set.
//
//   ConvPartial1x1Out_float_float_8   weights by 8 bytes a cycle
//
// Weights of an (in group, out group): [output channel][8 inputs]. Partials in the interleaved region, in no 32 KiB pair that inputs
// are in. State: conv_partial_1x1_common.h. Partials enter and results leave in every other step.
// Timing, worker issues with n pixels, n > 2: 8 n + 16, 33 for two, and 4 n + 5 to zero the partials of the first in group.
#ifdef __IPU__

#include "conv_partial_1x1_common.h"
#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define w_x a0:1
#define w_x_0 a0
#define w_x_1 a1
#define w_p a2:3
#define w_even a4:5

// Steps of the matrix unit by what the main lane does beside them: IN, PARTIAL, OUT say how each address goes on.
.macro STEP_8 FLAG X P RESULT
    { nop ; f32sisoamp \RESULT, \X, \P, \FLAG }
.endm
.macro LOAD_STEP_8 FLAG IN PARTIAL
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(\IN, \PARTIAL) ; f32sisoamp $azeros, $w_x_1, $azeros, \FLAG }
.endm
.macro STORE_STEP_8 FLAG P OUT
    { st64pace  $w_even, $w_triple+=, $w_strides, \OUT ; f32sisoamp $w_even, $w_x_0, \P, \FLAG }
.endm
// The first pixel's partials enter by themselves, then it is multiplied while the second one's come. LAST_PARTIAL: behind those.
.macro FIRST_PIXEL_8 AFTER_PARTIALS LAST_PARTIAL
    tapack      $w_triple, $w_in, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT)
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, PIXEL_OUT) ; f32v2gina $azeros, $w_p, 1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; f32v2gina $azeros, $w_p, 1 }
    STEP_8      TAMP_F32_E4_P0 $w_x_0 $w_p $azeros
    LOAD_STEP_8 TAMP_F32_E4_P1 NEXT NEXT
    STEP_8      TAMP_F32_E4_P2 $w_x_0 $w_p $azeros
    LOAD_STEP_8 TAMP_F32_E4_P3 NEXT NEXT
    STEP_8      TAMP_F32_E4_P4 $w_x_0 $w_p $azeros
    LOAD_STEP_8 TAMP_F32_E4_P5 PIXEL_IN \AFTER_PARTIALS
    STEP_8      TAMP_F32_E4_P6 $w_x_0 $w_p $azeros
    LOAD_STEP_8 TAMP_F32_E4_P7 NEXT \LAST_PARTIAL
.endm

    .section .text.ConvPartial1x1Out_float_8_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
float_8_zero_first:
    CONV1X1_FIRST
float_8_zero_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
float_8_zero_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
    add         $w_scratch, $w_pixels_m3, 3
    tapack      $w_triple, $mzero, $mzero, $w_out
    .align 8
    { rpt       $w_scratch, (2f - 1f) / 8 - 1 ; fnop }
1:
.rept 3
    { st64pace  $azeros, $w_triple+=, $w_strides, NEXT ; fnop }
.endr
    { st64pace  $azeros, $w_triple+=, $w_strides, PIXEL_OUT ; fnop }
2:
    bri         .Lpixels_float_8
float_8_add_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
float_8_add_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
.Lpixels_float_8:
    brneg       $w_pixels_m3, .Lfew_float_8
    FIRST_PIXEL_8 PIXEL_OUT NEXT
    STEP_8      TAMP_F32_E4_P0 $w_x_0 $w_p $w_even
    .align 8
    { rpt       $w_pixels_m3, (2f - 1f) / 8 - 1 ; fnop }
1:
    LOAD_STEP_8 TAMP_F32_E4_P1 NEXT NEXT
    STORE_STEP_8 TAMP_F32_E4_P2 $w_p NEXT
    LOAD_STEP_8 TAMP_F32_E4_P3 NEXT NEXT
    STORE_STEP_8 TAMP_F32_E4_P4 $w_p NEXT
    LOAD_STEP_8 TAMP_F32_E4_P5 PIXEL_IN PIXEL_OUT
    STORE_STEP_8 TAMP_F32_E4_P6 $w_p NEXT
    LOAD_STEP_8 TAMP_F32_E4_P7 NEXT NEXT
    STORE_STEP_8 TAMP_F32_E4_P0 $w_p PIXEL_OUT
2:
    // the last partials enter
    LOAD_STEP_8 TAMP_F32_E4_P1 NEXT NEXT
    STORE_STEP_8 TAMP_F32_E4_P2 $w_p NEXT
    LOAD_STEP_8 TAMP_F32_E4_P3 NEXT NEXT
    STORE_STEP_8 TAMP_F32_E4_P4 $w_p NEXT
    LOAD_STEP_8 TAMP_F32_E4_P5 PIXEL_IN STILL
    STORE_STEP_8 TAMP_F32_E4_P6 $w_p NEXT
    LOAD_STEP_8 TAMP_F32_E4_P7 NEXT STILL
    STORE_STEP_8 TAMP_F32_E4_P0 $azeros PIXEL_OUT
.Llast_float_8:
    LOAD_STEP_8 TAMP_F32_E4_P1 NEXT STILL
    STORE_STEP_8 TAMP_F32_E4_P2 $azeros NEXT
    LOAD_STEP_8 TAMP_F32_E4_P3 NEXT STILL
    STORE_STEP_8 TAMP_F32_E4_P4 $azeros NEXT
    LOAD_STEP_8 TAMP_F32_E4_P5 STILL STILL
    STORE_STEP_8 TAMP_F32_E4_P6 $azeros NEXT
    STEP_8      TAMP_F32_E4_P7 $w_x_1 $azeros $azeros
    // the last pixel leaves where it was added up
    { st64pace  $w_even, $w_triple+=, $w_strides, PIXEL_OUT ; f32v2gina $w_even, $azeros, 0 }
.rept 3
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; f32v2gina $w_even, $azeros, 0 }
.endr
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// Two pixels: the partials end while inputs still come, so their pointer stands still on the last word.
.Lfew_float_8:
    brneg       $w_pixels_m2, .Lone_float_8
    FIRST_PIXEL_8 STILL STILL
    STEP_8      TAMP_F32_E4_P0 $w_x_0 $azeros $w_even
    bri         .Llast_float_8
.Lone_float_8:
    add         $w_scratch, $w_pixels_m2, 1
    brneg       $w_scratch, .Lnone_float_8
    ld64        $w_p, $w_out, $mzero, 0
    { ld64      $w_p, $w_out, $mzero, 1 ; f32v2gina $azeros, $w_p, 1 }
    { ld64      $w_p, $w_out, $mzero, 2 ; f32v2gina $azeros, $w_p, 1 }
    { ld64      $w_p, $w_out, $mzero, 3 ; f32v2gina $azeros, $w_p, 1 }
    { ld64      $w_x, $w_in, $mzero, 0 ; f32v2gina $azeros, $w_p, 1 }
    { nop ; f32sisoamp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P0 }
    { ld64      $w_x, $w_in, $mzero, 1 ; f32sisoamp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P1 }
    { nop ; f32sisoamp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P2 }
    { ld64      $w_x, $w_in, $mzero, 2 ; f32sisoamp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P3 }
    { nop ; f32sisoamp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P4 }
    { ld64      $w_x, $w_in, $mzero, 3 ; f32sisoamp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P5 }
    { nop ; f32sisoamp $azeros, $w_x_0, $azeros, TAMP_F32_E4_P6 }
    { nop ; f32sisoamp $azeros, $w_x_1, $azeros, TAMP_F32_E4_P7 }
    { nop ; f32v2gina $w_even, $azeros, 0 }
    { st64      $w_even, $w_out, $mzero, 0 ; f32v2gina $w_even, $azeros, 0 }
    { st64      $w_even, $w_out, $mzero, 1 ; f32v2gina $w_even, $azeros, 0 }
    { st64      $w_even, $w_out, $mzero, 2 ; f32v2gina $w_even, $azeros, 0 }
    st64        $w_even, $w_out, $mzero, 3
.Lnone_float_8:
    exitz       $mzero

DEF_STACK_USAGE STACK_BYTES .text.ConvPartial1x1Out_float_float_8
CONV1X1_SUPERVISOR ConvPartial1x1Out_float_float_8 float_8 1 0 LOAD_WEIGHTS_ONE_SET 8 4

#endif
