// SPDX-License-Identifier: MIT
// 1x1 convolution (a matrix product) on the matrix unit, FP16 inputs: 16 inputs and 16 outputs a group.
//
//   ConvPartial1x1Out_half_half    FP16 partials, both sets: 16 outputs a weight load
//   ConvPartial1x1Out_half_float   FP32 partials, one set: 8 outputs a weight load, two weight loads an out group
//   ConvPartial1x1Out_half_float_8 the same with 8 outputs a group, one weight load
//   ConvPartial1x1Out_quarter_half FP8 inputs, 32 a group, FP16 partials, both sets (third generation only)
//   ..._128: weights by 16 bytes a cycle, from the interleaved region
//
// Weights of an (in group, out group): [output channel][16 inputs]. A pixel is 16 values; partials in the interleaved
// region, in no 32 KiB pair that inputs are in. State: conv_partial_1x1_common.h.
// Timing: the estimate's form is launches of 6 * (19 + 4 n) cycles, n pixels a worker; here 6 * (17 + 4 n). One pixel enters, one
// is multiplied and one leaves at a time, and a result is stored two bundles after it left: the load of partials is then 11
// words ahead of the store, an odd distance, so the two never meet in one element of the interleaved region.
#ifdef __IPU__

#include "conv_partial_1x1_common.h"
#include "conv_partials.h"
#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define w_x a0:1
#define w_p a2:3
#define w_xp a0:3
#define w_even a4:5
#define w_odd a6:7
#define w_clear a4

.macro CONV1X1_WORKER NAME AMP P0 P1 P2 P3
    .section .text.\NAME\()_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
    .globl \NAME\()_zero_first
\NAME\()_zero_first:
    CONV1X1_FIRST
\NAME\()_zero_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
\NAME\()_zero_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
    brneg       $w_pixels_m2, .Lzero_few_\NAME
    { tapack    $w_triple, $w_in, $w_out, $w_out ; setzi $w_clear, ZAACC_BITMASK }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; uput $FP_CLR, $w_clear }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $azeros, $w_x, $azeros, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $azeros, $w_x, $azeros, \P1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(PIXEL_IN, STILL) ; \AMP $azeros, $w_x, $azeros, \P2 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $azeros, $w_x, $azeros, \P3 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $w_even, $w_x, $azeros, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $w_odd, $w_x, $azeros, \P1 }
    { rpt       $w_pixels_m2, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ldst64pace $w_x, $w_even, $w_triple+=, $w_strides, PXP(PIXEL_IN, NEXT) ; \AMP $w_even, $w_x, $azeros, \P2 }
    { ldst64pace $w_x, $w_odd, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $w_odd, $w_x, $azeros, \P3 }
    { ldst64pace $w_x, $w_even, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $w_even, $w_x, $azeros, \P0 }
    { ldst64pace $w_x, $w_odd, $w_triple+=, $w_strides, PXP(NEXT, PIXEL_OUT) ; \AMP $w_odd, $w_x, $azeros, \P1 }
2:
    { ldst64pace $w_x, $w_even, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $w_even, $w_x, $azeros, \P2 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, NEXT ; \AMP $w_odd, $w_x, $azeros, \P3 }
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; \AMP $w_even, $azeros, $azeros, \P0 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, PIXEL_OUT ; \AMP $w_odd, $azeros, $azeros, \P1 }
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; \AMP $w_even, $azeros, $azeros, \P2 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, NEXT ; \AMP $w_odd, $azeros, $azeros, \P3 }
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// One pixel or none.
.Lzero_few_\NAME:
    add         $w_scratch, $w_pixels_m2, 1
    brneg       $w_scratch, .Lzero_none_\NAME
    { ld64      $w_x, $w_in, $mzero, 0 ; setzi $w_clear, ZAACC_BITMASK }
    { nop ; uput $FP_CLR, $w_clear }
    { ld64      $w_x, $w_in, $mzero, 1 ; \AMP $azeros, $w_x, $azeros, \P0 }
    { ld64      $w_x, $w_in, $mzero, 2 ; \AMP $azeros, $w_x, $azeros, \P1 }
    { ld64      $w_x, $w_in, $mzero, 3 ; \AMP $azeros, $w_x, $azeros, \P2 }
    { nop ; \AMP $azeros, $w_x, $azeros, \P3 }
    { nop ; \AMP $w_even, $azeros, $azeros, \P0 }
    { st64      $w_even, $w_out, $mzero, 0 ; \AMP $w_odd, $azeros, $azeros, \P1 }
    { st64      $w_odd, $w_out, $mzero, 1 ; \AMP $w_even, $azeros, $azeros, \P2 }
    { st64      $w_even, $w_out, $mzero, 2 ; \AMP $w_odd, $azeros, $azeros, \P3 }
    st64        $w_odd, $w_out, $mzero, 3
