// SPDX-License-Identifier: MIT
// Transposes blocks of FP32 and puts them into another order, as spmm_turn_f16.S does: tiles of 2 x 2 words, by sorts of words.
//
// Vertices spmm_turn_block4_f32, spmm_turn_block8_f32 for blocks [row][column], spmm_turn_block16_f32 for [half][row][column of the half]
// (multi worker). State: spmm_turn_f16.S.
// Timing, worker issues: 14, and a block takes 23 (4), 71 (8), 263 (16); without blocks 7.
// Source: docs/evidence.md#instruction-set (sorts of words).
#ifdef __IPU__

#include "spmm_turn.inc"

#define in_0 a0:1
#define in_1 a2:3
#define out_0 a4:5
#define out_1 a6:7

// Words of 8 bytes from a block to row ROW of tile (I, J): halves have four.
#define AT(I, J, ROW) ((2 * (I) + (ROW)) * row_words + ((J) >> 2) * half_words + ((J) & 3))

.macro FIRST_TILE
        ld64    $in_0, $from, $mzero, AT(0, 0, 0)
        ld64    $in_1, $from, $mzero, AT(0, 0, 1)
        { nop   ; sort4x32lo $out_0, $in_0, $in_1 }
.endm

.macro NEXT_TILE I J BEFORE_I BEFORE_J
        { st64  $out_0, $to, $mzero, AT(\BEFORE_J, \BEFORE_I, 0) ; sort4x32hi $out_1, $in_0, $in_1 }
        ld64    $in_0, $from, $mzero, AT(\I, \J, 0)
        ld64    $in_1, $from, $mzero, AT(\I, \J, 1)
        { st64  $out_1, $to, $mzero, AT(\BEFORE_J, \BEFORE_I, 1) ; sort4x32lo $out_0, $in_0, $in_1 }
.endm

.macro LAST_TILE I J
        { st64  $out_0, $to, $mzero, AT(\J, \I, 0) ; sort4x32hi $out_1, $in_0, $in_1 }
        st64    $out_1, $to, $mzero, AT(\J, \I, 1)
.endm

.set half_words, 64
.set row_words, 2
        TURN_BLOCKS spmm_turn_block4_f32 1 64
.set row_words, 4
        TURN_BLOCKS spmm_turn_block8_f32 2 256
        TURN_BLOCKS spmm_turn_block16_f32 3 1024

#endif
