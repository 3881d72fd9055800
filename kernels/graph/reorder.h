// SPDX-License-Identifier: MIT
// Pieces of a tensor as pieces of another one with the same elements in another order, where they
// stand. The place of an element in the host's array is a number of several digits: of [3][4][5]
// elements, number 33 has the digits 1, 2, 3. An order of sizes is an order of digits.
#pragma once

#include "kernels/graph/graph.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::graph {

/// The piece in parts of which no loop carries from a digit into the one before it. `sizes`: how many
/// values each digit has, the outermost first; whole loops stay one where they can.
[[nodiscard]] std::vector<Piece> without_carries(const Piece& piece,
                                                 std::span<const std::int64_t> sizes);

/// The elements of a piece where digit i of their number is the former digit `order[i]`.
[[nodiscard]] std::vector<Piece> reordered(const Piece& piece, std::span<const std::int64_t> sizes,
                                           std::span<const std::size_t> order);

/// The elements of a piece whose digit `digit` is `value`, as those of a tensor without that digit.
[[nodiscard]] std::vector<Piece> selected(const Piece& piece, std::span<const std::int64_t> sizes,
                                          std::size_t digit, std::int64_t value);

/// The elements of a piece of a tensor without digit `digit`, as those of one that has it, where it is
/// `value`: what selected() turns back.
[[nodiscard]] std::vector<Piece> inserted(const Piece& piece, std::span<const std::int64_t> sizes,
                                          std::size_t digit, std::int64_t value);

} // namespace tessera::graph