.Lzero_none_\NAME:
    exitz       $mzero

    .align 8
\NAME\()_add_in:
    ld32        $w_in, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_in_offset
\NAME\()_add_out:
    ld32        $w_out, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_out_offset
    brneg       $w_pixels_m3, .Ladd_few_\NAME
    tapack      $w_triple, $w_in, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT)
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $azeros, $azeros, $w_p, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $azeros, $azeros, $w_p, \P1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, PIXEL_OUT) ; \AMP $azeros, $azeros, $w_p, \P2 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $azeros, $w_p, \P3 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $w_x, $w_p, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $w_x, $w_p, \P1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(PIXEL_IN, PIXEL_OUT) ; \AMP $azeros, $w_x, $w_p, \P2 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $w_x, $w_p, \P3 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $w_even, $w_x, $w_p, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $w_odd, $w_x, $w_p, \P1 }
    rpt         $w_pixels_m3, (2f - 1f) / 8 - 1
1:
    { ld2xst64pace $w_xp, $w_even, $w_triple+=, $w_strides, PXPO(PIXEL_IN, PIXEL_OUT, NEXT) ; \AMP $w_even, $w_x, $w_p, \P2 }
    { ld2xst64pace $w_xp, $w_odd, $w_triple+=, $w_strides, PXPO(NEXT, NEXT, NEXT) ; \AMP $w_odd, $w_x, $w_p, \P3 }
    { ld2xst64pace $w_xp, $w_even, $w_triple+=, $w_strides, PXPO(NEXT, NEXT, NEXT) ; \AMP $w_even, $w_x, $w_p, \P0 }
    { ld2xst64pace $w_xp, $w_odd, $w_triple+=, $w_strides, PXPO(NEXT, NEXT, PIXEL_OUT) ; \AMP $w_odd, $w_x, $w_p, \P1 }
2:
    { ld2xst64pace $w_xp, $w_even, $w_triple+=, $w_strides, PXPO(PIXEL_IN, STILL, NEXT) ; \AMP $w_even, $w_x, $w_p, \P2 }
    { ldst64pace $w_x, $w_odd, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $w_odd, $w_x, $w_p, \P3 }
    { ldst64pace $w_x, $w_even, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $w_even, $w_x, $azeros, \P0 }
    { ldst64pace $w_x, $w_odd, $w_triple+=, $w_strides, PXP(NEXT, PIXEL_OUT) ; \AMP $w_odd, $w_x, $azeros, \P1 }
    { ldst64pace $w_x, $w_even, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $w_even, $w_x, $azeros, \P2 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, NEXT ; \AMP $w_odd, $w_x, $azeros, \P3 }
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; \AMP $w_even, $azeros, $azeros, \P0 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, PIXEL_OUT ; \AMP $w_odd, $azeros, $azeros, \P1 }
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; \AMP $w_even, $azeros, $azeros, \P2 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, NEXT ; \AMP $w_odd, $azeros, $azeros, \P3 }
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero

// Two pixels: the partials end while inputs still come, so their pointer stands still on the last word.
.Ladd_few_\NAME:
    brneg       $w_pixels_m2, .Ladd_one_\NAME
    tapack      $w_triple, $w_in, $w_out, $w_out
    ld2x64pace  $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT)
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $azeros, $azeros, $w_p, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $azeros, $azeros, $w_p, \P1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(STILL, PIXEL_OUT) ; \AMP $azeros, $azeros, $w_p, \P2 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $azeros, $w_p, \P3 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $w_x, $w_p, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, NEXT) ; \AMP $azeros, $w_x, $w_p, \P1 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(PIXEL_IN, STILL) ; \AMP $azeros, $w_x, $w_p, \P2 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $azeros, $w_x, $w_p, \P3 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $w_even, $w_x, $azeros, \P0 }
    { ld2x64pace $w_x, $w_p, $w_triple+=, $w_strides, PXP(NEXT, STILL) ; \AMP $w_odd, $w_x, $azeros, \P1 }
    { ldst64pace $w_x, $w_even, $w_triple+=, $w_strides, PXP(STILL, NEXT) ; \AMP $w_even, $w_x, $azeros, \P2 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, NEXT ; \AMP $w_odd, $w_x, $azeros, \P3 }
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; \AMP $w_even, $azeros, $azeros, \P0 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, PIXEL_OUT ; \AMP $w_odd, $azeros, $azeros, \P1 }
    { st64pace  $w_even, $w_triple+=, $w_strides, NEXT ; \AMP $w_even, $azeros, $azeros, \P2 }
    { st64pace  $w_odd, $w_triple+=, $w_strides, NEXT ; \AMP $w_odd, $azeros, $azeros, \P3 }
    st64pace    $w_even, $w_triple+=, $w_strides, NEXT
    st64pace    $w_odd, $w_triple+=, $w_strides, NEXT
    exitz       $mzero
