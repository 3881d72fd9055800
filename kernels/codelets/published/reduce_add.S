// SPDX-License-Identifier: MIT
// Sums of partial results, six workers: out[i] = sum over p of partials[p][i].
//
//   ReduceAdd_<half | float>_<half | float>: partials behind a list of pointers
//   ReduceAddSingleInput_<half | float>_<half | float>: all partials in one array, one after the other
//   ReduceAddInitial_<half | float>_<half | float>: the first partial elsewhere, the others in one array
//
// Types: of the partials, of the result; the sums are FP32 in the accumulators. State of ReduceAdd: pointer out, pointer to the
// list, u16 number of partials (at least 1), u16 outputs. Of ReduceAddSingleInput: pointer out, pointer partials, then the same.
// Of ReduceAddInitial: pointer out, pointer to the others, u16 number of partials with the first one (at least 2), u16 outputs,
// pointer to the first one.
// Outputs: a multiple of 8 (half partials) or 4 (float partials).
// A group is what one instruction adds: 8 halves or 4 floats of each partial. Worker w takes the groups w, w + 6, ...
// Timing, worker issues a group with p partials:
//              half_half   float_half   float_float
//   list        8 + 3p       6 + 3p       7 + 3p
//   one array   9 + 2p       7 + 2p       8 + 2p
//   initial     8 + 2p       6 + 2p       7 + 2p
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_OUT 0
#define VERTEX_PARTIALS 1
#define VERTEX_NUM_PARTIALS 4
#define VERTEX_NUM_OUTPUTS 5
#define VERTEX_INITIAL 3

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)
    .equ GROUP_BYTES, 16

#define out m0
#define list m1
#define partials_m1 m2
#define groups m3
#define worker m4
#define scratch m5
#define offset m6
#define entry m7
#define partial m8
#define stride_m1 m9
#define start m10
#define initial m1

#define x a0:3
#define x_lo a0:1
#define x_hi a2:3
#define y_lo a4:5
#define y_hi a6:7
#define y_0 a4
#define y_1 a5
#define y_2 a6
#define y_3 a7

#define ACC_half f16v8acc
#define ACC_float f32v4acc
#define LOG2_GROUP_half 3
#define LOG2_GROUP_float 2

// Groups of this worker, less one, in $groups; the worker ends if it has none. $out, $offset at the first one.
.macro REDUCE_PROLOGUE OUT_WORDS LOG2_GROUP END
    GET_WORKER  $worker
    ldz16       $groups, $mvertex_base, $mzero, VERTEX_NUM_OUTPUTS
    ld32        $out, $mvertex_base, VERTEX_OUT
    shr         $groups, $groups, \LOG2_GROUP
    SHARE_OF_WORKER $groups $groups $worker $scratch
    brz         $groups, \END
    ldz16       $partials_m1, $mvertex_base, $mzero, VERTEX_NUM_PARTIALS
    mul         $offset, $worker, GROUP_BYTES
    mul         $scratch, $worker, 8 * (\OUT_WORDS)
    add         $out, $out, $scratch
    add         $groups, $groups, -1
    { add       $partials_m1, $partials_m1, -1
      setzi     $y_0, ZAACC_BITMASK }
.endm

// Reads and clears the sums of one group and stores them. MAIN0, MAIN1: what the main lane does meanwhile.
.macro STORE_half_half MAIN0 MAIN1
    { \MAIN0 ; f16v2gina $y_0, $azero, 0 }
    { \MAIN1 ; f16v2gina $y_1, $azero, 0 }
    { st64step  $y_lo, $mzero, $out+=, 1 ; f16v2gina $y_2, $azero, 0 }
    { nop ; f16v2gina $y_3, $azero, 0 }
    st64step    $y_hi, $mzero, $out+=, 2 * CTXT_WORKERS - 1
.endm
.macro STORE_float_half MAIN0 MAIN1
    { \MAIN0 ; f16v2gina $y_0, $azero, 0 }
    { \MAIN1 ; f16v2gina $y_1, $azero, 0 }
    st64step    $y_lo, $mzero, $out+=, CTXT_WORKERS
.endm
.macro STORE_float_float MAIN0 MAIN1
    { \MAIN0 ; f32v2gina $y_lo, $azeros, 0 }
    { \MAIN1 ; f32v2gina $y_hi, $azeros, 0 }
    st64step    $y_lo, $mzero, $out+=, 1
    st64step    $y_hi, $mzero, $out+=, 2 * CTXT_WORKERS - 1
.endm

#define OUT_WORDS_half_half 2
#define OUT_WORDS_float_half 1
#define OUT_WORDS_float_float 2
#define REDUCE(IN, OUT) \
    REDUCE_ADD IN OUT ACC_##IN LOG2_GROUP_##IN OUT_WORDS_##IN##_##OUT; \
    REDUCE_ADD_SINGLE_INPUT IN OUT ACC_##IN LOG2_GROUP_##IN OUT_WORDS_##IN##_##OUT; \
    REDUCE_ADD_INITIAL IN OUT ACC_##IN LOG2_GROUP_##IN OUT_WORDS_##IN##_##OUT

