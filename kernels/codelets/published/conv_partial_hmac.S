// SPDX-License-Identifier: MIT
// Horizontal multiply-accumulate: for layers with few output channels the matrix unit is left out, and every output is a dot
// product over the inputs of a pixel, added onto its partial.
//
//   ConvPartialHorizontalMac_half_float, _float_float, _half_half (named input_partial)
//
// State: pointers (32 bits each) and 16-bit fields
//     0  outChansPtr   table, [conv group][out group]
//     4  weightsPtr    table, [conv group][in group][out group][kernel position]: [output][input]
//     8  inChansPtr    table, [conv group][in group]
//    12  worklistsPtr  a word for each [kernel position][worker]: address[19:0] | partitions << 20; a partition is three 16-bit
//                      words: first output pixel, pixels, first input pixel; pixels counted in pixels
//    16  numConvGroupsM1  18 numOutGroupsM1  20 numInGroupsM1  22 kernelSizeM1
//    24  outChans: outputs of a pixel, even for FP16 partials
//    26  inWords: inputs of a pixel in 8-byte words
// Inputs, weights and partials lie in different memory elements.
// Timing, worker issues with n = inWords: 7 a pixel and n + 6 an output; 2 n + 9 two outputs with FP16 partials.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define VERTEX_OUT_CHANS_PTR 0
#define VERTEX_WEIGHTS_PTR 1
#define VERTEX_IN_CHANS_PTR 2
#define VERTEX_WORKLISTS_PTR 3
#define VERTEX_NUM_CONV_GROUPS_M1 8
#define VERTEX_NUM_OUT_GROUPS_M1 9
#define VERTEX_NUM_IN_GROUPS_M1 10
#define VERTEX_KERNEL_SIZE_M1 11
#define VERTEX_OUT_CHANS 12
#define VERTEX_IN_WORDS 13

// the supervisor's frame: what a launch needs, in words
#define STACK_OUT_PTR 0
#define STACK_IN_PTR 1
#define STACK_WEIGHTS_PTR 2
#define STACK_WORKLISTS 3
#define STACK_STATE 4
#define STACK_CONV_GROUPS 5
#define STACK_IN_GROUPS 6
#define STACK_BYTES 32

#define SPAN_POINTER_BITS 20
#define log2_half 1
#define log2_float 2

// supervisor registers
#define s_state m0
#define s_out_table m1
#define s_weights m2
#define s_in m3
#define s_entry m4
#define s_out_groups m5
#define s_positions m6
#define s_ptr m7
#define s_worklists m8

// worker registers
#define w_list m0
#define w_partitions m1
#define w_out_pixels m2
#define w_pixels m2
#define w_in_bytes m3
#define w_in_words_m1 m4
#define w_out_chans_m2 m5
#define w_triple m6:7
#define w_weights m8
#define w_outs m9
#define w_in m10
#define w_out m11

#define w_x a0:1
#define w_y a2:3
#define w_sum a4:5
#define w_sum_0 a4
#define w_sum_1 a5
#define w_partial a6
#define w_first a7

.macro HMAC_SUPERVISOR TYPES
    .section .text.ConvPartialHorizontalMac_\TYPES, "ax"
    .globl ConvPartialHorizontalMac_\TYPES
    .type ConvPartialHorizontalMac_\TYPES, @function
    .supervisor
    .align 8
ConvPartialHorizontalMac_\TYPES:
    add         $sp, $sp, -STACK_BYTES
    ldz16       $s_ptr, $s_state, VERTEX_NUM_CONV_GROUPS_M1
    ld32        $s_out_table, $s_state, VERTEX_OUT_CHANS_PTR
    ld32        $s_weights, $s_state, VERTEX_WEIGHTS_PTR
    ld32        $s_in, $s_state, VERTEX_IN_CHANS_PTR
    setzi       $s_entry, .Lworker_\TYPES
    st32        $s_state, $sp, $mzero, STACK_STATE
.Lconv_group_\TYPES:
    st32        $s_ptr, $sp, $mzero, STACK_CONV_GROUPS
    ldz16       $s_ptr, $s_state, VERTEX_NUM_IN_GROUPS_M1
.Lin_group_\TYPES:
    st32        $s_ptr, $sp, $mzero, STACK_IN_GROUPS
    ld32step    $s_ptr, $mzero, $s_in+=, 1
    ldz16       $s_out_groups, $s_state, VERTEX_NUM_OUT_GROUPS_M1
    st32        $s_ptr, $sp, $mzero, STACK_IN_PTR
.Lout_group_\TYPES:
    ld32step    $s_ptr, $mzero, $s_out_table+=, 1
    ld32        $s_worklists, $s_state, VERTEX_WORKLISTS_PTR
    ldz16       $s_positions, $s_state, VERTEX_KERNEL_SIZE_M1
    st32        $s_ptr, $sp, $mzero, STACK_OUT_PTR
