// SPDX-License-Identifier: MIT
// clang-format off
// Reductions side by side: a supervisor starts a worker vertex once for each state, and each takes several regions of outputs. Where
// workers fill the round, a supervisor without a slot stands still, so that the next vertex goes to the first worker that is done; where
// they do not, it has to wait for all of them.
//
//   ReduceMany_add_{half,float,float_half}      supervisor. State: u32 vertices - 1, u32 vertices - 1 that it starts before it waits for
//                                               all workers, then for each vertex the address of its state.
//   ReduceRegions_add_{half,float,float_half}   worker. State: u32 regions - 1, then for each: pointer out, pointer in (8-byte aligned),
//                                               u16 partials - 1, outputs as 8-byte words of partials - 1, u32 stride from partial to
//                                               partial in 8-byte words.
//
// FP32 sums are in the accumulators.
// Timing: six supervisor issues a vertex; worker issues: 6 (in FP32 7), for each region 6 and a word of
// partials, p of them, 11 + p, in FP32 10 + p (11 + p with FP16 outputs).
#ifndef TESSERA_PUBLISHED_REDUCE_MANY_H
#define TESSERA_PUBLISHED_REDUCE_MANY_H

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)

// supervisor
#define list m0
#define vertices m1
#define entry m2
#define state m3
#define wave m4
#define free m5
#define region0 m6

.macro REDUCE_MANY TYPE
DEF_STACK_USAGE 0 .text.ReduceMany_add_\TYPE
    .section .text.ReduceMany_add_\TYPE, "ax"
    .globl ReduceMany_add_\TYPE
    .type ReduceMany_add_\TYPE, @function
    .supervisor
    .align 8
ReduceMany_add_\TYPE:
    setzi       $entry, ReduceRegions_add_\TYPE
    setzi       $region0, TMEM_REGION0_BASE_ADDR
    ld32step    $vertices, $mzero, $list+=, 1
    ld32step    $wave, $mzero, $list+=, 1
.Lwave_\TYPE:
    mov         $free, $wave
.Lvertex_\TYPE:
    ld32step    $state, $mzero, $list+=, 1
    sub         $state, $state, $region0
    run         $entry, $state, 0
    brz         $vertices, .Lall_\TYPE
    add         $vertices, $vertices, -1
    brnzdec     $free, .Lvertex_\TYPE
    sync        TEXCH_SYNCZONE_LOCAL
    bri         .Lwave_\TYPE
.Lall_\TYPE:
    sync        TEXCH_SYNCZONE_LOCAL
    br          $lr
    .size ReduceMany_add_\TYPE, . - ReduceMany_add_\TYPE
.endm

// worker
#define next m0
#define regions m1
#define out m2
#define in m3
#define partials_m1 m4
#define words_m1 m5
#define stride m6
#define partial m7
#define outers m8

.macro REGIONS TYPE ADD:vararg
WORKER_FUNCTION ReduceRegions_add_\TYPE
    { mov       $next, $mvertex_base ; setzi $a4, ZAACC_BITMASK }
    { ld32step  $regions, $mzero, $next+=, 1 ; uput $FP_CLR, $a4 }
.ifnc \TYPE,half
    { nop ; f32v2mul $a2:3, $azeros, $azeros }
.endif
.Lregion_\TYPE:
    ld32step    $out, $mzero, $next+=, 1
    ld32step    $in, $mzero, $next+=, 1
    ldz16step   $partials_m1, $mzero, $next+=, 1
    ldz16step   $words_m1, $mzero, $next+=, 1
    ld32step    $stride, $mzero, $next+=, 1
    .align 8
.Lword_\TYPE:
    mov         $partial, $in
    { mov       $outers, $mzero ; fnop }
.Louter_\TYPE:
    ld64step    $a0:1, $mzero, $partial+=, $stride
    { rpt       $partials_m1, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld64step  $a0:1, $mzero, $partial+=, $stride ; \ADD }
2:
    \ADD
    add         $in, $in, 8
    brnzdec     $outers, .Louter_\TYPE
.ifc \TYPE,half
    f16v2gina   $a4, $azero, 0
    f16v2gina   $a5, $azero, 0
.else
    f32v2gina   $a4:5, $azeros, 0
.endif
.ifc \TYPE,float_half
    f32v2tof16  $a4, $a4:5
    st32step    $a4, $mzero, $out+=, 1
.else
    st64step    $a4:5, $mzero, $out+=, 1
.endif
    brnzdec     $words_m1, .Lword_\TYPE
    brnzdec     $regions, .Lregion_\TYPE
    exitz       $mzero
.endm

// The supervisor of a type and its workers. ADD: a word of partials into the sums; of four FP32 sums the upper two stay zero.
.macro REDUCE_MANY_OF TYPE ADD:vararg
    REDUCE_MANY \TYPE
    REGIONS \TYPE \ADD
.endm

#endif
