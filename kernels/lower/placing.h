// SPDX-License-Identifier: MIT
// Places the buffers of a graph. Tiles that have buffers in common share one plan. In a plan each
// buffer has its largest size and a name of its own: a second "x" is "x (2)". Where one plan does
// not fit, the tiles are divided: by the buffers that they hold, then by how much they hold of
// them. Both tiles of a pair stay together, because messages of double width need that. Plans of
// tiles that have nothing in common are independent. Code and rows have the same addresses on all
// tiles.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/memory_plan.h"
#include "kernels/lower/rows.h"
#include "kernels/lower/uses.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::lower {

/// When a buffer is kept, and who touches it.
struct Need {
    program::Lifetime lifetime;
    bool by_codelets = true;
    bool by_rows = true;
};

/// The needs of every buffer. A buffer that no step uses counts as used by all.
[[nodiscard]] std::vector<Need> needs_of(const graph::Graph& graph, const Uses& uses);

/// The contents of the start of region 0, the same on all tiles.
struct CodeRoom {
    Bytes code = 0;             ///< codelets, stubs and what is fetched ahead of them
    std::vector<RowBlock> rows; ///< a guess until they are planned
};

struct Placing {
    static constexpr std::uint32_t kNoGroup = 0xffffffff;

    std::vector<MemoryPlan> plans;            ///< by group of tiles
    std::vector<std::uint32_t> group_of_tile; ///< tiles behind the last hold nothing
    /// By group and buffer of the graph; of no bytes where the group holds none of it.
    std::vector<std::vector<MemoryPlan::Buffer>> buffers;
    std::vector<Address> rows;                    ///< by block
    std::map<std::string, Bytes> bytes_by_buffer; ///< of the fullest plan, and "code"
    Bytes bytes_used = 0;                         ///< of the fullest plan

    [[nodiscard]] std::uint32_t group_of(TileId tile) const {
        return tile < group_of_tile.size() ? group_of_tile[tile] : kNoGroup;
    }
    /// The part of a buffer that a tile holds; it has no bytes where the tile holds none.
    [[nodiscard]] const MemoryPlan::Buffer& at(TileId tile, graph::BufferId buffer) const {
        static const MemoryPlan::Buffer nothing;
        const std::uint32_t group = group_of(tile);
        return group == kNoGroup ? nothing : buffers[group][buffer.index];
    }
};

/// Places the buffers, behind `room`. `steps`: names of the steps that lifetimes count.
/// @throws DoesNotFit naming a tile with most to hold, the bytes over, and what they are
[[nodiscard]] Placing place(const spec::MachineSpec& machine, const graph::Graph& graph,
                            std::span<const Need> needs, const CodeRoom& room,
                            const std::vector<std::string>& steps);

/// Replaces the guessed rows by `rows`. Returns false if the buffers leave no room for
/// them.
[[nodiscard]] bool move_rows(const spec::MachineSpec& machine, Placing& placing,
                             std::span<const RowBlock> rows);

/// Checks, before there are vertices, that buffers which some step needs together fit. The graph of a
/// division that cannot fit may be far too large to make.
/// @throws DoesNotFit where they find no place beside one memory element of code
void check_together(const spec::MachineSpec& machine, const graph::Graph& graph,
                    const std::vector<graph::BufferId>& buffers, const std::string& step);

} // namespace tessera::lower
