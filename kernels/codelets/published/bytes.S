// SPDX-License-Identifier: MIT
// Bytes on a machine that stores words only, one worker.
//
//   CopyBytes: any alignment of both sides, by reading, changing and writing words
//   TransposeBytes4x4: each 4x4 block of bytes
//   SplitPlanes: {r, g, b, a} words into four planes
//
// State: pointer in, pointer out, u32 number: of bytes; of blocks (16 bytes each, 4-byte aligned); of groups of four words.
// Timing, worker issues: 13 a byte copied, 16 a block, 19 a group of four words.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define in m0
#define out m1
#define number m2
#define word m3
#define shift m4
#define mask m5
#define byte m6
#define old m7


WORKER_FUNCTION CopyBytes
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $number, $mvertex_base, 2
    bri         2f
1:
    ldz8step    $byte, $mzero, $in+=, 1
    and         $shift, $out, 3
    sub         $word, $out, $shift
    shl         $shift, $shift, 3
    setzi       $mask, 0xff
    shl         $mask, $mask, $shift
    shl         $byte, $byte, $shift
    ld32        $old, $word, $mzero, 0
    andc        $old, $old, $mask
    or          $old, $old, $byte
    stm32       $old, $word, $mzero
    add         $out, $out, 1
2:
    brnzdec     $number, 1b
    exitz       $mzero

#define a m3
#define b m4
#define c m5
#define d m6
#define ab m7
#define cd m8
#define t m9
#define plane_words m11
#define pointer m10

WORKER_FUNCTION TransposeBytes4x4
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $number, $mvertex_base, 2
    .align 8
    { rpt       $number, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld32step  $a, $mzero, $in+=, 1 ; fnop }
    { ld32step  $b, $mzero, $in+=, 1 ; fnop }
    { ld32step  $c, $mzero, $in+=, 1 ; fnop }
    { ld32step  $d, $mzero, $in+=, 1 ; fnop }
    { shuf8x8lo $ab, $a, $b ; fnop }
    { shuf8x8lo $cd, $c, $d ; fnop }
    { sort4x16lo $t, $ab, $cd ; fnop }
    { st32step  $t, $mzero, $out+=, 1 ; fnop }
    { sort4x16hi $t, $ab, $cd ; fnop }
    { st32step  $t, $mzero, $out+=, 1 ; fnop }
    { shuf8x8hi $ab, $a, $b ; fnop }
    { shuf8x8hi $cd, $c, $d ; fnop }
    { sort4x16lo $t, $ab, $cd ; fnop }
    { st32step  $t, $mzero, $out+=, 1 ; fnop }
    { sort4x16hi $t, $ab, $cd ; fnop }
    { st32step  $t, $mzero, $out+=, 1 ; fnop }
2:
    exitz       $mzero

// each byte position of four words becomes a word
WORKER_FUNCTION SplitPlanes
    ld32        $in, $mvertex_base, 0
    ld32        $out, $mvertex_base, 1
    ld32        $number, $mvertex_base, 2
    mov         $plane_words, $number
    bri         2f
1:
    ld32step    $a, $mzero, $in+=, 1
    ld32step    $b, $mzero, $in+=, 1
    ld32step    $c, $mzero, $in+=, 1
    ld32step    $d, $mzero, $in+=, 1
    // even bytes {a0, a2, b0, b2} and {c0, c2, d0, d2}, then the odd ones
    sort8x8lo   $ab, $a, $b
    sort8x8lo   $cd, $c, $d
    sort8x8hi   $b, $a, $b
    sort8x8hi   $d, $c, $d
    mov         $pointer, $out
    sort8x8lo   $t, $ab, $cd
    st32step    $t, $mzero, $pointer+=, $plane_words
    sort8x8lo   $t, $b, $d
    st32step    $t, $mzero, $pointer+=, $plane_words
    sort8x8hi   $t, $ab, $cd
    st32step    $t, $mzero, $pointer+=, $plane_words
    sort8x8hi   $t, $b, $d
    st32step    $t, $mzero, $pointer+=, $plane_words
    add         $out, $out, 4
2:
    brnzdec     $number, 1b
    exitz       $mzero

#endif
