// SPDX-License-Identifier: MIT
// Which bytes of a tensor go from where to where when another one takes its elements: the first of three parts of a
// copy (copy_gathers.h: words that are put together of halves; copy.cpp: the vertices and messages).
#pragma once

#include "kernels/graph/graph.h"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::graph {

struct At {
    TileId tile = 0;
    std::uint32_t buffer = 0;
    std::uint32_t offset = 0;

    [[nodiscard]] At operator+(std::uint32_t bytes) const { return {tile, buffer, offset + bytes}; }
    friend auto operator<=>(const At&, const At&) = default;
};

[[nodiscard]] inline Place place_of(const At& at) {
    return {BufferId{at.buffer}, Bytes{at.offset}};
}

/// Bytes that go from one place to another.
struct Atom {
    At from;
    At to;
    std::uint32_t bytes = 0;
};

struct Matched {
    std::vector<Atom> atoms;    ///< by element of `to`, row-major
    std::vector<Atom> in_place; ///< elements that stand where they shall
    std::vector<Atom> covered;  ///< elements of `to`: from and to are the same
};

/// Every place of `to`, with the first place of its elements in `from`. Both have the same type and shape.
/// @throws ProgramError, beginning with `fault`, for an element that `from` has on no tile
[[nodiscard]] Matched match(const Tensor& from, const Tensor& to, const std::string& fault);

/// Every place of an element: from and to are the same.
[[nodiscard]] std::vector<Atom> places_of_elements(const Tensor& tensor);

} // namespace tessera::graph
