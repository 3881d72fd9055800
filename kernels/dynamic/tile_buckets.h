// SPDX-License-Identifier: MIT
// What passes over the same buckets have in common in their graphs.
#pragma once

#include "kernels/dynamic/layout.h"
#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::dynamic {

inline constexpr const char* kOwner = "spmm";

/// A run of metadata and one of values on each tile.
struct Buckets {
    graph::BufferId metadata;
    graph::BufferId values;
};

/// Bytes of a bucket, and from one to the next where a tile has several.
struct BucketBytes {
    Bytes metadata = 0; ///< both
    Bytes values = 0;   ///< whole words of 4 bytes
    Bytes values_stride = 0;

    /// Of values of a type; a stride is whole units.
    BucketBytes(const Layout& layout, ElementType type, Bytes unit = 8);
};

/// Adds the buffers in which the host puts them, for all passes.
[[nodiscard]] Buckets add_home(graph::Graph& graph, const Layout& layout, const BucketBytes& bytes);

/// Each tile sends bytes of `from` to the other tiles of its part, which have those of lower z first, each
/// `stride` behind the one before.
void bring_along_z(graph::Graph& graph, graph::ExchangeId exchange, const Layout& layout,
                   graph::BufferId from, graph::BufferId to, Bytes stride, Bytes bytes);

/// Adds the vertices that clear `bytes`, whole words of 8, of a buffer on each tile.
void add_zero(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
              std::int64_t tiles, graph::BufferId buffer, Bytes bytes);

/// Values of all buckets, {places for blocks, b, b}, and metadata, as they stand.
[[nodiscard]] graph::Tensor values_tensor(const Layout& layout, const char* name, bool is_given,
                                          ElementType type, graph::BufferId buffer);
[[nodiscard]] graph::Tensor metadata_tensor(const Layout& layout, graph::BufferId buffer);

} // namespace tessera::dynamic
