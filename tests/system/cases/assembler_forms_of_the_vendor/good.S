// SPDX-License-Identifier: MIT
        .print "read on"
        .altmacro
        .macro ADD3 to, x, y, z
        LOCAL skip
        brz $\x, skip
        add $to, $x, $y
skip:   add $to, $to, $z
        .endm
        .noaltmacro
        .section .text.supervisor, "ax"
        .supervisor
$entry: setzi $m4, $work
        run $m4, $m5, buffer@relative@16@s2
        bri $entry@abs19@s2
        .worker
        .align 8
$work:  addz $m0, $m1, 5
        adds $m0, $m1, 32767
        subs $m0, 7, $m1
        lds16step $m0, $mzero, $m0+=, 1
        ld64 $ap1, $m0, 0
        .altmacro
        ADD3 m0, m1, m2, m3
        exitz $mzero
        .section .stack_sizes, "a"
        .dc.l $entry
        .uleb128 200, $work - $entry
        .sleb128 -65
        .dc.b 1
        .dcb.w 2, 7
        .octa 0x0102030405060708090a0b0c0d0e0f10
        .incbin "four.bin", 1, 2
        .align 4
        .comm shared, 12, 8
        .lcomm mine, 4
        .int shared, mine
        .data
buffer: .ds.l 2
        .end
        nothing of this is read {
