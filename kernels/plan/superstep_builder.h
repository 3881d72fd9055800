// SPDX-License-Identifier: MIT
// The steps of a kernel's program as it is planned: vertices with their state, exchanges with their predicted cycles.
#pragma once

#include "kernels/plan/codelet_library.h"
#include "kernels/plan/image_builder.h"
#include "kernels/plan/planned_program.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::plan {

class SuperstepBuilder {
public:
    /// Vertex state of every tile begins at `state_address`. The references outlive the builder.
    SuperstepBuilder(const spec::MachineSpec& machine, const CodeletLibrary& library,
                     ImageBuilder& images, Address state_address, std::int64_t tiles)
        : machine_(machine), library_(library), images_(images), state_address_(state_address),
          state_(static_cast<std::size_t>(tiles)) {}

    /// A call of `symbol`; `state` goes behind the state of the tile's earlier vertices.
    [[nodiscard]] program::Vertex vertex(TileId tile, const std::string& symbol,
                                         program::VertexKind kind,
                                         const std::vector<std::uint32_t>& state);

    /// Words behind the state of the tile's earlier vertices, for a vertex's state to point to.
    Address add_state(TileId tile, const std::vector<std::uint32_t>& words);

    /// Plans the exchange of the transfers, if there are any.
    void add_exchange(const std::string& name, program::Role role,
                      std::vector<program::Transfer> transfers);

    /// Writes the vertex state of `tile` to its image.
    void place_state(TileId tile);

    PredictedCycles predicted;

private:
    const spec::MachineSpec& machine_;
    const CodeletLibrary& library_;
    ImageBuilder& images_;
    Address state_address_;
    std::vector<std::vector<std::uint32_t>> state_;
};

} // namespace tessera::plan
