// SPDX-License-Identifier: MIT
// out = factor * x where an element is kept, else 0. The worker's generator draws which elements are kept. It is seeded for
// each block of 32 bytes by the number of the block, so that an element's draw is the same wherever the element stands.
//
// Vertices dropout_f16, dropout_f32 (multi worker). State: elementwise.inc, whose unit is a block, and
//     9 base          pointer to a block of x
//     10 first        the number of that block, plus the key of the seed
//     11 apart        from a block's number to that of the block behind it
//     12 step         pointer to a number; other numbers draw other elements
//     13 seed
//     14 keep         an element is kept if 16 bits that are drawn are less; 0x10000: all are
//     15 factor       of the type of x; FP16 in the lower half
//     16, 17          the constants of the hash: MIX_1 and MIX_2
// A block with the number n is drawn from the state {S1, S0}, 64 bits each, by four masks of 8 bytes:
//     h = hash(first + n + step * MIX_1), g = h * MIX_1, S0 = {g ^ g >> 15 : h}, S1 = {step : seed}
//     hash(c): c ^= c >> 16, c *= MIX_1, c ^= c >> 15, c *= MIX_2, c ^= c >> 16
// The words go from one register file to the other by the block's place in out, of which x's first 8 bytes are read before.
// Timing, worker issues of a block: 25.
// Source: docs/evidence.md#instruction-set.

#include "elementwise.inc"

#define hash index
#define number y
#define apart y_skip
#define mix m11
#define factor a6
#define keep a7
#define seed a4
#define step a5

.macro DROPOUT_CONSTANTS
        { ld32  $apart, $mvertex_base, $mzero, 11 ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 12 ; fnop }
        { ld32  $step, $spare, $mzero, 0 ; fnop }
        { ld32  $seed, $mvertex_base, $mzero, 13 ; fnop }
        { ld32  $keep, $mvertex_base, $mzero, 14 ; fnop }
        { ld32  $factor, $mvertex_base, $mzero, 15 ; fnop }
        { ld32  $mix, $mvertex_base, $mzero, 16 ; fnop }
.endm

// MASK and MUL are the instructions of the type; HOW says how the factor stands for all elements.
.macro DROPOUT NAME MASK MUL HOW
        START   \NAME, 2, DROPOUT_CONSTANTS
        { ld32  $number, $mvertex_base, $mzero, 9 ; fnop }
        { sub   $number, $x, $number ; fnop }
        { shr   $number, $number, 5 ; fnop }
        { mul   $number, $number, $apart ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 10 ; fnop }
        { add   $number, $number, $spare ; fnop }
        { ld32  $spare, $mvertex_base, $mzero, 12 ; fnop }
        { ld32  $spare, $spare, $mzero, 0 ; fnop }
        { mul   $spare, $spare, $mix ; fnop }
        { add   $number, $number, $spare ; fnop }
        { shr   $spare, $number, 16 ; fnop }
        { xor   $hash, $number, $spare ; fnop }
        { mul   $hash, $hash, $mix ; fnop }
        { add   $rounds, $rounds, -1 ; fnop } // in a bundle, so that the loop is aligned
.Lunit_\NAME:
        { shr   $spare, $hash, 15 ; uput $PRNG_1_0, $seed }
        { xor   $hash, $hash, $spare ; uput $PRNG_1_1, $step }
        { ld32  $spare, $mvertex_base, $mzero, 17 ; fnop }
        { mul   $hash, $hash, $spare ; fnop }
        { shr   $spare, $hash, 16 ; fnop }
        { xor   $hash, $hash, $spare ; fnop }
        { ld64step $a0:1, $mzero, $x+=, 1 ; fnop }
        { st32  $hash, $out, $mzero, 0 ; fnop }
        { mul   $hash, $hash, $mix ; fnop }
        { shr   $spare, $hash, 15 ; fnop }
        { xor   $hash, $hash, $spare ; fnop }
        { st32  $hash, $out, $mzero, 1 ; fnop }
        { ld64  $a2:3, $out, $mzero, 0 ; fnop }
        { add   $number, $number, $apart ; uput $PRNG_0_0, $a2 }
        { shr   $spare, $number, 16 ; uput $PRNG_0_1, $a3 }
        { ld64step $a2:3, $mzero, $x+=, 1 ; \MASK $a0:1, $a0:1, $keep }
        { xor   $hash, $number, $spare ; \MUL $a0:1, $factor:\HOW, $a0:1 }
        { st64step $a0:1, $mzero, $out+=, 1 ; \MASK $a2:3, $a2:3, $keep }
        { ld64step $a0:1, $mzero, $x+=, 1 ; \MUL $a2:3, $factor:\HOW, $a2:3 }
        { st64step $a2:3, $mzero, $out+=, 1 ; \MASK $a0:1, $a0:1, $keep }
        { ld64step $a2:3, $mzero, $x+=, 1 ; \MUL $a0:1, $factor:\HOW, $a0:1 }
        { st64step $a0:1, $mzero, $out+=, 1 ; \MASK $a2:3, $a2:3, $keep }
        { mul   $hash, $hash, $mix ; \MUL $a2:3, $factor:\HOW, $a2:3 }
        { st64step $a2:3, $mzero, $out+=, 1 ; fnop }
        brnzdec $rounds, .Lunit_\NAME
.Lend_unit_\NAME:
        ld32    $rounds, $mvertex_base, $mzero, 1
        add     $x, $x, $x_skip
        END     \NAME, 2
.endm

DROPOUT dropout_f16 f16v4rmask f16v4mul BL
DROPOUT dropout_f32 f32v2rmask f32v2mul B
