// SPDX-License-Identifier: MIT
// clang-format off
// Vertex state of the 1x1 convolution vertices and the supervisor that all of them share.
//
// State: pointers (32 bits each) and 16-bit fields
//     0  outChansPtr   table of output pointers, [conv group][out group]
//     4  weightsPtr    table of weight pointers, [conv group][in group][out group]
//     8  inChansPtr    table of input pointers, [conv group][in group]
//    12  worklistsPtr  three 16-bit words a worker: first output pixel, pixels, first input
//                      pixel; offsets in 8-byte words
//    16  numConvGroupsM1  18 numOutGroupsM1  20 numInGroupsM1
//    22  inStride      24 outStride: 8-byte words from the last word of a pixel to the first of the
//                      next; output pixels are an even number of words apart
//    26  FP8 inputs only: the value of FP_INFMT, and 28 that of FP_ISCL (signed)
// The first in group starts the sums from zero. Workers keep their work and pointers from launch to
// launch of one call: they are entered at `first` once, at `in` when the in group changes, at `out`
// otherwise.
#ifndef TESSERA_PUBLISHED_CONV_PARTIAL_1X1_COMMON_H
#define TESSERA_PUBLISHED_CONV_PARTIAL_1X1_COMMON_H

// words and half words of the state
#define VERTEX_OUT_CHANS_PTR 0
#define VERTEX_WEIGHTS_PTR 1
#define VERTEX_IN_CHANS_PTR 2
#define VERTEX_WORKLISTS_PTR 3
#define VERTEX_NUM_CONV_GROUPS_M1 8
#define VERTEX_NUM_OUT_GROUPS_M1 9
#define VERTEX_NUM_IN_GROUPS_M1 10
#define VERTEX_IN_STRIDE 11
#define VERTEX_OUT_STRIDE 12
#define VERTEX_FP8_FORMAT 13
#define VERTEX_FP8_SCALE 14

// what the supervisor leaves on its stack for the workers, in words
#define STACK_OUT_PTR 0
#define STACK_IN_PTR 1
#define STACK_WORKLISTS 2
#define STACK_STRIDES 3
#define STACK_CONV_GROUPS 4
#define STACK_BYTES 32

// supervisor registers
#define s_state m0
#define s_out_table m1
#define s_weights m2
#define s_in m3
#define s_entry m4
#define s_out_groups m5
#define s_in_groups m6
#define s_ptr m7
#define s_out m8

// worker registers, kept from launch to launch
#define w_in_offset m0
#define w_out_offset m1
#define w_pixels_m3 m2
#define w_strides m3
#define w_in m4
#define w_pixels_m2 m5
// and those that are not
#define w_triple m6:7
#define w_out m8
#define w_scratch m9
#define w_id m10
#define w_list m11

// fields of the stride register: 1 the input's, 2 the output's, 3 stands still
#define PX(IN) (IN)
#define PXP(IN, PARTIAL) ((IN) | ((PARTIAL) << 2))
#define PXPO(IN, PARTIAL, OUT) ((IN) | ((PARTIAL) << 2) | ((OUT) << 4))
#define NEXT 0
#define PIXEL_IN 1
#define PIXEL_OUT 2
#define STILL 3

// From the supervisor's frame and this worker's list to the kept registers.
.macro CONV1X1_FIRST
    get         $w_id, $WSR
    and         $w_id, $w_id, CSR_W_WSR__CTXTID_M1__MASK
    mul         $w_id, $w_id, 6
    ld32        $w_list, $mvertex_base, STACK_WORKLISTS
    add         $w_list, $w_list, $w_id
    ldz16       $w_out_offset, $w_list, $mzero, 0
    ldz16       $w_pixels_m3, $w_list, $mzero, 1
    ldz16       $w_in_offset, $w_list, $mzero, 2
    ld32        $w_strides, $mvertex_base, STACK_STRIDES
    shl         $w_out_offset, $w_out_offset, 3
    shl         $w_in_offset, $w_in_offset, 3
    add         $w_pixels_m2, $w_pixels_m3, -2
    add         $w_pixels_m3, $w_pixels_m3, -3
.endm

// One in group: all out groups, PASSES weight loads each. PASS_BYTES: from a pass's outputs of a
// pixel to the next one's.
.macro CONV1X1_OUT_GROUPS LABEL NEXT_ENTRY PASSES PASS_BYTES LOADS:vararg
    ld32step    $s_ptr, $mzero, $s_in+=, 1
    ldz16       $s_out_groups, $s_state, VERTEX_NUM_OUT_GROUPS_M1
    st32        $s_ptr, $sp, $mzero, STACK_IN_PTR
