// SPDX-License-Identifier: MIT
// Comparing and choosing without branches, one worker.
//
//   ArgMax_float: index of the first largest element
//   SortGroupsOf4_float: each four neighbours in ascending order
//   Top2_half: the two largest elements, the larger one first
//
// State: pointer in (8-byte aligned), pointer out (8-byte aligned), u32 elements (ArgMax: at least 1, out u32; sort: a multiple
// of 4; top 2: a multiple of 2, at least 2, out two halves).
// Timing, worker issues: ArgMax 5 an element, sort 12 a group, top 2 four an element pair.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define in m0
#define out m1
#define count m2
#define index m3
#define best_index m4
#define is_larger m5

#define x a0
#define best a1
#define mask a2

WORKER_FUNCTION ArgMax_float
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $count, $mvertex_base, 2
    ld32        $best, $in, $mzero, 0
    mov         $index, $mzero
    mov         $best_index, $mzero
    .align 8
    { rpt       $count, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld32step  $x, $mzero, $in+=, 1 ; fnop }
    { nop ; f32cmpgt $mask, $x, $best }
    { atom      $is_larger, $mask ; f32max $best, $best, $x }
    { movnz     $best_index, $is_larger, $index ; fnop }
    { add       $index, $index, 1 ; fnop }
2:
    st32        $best_index, $out, $mzero, 0
    exitz       $mzero

#undef x
#undef best
#undef mask
#define x a0:1
#define y a2:3
#define low a4:5
#define low_1 a5
#define high a6:7
#define high_0 a6
#define between_1 a1

WORKER_FUNCTION SortGroupsOf4_float
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $count, $mvertex_base, 2
    shr         $count, $count, 2
    .align 8
    { rpt       $count, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; fnop }
    { ld64step  $y, $mzero, $in+=, 1 ; fnop }
    { nop ; f32v2min $low, $x, $y }
    { nop ; f32v2max $high, $x, $y }
    // now {low 0, high 0} against {low 1, high 1}
    { nop ; sort4x32lo $x, $low, $high }
    { nop ; sort4x32hi $y, $low, $high }
    { nop ; f32v2min $low, $x, $y }
    { nop ; f32v2max $high, $x, $y }
    // low 0 is the smallest, high 1 the largest; in between stand high 0 and low 1
    { nop ; f32max $between_1, $high_0, $low_1 }
    { nop ; f32min $low_1, $high_0, $low_1 }
    { st64step  $low, $mzero, $out+=, 1 ; mov $high_0, $between_1 }
    { st64step  $high, $mzero, $out+=, 1 ; fnop }
2:
    exitz       $mzero

#undef x
#undef low
#undef high
#define x a0
#define first a1
#define second a2
#define loser a3
#define swapped a4

WORKER_FUNCTION Top2_half
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    { ld32      $count, $mvertex_base, 2 ; setzi $first, 0xfc00 }
    { shr       $count, $count, 1 ; sort4x16lo $first, $first, $first }
    { nop ; mov $second, $first }
    .align 8
    { rpt       $count, (2f - 1f) / 8 - 1 ; fnop }
1:
    // the two largest of the even elements in the lower halves, of the odd ones in the upper halves
    { ld32step  $x, $mzero, $in+=, 1 ; fnop }
    { nop ; f16v2min $loser, $first, $x }
    { nop ; f16v2max $first, $first, $x }
    { nop ; f16v2max $second, $second, $loser }
2:
    roll16      $swapped, $first, $first
    f16v2min    $loser, $first, $swapped
    f16v2max    $first, $first, $swapped
    roll16      $swapped, $second, $second
    f16v2max    $second, $second, $swapped
    f16v2max    $second, $second, $loser
    sort4x16lo  $first, $first, $second
    st32        $first, $out, $mzero, 0
    exitz       $mzero

#endif
