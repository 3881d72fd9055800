// SPDX-License-Identifier: MIT
// clang-format off
// Block-sparse times dense, pattern known when compiling: the supervisor that all block sizes
// share, and the vertex state.
//
// State: pointers (32 bits each) and 16-bit fields
//     0  out         [row block][column][B] partials: the product is added to them
//     4  blocks      non-zero blocks in the order of metaInfo, 8-byte aligned: [output of B]
//                    [input of B]
//     8  metaInfo    words: for each row block its non-zero blocks - 1, and of each the
//                    address of its rows of the dense operand; two more words are read
//    12  worklists   two 16-bit words a worker: first column, columns
//    16  rowBytes    from a row block of `out` to the next
//    20  rowBlocksM1
// The dense operand is [block of rows][column][B], in no 32 KiB pair of the interleaved region that
// `out` is in; `out` is in it. Every worker takes a share of the columns of every block; it keeps
// its place in `out` from block to block and gets the address of the dense rows as its vertex base.
#ifndef TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_H
#define TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_H

#define VERTEX_OUT 0
#define VERTEX_BLOCKS 1
#define VERTEX_META_INFO 2
#define VERTEX_WORKLISTS 3
#define VERTEX_ROW_BYTES 4
#define VERTEX_ROW_BLOCKS_M1 10

// supervisor registers
#define s_state m0
#define s_list m1
#define s_dense m2
#define s_blocks m3
#define s_rows m4
#define s_entry m5
#define s_weights m6

// worker registers, kept from launch to launch
#define w_dense_offset m0
#define w_out m1
#define w_columns m2
#define w_row_bytes m3
// and those that are not
#define w_dense m4
#define w_scratch m5
#define w_triple m6:7
#define w_left m8
#define w_out_now m9
#define w_strides m10

// Fields of a paced access: the next 8-byte word, or none. The stride register is zero.
#define NEXT 0
#define STILL 1
#define PXP(IN, PARTIAL) ((IN) | ((PARTIAL) << 2))
#define PXPO(IN, PARTIAL, OUT) ((IN) | ((PARTIAL) << 2) | ((OUT) << 4))

// PASSES weight loads a block, each on the dense operand PASS_BYTES further on; the second one
// enters at SECOND.
.macro SPARSE_BLOCK_SUPERVISOR SYMBOL NAME PASSES PASS_BYTES SECOND LOADS:vararg
    .section .text.\SYMBOL, "ax"
    .globl \SYMBOL
    .type \SYMBOL, @function
    .supervisor
    .align 8
\SYMBOL:
    ld32        $s_list, $s_state, VERTEX_META_INFO
    ld32        $s_weights, $s_state, VERTEX_BLOCKS
    ldz16       $s_rows, $s_state, VERTEX_ROW_BLOCKS_M1
    setzi       $s_entry, .Lcolumns_\NAME
    runall      $s_entry, $s_state, 0
    put         $CCCSLOAD, $s_weights
    ld32step    $s_blocks, $mzero, $s_list+=, 1
    ld32step    $s_dense, $mzero, $s_list+=, 1
    setzi       $s_entry, .Lrow_\NAME
.Lblock_\NAME:
.set passes_to_go, \PASSES
.rept \PASSES
    sync        TEXCH_SYNCZONE_LOCAL
    \LOADS
    runall      $s_entry, $s_dense, 0
.set passes_to_go, passes_to_go - 1
.if passes_to_go
    setzi       $s_entry, .L\SECOND\()_\NAME
    add         $s_dense, $s_dense, \PASS_BYTES
.else
    setzi       $s_entry, .Lsame_row_\NAME
.endif
.endr
    // the next block's dense rows, or the next row's number of blocks
    ld32step    $s_dense, $mzero, $s_list+=, 1
    brnzdec     $s_blocks, .Lblock_\NAME
    mov         $s_blocks, $s_dense
    ld32step    $s_dense, $mzero, $s_list+=, 1
    setzi       $s_entry, .Lrow_\NAME
    brnzdec     $s_rows, .Lblock_\NAME
    sync        TEXCH_SYNCZONE_LOCAL
    br          $lr
    .size \SYMBOL, . - \SYMBOL
.endm

// Launched once: this worker's columns. LESS is taken off their number.
.macro SPARSE_BLOCK_COLUMNS NAME DENSE_BYTES OUT_BYTES LESS
    .section .text.\NAME\()_worker, FUNCTION_IS_WORKER
    .worker
    .align 8
.Lcolumns_\NAME:
    get         $w_scratch, $WSR
    and         $w_scratch, $w_scratch, CSR_W_WSR__CTXTID_M1__MASK
    ld32        $w_left, $mvertex_base, VERTEX_WORKLISTS
    shl         $w_scratch, $w_scratch, 2
    add         $w_left, $w_left, $w_scratch
    ldz16       $w_scratch, $w_left, $mzero, 0
    ldz16       $w_columns, $w_left, $mzero, 1
    mul         $w_dense_offset, $w_scratch, \DENSE_BYTES
    mul         $w_scratch, $w_scratch, \OUT_BYTES
    ld32        $w_out, $mvertex_base, VERTEX_OUT
    ld32        $w_row_bytes, $mvertex_base, VERTEX_ROW_BYTES
    add         $w_out, $w_out, $w_scratch
    sub         $w_out, $w_out, $w_row_bytes
    add         $w_columns, $w_columns, -(\LESS)
    exitz       $mzero
.endm

#endif
