// SPDX-License-Identifier: MIT
#include "models/ipu/core/exchange_demand.h"

#include <algorithm>
#include <vector>

namespace tessera::ipu {

Cycles busiest_tile_cycles(const program::Exchange& exchange, std::int64_t tiles,
                           bool pair_double) {
    std::vector<Cycles> out(static_cast<std::size_t>(tiles));
    std::vector<Cycles> in(static_cast<std::size_t>(tiles));
    for (const auto& transfer : exchange.transfers) {
        const Cycles cycles = transfer.bytes / (transfer.paired && pair_double ? 8 : 4);
        out.at(transfer.source_tile) += cycles;
        for (const auto& destination : transfer.destinations) {
            in.at(destination.tile) += cycles;
        }
    }
    Cycles busiest = 0;
    for (std::size_t tile = 0; tile < out.size(); ++tile) {
        busiest = std::max({busiest, out[tile], in[tile]});
    }
    return busiest;
}

} // namespace tessera::ipu