.Ladd_one_\NAME:
    add         $w_scratch, $w_pixels_m2, 1
    brneg       $w_scratch, .Lzero_none_\NAME
    ld64        $w_p, $w_out, $mzero, 0
    { ld64      $w_p, $w_out, $mzero, 1 ; \AMP $azeros, $azeros, $w_p, \P0 }
    { ld64      $w_p, $w_out, $mzero, 2 ; \AMP $azeros, $azeros, $w_p, \P1 }
    { ld64      $w_p, $w_out, $mzero, 3 ; \AMP $azeros, $azeros, $w_p, \P2 }
    { ld64      $w_x, $w_in, $mzero, 0 ; \AMP $azeros, $azeros, $w_p, \P3 }
    { ld64      $w_x, $w_in, $mzero, 1 ; \AMP $azeros, $w_x, $azeros, \P0 }
    { ld64      $w_x, $w_in, $mzero, 2 ; \AMP $azeros, $w_x, $azeros, \P1 }
    { ld64      $w_x, $w_in, $mzero, 3 ; \AMP $azeros, $w_x, $azeros, \P2 }
    { nop ; \AMP $azeros, $w_x, $azeros, \P3 }
    { nop ; \AMP $w_even, $azeros, $azeros, \P0 }
    { st64      $w_even, $w_out, $mzero, 0 ; \AMP $w_odd, $azeros, $azeros, \P1 }
    { st64      $w_odd, $w_out, $mzero, 1 ; \AMP $w_even, $azeros, $azeros, \P2 }
    { st64      $w_even, $w_out, $mzero, 2 ; \AMP $w_odd, $azeros, $azeros, \P3 }
    st64        $w_odd, $w_out, $mzero, 3
    exitz       $mzero
.endm

DEF_STACK_USAGE STACK_BYTES .text.ConvPartial1x1Out_half_half
#define E4(TYPE) TAMP_##TYPE##_E4_P0 TAMP_##TYPE##_E4_P1 TAMP_##TYPE##_E4_P2 TAMP_##TYPE##_E4_P3

#if __IPU_ARCH_VERSION__ != 1 // which has one set
CONV1X1_WORKER half_half f16v4hihov4amp E4(F16V4)
CONV1X1_SUPERVISOR ConvPartial1x1Out_half_half half_half 1 0 LOAD_WEIGHTS_TWO_SETS 16 4 8
CONV1X1_SUPERVISOR ConvPartial1x1Out_half_half_128 half_half 1 0 LOAD_WEIGHTS_TWO_SETS 16 4 16
#endif

CONV1X1_WORKER half_float f16v4sisoamp E4(F16V4)
CONV1X1_SUPERVISOR ConvPartial1x1Out_half_float half_float 2 32 LOAD_WEIGHTS 0 32 8
CONV1X1_SUPERVISOR ConvPartial1x1Out_half_float_128 half_float 2 32 LOAD_WEIGHTS 0 32 16
CONV1X1_SUPERVISOR ConvPartial1x1Out_half_float_8 half_float 1 0 LOAD_WEIGHTS 0 32 8

#if __IPU_ARCH_VERSION__ == 21
// The formats and the scale of FP8 stand behind the common state; workers get them at every launch.
.macro CONV1X1_QUARTER SYMBOL CORE
    .section .text.\SYMBOL, "ax"
    .globl \SYMBOL
    .type \SYMBOL, @function
    .supervisor
    .align 8
\SYMBOL:
    ldz16       $s_ptr, $s_state, VERTEX_FP8_FORMAT
    lds16       $s_out, $s_state, $mzero, VERTEX_FP8_SCALE
    put         $FP_INFMT, $s_ptr
    put         $FP_ISCL, $s_out
    bri         \CORE
    .size \SYMBOL, . - \SYMBOL
.endm

CONV1X1_WORKER quarter_half f8v8hihov4amp E4(F8V8)
CONV1X1_SUPERVISOR quarter_half_core quarter_half 1 0 LOAD_WEIGHTS_TWO_SETS 16 4 8
CONV1X1_QUARTER ConvPartial1x1Out_quarter_half quarter_half_core
CONV1X1_SUPERVISOR quarter_half_core_128 quarter_half 1 0 LOAD_WEIGHTS_TWO_SETS 16 4 16
CONV1X1_QUARTER ConvPartial1x1Out_quarter_half_128 quarter_half_core_128
#endif

#endif
