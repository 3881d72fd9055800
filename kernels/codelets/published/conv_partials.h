// SPDX-License-Identifier: MIT
// clang-format off
// What the matrix-unit vertices of this folder share: loading the weight store.
#ifndef TESSERA_PUBLISHED_CONV_PARTIALS_H
#define TESSERA_PUBLISHED_CONV_PARTIALS_H

#define ZAACC_BITMASK (CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT)
#define CWEI_UNIT 4
#define CWEI_SECOND_SET 32

// Loads COUNT weight registers, FIRST and those behind it, from $CCCSLOAD on; UNIT_BYTES a cycle.
.macro LOAD_WEIGHTS FIRST COUNT UNIT_BYTES=8
.set weight_register, \FIRST
.if \UNIT_BYTES == 16
.rept (\COUNT) / 2
    ld128putcs weight_register
.set weight_register, weight_register + 2
.endr
.else
.rept \COUNT
    ld64putcs weight_register
.set weight_register, weight_register + 1
.endr
.endif
.endm

// Loads one set: CHANNELS output channels, each of REGISTERS weight registers.
.macro LOAD_WEIGHTS_ONE_SET CHANNELS REGISTERS
.set first_of_channel, 0
.rept \CHANNELS
    LOAD_WEIGHTS first_of_channel \REGISTERS
.set first_of_channel, first_of_channel + CWEI_UNIT
.endr
.endm

// Loads both sets: CHANNELS output channels, each of REGISTERS weight registers. Memory has the
// channels in order: a pair goes to the first set, the next pair to the second.
.macro LOAD_WEIGHTS_TWO_SETS CHANNELS REGISTERS UNIT_BYTES=8
.set first_of_pair, 0
.rept (\CHANNELS) / 4
    LOAD_WEIGHTS first_of_pair \REGISTERS \UNIT_BYTES
    LOAD_WEIGHTS first_of_pair+CWEI_UNIT \REGISTERS \UNIT_BYTES
    LOAD_WEIGHTS first_of_pair+CWEI_SECOND_SET \REGISTERS \UNIT_BYTES
    LOAD_WEIGHTS first_of_pair+CWEI_SECOND_SET+CWEI_UNIT \REGISTERS \UNIT_BYTES
.set first_of_pair, first_of_pair + 2 * CWEI_UNIT
.endr
.endm

#endif
