// SPDX-License-Identifier: MIT
// Transposes blocks of FP32 where they lie, as dynamic_transpose_f16.S does: tiles of 2 x 2 words, by sorts of words.
//
// Vertices dynamic_transpose_block4_f32, dynamic_transpose_block8_f32 (multi-worker). State: dynamic_transpose_f16.S.
// Timing, worker issues: 16, and a block takes 20 (4), 70 (8).
// Source: docs/evidence.md#instruction-set (sorts of words).
#ifdef __IPU__

#include "dynamic_transpose.inc"
#include "poplar/TileConstants.hpp"

#define r0 a0:1
#define r1 a2:3
#define r2 a4:5
#define r3 a6:7

#define AT(SIDE, I, J, ROW) ((2 * (I) + ROW) * (SIDE) + (J))

.macro ON_DIAGONAL SIDE I
        ld64    $r0, $block, $mzero, AT(\SIDE, \I, \I, 0)
        ld64    $r1, $block, $mzero, AT(\SIDE, \I, \I, 1)
        { nop   ; sort4x32lo $r2, $r0, $r1 }
        { st64  $r2, $block, $mzero, AT(\SIDE, \I, \I, 0) ; sort4x32hi $r3, $r0, $r1 }
        st64    $r3, $block, $mzero, AT(\SIDE, \I, \I, 1)
.endm

// A row of the second tile is loaded before the column of the first one comes there.
.macro MIRRORED SIDE I J
        ld64    $r0, $block, $mzero, AT(\SIDE, \I, \J, 0)
        ld64    $r1, $block, $mzero, AT(\SIDE, \I, \J, 1)
        { ld64  $r2, $block, $mzero, AT(\SIDE, \J, \I, 0) ; sort4x32lo $r3, $r0, $r1 }
        { st64  $r3, $block, $mzero, AT(\SIDE, \J, \I, 0) ; sort4x32hi $r0, $r0, $r1 }
        ld64    $r1, $block, $mzero, AT(\SIDE, \J, \I, 1)
        { st64  $r0, $block, $mzero, AT(\SIDE, \J, \I, 1) ; sort4x32lo $r3, $r2, $r1 }
        { st64  $r3, $block, $mzero, AT(\SIDE, \I, \J, 0) ; sort4x32hi $r0, $r2, $r1 }
        st64    $r0, $block, $mzero, AT(\SIDE, \I, \J, 1)
.endm

        TRANSPOSE_BLOCKS dynamic_transpose_block4_f32 2 64
        TRANSPOSE_BLOCKS dynamic_transpose_block8_f32 4 256

#endif
