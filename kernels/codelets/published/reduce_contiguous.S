// SPDX-License-Identifier: MIT
// Reductions of contiguous elements by one worker.
//
//   ReduceScalarOutputSingleInput_<add | max>_<half | float>: out[0] = op of in[0 .. elements)
//   ReduceAllRegionsContinuous_add_<half | float>: out[i] = sum of in[i * partials .. (i + 1) * partials), out FP32
//
// State: pointer out (4-byte aligned), pointer in (8-byte aligned), u32 elements; the second also u32 outputs, and there elements
// are those of one output. Elements are a multiple of 4 (half) or 2 (float) and not 0. A half result keeps what stands in the
// upper half of its word. Timing, worker issues with n 8-byte words: n and a constant; the second (n and a constant) an output.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_OUT 0
#define VERTEX_IN 1
#define VERTEX_ELEMENTS 2
#define VERTEX_OUTPUTS 3

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)

#define out m0
#define in m1
#define words_m1 m2
#define outputs_m1 m3

#define x a0:1
#define x_0 a0
#define x_1 a1
#define x_and_zeros a0:3
#define upper a2:3
#define sum a4:5
#define sum_0 a4
#define sum_1 a5
#define sum_hi a6:7
#define keep a6

.macro CONTIGUOUS_PROLOGUE LOG2_WORD_ELEMENTS
    { ld32      $words_m1, $mvertex_base, VERTEX_ELEMENTS ; setzi $sum_0, ZAACC_BITMASK }
    { ld32      $in, $mvertex_base, VERTEX_IN ; uput $FP_CLR, $sum_0 }
    { shr       $words_m1, $words_m1, \LOG2_WORD_ELEMENTS ; zero $upper }
    { add       $words_m1, $words_m1, -1 ; fnop }
    { ld32      $out, $mvertex_base, VERTEX_OUT ; fnop }
.endm

// $sum_0 = the FP32 sum of what the accumulators got
.macro SUM_OF_ACCUMULATORS IS_HALF
    f32v2gina   $sum, $azeros, 0
.if \IS_HALF
    f32v2gina   $sum_hi, $azeros, 0
    f32v2add    $sum, $sum, $sum_hi
.endif
    f32add      $sum_0, $sum_0, $sum_1
.endm

// one half in the lower half of a word
.macro STORE_LOWER_HALF VALUE
    ld32        $keep, $out, $mzero, 0
    sort4x16hi  $keep, \VALUE\():BL, $keep
    st32        $keep, $out, $mzero, 0
.endm

// In quotes registers go by their own names, since the preprocessor leaves strings alone.
.macro REDUCE_SCALAR OP TYPE LOG2_WORD_ELEMENTS TAKE_IN:req
WORKER_FUNCTION ReduceScalarOutputSingleInput_\OP\()_\TYPE
    CONTIGUOUS_PROLOGUE \LOG2_WORD_ELEMENTS
    { ld64step  $x, $mzero, $in+=, 1 ; fnop }
.ifc \OP, max
    { nop ; mov $sum, $x }
.endif
    { rpt       $words_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; \TAKE_IN }
2:
    \TAKE_IN
.ifc \OP\()_\TYPE, add_half
    SUM_OF_ACCUMULATORS 1
    f32tof16    $sum_0, $sum_0
    STORE_LOWER_HALF $sum_0
.endif
.ifc \OP\()_\TYPE, add_float
    SUM_OF_ACCUMULATORS 0
    st32        $sum_0, $out, $mzero, 0
.endif
.ifc \OP\()_\TYPE, max_half
    f16v2max    $sum_0, $sum_0, $sum_1
    roll16      $sum_1, $sum_0, $sum_0
    f16v2max    $sum_0, $sum_0, $sum_1
    STORE_LOWER_HALF $sum_0
.endif
.ifc \OP\()_\TYPE, max_float
    f32max      $sum_0, $sum_0, $sum_1
    st32        $sum_0, $out, $mzero, 0
.endif
    exitz       $mzero
.endm

REDUCE_SCALAR add half LOG2_WORD_ELEMENTS_half "f16v4acc $a0:1"
REDUCE_SCALAR add float LOG2_WORD_ELEMENTS_float "f32v4acc $a0:3"
REDUCE_SCALAR max half LOG2_WORD_ELEMENTS_half "f16v4max $a4:5, $a4:5, $a0:1"
REDUCE_SCALAR max float LOG2_WORD_ELEMENTS_float "f32v2max $a4:5, $a4:5, $a0:1"

.macro REDUCE_CONTINUOUS TYPE LOG2_WORD_ELEMENTS TAKE_IN IS_HALF
WORKER_FUNCTION ReduceAllRegionsContinuous_add_\TYPE
    CONTIGUOUS_PROLOGUE \LOG2_WORD_ELEMENTS
    ld32        $outputs_m1, $mvertex_base, VERTEX_OUTPUTS
    add         $outputs_m1, $outputs_m1, -1
.Loutput_\TYPE:
    { ld64step  $x, $mzero, $in+=, 1 ; fnop }
    { rpt       $words_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; \TAKE_IN }
2:
    { nop ; \TAKE_IN }
    SUM_OF_ACCUMULATORS \IS_HALF
    st32step    $sum_0, $mzero, $out+=, 1
    brnzdec     $outputs_m1, .Loutput_\TYPE
    exitz       $mzero
.endm

REDUCE_CONTINUOUS half LOG2_WORD_ELEMENTS_half "f16v4acc $a0:1" 1
REDUCE_CONTINUOUS float LOG2_WORD_ELEMENTS_float "f32v4acc $a0:3" 0

#endif
