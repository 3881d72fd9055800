// SPDX-License-Identifier: MIT
// Outer product of a column of inputs and a row of weights: out[group][i][c] = in[i] * weights[group][c]. One worker.
//
//   OuterProduct_half, OuterProduct_float
//
// State: pointers (32 bits each) and 16-bit fields
//     0  in  4 weights  8 out  (weights and out 8-byte aligned, in different memory elements)
//    12  width: inputs, at least 1  14 groups: of output channels, at least 1
//    16  chansPerGroup: a multiple of 4 (half) or 2 (float), at least three 8-byte words of them
// One input is read beyond the last. Timing, worker issues with n = 8-byte words of a group: n + 3 an input.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"

#define VERTEX_IN 0
#define VERTEX_WEIGHTS 1
#define VERTEX_OUT 2
#define VERTEX_WIDTH 6
#define VERTEX_GROUPS 7
#define VERTEX_CHANS_PER_GROUP 8

#define words_m3 m0
#define in m1
#define weights m2
#define out m3
#define width_m2 m4
#define groups m5
#define triple m6:7
#define words_m2 m8
#define strides m9
#define inputs m10
#define group_bytes m11

#define x a0
#define w a2:3
#define product a4:5

// fields of the stride register
#define NEXT 0
#define FIRST 1
#define FIELDS(LOAD, STORE) ((LOAD) | ((STORE) << 2))

#define LOAD_INPUT_half ldb16step
#define LOAD_INPUT_float ld32step
#define MUL_half f16v4mul
#define MUL_float f32v2mul
#define BROADCAST_half BL
#define BROADCAST_float B
#define LOG2_WORD_ELEMENTS_half 2
#define LOG2_WORD_ELEMENTS_float 1

#define CAT(A, B) A##B
#define OUTER_PRODUCT_OF(TYPE) \
    OUTER_PRODUCT TYPE CAT(LOAD_INPUT_, TYPE) CAT(MUL_, TYPE) CAT(BROADCAST_, TYPE) CAT(LOG2_WORD_ELEMENTS_, TYPE)

.macro OUTER_PRODUCT TYPE LOAD_INPUT MUL BROADCAST LOG2_WORD_ELEMENTS
DEF_STACK_USAGE 0 .text.OuterProduct_\TYPE
    .section .text.OuterProduct_\TYPE, FUNCTION_IS_WORKER
    .globl OuterProduct_\TYPE
    .type OuterProduct_\TYPE, @function
    .worker
    .align 8
OuterProduct_\TYPE:
    ld32        $weights, $mvertex_base, VERTEX_WEIGHTS
    ld32        $out, $mvertex_base, VERTEX_OUT
    ldz16       $width_m2, $mvertex_base, $mzero, VERTEX_WIDTH
    ldz16       $groups, $mvertex_base, $mzero, VERTEX_GROUPS
    ldz16       $words_m2, $mvertex_base, $mzero, VERTEX_CHANS_PER_GROUP
    shr         $words_m2, $words_m2, \LOG2_WORD_ELEMENTS
    shl         $group_bytes, $words_m2, 3
    // from the last word of the weights back to the first, in the ten bits of a pace stride
    sub         $strides, 1, $words_m2
    shl         $strides, $strides, 22
    shr         $strides, $strides, 22
    add         $words_m3, $words_m2, -3
    add         $words_m2, $words_m2, -2
    add         $width_m2, $width_m2, -2
    add         $groups, $groups, -1
.Lgroup_\TYPE:
    ld32        $in, $mvertex_base, VERTEX_IN
    \LOAD_INPUT $x, $mzero, $in+=, 1
    ld64        $w, $weights, $mzero, 0
    add         $inputs, $weights, 16
    tapack      $triple, $inputs, $mzero, $out
    .align 8
    // word k + 1 is loaded, word k multiplied, word k - 1 stored: the first one has nothing to store yet
    { ld64      $w, $weights, $mzero, 1 ; \MUL $product, $x:\BROADCAST, $w }
    { rpt       $words_m3, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ldst64pace $w, $product, $triple+=, $strides, FIELDS(NEXT, NEXT) ; \MUL $product, $x:\BROADCAST, $w }
2:
    { ldst64pace $w, $product, $triple+=, $strides, FIELDS(FIRST, NEXT) ; \MUL $product, $x:\BROADCAST, $w }
    { ldst64pace $w, $product, $triple+=, $strides, FIELDS(NEXT, NEXT) ; \MUL $product, $x:\BROADCAST, $w }
    { mov       $inputs, $width_m2 ; fnop }
    { brneg     $width_m2, .Llast_\TYPE ; fnop }
    { \LOAD_INPUT $x, $mzero, $in+=, 1 ; fnop }
.Linput_\TYPE:
    { rpt       $words_m2, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ldst64pace $w, $product, $triple+=, $strides, FIELDS(NEXT, NEXT) ; \MUL $product, $x:\BROADCAST, $w }
2:
    { ldst64pace $w, $product, $triple+=, $strides, FIELDS(FIRST, NEXT) ; \MUL $product, $x:\BROADCAST, $w }
    { ldst64pace $w, $product, $triple+=, $strides, FIELDS(NEXT, NEXT) ; \MUL $product, $x:\BROADCAST, $w }
    { \LOAD_INPUT $x, $mzero, $in+=, 1 ; fnop }
    { brnzdec   $inputs, .Linput_\TYPE ; fnop }
.Llast_\TYPE:
    st64pace    $product, $triple+=, $strides, NEXT
    ldz16       $inputs, $mvertex_base, $mzero, VERTEX_WIDTH
    mul         $inputs, $inputs, $group_bytes
    add         $weights, $weights, $group_bytes
    add         $out, $out, $inputs
    brnzdec     $groups, .Lgroup_\TYPE
    exitz       $mzero
.endm

OUTER_PRODUCT_OF(half)
OUTER_PRODUCT_OF(float)

#endif
