// SPDX-License-Identifier: MIT
// What the planners of micro-workloads share: buffers at one address on all tiles, the steps of the
// program, and room for code that is known only when all steps are planned.
#pragma once

#include "base/error.h"
#include "kernels/plan/codelet_library.h"
#include "kernels/plan/image_builder.h"
#include "kernels/plan/liveness.h"
#include "kernels/plan/memory_plan.h"
#include "kernels/plan/superstep_builder.h"
#include "kernels/rearrange/rearrange.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::micro {

/// Vertices of a compute set, by tile.
using Vertices = std::vector<std::vector<program::Vertex>>;

class MicroBuilder {
public:
    /// Keeps `code` for code and rows and `state_bytes` a tile for vertex state. `owner` is the kernel
    /// whose steps these are. The references outlive the builder. @throws DoesNotFit
    MicroBuilder(const spec::MachineSpec& machine, const plan::CodeletLibrary& library,
                 const std::string& owner, const std::string& name, plan::CodeRoom code,
                 Bytes state_bytes);

    /// All buffers of the tiles that have them, kept as `steps` tells. `fullest` is a tile that needs
    /// all of them. @throws DoesNotFit
    void place(const std::vector<plan::BufferRequest>& buffers, const plan::Liveness& steps,
               TileId fullest = 0);
    /// The same for tiles that have no buffer of earlier calls and run no vertex.
    void place_elsewhere(const std::vector<plan::BufferRequest>& buffers,
                         const plan::Liveness& steps, TileId fullest);
    /// The buffer, which may have no bytes, is part of the tile's image, zero at the start.
    void hold(TileId tile, const std::string& buffer, Bytes bytes);
    /// Metadata of the tile, at the start of the buffer.
    void hold_bytes(TileId tile, const std::string& buffer, const program::SharedBytes& bytes);
    /// A call of `symbol` by all workers of the tile.
    [[nodiscard]] program::Vertex workers(TileId tile, const std::string& symbol,
                                          const std::vector<std::uint32_t>& state);
    /// The same by worker 0 alone.
    [[nodiscard]] program::Vertex worker(TileId tile, const std::string& symbol,
                                         const std::vector<std::uint32_t>& state) {
        return vertex(tile, symbol, program::VertexKind::Worker, state);
    }
    /// Words among the tile's vertex state; where they stand.
    [[nodiscard]] Address state(TileId tile, const std::vector<std::uint32_t>& words);
    /// A change of layout.
    [[nodiscard]] program::Vertex rearrange(TileId tile, const rearrange::Call& call) {
        return vertex(tile, call.symbol, call.kind, call.state);
    }
    /// Vertices for `add_compute_set`, none yet.
    [[nodiscard]] Vertices no_vertices() const;
    /// Nothing where no tile has a vertex.
    void add_compute_set(const std::string& name, program::Role role, Vertices vertices);
    /// Nothing without transfers.
    void add_exchange(const std::string& name, program::Role role,
                      std::vector<program::Transfer> transfers);
    void add_tensor(program::Tensor tensor) { images_.add_tensor(std::move(tensor)); }

    /// Code and vertex state have the room that was kept for them; if not, nothing else holds.
    [[nodiscard]] bool has_room() const;
    [[nodiscard]] plan::CodeRoom code_room() const { return images_.code_room(); }
    [[nodiscard]] Bytes state_bytes() const; ///< of the tile with most vertex state
    /// Of a buffer of at least one byte.
    [[nodiscard]] Address address(const std::string& buffer) const;
    /// What the exchanges are expected to take, barriers included.
    [[nodiscard]] Cycles exchange_cycles() const {
        return steps_.predicted.exchange + steps_.predicted.sync;
    }
    /// All steps, `repeats` times over.
    [[nodiscard]] program::Program build(std::int64_t repeats);

private:
    [[nodiscard]] const plan::MemoryPlan::Buffer& placed(const std::string& buffer) const;
    [[nodiscard]] Address place_state();
    [[nodiscard]] program::Vertex vertex(TileId tile, const std::string& symbol,
                                         program::VertexKind kind,
                                         const std::vector<std::uint32_t>& state);

    void use_state(TileId tile, std::size_t words);

    const spec::MachineSpec& machine_;
    std::string name_;
    std::vector<plan::MemoryPlan> memories_; ///< of tiles with vertices, then of others
    plan::ImageBuilder images_;
    Bytes state_bytes_;
    std::vector<Bytes> state_used_;
    plan::SuperstepBuilder steps_;
};

struct BuildRequest {
    std::string owner;                 ///< the kernel whose steps these are
    std::string name;                  ///< of the program
    std::vector<std::string> codelets; ///< sources
    Bytes row_bytes = 0;    ///< of exchange rows, first guess; too little costs a second round
    Bytes state_bytes = 64; ///< the same of the vertex state of a tile
    std::int64_t repeats = 1;
};

/// Runs `fill` on a fresh builder, again with more room for code and state while it has too little.
[[nodiscard]] program::Program build_program(const spec::MachineSpec& machine,
                                             const BuildRequest& request,
                                             const std::function<void(MicroBuilder&)>& fill);

/// A buffer of tensor data that obeys no other rule.
[[nodiscard]] inline plan::BufferRequest tensor_buffer(const std::string& name, Bytes bytes) {
    return {name, program::SegmentKind::Tensor, bytes, 16, plan::Where::Any, {}, {}};
}

/// Places all buffers, each as long as `steps` keeps it. @throws DoesNotFit for `program`
void place_or_refuse(plan::MemoryPlan& memory, std::vector<plan::BufferRequest> buffers,
                     const plan::Liveness& steps, const std::string& program, TileId fullest);

/// The value of a workload's `key` does not go with the machine: what it got and what was expected.
[[nodiscard]] ConfigError wrong_value(const std::string& key, const std::string& message);

/// `wanted` tiles of those there are, 0 meaning `most`. @throws ConfigError naming `key` where
/// there are not so many
[[nodiscard]] std::int64_t tiles_or_all(const spec::MachineSpec& machine, std::int64_t wanted,
                                        std::int64_t most);
/// @throws ConfigError naming `key` where the machine has no such tile
[[nodiscard]] TileId checked_tile(const spec::MachineSpec& machine, const std::string& key,
                                  std::int64_t tile);

/// A one-dimensional tensor without pieces, and a run of its elements in a tile.
[[nodiscard]] program::Tensor array_tensor(const std::string& name, program::DType type,
                                           std::int64_t elements);
[[nodiscard]] program::Piece run_of(TileId tile, Address address, std::int64_t first,
                                    std::int64_t elements, program::DType type);

} // namespace tessera::micro
