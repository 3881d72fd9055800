// SPDX-License-Identifier: MIT
// Gradient of the values of a product of blocks (dynamic_blocks.inc), without the matrix unit: for each block of the buckets in row r and
// column c of W, the product of row r of dY with row c of X is added to its FP32 partials. FP16 data (dynamic_blocks_values_f32.S), whose
// products are rounded to FP16, or FP32 (dynamic_blocks_values_single.S); sums are in FP32.
//
// Vertex dynamic_block<B>_values_p (supervisor; p: f32, single; B: 4, 8, and 16 for f32). State: dynamic_blocks.inc, but
//     0 out        FP32, of the first bucket: blocks in the order of the metadata, row-major
//     2            not used
//     3 dense      X: [place][column][B], 8-byte aligned
//     5            bytes from a bucket's partials to the next one's
//     9 scratch    6 words
//    10 dY         [block row][column][B], 8-byte aligned
// Metadata have the lists of the gradient of the values. A column of dY behind the last one is read, and a word of metadata behind the zero.
// Timing, worker issues: 30, a block row 9, and with n columns a block takes
//     f32     2 (3 n + 14) + 8 (4), 8 (3 n + 14) + 8 (8), 16 (6 n + 27) + 8 (16)
//     single  4 (3 n + 11) + 8 (4), 8 (6 n + 21) + 8 (8)
// Source: docs/published_plans.md#dynamic-sparse-products.

#define SCANNED 0
#define SCANNED_SHIFT out_shift
#include "partials.inc"
#include "dynamic_elements.inc"
#include "poplar/TileConstants.hpp"

// words of the scratch
#define SCRATCH_METADATA 0      // of the sub-group
#define SCRATCH_OUT 1
#define SCRATCH_X 2
#define SCRATCH_DY 3
#define SCRATCH_BLOCK_BYTES 4   // of a block row of X and dY
#define SCRATCH_COLUMNS_LESS1 5

// words from a sub-group to a worker's list
#define LIST_BEFORE 7
#define LIST_ROW_WORDS 8
#define LIST_PLACE_WORDS 9
#define LIST_BLOCKS 10
#define LIST_SHIFT 3            // of its bytes

#define x_now m0
#define dy_now m1
#define places m2
#define out m3
#define x m4
#define dy m5           // of the row of the block
#define rows m6
#define columns_less1 m7
#define left m8         // blocks behind this row's, less one
#define more m9         // blocks of the row behind this one
#define row_dy m10
#define block_bytes m11  // of a block row of X and dY
// before the first row
#define metadata m0
#define entry m1
#define row m4
#define temp m11

#define value a0
#define even a2:3
#define x_lo a4:5
#define x_hi a6:7
#define products a4:7

// A group: partials of 32 (f32) or 16 bytes times the columns of X and dY. X_BYTES into a column of X; STEP: 8-byte words to the next one;
// DY_STEP: elements of dY to the next column. BEHIND: what the main lane does beside the last products.
.macro GROUP X_BYTES STEP DY_STEP BEHIND:vararg
        { add   $x_now, $x, \X_BYTES ; fnop }
        { ld64  $even, $out, $mzero, 0 ; fnop }
        { ld64  $x_lo, $out, $mzero, 1 ; f32v2gina $azeros, $even, 0 }
#if DATA_BITS == 16
        { ld64  $even, $out, $mzero, 2 ; f32v2gina $azeros, $x_lo, 0 }
        { ld64  $x_lo, $out, $mzero, 3 ; f32v2gina $azeros, $even, 0 }
        { ldb16step $value, $mzero, $dy_now+=, \DY_STEP ; f32v2gina $azeros, $x_lo, 0 }
        { ld64  $x_hi, $x_now, $mzero, 1 ; fnop }
        { ld64step $x_lo, $mzero, $x_now+=, \STEP ; f16v4mul $x_hi, $value:BL, $x_hi }
        { ldb16step $value, $mzero, $dy_now+=, \DY_STEP ; f16v4mul $x_lo, $value:BL, $x_lo }
        { rpt   $columns_less1, (2f - 1f) / 8 - 1 ; fnop }
1:
        { ld64  $x_hi, $x_now, $mzero, 1 ; f16v8acc $products }
        { ld64step $x_lo, $mzero, $x_now+=, \STEP ; f16v4mul $x_hi, $value:BL, $x_hi }
        { ldb16step $value, $mzero, $dy_now+=, \DY_STEP ; f16v4mul $x_lo, $value:BL, $x_lo }
