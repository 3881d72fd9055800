// SPDX-License-Identifier: MIT
// Copies many short runs of words inside a tile: worker w takes the runs w, w + workers, ...
//
// Vertices copy_runs64, copy_runs32 (multi worker), for words of 8 and 4 bytes. State, words:
//     0 from, 1 to      aligned to the word; what is read and what is written does not overlap
//     2 list            4-byte aligned; three words a run: bytes from `from`, bytes from `to`, words (at least one; at
//                       most what a repeat counts)
//     3 runs
// Timing, worker issues with r runs of w words in all: 12 + 9 r + 2 w; without runs 7.
// Source: docs/evidence.md#instruction-set.

#include "worker_share.inc"

#define from m0
#define to m1
#define list m2
#define runs m3
#define run_from m4
#define run_to m5
#define words m6

#define RUN_BYTES 12

.macro COPY_RUNS NAME LOAD STORE DATA
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX $m9
        ld32    $runs, $mvertex_base, $mzero, 3
        // runs from this worker's first on, in steps of all workers
        sub     $runs, $runs, $m9
        add     $runs, $runs, -1
        brneg   $runs, .Lend_\NAME
.Lsome_runs_\NAME:
        ld32    $from, $mvertex_base, $mzero, 0
        ld32    $to, $mvertex_base, $mzero, 1
        ld32    $list, $mvertex_base, $mzero, 2
        mul     $m10, $m9, RUN_BYTES
        add     $list, $list, $m10
.Lrun_\NAME:
        ld32    $run_from, $list, $mzero, 0
        ld32    $run_to, $list, $mzero, 1
        ld32    $words, $list, $mzero, 2
        add     $run_from, $run_from, $from
        add     $run_to, $run_to, $to
        { rpt   $words, 1 ; fnop }
.Lword_\NAME:
        { \LOAD \DATA, $mzero, $run_from+=, 1 ; fnop }
        { \STORE \DATA, $mzero, $run_to+=, 1 ; fnop }
.Lnext_run_\NAME:
        add     $list, $list, RUN_BYTES * CTXT_WORKERS
        add     $runs, $runs, -CTXT_WORKERS
        brpos   $runs, .Lrun_\NAME
.Lend_\NAME:
        exitz   $mzero
.endm

COPY_RUNS copy_runs64 ld64step st64step $a0:1
COPY_RUNS copy_runs32 ld32step st32step $a0
