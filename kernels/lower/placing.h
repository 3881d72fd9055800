// SPDX-License-Identifier: MIT
// Where the buffers of a graph stand. Tiles that have buffers in common share one plan, in which
// each buffer has its largest size and a name of its own: a second "x" is "x (2)". Where that does
// not fit, the tiles are divided: by the buffers that they hold, then by how much they hold of
// them; both tiles of a pair stay together, as messages of double width ask for. Plans of tiles
// that have nothing in common know nothing of each other. Code and rows are where they are on all
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

/// Of every buffer. What no step uses is taken as touched by all.
[[nodiscard]] std::vector<Need> needs_of(const graph::Graph& graph, const Uses& uses);

/// What stands first in region 0, the same on all tiles.
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
    /// What a tile holds of a buffer; of no bytes where that is nothing.
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

/// Other rows than those that were guessed, where the buffers leave room for them. False where they
/// do not.
[[nodiscard]] bool move_rows(const spec::MachineSpec& machine, Placing& placing,
                             std::span<const RowBlock> rows);

/// Before there are vertices: the buffers are needed together in some step. A graph of a division
/// that cannot fit may be far too large to make.
/// @throws DoesNotFit where they find no place beside one memory element of code
void check_together(const spec::MachineSpec& machine, const graph::Graph& graph,
                    const std::vector<graph::BufferId>& buffers, const std::string& step);

} // namespace tessera::lower
