// SPDX-License-Identifier: MIT
// Transposes blocks of FP16 where they lie: the values of a bucket before and after the gradient of the input. Tiles of 4 x 4 halves go through
// the accumulators; two that mirror each other change places.
//
// Vertices dynamic_transpose_block4_f16, dynamic_transpose_block8_f16, dynamic_transpose_block16_f16 (multi-worker). State, words:
//     0 values     blocks [row][column], 8-byte aligned
//     1 blocks     fewer than 65536
// Worker w takes the blocks w, w + workers, ... Nothing is read beyond.
// Timing, worker issues: 16, and a block takes 12 (4), 39 (8), 144 (16).
// Source: docs/evidence.md#instruction-set (the transpose network of the accumulators).
#ifdef __IPU__

#include "dynamic_transpose.inc"
#include "poplar/TileConstants.hpp"

#define r0 a0:1
#define r1 a2:3
#define r2 a4:5
#define r3 a6:7

// Words of 8 bytes from the block to row ROW of the tile in row I, column J of a block of SIDE x SIDE tiles.
#define AT(SIDE, I, J, ROW) ((4 * (I) + ROW) * (SIDE) + (J))

.macro ON_DIAGONAL SIDE I
        ld64    $r0, $block, $mzero, AT(\SIDE, \I, \I, 0)
        ld64    $r1, $block, $mzero, AT(\SIDE, \I, \I, 1)
        { ld64  $r2, $block, $mzero, AT(\SIDE, \I, \I, 2) ; f16v4istacc $r0, $r0, $r1, TISTACC_P0 }
        ld64    $r3, $block, $mzero, AT(\SIDE, \I, \I, 3)
        { nop   ; f16v4istacc $r1, $r2, $r3, TISTACC_P1 }
        { nop   ; f16v4stacc $r0, TSTACC_P0 }
        { st64  $r0, $block, $mzero, AT(\SIDE, \I, \I, 0) ; f16v4stacc $r1, TSTACC_P1 }
        { st64  $r1, $block, $mzero, AT(\SIDE, \I, \I, 1) ; f16v4stacc $r2, TSTACC_P1 }
        { st64  $r2, $block, $mzero, AT(\SIDE, \I, \I, 2) ; f16v4stacc $r3, TSTACC_P1 }
        st64    $r3, $block, $mzero, AT(\SIDE, \I, \I, 3)
.endm

// A row of the second tile is loaded before the column of the first one comes there.
.macro MIRRORED SIDE I J
        ld64    $r0, $block, $mzero, AT(\SIDE, \I, \J, 0)
        ld64    $r1, $block, $mzero, AT(\SIDE, \I, \J, 1)
        { ld64  $r2, $block, $mzero, AT(\SIDE, \I, \J, 2) ; f16v4istacc $r0, $r0, $r1, TISTACC_P0 }
        ld64    $r3, $block, $mzero, AT(\SIDE, \I, \J, 3)
        { ld64  $r0, $block, $mzero, AT(\SIDE, \J, \I, 0) ; f16v4istacc $r2, $r2, $r3, TISTACC_P1 }
        { ld64  $r1, $block, $mzero, AT(\SIDE, \J, \I, 1) ; f16v4stacc $r2, TSTACC_P0 }
        { st64  $r2, $block, $mzero, AT(\SIDE, \J, \I, 0) ; f16v4stacc $r3, TSTACC_P1 }
        { st64  $r3, $block, $mzero, AT(\SIDE, \J, \I, 1) ; f16v4istacc $r2, $r0, $r1, TISTACC_P0 }
        ld64    $r0, $block, $mzero, AT(\SIDE, \J, \I, 2)
        st64    $r2, $block, $mzero, AT(\SIDE, \J, \I, 2)
        ld64    $r1, $block, $mzero, AT(\SIDE, \J, \I, 3)
        { nop   ; f16v4istacc $r2, $r0, $r1, TISTACC_P1 }
        { st64  $r2, $block, $mzero, AT(\SIDE, \J, \I, 3) ; f16v4stacc $r0, TSTACC_P0 }
        { st64  $r0, $block, $mzero, AT(\SIDE, \I, \J, 0) ; f16v4stacc $r1, TSTACC_P1 }
        { st64  $r1, $block, $mzero, AT(\SIDE, \I, \J, 1) ; f16v4stacc $r2, TSTACC_P1 }
        { st64  $r2, $block, $mzero, AT(\SIDE, \I, \J, 2) ; f16v4stacc $r3, TSTACC_P1 }
        st64    $r3, $block, $mzero, AT(\SIDE, \I, \J, 3)
.endm

        TRANSPOSE_BLOCKS dynamic_transpose_block4_f16 1 32
        TRANSPOSE_BLOCKS dynamic_transpose_block8_f16 2 128
        TRANSPOSE_BLOCKS dynamic_transpose_block16_f16 4 512

#endif
