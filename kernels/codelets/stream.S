// SPDX-License-Identifier: MIT
// STREAM: loops over arrays in tile memory, written in three ways.
//
//   stream_<copy | scale | add | triad>_paced_<f16 | f32>   one bundle for an 8-byte word of every array
//   stream_<copy | scale | add | triad>_vector_<f16 | f32>  one bundle for every load and store of 8 bytes
//   stream_<copy | scale | add | triad>_naive_<f16 | f32>   single elements loaded and stored, two a round
//   stream_read_<paced | vector | naive>_f32                sums; loads of 16, 8 and 4 bytes
//
// State (multi worker), words:
//     0 a, 1 b, 2 c    16-byte aligned; not read where the op does not name it
//     3, 4             units / workers, units % workers; a unit is 16 bytes of each array
//     5 scale          FP32, or FP16 twice
// c = a | s a | a + b | a + s b. A read leaves its sums at c + 16 * worker: of 4, 2 or 1 lanes.
// A worker takes neighbouring units, at least two or none. No two arrays share a memory element; a is in region 1 and,
// like b, readable 32 bytes beyond its end.
// Timing, worker issues for an 8-byte word: paced 1; vector 2 (copy, scale) or 3 (add, triad); naive FP32 6, 7, 9, 10 (copy,
// scale, add, triad), naive FP16 20, 20, 24, 26; read 1/2 (paced), 1 (vector), 2 (naive).
// Source: docs/evidence.md#stream-loops.

#include "worker_share.inc"

#define a_ptr m0
#define b_ptr m1
#define c_ptr m2
#define triple m4:5
#define words m6
#define index m8
#define scale a6

.macro START NAME
        .section .text.\NAME, "ax"
        .worker
        .align 8
        .globl \NAME
\NAME:
        WORKER_INDEX
        WORKER_SHARE 3, UNITS=$words FLAG=$m7
        brz     $words, .Lend_\NAME
        shl     $words, $words, 1
        shl     $m11, $m11, 4
        ld32    $a_ptr, $mvertex_base, $mzero, 0
        ld32    $b_ptr, $mvertex_base, $mzero, 1
        ld32    $c_ptr, $mvertex_base, $mzero, 2
        add     $a_ptr, $a_ptr, $m11
        add     $b_ptr, $b_ptr, $m11
.endm

.macro END NAME
.Lend_\NAME:
        exitz   $mzero
.endm

// The result of an axpy or a mix comes with the next one, so that a triad's stores are a word further behind.