// In quotes registers go by their own names, since the preprocessor leaves strings alone.
.macro REDUCE_ADD IN OUT ACC LOG2_GROUP OUT_WORDS
WORKER_FUNCTION ReduceAdd_\IN\()_\OUT
    REDUCE_PROLOGUE \OUT_WORDS \LOG2_GROUP .Lend_\IN\()_\OUT
    { ld32      $list, $mvertex_base, VERTEX_PARTIALS
      uput      $FP_CLR, $y_0 }
    mov         $entry, $list
    .align 8
    nop
.Lgroup_\IN\()_\OUT:
    ld32step    $partial, $mzero, $entry+=, 1
    ld64        $x_lo, $partial, $offset, 0
    ld64        $x_hi, $partial, $offset, 1
    { rpt       $partials_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld32step  $partial, $mzero, $entry+=, 1 ; \ACC $x }
    { ld64      $x_lo, $partial, $offset, 0 ; fnop }
    { ld64      $x_hi, $partial, $offset, 1 ; fnop }
2:
    { mov       $entry, $list ; \ACC $x }
    STORE_\IN\()_\OUT "add $m6, $m6, GROUP_BYTES * CTXT_WORKERS" "nop"
    brnzdec     $groups, .Lgroup_\IN\()_\OUT
.Lend_\IN\()_\OUT:
    exitz       $mzero
.endm

.macro REDUCE_ADD_SINGLE_INPUT IN OUT ACC LOG2_GROUP OUT_WORDS
WORKER_FUNCTION ReduceAddSingleInput_\IN\()_\OUT
    REDUCE_PROLOGUE \OUT_WORDS \LOG2_GROUP .Lend_single_\IN\()_\OUT
    // from the second word of a group to the first word of the same group in the next partial
    { ldz16     $stride_m1, $mvertex_base, $mzero, VERTEX_NUM_OUTPUTS
      uput      $FP_CLR, $y_0 }
    shr         $stride_m1, $stride_m1, (\LOG2_GROUP) - 1
    add         $stride_m1, $stride_m1, -1
    ld32        $start, $mvertex_base, VERTEX_PARTIALS
    add         $start, $start, $offset
    .align 8
    nop
.Lgroup_single_\IN\()_\OUT:
    mov         $partial, $start
    ld64step    $x_lo, $mzero, $partial+=, 1
    ld64step    $x_hi, $mzero, $partial+=, $stride_m1
    { rpt       $partials_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x_lo, $mzero, $partial+=, 1 ; \ACC $x }
    { ld64step  $x_hi, $mzero, $partial+=, $stride_m1 ; fnop }
2:
    { nop ; \ACC $x }
    STORE_\IN\()_\OUT "add $m10, $m10, GROUP_BYTES * CTXT_WORKERS" "nop"
    brnzdec     $groups, .Lgroup_single_\IN\()_\OUT
.Lend_single_\IN\()_\OUT:
    exitz       $mzero
.endm

.macro REDUCE_ADD_INITIAL IN OUT ACC LOG2_GROUP OUT_WORDS
WORKER_FUNCTION ReduceAddInitial_\IN\()_\OUT
    REDUCE_PROLOGUE \OUT_WORDS \LOG2_GROUP .Lend_initial_\IN\()_\OUT
    { ldz16     $stride_m1, $mvertex_base, $mzero, VERTEX_NUM_OUTPUTS
      uput      $FP_CLR, $y_0 }
    shr         $stride_m1, $stride_m1, (\LOG2_GROUP) - 1
    add         $stride_m1, $stride_m1, -1
    ld32        $initial, $mvertex_base, VERTEX_INITIAL
    ld32        $start, $mvertex_base, VERTEX_PARTIALS
    add         $initial, $initial, $offset
    add         $start, $start, $offset
    mov         $partial, $start
    .align 8
.Lgroup_initial_\IN\()_\OUT:
    ld64step    $x_lo, $mzero, $initial+=, 1
    ld64step    $x_hi, $mzero, $initial+=, 2 * CTXT_WORKERS - 1
    { rpt       $partials_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x_lo, $mzero, $partial+=, 1 ; \ACC $x }
    { ld64step  $x_hi, $mzero, $partial+=, $stride_m1 ; fnop }
2:
    { add       $start, $start, GROUP_BYTES * CTXT_WORKERS ; \ACC $x }
    STORE_\IN\()_\OUT "mov $m8, $m10" "nop"
    brnzdec     $groups, .Lgroup_initial_\IN\()_\OUT
.Lend_initial_\IN\()_\OUT:
    exitz       $mzero
.endm

REDUCE(half, half)
REDUCE(float, half)
REDUCE(float, float)

#endif
