// SPDX-License-Identifier: MIT
// y[i, :] = table[ids[i], :]: rows of a table, picked by a list of row numbers. A number that names no
// row gives a row of zeros.
//
//     table 4 x 16 over 2 x 2 tiles          tile (p, c) has rows of part p, columns of part c, and a
//        c = 0   c = 1                       row of zeros behind them
//     p=0 [ t0 | t1 ]    ids come to all; each tile picks the rows that it has and zeros for others;
//     p=1 [ t2 | t3 ]    where rows are divided, the parts of a row are joined: or, bit by bit
//
// table: m x n, elements of 2 or 4 bytes. ids: u32, of any shape. y: the shape of ids, then n, of the
// table's type. The table is divided as the least cycles by estimate have it, of the divisions whose
// bytes fit.
// A table with sizes before m has so many tables of m rows. ids are even shares, one for each table in
// order, and y has the table's sizes but for m, which is the number of ids in a share. Tables are
// dealt to tiles whole, or by columns where there are fewer of them than tiles.
// A table in streaming memory stays there: remote_rows.h. There a number that names no row is an error.
// Timing: kernels/codelets/gather_rows_cost.h; no cycle depends on a row number, known or not.
// Not modelled: elements of one byte; tables in the host's memory.
#pragma once

#include "kernels/family/family.h"

namespace tessera::gather {

[[nodiscard]] const family::Family& family();

} // namespace tessera::gather
