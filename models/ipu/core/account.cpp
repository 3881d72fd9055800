// SPDX-License-Identifier: MIT
#include "models/ipu/core/account.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::ipu {
namespace {

/// Records of steps that have not run.
template <class Steps> std::vector<StepRecord> records_of(const Steps& steps) {
    std::vector<StepRecord> records;
    for (const auto& step : steps) {
        StepRecord& record = records.emplace_back();
        record.name = step.name;
        record.role = step.role;
    }
    return records;
}

} // namespace

Account::Account(const program::Program& program, std::int64_t tiles)
    : tiles_(static_cast<std::size_t>(tiles)), compute_sets_(records_of(program.compute_sets)),
      exchanges_(records_of(program.exchanges)), streams_(records_of(program.stream_copies)),
      streaming_until_(tiles_.size()) {}

StepRecord& Account::compute_phase(std::uint32_t compute_set, Cycles cycles,
                                   std::span<const TileShare> shares) {
    StepRecord& record = compute_sets_.at(compute_set);
    add(record, cycles, shares, &CyclesByKind::compute);
    return record;
}

StepRecord& Account::exchange_phase(std::uint32_t exchange, Cycles cycles,
                                    std::span<const TileShare> shares) {
    StepRecord& record = exchanges_.at(exchange);
    add(record, cycles, shares, &CyclesByKind::exchange);
    return record;
}

StepRecord& Account::stream_phase(std::uint32_t copy, Cycles cycles,
                                  std::span<const TileShare> shares) {
    StepRecord& record = streams_.at(copy);
    add(record, cycles, shares, &CyclesByKind::stream);
    return record;
}

void Account::streams_until(TileId tile, Cycles end) {
    streaming_until_.at(tile) = std::max(streaming_until_.at(tile), end);
    streaming_until_most_ = std::max(streaming_until_most_, end);
}

void Account::sync_phase(Cycles cycles) {
    all_tiles(&CyclesByKind::sync, cycles);
}

void Account::control_phase(Cycles cycles) {
    control_cycles_ += cycles;
    all_tiles(&CyclesByKind::compute, cycles);
}

void Account::broadcast_phase(Cycles cycles) {
    control_cycles_ += cycles;
    all_tiles(&CyclesByKind::exchange, cycles);
}

void Account::all_tiles(Cycles CyclesByKind::*kind, Cycles cycles) {
    phases_.*kind += cycles;
    for (auto& tile : tiles_) {
        tile.*kind += cycles;
    }
}

void Account::add(StepRecord& record, Cycles cycles, std::span<const TileShare> shares,
                  Cycles CyclesByKind::*kind) {
    const Cycles begin = phases_.sum();
    phases_.*kind += cycles;
    record.executions += 1;
    record.cycles += cycles;
    record.active_tiles = static_cast<std::int64_t>(shares.size());
    record.tile_cycles.resize(tiles_.size());
    for (auto& tile : tiles_) {
        tile.idle += cycles;
    }
    Cycles longest = -1;
    for (const TileShare& share : shares) {
        TESSERA_ASSERT(share.cycles <= cycles);
        CyclesByKind& tile = tiles_.at(share.tile);
        tile.idle -= share.cycles;
        tile.*kind += share.cycles;
        record.tile_cycles[share.tile] += share.cycles;
        if (share.cycles > longest) {
            longest = share.cycles;
            record.slowest_tile = share.tile;
        }
    }
    stream_while_idle(begin, begin + cycles, shares);
}

void Account::stream_while_idle(Cycles begin, Cycles end, std::span<const TileShare> shares) {
    if (streaming_until_most_ <= begin) {
        return;
    }
    auto share = shares.begin();
    for (TileId tile = 0; tile < tiles_.size(); ++tile) {
        share = std::find_if(share, shares.end(),
                             [&](const TileShare& next) { return next.tile >= tile; });
        const bool active = share != shares.end() && share->tile == tile;
        const Cycles idle_from = begin + (active ? share->cycles : 0);
        const Cycles streams = std::min(end, streaming_until_[tile]) - idle_from;
        if (streams > 0) {
            tiles_[tile].idle -= streams;
            tiles_[tile].stream += streams;
        }
    }
}

} // namespace tessera::ipu
