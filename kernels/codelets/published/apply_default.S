// SPDX-License-Identifier: MIT
// What apply.S does if nobody says otherwise: element + element.
#ifdef __IPU__

#include "poplar/TileConstants.hpp"
#include "apply.h"

    .section .text.apply_default, "ax"
    .weak apply_element
    .type apply_element, @function
    .worker
    .align 4
apply_element:
    f32add      $element, $element, $element
    br          $lr
    .size apply_element, . - apply_element

#endif