\LABEL:
    ld32step    $s_ptr, $mzero, $s_weights+=, 1
    ld32step    $s_out, $mzero, $s_out_table+=, 1
    put         $CCCSLOAD, $s_ptr
    st32        $s_out, $sp, $mzero, STACK_OUT_PTR
.set passes_to_go, \PASSES
.rept \PASSES
    \LOADS
    runall      $s_entry, $sp, 0
    setzi       $s_entry, \NEXT_ENTRY
.set passes_to_go, passes_to_go - 1
.if passes_to_go
    add         $s_out, $s_out, \PASS_BYTES
    sync        TEXCH_SYNCZONE_LOCAL
    st32        $s_out, $sp, $mzero, STACK_OUT_PTR
.endif
.endr
    sync        TEXCH_SYNCZONE_LOCAL
    brnzdec     $s_out_groups, \LABEL
.endm

// Entries of the workers are NAME_zero_{first,in,out} and NAME_add_{in,out}.
.macro CONV1X1_SUPERVISOR SYMBOL NAME PASSES PASS_BYTES LOADS:vararg
    .section .text.\SYMBOL, "ax"
    .globl \SYMBOL
    .type \SYMBOL, @function
    .supervisor
    .align 8
\SYMBOL:
    ld32        $s_out, $s_state, VERTEX_WORKLISTS_PTR
    lds16       $s_in, $s_state, $mzero, VERTEX_IN_STRIDE
    lds16       $s_weights, $s_state, $mzero, VERTEX_OUT_STRIDE
    ldz16       $s_ptr, $s_state, VERTEX_NUM_CONV_GROUPS_M1
    add         $sp, $sp, -STACK_BYTES
    setzi       $s_entry, \NAME\()_zero_first
    st32        $s_out, $sp, $mzero, STACK_WORKLISTS
    shl         $s_in, $s_in, 22
    shr         $s_in, $s_in, 22
    shl         $s_weights, $s_weights, 22
    shr         $s_weights, $s_weights, 12
    or          $s_in, $s_in, $s_weights
    st32        $s_in, $sp, $mzero, STACK_STRIDES
    st32        $s_ptr, $sp, $mzero, STACK_CONV_GROUPS
    ld32        $s_weights, $s_state, VERTEX_WEIGHTS_PTR
    ld32        $s_in, $s_state, VERTEX_IN_CHANS_PTR
    ld32        $s_out_table, $s_state, VERTEX_OUT_CHANS_PTR
.Lconv_group_\SYMBOL:
    ldz16       $s_in_groups, $s_state, VERTEX_NUM_IN_GROUPS_M1
    CONV1X1_OUT_GROUPS .Lzero_\SYMBOL \NAME\()_zero_out \PASSES \PASS_BYTES \LOADS
    brnzdec     $s_in_groups, .Lin_group_\SYMBOL
    bri         .Lconv_group_done_\SYMBOL
.Lin_group_\SYMBOL:
    // back to the conv group's first out group
    ldz16       $s_out_groups, $s_state, VERTEX_NUM_OUT_GROUPS_M1
    setzi       $s_entry, \NAME\()_add_in
    mul         $s_out_groups, $s_out_groups, -4
    add         $s_out_table, $s_out_table, $s_out_groups
    add         $s_out_table, $s_out_table, -4
    CONV1X1_OUT_GROUPS .Ladd_\SYMBOL \NAME\()_add_out \PASSES \PASS_BYTES \LOADS
    brnzdec     $s_in_groups, .Lin_group_\SYMBOL
.Lconv_group_done_\SYMBOL:
    ld32        $s_ptr, $sp, STACK_CONV_GROUPS
    setzi       $s_entry, \NAME\()_zero_in
    brz         $s_ptr, .Lreturn_\SYMBOL
    add         $s_ptr, $s_ptr, -1
    st32        $s_ptr, $sp, $mzero, STACK_CONV_GROUPS
    bri         .Lconv_group_\SYMBOL
.Lreturn_\SYMBOL:
    add         $sp, $sp, STACK_BYTES
    br          $lr
    .size \SYMBOL, . - \SYMBOL
.endm

#endif
