// SPDX-License-Identifier: MIT
// How apply.S calls `apply_element`: called with $lr; takes and gives one FP32 number in $element;
// may change $scratch.
#ifndef TESSERA_PUBLISHED_APPLY_H
#define TESSERA_PUBLISHED_APPLY_H

#define element a0
#define scratch a1

#endif