2:
        { \BEHIND ; f16v8acc $products }
        LEAVE_HALF
#else
        { ld32step $value, $mzero, $dy_now+=, \DY_STEP ; f32v2gina $azeros, $x_lo, 0 }
        { ld64  $x_hi, $x_now, $mzero, 1 ; f32v2gina $azeros, $azeros, 0 }
        { ld64step $x_lo, $mzero, $x_now+=, \STEP ; f32v2gina $azeros, $azeros, 0 }
        { nop   ; f32v2mul $x_hi, $value:B, $x_hi }
        { ld32step $value, $mzero, $dy_now+=, \DY_STEP ; f32v2mul $x_lo, $value:B, $x_lo }
        { rpt   $columns_less1, (2f - 1f) / 8 - 1 ; fnop }
1:
        { ld64  $x_hi, $x_now, $mzero, 1 ; f32v4acc $products }
        { ld64step $x_lo, $mzero, $x_now+=, \STEP ; f32v2mul $x_hi, $value:B, $x_hi }
        { ld32step $value, $mzero, $dy_now+=, \DY_STEP ; f32v2mul $x_lo, $value:B, $x_lo }
2:
        { \BEHIND ; f32v4acc $products }
        { mov   $dy_now, $dy ; f32v2gina $even, $azeros, 0 }
        { st64step $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
        { st64step $even, $mzero, $out+=, 1 ; fnop }
#endif
.endm

#if DATA_BITS == 16
// The same with B = 4: two rows of the block at once.
.macro GROUP_OF_TWO_ROWS
        { mov   $x_now, $x ; fnop }
        { ld64  $even, $out, $mzero, 0 ; fnop }
        { ld64  $x_lo, $out, $mzero, 1 ; f32v2gina $azeros, $even, 0 }
        { ld64  $even, $out, $mzero, 2 ; f32v2gina $azeros, $x_lo, 0 }
        { ld64  $x_lo, $out, $mzero, 3 ; f32v2gina $azeros, $even, 0 }
        { ld32step $value, $mzero, $dy_now+=, 2 ; f32v2gina $azeros, $x_lo, 0 }
        { ld64step $even, $mzero, $x_now+=, 1 ; fnop }
        { nop   ; f16v4mul $x_hi, $value:BU, $even }
        { ld32step $value, $mzero, $dy_now+=, 2 ; f16v4mul $x_lo, $value:BL, $even }
        { rpt   $columns_less1, (2f - 1f) / 8 - 1 ; fnop }
1:
        { ld64step $even, $mzero, $x_now+=, 1 ; f16v8acc $products }
        { nop   ; f16v4mul $x_hi, $value:BU, $even }
        { ld32step $value, $mzero, $dy_now+=, 2 ; f16v4mul $x_lo, $value:BL, $even }
2:
        { add   $dy, $dy, 4 ; f16v8acc $products }
        LEAVE_HALF
.endm

.macro LEAVE_HALF
        { mov   $dy_now, $dy ; f32v2gina $even, $azeros, 0 }
        { st64step $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
        { st64step $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
        { st64step $even, $mzero, $out+=, 1 ; f32v2gina $even, $azeros, 0 }
        { st64step $even, $mzero, $out+=, 1 ; fnop }
.endm
#endif

.macro START COLUMN_BYTES
        ld32    $m8, $m0, 9
        ld32    $m5, $m0, 8
        ld32    $m6, $m0, 3
        ld32    $m7, $m0, 10
        st32    $m6, $m8, $mzero, SCRATCH_X
        st32    $m7, $m8, $mzero, SCRATCH_DY
        add     $m6, $m5, -1
        st32    $m6, $m8, $mzero, SCRATCH_COLUMNS_LESS1
        mul     $m5, $m5, \COLUMN_BYTES
        st32    $m5, $m8, $mzero, SCRATCH_BLOCK_BYTES
.endm
.macro OWN WORKER
        ld32    $m5, $m0, 9
        setzi   $m7, \WORKER
        st32    $m3, $m5, $mzero, SCRATCH_METADATA
        st32    $m4, $m5, $mzero, SCRATCH_OUT
        runall  $m7, $m5, 0
        sync    TEXCH_SYNCZONE_LOCAL
.endm

// The vertex of one block size. OUT_SHIFT: of the bytes of a block's partials; ROWS: groups of rows of a block; GROUPS: the code of these.
.macro BLOCK_VALUES NAME COLUMN_BYTES OUT_SHIFT ROWS GROUPS
.set out_shift, \OUT_SHIFT
        SCAN_BUCKETS \NAME "START \COLUMN_BYTES" "OWN .Lworker_\NAME"

        .worker
        .align 8
.Lworker_\NAME:
        get     $entry, $WSR
        { and   $entry, $entry, CSR_W_WSR__CTXTID_M1__MASK ; setzi $a0, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { shl   $entry, $entry, LIST_SHIFT ; uput $FP_CLR, $a0 }
        ld32    $metadata, $mvertex_base, $mzero, SCRATCH_METADATA
        add     $entry, $entry, $metadata
        ldz16   $left, $entry, $mzero, LIST_BLOCKS
        brz     $left, .Lend_\NAME
        ldz16   $temp, $entry, $mzero, LIST_BEFORE
        ld32    $out, $mvertex_base, $mzero, SCRATCH_OUT
        shl     $temp, $temp, \OUT_SHIFT
        add     $out, $out, $temp
        ldz16   $row, $entry, $mzero, LIST_ROW_WORDS
        ldz16   $places, $entry, $mzero, LIST_PLACE_WORDS
        shl     $row, $row, 1
        add     $row, $row, $metadata
        shl     $places, $places, 1
        add     $places, $places, $metadata
        // blocks of the row from that place on, less one, if all are this worker's
        ldz16   $more, $row, $mzero, 1
        shl     $more, $more, 1
        add     $more, $more, $row
        sub     $more, $more, $places
        add     $more, $more, 4
        shr     $more, $more, 1
        add     $left, $left, -1
        min     $more, $more, $left
        sub     $left, $left, $more
        add     $left, $left, -1
        ld32    $columns_less1, $mvertex_base, $mzero, SCRATCH_COLUMNS_LESS1
        ld32    $block_bytes, $mvertex_base, $mzero, SCRATCH_BLOCK_BYTES
        ldz16   $x, $row, $mzero, 0
        .align 8
.Lrow_\NAME:
        ld32    $row_dy, $mvertex_base, $mzero, SCRATCH_DY
        mul     $x, $x, $block_bytes
        add     $row_dy, $row_dy, $x
.Lblock_\NAME:
        ldz16step $x, $mzero, $places+=, 1
        ld32    $rows, $mvertex_base, $mzero, SCRATCH_X
        mul     $x, $x, $block_bytes
        add     $x, $x, $rows
        mov     $dy, $row_dy
        mov     $dy_now, $row_dy
        setzi   $rows, \ROWS - 1
.Lrows_\NAME:
        \GROUPS
        brnzdec $rows, .Lrows_\NAME
        brnzdec $more, .Lblock_\NAME
        brneg   $left, .Lend_\NAME
        ldz16step $x, $mzero, $places+=, 1
        ldz16step $more, $mzero, $places+=, 1
        min     $more, $more, $left
        sub     $left, $left, $more
        add     $left, $left, -1
        bri     .Lrow_\NAME
.Lend_\NAME:
        exitz   $mzero
.endm

#if DATA_BITS == 16
.macro ROW_OF_8
        GROUP   0 2 8 add $dy, $dy, 2
.endm
.macro ROW_OF_16
        GROUP   0 4 16 nop
        GROUP   16 4 16 add $dy, $dy, 2
.endm
        BLOCK_VALUES TYPED(dynamic_block4_values) 8 6 2 GROUP_OF_TWO_ROWS
        BLOCK_VALUES TYPED(dynamic_block8_values) 16 8 8 ROW_OF_8
        BLOCK_VALUES TYPED(dynamic_block16_values) 32 10 16 ROW_OF_16
#else
.macro ROW_OF_4
        GROUP   0 2 4 add $dy, $dy, 4
.endm
.macro ROW_OF_8
        GROUP   0 4 8 nop
        GROUP   16 4 8 add $dy, $dy, 4
.endm
        BLOCK_VALUES TYPED(dynamic_block4_values) 16 6 4 ROW_OF_4
        BLOCK_VALUES TYPED(dynamic_block8_values) 32 8 8 ROW_OF_8
#endif