.macro PACED TYPE MUL BROADCAST ADD TRIAD
        START stream_copy_paced_\TYPE
        add     $c_ptr, $c_ptr, $m11
        ld64step $a0:1, $mzero, $a_ptr+=, 1
        add     $words, $words, -1
        { tapack $triple, $a_ptr, $mzero, $c_ptr ; fnop }
        { rpt   $words, 0 ; fnop }
        { ldst64pace $a0:1, $a0:1, $triple+=, $mzero, 0b0000 ; fnop }
        st64pace $a0:1, $triple+=, $mzero, 0b00
        END stream_copy_paced_\TYPE

        START stream_scale_paced_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { ld32  $scale, $mvertex_base, $mzero, 5 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; \MUL $a2:3, $scale:\BROADCAST, $a0:1 }
        { tapack $triple, $a_ptr, $mzero, $c_ptr ; fnop }
        { add   $words, $words, -2 ; fnop }
        { rpt   $words, 0 ; fnop }
        { ldst64pace $a0:1, $a2:3, $triple+=, $mzero, 0b0000 ; \MUL $a2:3, $scale:\BROADCAST, $a0:1 }
        { st64pace $a2:3, $triple+=, $mzero, 0b00 ; \MUL $a2:3, $scale:\BROADCAST, $a0:1 }
        st64pace $a2:3, $triple+=, $mzero, 0b00
        END stream_scale_paced_\TYPE

        START stream_add_paced_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { tapack $triple, $b_ptr, $a_ptr, $c_ptr ; fnop }
        { add   $words, $words, -2 ; fnop }
        { ld2x64pace $a0:1, $a2:3, $triple+=, $mzero, 0b0000 ; fnop }
        { ld2x64pace $a0:1, $a2:3, $triple+=, $mzero, 0b0000 ; \ADD $a4:5, $a0:1, $a2:3 }
        { rpt   $words, 0 ; fnop }
        { ld2xst64pace $a0:3, $a4:5, $triple+=, $mzero, 0b000000 ; \ADD $a4:5, $a0:1, $a2:3 }
        { st64pace $a4:5, $triple+=, $mzero, 0b00 ; \ADD $a4:5, $a0:1, $a2:3 }
        st64pace $a4:5, $triple+=, $mzero, 0b00
        END stream_add_paced_\TYPE

        START stream_triad_paced_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { ld32  $scale, $mvertex_base, $mzero, 5 ; fnop }
        { tapack $triple, $b_ptr, $a_ptr, $c_ptr ; uput $TAS, $scale }
        { add   $words, $words, -3 ; fnop }
        { ld2x64pace $a0:1, $a2:3, $triple+=, $mzero, 0b0000 ; fnop }
        { ld2x64pace $a0:1, $a2:3, $triple+=, $mzero, 0b0000 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        { ld2x64pace $a0:1, $a2:3, $triple+=, $mzero, 0b0000 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        { rpt   $words, 0 ; fnop }
        { ld2xst64pace $a0:3, $a4:5, $triple+=, $mzero, 0b000000 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        { st64pace $a4:5, $triple+=, $mzero, 0b00 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        { st64pace $a4:5, $triple+=, $mzero, 0b00 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        st64pace $a4:5, $triple+=, $mzero, 0b00
        END stream_triad_paced_\TYPE
.endm

// As element-wise vertices are published: a load or a store a bundle, arithmetic beside it.

.macro VECTOR TYPE MUL BROADCAST ADD TRIAD
        START stream_copy_vector_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { rpt   $words, 1 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; fnop }
        { st64step $a0:1, $mzero, $c_ptr+=, 1 ; fnop }
        END stream_copy_vector_\TYPE

        START stream_scale_vector_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { ld32  $scale, $mvertex_base, $mzero, 5 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; fnop }
        { rpt   $words, 1 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; \MUL $a2:3, $scale:\BROADCAST, $a0:1 }
        { st64step $a2:3, $mzero, $c_ptr+=, 1 ; fnop }
        END stream_scale_vector_\TYPE

        START stream_add_vector_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; fnop }
        { ld64step $a2:3, $mzero, $b_ptr+=, 1 ; fnop }
        { rpt   $words, 2 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; \ADD $a4:5, $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $b_ptr+=, 1 ; fnop }
        { st64step $a4:5, $mzero, $c_ptr+=, 1 ; fnop }
        END stream_add_vector_\TYPE

        START stream_triad_vector_\TYPE
        add     $c_ptr, $c_ptr, $m11
        { ld32  $scale, $mvertex_base, $mzero, 5 ; fnop }
        { ld64step $a2:3, $mzero, $a_ptr+=, 1 ; uput $TAS, $scale }
        { ld64step $a0:1, $mzero, $b_ptr+=, 1 ; fnop }
        { ld64step $a0:1, $mzero, $b_ptr+=, 1 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $a_ptr+=, 1 ; fnop }
        { rpt   $words, 2 ; fnop }
        { ld64step $a0:1, $mzero, $b_ptr+=, 1 ; \TRIAD $a4:5, $a0:1, $a2:3 }
        { ld64step $a2:3, $mzero, $a_ptr+=, 1 ; fnop }
        { st64step $a4:5, $mzero, $c_ptr+=, 1 ; fnop }
        END stream_triad_vector_\TYPE
.endm

// Single elements, loaded and stored one by one, two a round; index and branch are apart. FP32: arithmetic on both at
// once.

#define offset m9

.macro NAIVE_ROUNDS_F32
        add     $c_ptr, $c_ptr, $m11
        setzi   $offset, 0
        { add   $words, $words, -1 ; fnop }
.endm
.macro LOAD_A
        ld32    $a0, $a_ptr, $offset, 0
        ld32    $a1, $a_ptr, $offset, 1
.endm
.macro LOAD_B
        ld32    $a2, $b_ptr, $offset, 0
        ld32    $a3, $b_ptr, $offset, 1
.endm
.macro STORE_C
        st32    $a0, $c_ptr, $offset, 0
        st32    $a1, $c_ptr, $offset, 1
        add     $offset, $offset, 8
        brnzdec $words, 1b
.endm

        START stream_copy_naive_f32
        NAIVE_ROUNDS_F32
1:
        LOAD_A
        STORE_C
        END stream_copy_naive_f32

        START stream_scale_naive_f32
        NAIVE_ROUNDS_F32
        ld32    $scale, $mvertex_base, $mzero, 5
1:
        LOAD_A
        f32v2mul $a0:1, $scale:B, $a0:1
        STORE_C
        END stream_scale_naive_f32

        START stream_add_naive_f32
        NAIVE_ROUNDS_F32
1:
        LOAD_A
        LOAD_B
        f32v2add $a0:1, $a0:1, $a2:3
        STORE_C
        END stream_add_naive_f32

        START stream_triad_naive_f32
        NAIVE_ROUNDS_F32
        ld32    $scale, $mvertex_base, $mzero, 5
1:
        LOAD_B
        f32v2mul $a2:3, $scale:B, $a2:3
        LOAD_A
        f32v2add $a0:1, $a0:1, $a2:3
        STORE_C
        END stream_triad_naive_f32

// FP16: memory takes no store of 16 bits, so every element reads and rewrites its word; two elements a round.

.macro NAIVE_ROUNDS_F16
        shl     $words, $words, 1
        add     $c_ptr, $c_ptr, $m11
        { add   $words, $words, -1 ; fnop }
.endm
.macro LOWER_HALF
        sort4x16hi $a2, $a0, $a2
        st32    $a2, $c_ptr, $mzero, 0
.endm
.macro UPPER_HALF
        sort4x16lo $a2, $a2, $a0
        st32    $a2, $c_ptr, $mzero, 0
        add     $c_ptr, $c_ptr, 4
        brnzdec $words, 1b
.endm

        START stream_copy_naive_f16
        NAIVE_ROUNDS_F16
1:
        ldb16step $a0, $mzero, $a_ptr+=, 1
        ld32    $a2, $c_ptr, $mzero, 0
        LOWER_HALF
        ldb16step $a0, $mzero, $a_ptr+=, 1
        ld32    $a2, $c_ptr, $mzero, 0
        UPPER_HALF
        END stream_copy_naive_f16

        START stream_scale_naive_f16
        NAIVE_ROUNDS_F16
        { ld32  $scale, $mvertex_base, $mzero, 5 ; fnop }
1:
        ldb16step $a0, $mzero, $a_ptr+=, 1
        { ld32  $a2, $c_ptr, $mzero, 0 ; f16v2mul $a0, $scale:BL, $a0 }
        LOWER_HALF
        ldb16step $a0, $mzero, $a_ptr+=, 1
        { ld32  $a2, $c_ptr, $mzero, 0 ; f16v2mul $a0, $scale:BL, $a0 }
        UPPER_HALF
        END stream_scale_naive_f16

        START stream_add_naive_f16
        NAIVE_ROUNDS_F16
1:
        ldb16step $a0, $mzero, $a_ptr+=, 1
        ldb16step $a1, $mzero, $b_ptr+=, 1
        { ld32  $a2, $c_ptr, $mzero, 0 ; f16v2add $a0, $a0, $a1 }
        LOWER_HALF
        ldb16step $a0, $mzero, $a_ptr+=, 1
        ldb16step $a1, $mzero, $b_ptr+=, 1
        { ld32  $a2, $c_ptr, $mzero, 0 ; f16v2add $a0, $a0, $a1 }
        UPPER_HALF
        END stream_add_naive_f16

        START stream_triad_naive_f16
        NAIVE_ROUNDS_F16
        { ld32  $scale, $mvertex_base, $mzero, 5 ; fnop }
1:
        ldb16step $a1, $mzero, $b_ptr+=, 1
        { ldb16step $a0, $mzero, $a_ptr+=, 1 ; f16v2mul $a1, $scale:BL, $a1 }
        { ld32  $a2, $c_ptr, $mzero, 0 ; f16v2add $a0, $a0, $a1 }
        LOWER_HALF
        ldb16step $a1, $mzero, $b_ptr+=, 1
        ldb16step $a0, $mzero, $a_ptr+=, 1
        { ld32  $a2, $c_ptr, $mzero, 0 ; f16v2mul $a1, $scale:BL, $a1 }
        f16v2add $a0, $a0, $a1
        UPPER_HALF
        END stream_triad_naive_f16

// Reads. A load of 16 bytes goes with an accumulation of four lanes; the sums come out in two pairs.

        START stream_read_paced_f32
        shl     $index, $index, 4
        add     $c_ptr, $c_ptr, $index
        shr     $words, $words, 1
        { add   $words, $words, -1 ; setzi $a4, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
        { ld128step $a0:3, $mzero, $a_ptr+=, 1 ; uput $FP_CLR, $a4 }
        { rpt   $words, 0 ; fnop }
        { ld128step $a0:3, $mzero, $a_ptr+=, 1 ; f32v4acc $a0:3 }
        f32v4acc $a0:3
        f32v2gina $a0:1, $azeros, 0
        f32v2gina $a2:3, $azeros, 0
        st64    $a0:1, $c_ptr, $mzero, 0
        st64    $a2:3, $c_ptr, $mzero, 1
        END stream_read_paced_f32

        START stream_read_vector_f32
        shl     $index, $index, 4
        { add   $c_ptr, $c_ptr, $index ; zero $a2:3 }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; fnop }
        { add   $words, $words, -1 ; fnop }
        { rpt   $words, 0 ; fnop }
        { ld64step $a0:1, $mzero, $a_ptr+=, 1 ; f32v2add $a2:3, $a2:3, $a0:1 }
        f32v2add $a2:3, $a2:3, $a0:1
        st64    $a2:3, $c_ptr, $mzero, 0
        END stream_read_vector_f32

        START stream_read_naive_f32
        shl     $index, $index, 4
        { add   $c_ptr, $c_ptr, $index ; zero $a2 }
        { ld32step $a0, $mzero, $a_ptr+=, 1 ; fnop }
        { rpt   $words, 1 ; fnop }
        { ld32step $a0, $mzero, $a_ptr+=, 1 ; f32add $a2, $a2, $a0 }
        { ld32step $a0, $mzero, $a_ptr+=, 1 ; f32add $a2, $a2, $a0 }
        st32    $a2, $c_ptr, $mzero, 0
        END stream_read_naive_f32

PACED f32 f32v2mul B f32v2add f32v2axpy
PACED f16 f16v4mul BL f16v4add f16v4mix
VECTOR f32 f32v2mul B f32v2add f32v2axpy
VECTOR f16 f16v4mul BL f16v4add f16v4mix
