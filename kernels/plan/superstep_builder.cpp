// SPDX-License-Identifier: MIT
#include "kernels/plan/superstep_builder.h"

#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/exchange_planner.h"

#include <utility>

namespace tessera::plan {

program::Vertex SuperstepBuilder::vertex(TileId tile, const std::string& symbol,
                                         program::VertexKind kind,
                                         const std::vector<std::uint32_t>& state) {
    program::Vertex made;
    made.entry = library_.entry(symbol);
    made.kind = kind;
    made.state_address = add_state(tile, state);
    made.name = images_.vertex_name(symbol);
    return made;
}

Address SuperstepBuilder::add_state(TileId tile, const std::vector<std::uint32_t>& words) {
    std::vector<std::uint32_t>& all = state_[tile];
    const Address at = state_address_ + static_cast<Address>(all.size() * 4);
    all.insert(all.end(), words.begin(), words.end());
    return at;
}

void SuperstepBuilder::add_exchange(const std::string& name, program::Role role,
                                    std::vector<program::Transfer> transfers) {
    if (transfers.empty()) {
        return;
    }
    auto planned = plan_exchange_with_stats(machine_, name, std::move(transfers));
    const Cycles rows = row_overhead(machine_.exchange) + planned.stats.longest_row_events;
    predicted.exchange += rows;
    predicted.sync += machine_.sync.internal_cycles;
    predicted.reduction += role == program::Role::Reduce ? rows + machine_.sync.internal_cycles : 0;
    images_.add_exchange(role, std::move(planned.exchange));
}

void SuperstepBuilder::place_state(TileId tile) {
    images_.add_words(tile, program::SegmentKind::VertexState, "vertex state", state_address_,
                      state_[tile]);
}

} // namespace tessera::plan
