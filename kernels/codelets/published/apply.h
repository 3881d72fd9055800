// SPDX-License-Identifier: MIT
// How apply.S calls `apply_element`: the return address is in $lr. The function takes and returns
// one FP32 number in $element, and may change $scratch.
#ifndef TESSERA_PUBLISHED_APPLY_H
#define TESSERA_PUBLISHED_APPLY_H

#define element a0
#define scratch a1

#endif
