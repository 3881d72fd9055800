// SPDX-License-Identifier: MIT
// Families whose outputs are their inputs where these stand, of any type and in any layout: only the
// host sees the elements in another order. So there are no steps; a step that needs them in another
// layout has them copied there. An input that has no place yet is placed in rows, which are dealt
// evenly to the tiles of the site.
#pragma once

#include "kernels/family/family.h"

namespace tessera::views {

/// y [..., n, m] = x [..., m, n] with the last two sizes exchanged.
[[nodiscard]] const family::Family& transpose();

/// y [batch, heads, length, size] = x [batch length, heads size], with the columns of each head
/// together. `heads`, `batch`: numbers.
[[nodiscard]] const family::Family& heads();

/// q, k, v: the heads of the three thirds of the columns of x [batch length, 3 heads size].
[[nodiscard]] const family::Family& split_heads();

/// y [batch length, heads size] = x [batch, heads, length, size]; with q, k and v the columns of all
/// three, one behind the other.
[[nodiscard]] const family::Family& join_heads();

/// y = x with other sizes, its elements in the same order. `size_1` to `size_8`: the sizes.
[[nodiscard]] const family::Family& reshape();

/// [m + k, ...] = the rows of x [m, ...], then those of y [k, ...].
[[nodiscard]] const family::Family& concat();

} // namespace tessera::views
