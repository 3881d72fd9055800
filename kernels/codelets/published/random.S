// SPDX-License-Identifier: MIT
// Random numbers of one worker whose generator is seeded by the vertex: the same numbers in every run.
//
//   UniformBits: 64 random bits a word
//   Normal_float: normal with deviation about 1, two a word
//   Dropout_half: keeps each element with a probability, others become 0
//
// State: pointer out, pointer in (Dropout only), both 8-byte aligned, u32 8-byte words, u32 seed, u32 probability of
// keeping (Dropout only): of 0x10000.
// Timing, worker issues a word: 2, 2 and 3.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define out m0
#define in m1
#define words m2

#define x a0:1
#define y a2:3
#define seed a4
#define keep_probability a5

.macro RANDOM_PROLOGUE
    ld32        $seed, $mvertex_base, 3
    { ld32      $out, $mvertex_base, 0 ; uput $PRNG_SEED, $seed }
    { ld32      $words, $mvertex_base, 2 ; fnop }
.endm

.macro GENERATE NAME OP
WORKER_FUNCTION \NAME
    RANDOM_PROLOGUE
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { nop ; \OP $x }
    { st64step  $x, $mzero, $out+=, 1 ; fnop }
2:
    exitz       $mzero
.endm

GENERATE UniformBits urand64
GENERATE Normal_float f32v2grand

WORKER_FUNCTION Dropout_half
    RANDOM_PROLOGUE
    ld32        $in, $mvertex_base, 1
    ld32        $keep_probability, $mvertex_base, 4
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, 1 ; fnop }
    { nop ; f16v4rmask $y, $x, $keep_probability }
    { st64step  $y, $mzero, $out+=, 1 ; fnop }
2:
    exitz       $mzero

#endif
