// SPDX-License-Identifier: MIT
// Operations of an array and a smaller one that is repeated, six workers, in place.
//
//   BroadcastScalar1DInPlace_multiply_<half | float>: data[i] *= scalar
//   BroadcastVectorOuterByRow_subtract_<half | float>: data[row][i] -= vector[row]
//
// State of the first: pointer data (8-byte aligned), pointer scalar, u32 elements, a multiple of 4 (half) or 2 (float).
// Of the second: pointer data, pointer vector, u16 rows, u16 columns, a multiple of 4 or 2. Worker w takes the rows w, w + 6, ...
// The first reads one word of a worker beyond the last.
// Timing, worker issues with n = 8-byte words: 2n; the second 8 + 2n a row.
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define data m0
#define operand m1
#define words m2
#define worker m3
#define scratch m4
#define load m5
#define rows m6
#define row_bytes m7
#define store m8
#define words_m1 m9
#define row m3 // begins with the number of the worker

#define x a0:1
#define y a2:3
#define b a4

#define LOAD_half ldb16
#define LOAD_float ld32
#define MUL_half f16v4mul
#define MUL_float f32v2mul
#define ADD_half f16v4add
#define ADD_float f32v2add
#define BROADCAST_half BL
#define BROADCAST_float B
#define NEGATE_half f16v2sub
#define NEGATE_float f32sub

#define BROADCASTS(TYPE) \
    BROADCAST_SCALAR TYPE LOAD_##TYPE MUL_##TYPE BROADCAST_##TYPE LOG2_WORD_ELEMENTS_##TYPE; \
    BROADCAST_ROWS TYPE LOAD_##TYPE ADD_##TYPE NEGATE_##TYPE BROADCAST_##TYPE LOG2_WORD_ELEMENTS_##TYPE

.macro BROADCAST_SCALAR TYPE LOAD MUL BROADCAST LOG2_WORD_ELEMENTS
WORKER_FUNCTION BroadcastScalar1DInPlace_multiply_\TYPE
    GET_WORKER  $worker
    ld32        $data, $mvertex_base, 0
    ld32        $operand, $mvertex_base, 1
    ld32        $words, $mvertex_base, 2
    \LOAD       $b, $operand, $mzero, 0
    shr         $words, $words, \LOG2_WORD_ELEMENTS
    SHARE_OF_WORKER $words $words $worker $scratch
    shl         $worker, $worker, 3
    add         $data, $data, $worker
    mov         $load, $data
    ld64step    $x, $mzero, $load+=, CTXT_WORKERS
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $load+=, CTXT_WORKERS ; \MUL $y, $b:\BROADCAST, $x }
    { st64step  $y, $mzero, $data+=, CTXT_WORKERS ; fnop }
2:
    exitz       $mzero
.endm

.macro BROADCAST_ROWS TYPE LOAD ADD NEGATE BROADCAST LOG2_WORD_ELEMENTS
WORKER_FUNCTION BroadcastVectorOuterByRow_subtract_\TYPE
    GET_WORKER  $worker
    ldz16       $rows, $mvertex_base, $mzero, 4
    SHARE_OF_WORKER $rows $rows $worker $scratch
    brz         $rows, .Lend_\TYPE
    ld32        $data, $mvertex_base, 0
    ld32        $operand, $mvertex_base, 1
    ldz16       $words, $mvertex_base, $mzero, 5
    shr         $words, $words, \LOG2_WORD_ELEMENTS
    shl         $row_bytes, $words, 3
    add         $rows, $rows, -1
    add         $words_m1, $words, -1
    .align 8
    // offsets from the data are what is stepped
.Lrow_\TYPE:
    \LOAD       $b, $operand, $mzero, $row
    mul         $load, $row, $row_bytes
    mov         $store, $load
    ld64step    $x, $data, $load+=, 1
    // adding what is subtracted from zero: only the first operand is repeated by the instruction
    \NEGATE     $b, $azero, $b
    rpt         $words_m1, (2f - 1f) / 8 - 1
1:
    { ld64step  $x, $data, $load+=, 1 ; \ADD $y, $b:\BROADCAST, $x }
    { st64step  $y, $data, $store+=, 1 ; fnop }
2:
    // nothing is read ahead here: the next row is another worker's
    \ADD        $y, $b:\BROADCAST, $x
    st64step    $y, $data, $store+=, 1
    add         $row, $row, CTXT_WORKERS
    brnzdec     $rows, .Lrow_\TYPE
.Lend_\TYPE:
    exitz       $mzero
.endm

BROADCASTS(half)
BROADCASTS(float)

#endif
