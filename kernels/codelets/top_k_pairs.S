// SPDX-License-Identifier: MIT
// The largest of FP16 or FP32 values, by elements of two words: the key, and the complement of the index.
// top_k.inc says what keys, stages and the vertices' states are.
//
// Vertices top_k_keys_pairs_f16, _f32, top_k_results_pairs_f16, _f32 (multi worker), top_k_select_pairs (supervisor).
// Timing: top_k_cost.h.

#include "top_k.inc"

        KEYS    top_k_keys_pairs_f16, 1, 3
        setzi   $mask, 0x7fff
        { rpt   $own, (.Lvalues_end_f16 - .Lvalue_f16) / 8 - 1 ; fnop }
.Lvalue_f16:
        { lds16step $value, $mzero, $values+=, CTXT_WORKERS ; fnop }
        KEY_OF_VALUE
        { st32step $value, $mzero, $elements+=, 1 ; fnop }
        { st32step $complement, $mzero, $elements+=, 2 * CTXT_WORKERS - 1 ; fnop }
        { add   $complement, $complement, -CTXT_WORKERS ; fnop }
.Lvalues_end_f16:
        OTHERS  3
        { rpt   $own, 1 ; fnop }
.Lother_f16:
        { st32step $least, $mzero, $elements+=, 1 ; fnop }
        { st32step $mzero, $mzero, $elements+=, 2 * CTXT_WORKERS - 1 ; fnop }
.Lothers_end_f16:
        exitz   $mzero

        KEYS    top_k_keys_pairs_f32, 2, 3
        setzi   $mask, 1
        shl     $mask, $mask, 31
        add     $mask, $mask, -1
        { rpt   $own, (.Lvalues_end_f32 - .Lvalue_f32) / 8 - 1 ; fnop }
.Lvalue_f32:
        { ld32step $value, $mzero, $values+=, CTXT_WORKERS ; fnop }
        KEY_OF_VALUE
        { st32step $value, $mzero, $elements+=, 1 ; fnop }
        { st32step $complement, $mzero, $elements+=, 2 * CTXT_WORKERS - 1 ; fnop }
        { add   $complement, $complement, -CTXT_WORKERS ; fnop }
.Lvalues_end_f32:
        OTHERS  3
        { rpt   $own, 1 ; fnop }
.Lother_f32:
        { st32step $least, $mzero, $elements+=, 1 ; fnop }
        { st32step $mzero, $mzero, $elements+=, 2 * CTXT_WORKERS - 1 ; fnop }
.Lothers_end_f32:
        exitz   $mzero

// Two elements are compared by keys and complements of indices. A larger complement is a lower index.
.macro LOAD_ELEMENTS
        { xor   $upper, $lower, $partner ; fnop }
        { ld32  $key, $x, $lower, 0 ; fnop }
        { ld32  $other_key, $x, $upper, 0 ; fnop }
        { ld32  $index, $x, $lower, 1 ; fnop }
        { ld32  $other_index, $x, $upper, 1 ; fnop }
.endm

#define largest m6
#define is_other m10

        SELECT  top_k_select_pairs
        STAGE   sort, 3, 8
        { rpt   $m6, (.Lsort_end - .Lsort_pair) / 8 - 1 ; fnop }
.Lsort_pair:
        LOAD_ELEMENTS
        { cmpult $is_other, $index, $other_index ; fnop }
        { max   $largest, $key, $other_key ; fnop }
        { min   $other_key, $key, $other_key ; fnop }
        { st32  $largest, $x, $lower, 0 ; fnop }
        { st32  $other_key, $x, $upper, 0 ; fnop }
        // where keys differ, the other element is first if its key is the largest
        { cmpne $key, $key, $largest ; fnop }
        { cmpne $other_key, $other_key, $largest ; fnop }
        { movnz $is_other, $other_key, $key ; fnop }
        { mov   $largest, $index ; fnop }
        { movnz $largest, $is_other, $other_index ; fnop }
        { st32  $largest, $x, $lower, 1 ; fnop }
        { movnz $other_index, $is_other, $index ; fnop }
        { st32  $other_index, $x, $upper, 1 ; fnop }
        NEXT_COMPARISON
.Lsort_end:
        exitz   $mzero

#undef largest
#undef is_other
#define largest m2
#define is_other m6

        STAGE   halve, 3, 8
        OUTPUT
        { rpt   $m6, (.Lhalve_end - .Lhalve_pair) / 8 - 1 ; fnop }
.Lhalve_pair:
        LOAD_ELEMENTS
        { cmpult $is_other, $index, $other_index ; fnop }
        { max   $largest, $key, $other_key ; fnop }
        { st32step $largest, $mzero, $to+=, 1 ; fnop }
        { cmpne $other_key, $key, $other_key ; fnop }
        { cmpne $key, $key, $largest ; fnop }
        { movnz $is_other, $other_key, $key ; fnop }
        { movnz $index, $is_other, $other_index ; fnop }
        { st32step $index, $mzero, $to+=, 2 * CTXT_WORKERS - 1 ; fnop }
        NEXT_COMPARISON
.Lhalve_end:
        exitz   $mzero

        RESULTS top_k_results_pairs_f16
        shl     $m7, $of_worker, 4
        add     $from, $from, $m7
        shl     $m7, $of_worker, 3
        add     $to_indices, $to_indices, $m7
        shl     $m7, $of_worker, 2
        add     $to_values, $to_values, $m7
        setzi   $sign, 0x8000
        { rpt   $own, (.Lresults_end_f16 - .Lresult_f16) / 8 - 1 ; fnop }
.Lresult_f16:
        { ld32step $first, $mzero, $from+=, 1 ; fnop }
        { ld32step $m9, $mzero, $from+=, 1 ; fnop }
        { ld32step $second, $mzero, $from+=, 1 ; fnop }
        { ld32step $m10, $mzero, $from+=, 4 * CTXT_WORKERS - 3 ; fnop }
        { xnor  $m9, $m9, $mzero ; fnop }
        { st32step $m9, $mzero, $to_indices+=, 1 ; fnop }
        { xnor  $m10, $m10, $mzero ; fnop }
        { st32step $m10, $mzero, $to_indices+=, 2 * CTXT_WORKERS - 1 ; fnop }
        VALUE_OF_KEY $first, $m9
        VALUE_OF_KEY $second, $m9
        { sort4x16lo $first, $first, $second ; fnop }
        { st32step $first, $mzero, $to_values+=, CTXT_WORKERS ; fnop }
.Lresults_end_f16:
        exitz   $mzero

        RESULTS top_k_results_pairs_f32
        shl     $m7, $of_worker, 3
        add     $from, $from, $m7
        shl     $m7, $of_worker, 2
        add     $to_indices, $to_indices, $m7
        add     $to_values, $to_values, $m7
        setzi   $sign, 1
        shl     $sign, $sign, 31
        { rpt   $own, (.Lresults_end_f32 - .Lresult_f32) / 8 - 1 ; fnop }
.Lresult_f32:
        { ld32step $first, $mzero, $from+=, 1 ; fnop }
        { ld32step $m9, $mzero, $from+=, 2 * CTXT_WORKERS - 1 ; fnop }
        { xnor  $m9, $m9, $mzero ; fnop }
        { st32step $m9, $mzero, $to_indices+=, CTXT_WORKERS ; fnop }
        VALUE_OF_KEY $first, $m9
        { st32step $first, $mzero, $to_values+=, CTXT_WORKERS ; fnop }
.Lresults_end_f32:
        exitz   $mzero