.Lposition_\TYPES:
    ld32step    $s_ptr, $mzero, $s_weights+=, 1
    st32        $s_worklists, $sp, $mzero, STACK_WORKLISTS
    st32        $s_ptr, $sp, $mzero, STACK_WEIGHTS_PTR
    runall      $s_entry, $sp, 0
    add         $s_worklists, $s_worklists, CTXT_WORKERS * 4
    sync        TEXCH_SYNCZONE_LOCAL
    brnzdec     $s_positions, .Lposition_\TYPES
    brnzdec     $s_out_groups, .Lout_group_\TYPES
    ld32        $s_ptr, $sp, STACK_IN_GROUPS
    brz         $s_ptr, .Lconv_group_done_\TYPES
    // the next in group adds onto the same outputs
    ldz16       $s_out_groups, $s_state, VERTEX_NUM_OUT_GROUPS_M1
    add         $s_ptr, $s_ptr, -1
    add         $s_out_groups, $s_out_groups, 1
    shl         $s_out_groups, $s_out_groups, 2
    sub         $s_out_table, $s_out_table, $s_out_groups
    bri         .Lin_group_\TYPES
.Lconv_group_done_\TYPES:
    ld32        $s_ptr, $sp, STACK_CONV_GROUPS
    brnzdec     $s_ptr, .Lconv_group_\TYPES
    add         $sp, $sp, STACK_BYTES
    br          $lr
    .size ConvPartialHorizontalMac_\TYPES, . - ConvPartialHorizontalMac_\TYPES
.endm

// To the first partition: $w_list, $w_partitions; constants of the layer.
.macro HMAC_WORKER_BEGIN TYPES CHANS_AT_ONCE
    .section .text.ConvPartialHorizontalMac_\TYPES\()_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
.Lworker_\TYPES:
    get         $w_list, $WSR
    and         $w_list, $w_list, CSR_W_WSR__CTXTID_M1__MASK
    ld32        $w_out, $mvertex_base, STACK_WORKLISTS
    ld32        $w_list, $w_out, $w_list
    shr         $w_partitions, $w_list, SPAN_POINTER_BITS
    brz         $w_partitions, .Ldone_\TYPES
    shl         $w_list, $w_list, 32 - SPAN_POINTER_BITS
    shr         $w_list, $w_list, 32 - SPAN_POINTER_BITS
    ld32        $w_in, $mvertex_base, STACK_STATE
    ldz16       $w_in_words_m1, $w_in, $mzero, VERTEX_IN_WORDS
    ldz16       $w_out_chans_m2, $w_in, $mzero, VERTEX_OUT_CHANS
    shl         $w_in_bytes, $w_in_words_m1, 3
    add         $w_in_words_m1, $w_in_words_m1, -1
.if \CHANS_AT_ONCE == 2
    shr         $w_out_chans_m2, $w_out_chans_m2, 1
.endif
    add         $w_out_chans_m2, $w_out_chans_m2, -2
    add         $w_partitions, $w_partitions, -1
.endm

// The next partition's addresses: from pixels to bytes.
.macro HMAC_PARTITION TYPES LOG2_OUT_BYTES
.Lpartition_\TYPES:
    ldz16step   $w_out, $mzero, $w_list+=, 1
    ld32        $w_weights, $mvertex_base, STACK_STATE
    ldz16       $w_weights, $w_weights, $mzero, VERTEX_OUT_CHANS
    mul         $w_out, $w_out, $w_weights
    shl         $w_out, $w_out, \LOG2_OUT_BYTES
    ld32        $w_weights, $mvertex_base, STACK_OUT_PTR
    add         $w_out, $w_out, $w_weights
    ldz16step   $w_pixels, $mzero, $w_list+=, 1
    ldz16step   $w_in, $mzero, $w_list+=, 1
    mul         $w_in, $w_in, $w_in_bytes
    ld32        $w_weights, $mvertex_base, STACK_IN_PTR
    add         $w_in, $w_in, $w_weights
    add         $w_pixels, $w_pixels, -1
.endm

// One dot product after its first load. MAIN is done beside its last step.
.macro HMAC_DOT MAC MAIN:vararg
    { rpt       $w_in_words_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld2x64pace $w_x, $w_y, $w_triple+=, $mzero, 0 ; \MAC $w_x, $w_y }
2:
    { \MAIN ; \MAC $w_x, $w_y }
.endm

.macro HMAC_FLOAT_PARTIALS TYPES MAC
    HMAC_WORKER_BEGIN \TYPES 1
    HMAC_PARTITION \TYPES log2_float
    .align 8
