// SPDX-License-Identifier: MIT
#include "models/timing/exchange_bound.h"

#include "models/timing/exchange_latency.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <utility>

namespace tessera::timing {

namespace {

using program::Transfer;

constexpr Bytes kWordBytes = 4;
constexpr Bytes kWideItemBytes = 8;

/// Whether `next` sends the bytes behind `run` to the bytes behind its destinations.
bool continues(const Transfer& first, Bytes bytes, const Transfer& next) {
    if (first.source_tile != next.source_tile || first.paired != next.paired ||
        static_cast<Bytes>(first.source_address) + bytes != next.source_address ||
        first.destinations.size() != next.destinations.size())
        return false;
    return std::equal(first.destinations.begin(), first.destinations.end(),
                      next.destinations.begin(), [&](const auto& a, const auto& b) {
                          return a.tile == b.tile &&
                                 static_cast<Bytes>(a.address) + bytes == b.address;
                      });
}

bool complete_pairs(const Transfer& transfer, TileId pair_bit) {
    auto tiles = transfer.destinations;
    const auto order = [pair_bit](const auto& to) {
        return std::pair(to.tile & ~pair_bit, to.tile & pair_bit);
    };
    std::sort(tiles.begin(), tiles.end(),
              [&](const auto& a, const auto& b) { return order(a) < order(b); });
    if (tiles.size() % 2 != 0)
        return false;
    for (std::size_t i = 0; i < tiles.size(); i += 2)
        if ((tiles[i].tile & pair_bit) != 0 || tiles[i + 1].tile != (tiles[i].tile | pair_bit) ||
            tiles[i].address != tiles[i + 1].address)
            return false;
    return true;
}

} // namespace

bool pairable(const spec::MachineSpec& machine, const Transfer& transfer, Bytes bytes) {
    const auto& exchange = machine.exchange;
    const auto items = bytes / kWideItemBytes;
    const auto events = LaneTiming{exchange}.events(items);
    // Below three events the format controls of one run would meet its pointer control.
    if (!exchange.pairs() || bytes % kWideItemBytes != 0 || items < exchange.pair_min_items ||
        events < 3 || transfer.source_address % kWideItemBytes != 0 ||
        transfer.destinations.empty())
        return false;
    const auto partner = partner_tile(machine.chip, transfer.source_tile);
    if (!partner)
        return false;
    for (const auto& destination : transfer.destinations) {
        if (destination.address % kWideItemBytes != 0 || destination.tile == transfer.source_tile ||
            destination.tile == *partner)
            return false;
        // The neutral at M + events must not meet the pointer controls at A - 2 and A, nor the mux
        // control at M the former, with A = M + 1 + distance.
        const auto distance =
            exchange.mux_to_pointer_cycles +
            exchange.mux_to_pointer_row_cycles * tile_position(machine.chip, destination.tile).row;
        if (distance == 1 || events == distance - 1 || events == distance + 1)
            return false;
    }
    return complete_pairs(transfer, pair_bit(machine.chip));
}

std::vector<TransferRun> transfer_runs(const spec::MachineSpec& machine,
                                       std::span<const Transfer> transfers) {
    std::vector<TransferRun> runs;
    runs.reserve(transfers.size());
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const auto& transfer = transfers[i];
        if (!runs.empty() && continues(transfers[runs.back().first], runs.back().bytes, transfer))
            runs.back().bytes += transfer.bytes;
        else
            runs.push_back({i, transfer.bytes, false});
    }
    for (auto& run : runs)
        run.wide =
            transfers[run.first].paired && pairable(machine, transfers[run.first], run.bytes);
    return runs;
}

ExchangeBound exchange_bound(const spec::MachineSpec& machine, std::span<const Transfer> transfers,
                             std::span<const TransferRun> runs) {
    const LaneTiming lane{machine.exchange};
    std::vector<Cycles> in(static_cast<std::size_t>(machine.chip.tiles));
    std::vector<Cycles> out(in.size());
    std::vector<Cycles> out_of_pair(in.size()); // of both lanes, by the first tile
    for (const auto& run : runs) {
        const auto& transfer = transfers[run.first];
        const auto narrow = lane.events(run.bytes / kWordBytes);
        const auto events = run.wide ? lane.events(run.bytes / kWideItemBytes) : narrow;
        out.at(transfer.source_tile) += events;
        out_of_pair.at(transfer.source_tile & ~pair_bit(machine.chip)) +=
            run.wide ? std::min(2 * events, narrow) : narrow;
        for (const auto& destination : transfer.destinations)
            in.at(destination.tile) += events;
    }
    const auto most = [](const std::vector<Cycles>& events) {
        return *std::max_element(events.begin(), events.end());
    };
    return {most(in), std::max(most(out), (most(out_of_pair) + 1) / 2)};
}

ExchangeBound exchange_bound(const spec::MachineSpec& machine,
                             std::span<const Transfer> transfers) {
    return exchange_bound(machine, transfers, transfer_runs(machine, transfers));
}

} // namespace tessera::timing
