// SPDX-License-Identifier: MIT
// What the element-wise vertices of this folder share: the worker's number and its share of the
// 8-byte words.
#ifndef TESSERA_PUBLISHED_VECTOR_WORK_H
#define TESSERA_PUBLISHED_VECTOR_WORK_H

#define LOG2_WORD_ELEMENTS_half 2
#define LOG2_WORD_ELEMENTS_float 1

// x * this >> 18 is x / CTXT_WORKERS for x below 2^14 * CTXT_WORKERS (of seven workers 43690)
#define RECIPROCAL_SHIFT 18
#define RECIPROCAL_OF_WORKERS (((1 << RECIPROCAL_SHIFT) + CTXT_WORKERS - 1) / CTXT_WORKERS)

.macro GET_WORKER WORKER
    get         \WORKER, $WSR
    and         \WORKER, \WORKER, CSR_W_WSR__CTXTID_M1__MASK
.endm

// COUNT = how many of ITEMS things are this worker's, if it takes one in CTXT_WORKERS from its own
// number on.
.macro SHARE_OF_WORKER COUNT ITEMS WORKER SCRATCH
    sub         \COUNT, \ITEMS, \WORKER
    add         \COUNT, \COUNT, CTXT_WORKERS - 1
    setzi       \SCRATCH, RECIPROCAL_OF_WORKERS
    mul         \COUNT, \COUNT, \SCRATCH
    shr         \COUNT, \COUNT, RECIPROCAL_SHIFT
.endm

// The head of a worker function NAME with its own section.
.macro WORKER_FUNCTION NAME
DEF_STACK_USAGE 0 .text.\NAME
    .section .text.\NAME, FUNCTION_IS_WORKER
    .globl \NAME
    .type \NAME, @function
    .worker
    .align 8
\NAME\():
.endm

#endif
