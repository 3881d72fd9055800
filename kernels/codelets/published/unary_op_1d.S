// SPDX-License-Identifier: MIT
// Element-wise functions of an array, six workers: out[i] = f(in[i]).
//
//   UnaryOp1D_<relu | tanh | silu | exponent | rsqrt | sigmoid>_<half | float>
//
// State: pointer in, pointer out (both 8-byte aligned), u32 elements: a multiple of 4 (half) or 2 (float).
// Worker w takes the 8-byte words w, w + 6, ...; one word of a worker is read beyond the last.
// Timing, worker issues with n = words of the worker: relu 3n; tanh (2 + 2 * latency)n, silu (3 + 2 * latency)n; the others
// hide their loads and stores behind the function: exponent 4n and 6n, sigmoid 4n and 10n, rsqrt 19n and 8n (half, float).
#ifdef __IPU__

#include "poplar/StackSizeDefs.hpp"
#include "poplar/TileConstants.hpp"
#include "vector_work.h"

#define VERTEX_IN 0
#define VERTEX_OUT 1
#define VERTEX_ELEMENTS 2

#define in m0
#define out m1
#define words m2
#define worker m3
#define scratch m4

#define x a0:1
#define y a2:3
#define wide a4:7
#define wide_0 a4
#define wide_1 a5
#define wide_2 a6
#define wide_3 a7

// $in and $out at the first word of this worker, $words its number of words.
.macro UNARY_PROLOGUE LOG2_WORD_ELEMENTS
    GET_WORKER  $worker
    ld32        $words, $mvertex_base, VERTEX_ELEMENTS
    ld32        $in, $mvertex_base, VERTEX_IN
    ld32        $out, $mvertex_base, VERTEX_OUT
    shr         $words, $words, \LOG2_WORD_ELEMENTS
    SHARE_OF_WORKER $words $words $worker $scratch
    shl         $worker, $worker, 3
    add         $in, $in, $worker
    add         $out, $out, $worker
.endm

// In quotes registers go by their own names, since the preprocessor leaves strings alone: x is $a0:1, y $a2:3, wide $a4:7.
// Load, one to three instructions, store; nothing overlaps.
.macro UNARY_SIMPLE NAME TYPE LOG2_WORD_ELEMENTS OP0:req OP1 OP2
WORKER_FUNCTION UnaryOp1D_\NAME\()_\TYPE
    UNARY_PROLOGUE \LOG2_WORD_ELEMENTS
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $x, $mzero, $in+=, CTXT_WORKERS ; fnop }
    { nop ; \OP0 }
.ifnb \OP1
    { nop ; \OP1 }
.endif
.ifnb \OP2
    { nop ; \OP2 }
.endif
    { st64step  $y, $mzero, $out+=, CTXT_WORKERS ; fnop }
2:
    exitz       $mzero
.endm

// One word: stores the one before (not the first time), loads the next.
.macro PIPELINED_WORD OP0 OP1 IS_FIRST
.if \IS_FIRST
    { nop ; \OP0 }
.else
    { st64step  $y, $mzero, $out+=, CTXT_WORKERS ; \OP0 }
.endif
    { ld64step  $x, $mzero, $in+=, CTXT_WORKERS ; \OP1 }
.endm
.macro WORD_exponent_half IS_FIRST
    PIPELINED_WORD "f16v2exp $a2, $a0" "f16v2exp $a3, $a1" \IS_FIRST
.endm
.macro WORD_exponent_float IS_FIRST
    PIPELINED_WORD "f32exp $a2, $a0" "f32exp $a3, $a1" \IS_FIRST
.endm
.macro WORD_sigmoid_half IS_FIRST
    PIPELINED_WORD "f16v2sigm $a2, $a0" "f16v2sigm $a3, $a1" \IS_FIRST
.endm
.macro WORD_sigmoid_float IS_FIRST
    PIPELINED_WORD "f32sigm $a2, $a0" "f32sigm $a3, $a1" \IS_FIRST
.endm
.macro WORD_rsqrt_float IS_FIRST
    PIPELINED_WORD "f32oorx $a2, $a0" "f32oorx $a3, $a1" \IS_FIRST
.endm
// there is no half function: by way of FP32
.macro WORD_rsqrt_half IS_FIRST
    PIPELINED_WORD "f16v2tof32 $a4:5, $a0" "f16v2tof32 $a6:7, $a1" \IS_FIRST
    { nop ; f32oorx $wide_0, $wide_0 }
    { nop ; f32oorx $wide_1, $wide_1 }
    { nop ; f32oorx $wide_2, $wide_2 }
    { nop ; f32oorx $wide_3, $wide_3 }
    { nop ; f32v4tof16 $y, $wide }
.endm

.macro UNARY_PIPELINED NAME TYPE LOG2_WORD_ELEMENTS
WORKER_FUNCTION UnaryOp1D_\NAME\()_\TYPE
    UNARY_PROLOGUE \LOG2_WORD_ELEMENTS
    brz         $words, .Lend_\NAME\()_\TYPE
    add         $words, $words, -1
    ld64step    $x, $mzero, $in+=, CTXT_WORKERS
    WORD_\NAME\()_\TYPE IS_FIRST=1
    .align 8
    { rpt       $words, (2f - 1f) / 8 - 1 ; fnop }
1:
    WORD_\NAME\()_\TYPE IS_FIRST=0
2:
    st64step    $y, $mzero, $out+=, CTXT_WORKERS
.Lend_\NAME\()_\TYPE:
    exitz       $mzero
.endm

UNARY_SIMPLE relu half LOG2_WORD_ELEMENTS_half "f16v4max $a2:3, $azeros, $a0:1"
UNARY_SIMPLE relu float LOG2_WORD_ELEMENTS_float "f32v2max $a2:3, $azeros, $a0:1"
UNARY_SIMPLE tanh half LOG2_WORD_ELEMENTS_half "f16v2tanh $a2, $a0" "f16v2tanh $a3, $a1"
UNARY_SIMPLE tanh float LOG2_WORD_ELEMENTS_float "f32tanh $a2, $a0" "f32tanh $a3, $a1"
// x times its sigmoid, a smooth relu
UNARY_SIMPLE silu half LOG2_WORD_ELEMENTS_half "f16v2sigm $a2, $a0" "f16v2sigm $a3, $a1" "f16v4mul $a2:3, $a0:1, $a2:3"
UNARY_SIMPLE silu float LOG2_WORD_ELEMENTS_float "f32sigm $a2, $a0" "f32sigm $a3, $a1" "f32v2mul $a2:3, $a0:1, $a2:3"
UNARY_PIPELINED exponent half LOG2_WORD_ELEMENTS_half
UNARY_PIPELINED exponent float LOG2_WORD_ELEMENTS_float
UNARY_PIPELINED sigmoid half LOG2_WORD_ELEMENTS_half
UNARY_PIPELINED sigmoid float LOG2_WORD_ELEMENTS_float
UNARY_PIPELINED rsqrt half LOG2_WORD_ELEMENTS_half
UNARY_PIPELINED rsqrt float LOG2_WORD_ELEMENTS_float

#endif
