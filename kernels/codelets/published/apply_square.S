// SPDX-License-Identifier: MIT
// For apply.S: element * element - 1.
#ifdef __IPU__

#include "poplar/TileConstants.hpp"
#include "apply.h"

    .section .text.apply_square, "ax"
    .globl apply_element
    .type apply_element, @function
    .worker
    .align 4
apply_element:
    { nop ; f32mul $element, $element, $element }
    { nop ; or $scratch, $azero, minus_one }
    { br $lr ; f32add $element, $element, $scratch }
    .size apply_element, . - apply_element

    .set minus_one, 0xbf800000

#endif
