// SPDX-License-Identifier: MIT
// Transposes blocks of FP16 and puts them into another order: the values of a static sparse product, for the product by the transpose. Tiles of
// 4 x 4 halves go through the accumulators.
//
// Vertices spmm_turn_block4_f16, spmm_turn_block8_f16, spmm_turn_block16_f16 for blocks [row][column], spmm_turn_outputs16_f16 for blocks of 16
// whose row r is output r of one weight load (multi worker). State, words:
//     0 from, 1 to      8-byte aligned; what is read and what is written does not overlap
//     2 list            4-byte aligned; a half for each block of `to`: which block of `from` comes there
//     3 blocks
// Nothing is read beyond.
// Timing, worker issues: 14, and a block takes 16 (4), 40 (8), 136 (16); without blocks 7.
// Source: docs/evidence.md#instruction-set (the transpose network of the accumulators).
#ifdef __IPU__

#include "spmm_turn.inc"
#include "poplar/TileConstants.hpp"

#define in_0 a0:1
#define in_1 a2:3
#define out_0 a4:5
#define out_1 a6:7

// Words of 8 bytes from a block to row ROW of tile (I, J).
#define AT(I, J, ROW) ((I) * four_rows + ((ROW) >> 1) * two_rows + ((ROW) & 1) * one_row + (J))

.macro FIRST_TILE
        ld64    $in_0, $from, $mzero, AT(0, 0, 0)
        ld64    $in_1, $from, $mzero, AT(0, 0, 1)
        { ld64  $in_0, $from, $mzero, AT(0, 0, 2) ; f16v4istacc $out_0, $in_0, $in_1, TISTACC_P0 }
        ld64    $in_1, $from, $mzero, AT(0, 0, 3)
        { nop   ; f16v4istacc $out_1, $in_0, $in_1, TISTACC_P1 }
.endm

// The third and the fourth row of a tile come out while the next one goes in.
.macro NEXT_TILE I J BEFORE_I BEFORE_J
        { ld64  $in_0, $from, $mzero, AT(\I, \J, 0) ; f16v4stacc $out_0, TSTACC_P0 }
        { ld64  $in_1, $from, $mzero, AT(\I, \J, 1) ; f16v4stacc $out_1, TSTACC_P1 }
        st64    $out_0, $to, $mzero, AT(\BEFORE_J, \BEFORE_I, 0)
        { st64  $out_1, $to, $mzero, AT(\BEFORE_J, \BEFORE_I, 1) ; f16v4istacc $out_0, $in_0, $in_1, TISTACC_P0 }
        ld64    $in_0, $from, $mzero, AT(\I, \J, 2)
        ld64    $in_1, $from, $mzero, AT(\I, \J, 3)
        { st64  $out_0, $to, $mzero, AT(\BEFORE_J, \BEFORE_I, 2) ; f16v4istacc $out_1, $in_0, $in_1, TISTACC_P1 }
        st64    $out_1, $to, $mzero, AT(\BEFORE_J, \BEFORE_I, 3)
.endm

.macro LAST_TILE I J
        { nop   ; f16v4stacc $out_0, TSTACC_P0 }
        { st64  $out_0, $to, $mzero, AT(\J, \I, 0) ; f16v4stacc $out_1, TSTACC_P1 }
        { st64  $out_1, $to, $mzero, AT(\J, \I, 1) ; f16v4stacc $out_0, TSTACC_P1 }
        { st64  $out_0, $to, $mzero, AT(\J, \I, 2) ; f16v4stacc $out_1, TSTACC_P1 }
        st64    $out_1, $to, $mzero, AT(\J, \I, 3)
.endm

.macro BY_ROWS SHIFT
.set one_row, 1 << (\SHIFT)
.set two_rows, 2 << (\SHIFT)
.set four_rows, 4 << (\SHIFT)
.endm

        BY_ROWS 0
        TURN_BLOCKS spmm_turn_block4_f16 0 32
        BY_ROWS 1
        TURN_BLOCKS spmm_turn_block8_f16 1 128
        BY_ROWS 2
        TURN_BLOCKS spmm_turn_block16_f16 2 512

// Output r is in set (r >> 1) & 1, unit 2 * (r >> 2) + (r & 1).
.set one_row, 4
.set two_rows, 32
.set four_rows, 8
        TURN_BLOCKS spmm_turn_outputs16_f16 2 512

#endif
