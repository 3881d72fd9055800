// SPDX-License-Identifier: MIT
// The largest of FP16 values, by elements of a word: the upper half is the key, the lower one the complement of the index, which is less than 65536.
// top_k.inc says what keys, stages and the vertices' states are.
//
// Vertices top_k_keys_words, top_k_results_words (multi worker), top_k_select_words (supervisor).
// Timing: top_k_cost.h.

#include "top_k.inc"

        KEYS    top_k_keys_words, 1, 2
        setzi   $mask, 0x7fff
        { rpt   $own, (.Lvalues_end - .Lvalue) / 8 - 1 ; fnop }
.Lvalue:
        { lds16step $value, $mzero, $values+=, CTXT_WORKERS ; fnop }
        KEY_OF_VALUE
        { shl   $value, $value, 16 ; fnop }
        { or    $value, $value, $complement ; fnop }
        { st32step $value, $mzero, $elements+=, CTXT_WORKERS ; fnop }
        { add   $complement, $complement, -CTXT_WORKERS ; fnop }
.Lvalues_end:
        OTHERS  2
        { rpt   $own, 0 ; fnop }
.Lother:
        { st32step $least, $mzero, $elements+=, CTXT_WORKERS ; fnop }
.Lothers_end:
        exitz   $mzero

        SELECT  top_k_select_words
        STAGE   sort, 2, 4
        { rpt   $m6, (.Lsort_end - .Lsort_pair) / 8 - 1 ; fnop }
.Lsort_pair:
        { xor   $upper, $lower, $partner ; fnop }
        { ld32  $key, $x, $lower, 0 ; fnop }
        { ld32  $other_key, $x, $upper, 0 ; fnop }
        { max   $flag, $key, $other_key ; fnop }
        { min   $key, $key, $other_key ; fnop }
        { st32  $flag, $x, $lower, 0 ; fnop }
        { st32  $key, $x, $upper, 0 ; fnop }
        NEXT_COMPARISON
.Lsort_end:
        exitz   $mzero

        STAGE   halve, 2, 4
        OUTPUT
        { rpt   $m6, (.Lhalve_end - .Lhalve_pair) / 8 - 1 ; fnop }
.Lhalve_pair:
        { xor   $upper, $lower, $partner ; fnop }
        { ld32  $key, $x, $lower, 0 ; fnop }
        { ld32  $other_key, $x, $upper, 0 ; fnop }
        { max   $key, $key, $other_key ; fnop }
        { st32step $key, $mzero, $to+=, CTXT_WORKERS ; fnop }
        NEXT_COMPARISON
.Lhalve_end:
        exitz   $mzero

        RESULTS top_k_results_words
        shl     $m7, $of_worker, 3
        add     $from, $from, $m7
        add     $to_indices, $to_indices, $m7
        shl     $m7, $of_worker, 2
        add     $to_values, $to_values, $m7
        setzi   $sign, 0x8000
        setzi   $mask, 0xffff
        { rpt   $own, (.Lresults_end - .Lresult) / 8 - 1 ; fnop }
.Lresult:
        { ld32step $first, $mzero, $from+=, 1 ; fnop }
        { ld32step $second, $mzero, $from+=, 2 * CTXT_WORKERS - 1 ; fnop }
        { andc  $m9, $mask, $first ; fnop }
        { st32step $m9, $mzero, $to_indices+=, 1 ; fnop }
        { andc  $m9, $mask, $second ; fnop }
        { st32step $m9, $mzero, $to_indices+=, 2 * CTXT_WORKERS - 1 ; fnop }
        { shrs  $first, $first, 16 ; fnop }
        VALUE_OF_KEY $first, $m9
        { shrs  $second, $second, 16 ; fnop }
        VALUE_OF_KEY $second, $m9
        { sort4x16lo $first, $first, $second ; fnop }
        { st32step $first, $mzero, $to_values+=, CTXT_WORKERS ; fnop }
.Lresults_end:
        exitz   $mzero
