// SPDX-License-Identifier: MIT
// clang-format off
// Block-sparse times dense on one set of the matrix unit, by ordinary loads and stores: what the sources of
// machines with one set share. A column's partials enter while the one before it is multiplied, whose
// predecessor leaves. Loads go on up to two columns behind a worker's own.
//
// A source has of its SIZE
//     ENTER_SIZE                   the first column's partials enter; its first inputs are loaded
//     ROUND_SIZE INPUTS PARTIALS RESULTS   one column is multiplied, the next one's partials enter, results of the
//                                  one before leave; INPUTS and so on are lists of registers that it defines, NO_INPUTS
//                                  and so on as many zeros
//     STORE_SIZE                   these results, to where the pointer stands
#ifndef TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_ONE_SET_H
#define TESSERA_PUBLISHED_SPARSE_DENSE_BLOCK_ONE_SET_H


#define w_in_p m5
#define w_pass m10

#define w_x a0:1
#define w_x_0 a0
#define w_x_1 a1
#define w_p a2:3
#define w_p_0 a2
#define w_p_1 a3
#define w_even a4:5
#define w_even_0 a4
#define w_even_1 a5
#define w_odd a6:7
#define w_odd_0 a6
#define w_odd_1 a7

// All columns of a worker; w_columns is one less than there are.
.macro SPARSE_BLOCK_ONE_SET_COLUMNS NAME SIZE
    brneg       $w_columns, .Lnone_\NAME
    mov         $w_in_p, $w_out_now
    ENTER_\SIZE
    brz         $w_columns, .Lonly_\NAME
    ROUND_\SIZE INPUTS PARTIALS NO_RESULTS
    add         $w_left, $w_columns, -1
    .align 8
    { rpt       $w_left, (2f - 1f) / 8 - 1 ; fnop }
1:
    ROUND_\SIZE INPUTS PARTIALS RESULTS
    STORE_\SIZE
2:
    ROUND_\SIZE INPUTS NO_PARTIALS RESULTS
    STORE_\SIZE
.Lleave_\NAME:
    ROUND_\SIZE NO_INPUTS NO_PARTIALS RESULTS
    STORE_\SIZE
.Lnone_\NAME:
    exitz       $mzero
.Lonly_\NAME:
    ROUND_\SIZE INPUTS NO_PARTIALS NO_RESULTS
    bri         .Lleave_\NAME
.endm

#endif
