// SPDX-License-Identifier: MIT
// Reductions of contiguous elements by one worker.
//
//   ReduceScalarOutputSingleInput_<add | max>_<half | float>: out[0] = op of in[0 .. elements)
//   ReduceAllRegionsContinuous_add_<half | float>: out[i] = sum of in[i * elements .. (i + 1) * elements), out FP32
//
// State: pointer out (4-byte aligned), pointer in, u32 elements; the second also u32 outputs. Sums: in is 4-byte aligned, elements
// are any number (float) or even (half); maxima: in is 8-byte aligned, elements a multiple of 2 or 4 and not 0.
// A half result keeps what stands in the upper half of its word.
// Timing, worker issues with n 8-byte words of an aligned input: n and a constant; the second 12 + n an output.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_OUT 0
#define VERTEX_IN 1
#define VERTEX_ELEMENTS 2
#define VERTEX_OUTPUTS 3

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)

#define HALF_1_0 0x3c00
#define FLOAT_1_0 0x3f800000

#define out m0
#define in m1
#define words m2
#define outputs_m1 m3
#define elements m4
#define left m5

#define x a0:1
#define x_0 a0
#define upper a2:3
#define result a4:5
#define result_0 a4
#define result_1 a5
#define ones a6:7
#define one_0 a6
#define one_1 a7
#define keep a2

// what takes in a word in $x, and the lower part of it alone; in quotes registers go by their own names, since the preprocessor
// leaves strings alone
#define TAKE_IN_half "f16v4cmac $a0:1, $a6:7"
#define TAKE_IN_PART_half "f16v2cmac $a0, $a6"
#define TAKE_IN_float "f32v4acc $a0:3"
#define TAKE_IN_PART_float "f32mac $a0, $a6"

// clears the accumulators and loads the state; $ones are ones of the type
.macro CONTIGUOUS_PROLOGUE TYPE
    { ld32      $elements, $mvertex_base, VERTEX_ELEMENTS ; setzi $result_0, ZAACC_BITMASK }
    { ld32      $in, $mvertex_base, VERTEX_IN ; uput $FP_CLR, $result_0 }
.ifc \TYPE, half
    { nop ; setzi $one_0, HALF_1_0 }
    { nop ; sort4x16lo $one_0, $one_0, $one_0 }
.else
    { nop ; or $one_0, $azero, FLOAT_1_0 }
.endif
    { nop ; mov $one_1, $one_0 }
    { ld32      $out, $mvertex_base, VERTEX_OUT ; zero $upper }
.endm

// one half in the lower half of a word
.macro STORE_LOWER_HALF VALUE
    ld32        $keep, $out, $mzero, 0
    sort4x16hi  $keep, \VALUE\():BL, $keep
    st32        $keep, $out, $mzero, 0
.endm

// Sum of $elements elements from $in on, at any 4-byte alignment, into the accumulators; $in moves behind them.
.macro SUM_REGION LOG2_WORD_ELEMENTS TAKE_IN TAKE_IN_PART
    mov         $left, $elements
    and         $words, $in, 4
    brz         $words, 1f
    ld32step    $x_0, $mzero, $in+=, 1
    \TAKE_IN_PART
    add         $left, $left, -(1 << (\LOG2_WORD_ELEMENTS)) / 2
1:
    { shr       $words, $left, \LOG2_WORD_ELEMENTS ; zero $x }
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; \TAKE_IN }
2:
    \TAKE_IN
    and         $left, $left, (1 << (\LOG2_WORD_ELEMENTS)) / 2
    brz         $left, 3f
    ld32step    $x_0, $mzero, $in+=, 1
    \TAKE_IN_PART
3:
.endm

.macro SUM_OF_ACCUMULATORS
    f32v2gina   $result, $azeros, 0
    f32add      $result_0, $result_0, $result_1
.endm

.macro REDUCE_SCALAR_ADD TYPE LOG2_WORD_ELEMENTS TAKE_IN TAKE_IN_PART
WORKER_FUNCTION ReduceScalarOutputSingleInput_add_\TYPE
    CONTIGUOUS_PROLOGUE \TYPE
    SUM_REGION \LOG2_WORD_ELEMENTS "\TAKE_IN" "\TAKE_IN_PART"
    SUM_OF_ACCUMULATORS
.ifc \TYPE, half
    f32tof16    $result_0, $result_0
    STORE_LOWER_HALF $result_0
.else
    st32        $result_0, $out, $mzero, 0
.endif
    exitz       $mzero
.endm

REDUCE_SCALAR_ADD half LOG2_WORD_ELEMENTS_half TAKE_IN_half TAKE_IN_PART_half
REDUCE_SCALAR_ADD float LOG2_WORD_ELEMENTS_float TAKE_IN_float TAKE_IN_PART_float

.macro REDUCE_CONTINUOUS TYPE LOG2_WORD_ELEMENTS TAKE_IN TAKE_IN_PART
WORKER_FUNCTION ReduceAllRegionsContinuous_add_\TYPE
    CONTIGUOUS_PROLOGUE \TYPE
    ld32        $outputs_m1, $mvertex_base, VERTEX_OUTPUTS
    add         $outputs_m1, $outputs_m1, -1
    .align 8
.Loutput_\TYPE:
    SUM_REGION \LOG2_WORD_ELEMENTS "\TAKE_IN" "\TAKE_IN_PART"
    SUM_OF_ACCUMULATORS
    st32step    $result_0, $mzero, $out+=, 1
    brnzdec     $outputs_m1, .Loutput_\TYPE
    exitz       $mzero
.endm

REDUCE_CONTINUOUS half LOG2_WORD_ELEMENTS_half TAKE_IN_half TAKE_IN_PART_half
REDUCE_CONTINUOUS float LOG2_WORD_ELEMENTS_float TAKE_IN_float TAKE_IN_PART_float

.macro REDUCE_SCALAR_MAX TYPE LOG2_WORD_ELEMENTS MAX MAX_OF_ONE
WORKER_FUNCTION ReduceScalarOutputSingleInput_max_\TYPE
    ld32        $elements, $mvertex_base, VERTEX_ELEMENTS
    ld32        $in, $mvertex_base, VERTEX_IN
    ld32        $out, $mvertex_base, VERTEX_OUT
    shr         $words, $elements, \LOG2_WORD_ELEMENTS
    add         $words, $words, -1
    ld64step    $x, $mzero, $in+=, 1
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; mov $result, $x }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; \MAX $result, $result, $x }
2:
    \MAX        $result, $result, $x
    \MAX_OF_ONE $result_0, $result_0, $result_1
.ifc \TYPE, half
    roll16      $result_1, $result_0, $result_0
    \MAX_OF_ONE $result_0, $result_0, $result_1
    STORE_LOWER_HALF $result_0
.else
    st32        $result_0, $out, $mzero, 0
.endif
    exitz       $mzero
.endm

REDUCE_SCALAR_MAX half LOG2_WORD_ELEMENTS_half f16v4max f16v2max
REDUCE_SCALAR_MAX float LOG2_WORD_ELEMENTS_float f32v2max f32max

#endif
