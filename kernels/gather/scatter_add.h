// SPDX-License-Identifier: MIT
// y[r, :] = sum over i with ids[i] = r of x[i, :]: rows added to those of a table of zeros that a list of
// row numbers names; the gradient of gather. A number that names no row adds nothing.
//
//     x 3 x 16, 4 rows of y over 2 x 2 tiles   tile (p, c) has rows of part p of y, columns of part c, and
//        c = 0   c = 1                         one more row for numbers that are of other parts
//     p=0 [ y0 | y1 ]    ids and columns c of x come to all tiles of part c, and each adds the rows in
//     p=1 [ y2 | y3 ]    their order: sums of equal lists are equal to the last bit
//
// x: the shape of ids, then n, f32. ids: u32, of any shape. y: rows x n, f32, with the option `rows`. y is
// divided as the least cycles by estimate have it, of the divisions whose bytes fit.
// Timing: kernels/codelets/scatter_add_cost.h; no cycle depends on a row number, known or not.
// Not modelled: lists that are divided over several tables.
#pragma once

#include "kernels/family/family.h"

namespace tessera::gather {

[[nodiscard]] const family::Family& scatter_add();

} // namespace tessera::gather
