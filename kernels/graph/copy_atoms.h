// SPDX-License-Identifier: MIT
// Which bytes of a tensor go from where to where when another one takes its elements: the first of three parts of a
// copy (copy_gathers.h: words that are put together of halves; copy.cpp: the vertices and messages).
#pragma once

#include "kernels/graph/graph.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <span>
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

/// Sorts atoms by one of their ends. The next sort takes the memory of the one before.
class AtomOrder {
public:
    /// A key for each atom, ascending; `index_of_key` is the atom's index.
    [[nodiscard]] const std::vector<std::uint64_t>& of(std::span<const Atom> atoms, At Atom::*end);
    void sort(std::vector<Atom>& atoms, At Atom::*end);

private:
    template <typename Value> void sort_again(Value value);

    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> scratch_;
    std::vector<Atom> sorted_;
};

/// A tile has these atoms of a copy.
struct Matched {
    std::vector<Atom> atoms;    ///< by element of `to`, row-major
    std::vector<Atom> in_place; ///< elements that stand where they shall
    std::vector<Atom> covered;  ///< elements of `to`: from and to are the same
};

/// Finds for every place of `to` the first place of its elements in `from`, and calls `found` for each tile of `to`,
/// ascending: a copy may have more elements than memory has room for all at once. Both have the same type and shape.
/// @throws ProgramError, beginning with `fault`, for an element that `from` has on no tile
void match(const Tensor& from, const Tensor& to, const std::string& fault,
           const std::function<void(Matched&)>& found);

} // namespace tessera::graph
