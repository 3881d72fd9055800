// SPDX-License-Identifier: MIT
.worker
.globl k
.align 8
k: ld32 $m0, $mvertex_base, 0 // offsets, and how many there are in bits 31:24
 shr $m1, $m0, 24
 shl $m0, $m0, 8
 shr $m0, $m0, 8
 ld32 $m0, $m0, 0
 add $m2, $m0, -4
 ld32 $m2, $m2, 0 // a word below them
 ld32 $m3, $mvertex_base, 1
 st32 $m1, $m3, 0
 ldz8 $m4, $m3, $mzero, 8
 st32 $m4, $m3, 1
 setzi $m5, 3
 fnop
loop: { brnzdec $m5, loop ; fnop }
 exitz $mzero
never: call $lr, of_another_file
 exitz $mzero
