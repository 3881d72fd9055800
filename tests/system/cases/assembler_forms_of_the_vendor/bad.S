    .supervisor // SPDX-License-Identifier: MIT
    get $m0, $COUNT_L
    put $FP_INFMT, $m0
    .worker
    { ld32 $a12, $m0, 0 ; f32add $a12, $a0, $a1 }
    { ld32 $a15, $m0, 0 ; f32add $a15, $a0, $a1 }
    { ldconst $m0, 1 ; fnop }
    sub $m0, $m1, 32768
    sub $m0, $m1, -32768
