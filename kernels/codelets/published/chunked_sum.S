// SPDX-License-Identifier: MIT
// Column sums of a matrix that lies in chunks of rows: a supervisor launches its workers once a chunk, and the workers keep their
// registers, accumulators included, from one launch to the next.
//
//   ChunkedColumnSums_float
//
// State: pointer out (8-byte aligned), pointer to the chunks' addresses, u16 chunks (at least 1), u16 rows of a chunk (at
// least 1), u16 columns: 24 (four a worker). Chunks are 16-byte aligned.
// Timing, worker issues a launch with r rows: 3r + 3.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_OUT 0
#define VERTEX_CHUNKS 1
#define VERTEX_NUM_CHUNKS 4
#define VERTEX_ROWS 5

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)
#define ROW_WORDS 12

// supervisor
#define state m0
#define chunks m1
#define count m2
#define chunk m3
#define start_entry m4
#define chunk_entry m5
#define finish_entry m6

// worker; all but $row live from launch to launch
#define out m0
#define rows m1
#define worker_id m2
#define offset m3
#define row m4

#define x a0:3
#define x_lo a0:1
#define x_hi a2:3

DEF_STACK_USAGE 0 ChunkedColumnSums_float
    .section .text.ChunkedColumnSums_float, "ax"
    .globl ChunkedColumnSums_float
    .type ChunkedColumnSums_float, @function
    .supervisor
    .align 8
ChunkedColumnSums_float:
    setzi       $start_entry, .Lstart
    runall      $start_entry, $state, 0
    ld32        $chunks, $state, VERTEX_CHUNKS
    ldz16       $count, $state, $mzero, VERTEX_NUM_CHUNKS
    setzi       $chunk_entry, .Lchunk
    setzi       $finish_entry, .Lfinish
    add         $count, $count, -1
.Lnext_chunk:
    ld32step    $chunk, $mzero, $chunks+=, 1
    sync        TEXCH_SYNCZONE_LOCAL
    // the vertex base is the chunk: what else the workers need they have kept
    runall      $chunk_entry, $chunk, 0
    brnzdec     $count, .Lnext_chunk
    sync        TEXCH_SYNCZONE_LOCAL
    runall      $finish_entry, $state, 0
    sync        TEXCH_SYNCZONE_LOCAL
    br          $lr

    .worker
    .align 8
.Lstart:
    { get       $worker_id, $WSR ; setzi $a0, ZAACC_BITMASK }
    { and       $worker_id, $worker_id, CSR_W_WSR__CTXTID_M1__MASK ; uput $FP_CLR, $a0 }
    shl         $offset, $worker_id, 4
    ld32        $out, $mvertex_base, VERTEX_OUT
    ldz16       $rows, $mvertex_base, $mzero, VERTEX_ROWS
    exitz       $mzero

    .align 8
.Lchunk:
    { add       $row, $mvertex_base, $offset ; fnop }
    { rpt       $rows, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x_lo, $mzero, $row+=, 1 ; fnop }
    { ld64step  $x_hi, $mzero, $row+=, ROW_WORDS - 1 ; fnop }
    { nop ; f32v4acc $x }
2:
    exitz       $mzero

    .align 8
.Lfinish:
    add         $out, $out, $offset
    f32v2gina   $x_lo, $azeros, 0
    f32v2gina   $x_hi, $azeros, 0
    st64step    $x_lo, $mzero, $out+=, 1
    st64step    $x_hi, $mzero, $out+=, 1
    exitz       $mzero

#endif
