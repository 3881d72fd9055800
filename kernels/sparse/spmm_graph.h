// SPDX-License-Identifier: MIT
// Turns a partition of the product into tensors, vertices and messages of a graph.
#pragma once

#include "kernels/family/product.h"
#include "kernels/sparse/spmm_homes.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

/// Returns the names of the codelets that the vertices of the graph need.
[[nodiscard]] std::vector<std::string> codelets_of(const Problem& problem);

/// For Pass::Transposed: the partition of the matrix, and the place of each block of the transpose
/// in the matrix.
struct OfMatrix {
    const Partition& cut;
    std::span<const std::int64_t> from;
};

/// Returns the graph of the product, with the record of how the product is divided (Division). The
/// caller fills in the record's Cuts and `roundings`. Homes are the tiles that hold the operands.
/// The graph's tensors are "a" {blocks, block, block}, "b" {k, n} and "c" {m, n}. Of Pass::Transposed
/// "a" has the blocks of the matrix, not of its transpose. @throws DoesNotFit if a part needs more of B than its lists of offsets can address
[[nodiscard]] family::Planned emit(const spec::MachineSpec& machine, const Homes& homes,
                                   const Reduction& reduction, const std::string& name,
                                   const std::optional<OfMatrix>& matrix = {});

} // namespace tessera::sparse
