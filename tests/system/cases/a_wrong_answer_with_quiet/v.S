.globl k
.worker
.align 8
k: exitz $mzero
