// SPDX-License-Identifier: MIT
// Buckets travel by the codes of a control tile, in a program whose steps are the same for all
// patterns: travel.h. Metadata and values go from one of two pairs of buffers to the other.
#pragma once

#include "kernels/dynamic/layout.h"
#include "kernels/dynamic/tile_buckets.h"
#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tessera::dynamic {

class Trip {
public:
    /// `comes_back`: values come home at the end, by the codes behind those of the way there.
    Trip(graph::Graph& graph, const spec::MachineSpec& machine, const Layout& layout,
         BucketBytes bytes, bool comes_back);

    /// No bucket has blocks of another part if there is but one.
    [[nodiscard]] static bool may_travel(const Split& split) { return split.x * split.y > 1; }
    /// Buffers in which buckets travel; `values`: where those of their values have to be.
    void add_buffers(graph::Where values, std::vector<graph::BufferId> apart);
    /// Room for the control tile's words alone.
    void add_control();
    /// The control tile's words.
    [[nodiscard]] graph::Tensor control() const;

    /// Moves from `home`, and looks: `look` makes the compute set in which each tile reads the bucket
    /// that stands in buffers that it is given. With comes_back, what `at_home` makes of where the values
    /// stand at the end is run behind that.
    [[nodiscard]] graph::Step
    run(const Buckets& home, const std::function<graph::ComputeSetId(const Buckets&)>& look,
        const std::function<graph::Step(graph::BufferId values)>& at_home = {});

private:
    using Direction = std::array<std::int64_t, 3>; ///< along x, y, z

    [[nodiscard]] TileId control_tile() const;
    [[nodiscard]] Bytes control_bytes() const;
    [[nodiscard]] graph::TilePlace word(std::uint32_t bit) const;
    graph::ComputeSetId add_next(const char* called);
    /// The way there, to the next part; with `back`, the way home.
    graph::Step moves(const Buckets& from, std::size_t to, const char* called);
    graph::Step moves_back(std::size_t from);
    graph::ExchangeId move(const char* called, const Buckets& from, const Buckets& to,
                           const Direction& by, bool with_metadata);
    graph::Step scans(std::size_t first);
    graph::Step move_along_z(std::size_t from);
    graph::Step look(std::size_t buffer);

    graph::Graph& graph_;
    const spec::MachineSpec& machine_;
    const Layout& layout_;
    Split split_;
    BucketBytes bytes_;
    bool comes_back_;
    std::array<Buckets, 2> moving_;
    graph::BufferId control_;
    std::function<graph::ComputeSetId(const Buckets&)> look_;
    std::array<std::optional<graph::ExchangeId>, 2> along_z_; ///< by the buffer that they leave
    std::array<std::optional<graph::ComputeSetId>, 2> looks_; ///< by buffer
};

} // namespace tessera::dynamic