.Lpixel_\TYPES:
    ld32        $w_weights, $mvertex_base, STACK_WEIGHTS_PTR
    tapack      $w_triple, $w_in, $w_weights, $mzero
    // a negative number of further outputs: one alone
    mov         $w_outs, $w_out_chans_m2
.if (. - .Lpixel_\TYPES) & 7
    nop
.endif
    { ld2x64pace $w_x, $w_y, $w_triple+=, $mzero, 0 ; fnop }
    HMAC_DOT \MAC nop
    { add       $w_weights, $w_weights, $w_in_bytes ; f32v2gina $w_sum, $azeros, 0 }
    { tapack    $w_triple, $w_in, $w_weights, $mzero ; f32add $w_sum_0, $w_sum_0, $w_sum_1 }
    { ld32      $w_partial, $w_out, $mzero, 0 ; fnop }
    { brneg     $w_outs, .Llast_\TYPES ; fnop }
.Loutput_\TYPES:
    { ld2x64pace $w_x, $w_y, $w_triple+=, $mzero, 0 ; f32add $w_sum_0, $w_sum_0, $w_partial }
    HMAC_DOT \MAC st32step $w_sum_0, $mzero, $w_out+=, 1
    { add       $w_weights, $w_weights, $w_in_bytes ; f32v2gina $w_sum, $azeros, 0 }
    { tapack    $w_triple, $w_in, $w_weights, $mzero ; f32add $w_sum_0, $w_sum_0, $w_sum_1 }
    { ld32      $w_partial, $w_out, $mzero, 0 ; fnop }
    brnzdec     $w_outs, .Loutput_\TYPES
.Llast_\TYPES:
    { add       $w_in, $w_in, $w_in_bytes ; f32add $w_sum_0, $w_sum_0, $w_partial }
    st32step    $w_sum_0, $mzero, $w_out+=, 1
    brnzdec     $w_pixels, .Lpixel_\TYPES
    brnzdec     $w_partitions, .Lpartition_\TYPES
.Ldone_\TYPES:
    exitz       $mzero
.endm

// Two outputs a store: there are no half-word stores.
.macro HMAC_PAIR MAC MAIN:vararg
    HMAC_DOT \MAC add $w_weights, $w_weights, $w_in_bytes
    { tapack    $w_triple, $w_in, $w_weights, $mzero ; f32v2gina $w_sum, $azeros, 0 }
    { ld2x64pace $w_x, $w_y, $w_triple+=, $mzero, 0 ; f32add $w_first, $w_sum_0, $w_sum_1 }
    HMAC_DOT \MAC \MAIN
    { add       $w_weights, $w_weights, $w_in_bytes ; f32v2gina $w_sum, $azeros, 0 }
    { tapack    $w_triple, $w_in, $w_weights, $mzero ; f32add $w_sum_1, $w_sum_0, $w_sum_1 }
    { ld32      $w_partial, $w_out, $mzero, 0 ; mov $w_sum_0, $w_first }
.endm

.macro HMAC_HALF_PARTIALS TYPES MAC
    HMAC_WORKER_BEGIN \TYPES 2
    HMAC_PARTITION \TYPES log2_half
    .align 8
.Lpixel_\TYPES:
    ld32        $w_weights, $mvertex_base, STACK_WEIGHTS_PTR
    tapack      $w_triple, $w_in, $w_weights, $mzero
    { ld2x64pace $w_x, $w_y, $w_triple+=, $mzero, 0 ; fnop }
    HMAC_PAIR \MAC mov $w_outs, $w_out_chans_m2
    { brneg     $w_outs, .Llast_\TYPES ; f32v2tof16 $w_sum_0, $w_sum }
.Loutput_\TYPES:
    { ld2x64pace $w_x, $w_y, $w_triple+=, $mzero, 0 ; f16v2add $w_partial, $w_sum_0, $w_partial }
    HMAC_PAIR \MAC st32step $w_partial, $mzero, $w_out+=, 1
    { brnzdec   $w_outs, .Loutput_\TYPES ; f32v2tof16 $w_sum_0, $w_sum }
.Llast_\TYPES:
    { add       $w_in, $w_in, $w_in_bytes ; f16v2add $w_partial, $w_sum_0, $w_partial }
    st32step    $w_partial, $mzero, $w_out+=, 1
    brnzdec     $w_pixels, .Lpixel_\TYPES
    brnzdec     $w_partitions, .Lpartition_\TYPES
.Ldone_\TYPES:
    exitz       $mzero
.endm

DEF_STACK_USAGE STACK_BYTES .text.ConvPartialHorizontalMac_half_float
HMAC_SUPERVISOR half_float
HMAC_FLOAT_PARTIALS half_float f16v4cmac
HMAC_SUPERVISOR float_float
HMAC_FLOAT_PARTIALS float_float f32v2mac
HMAC_SUPERVISOR half_half
HMAC_HALF_PARTIALS half_half f16v4cmac

#endif
