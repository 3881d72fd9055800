// SPDX-License-Identifier: MIT
#include "models/exchange/exchange_fabric.h"

#include "base/activity.h"
#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tessera::exchange {

ExchangeFabric::ExchangeFabric(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                               const std::vector<program::Exchange>& exchanges,
                               const program::TileMemory& memory, const ForEach& for_each)
    : sc_module(name), spec_(spec), exchanges_(exchanges), memory_(memory), for_each_(for_each),
      prepared_(exchanges.size()) {}

void ExchangeFabric::prepare() {
    const Activity checking("checking the rows of exchange",
                            static_cast<std::int64_t>(exchanges_.size()));
    for_each_(exchanges_.size(), [&](std::size_t exchange) {
        checking.step();
        prepare(static_cast<std::uint32_t>(exchange));
    });
}

void ExchangeFabric::prepare(std::uint32_t exchange) {
    const auto read_row = [&](TileId tile, Address address, std::span<std::uint32_t> words) {
        if (known_ != nullptr) { // which leaves rows where they are
            const auto& rows = exchanges_[exchange].rows;
            const auto row =
                std::lower_bound(rows.begin(), rows.end(), tile,
                                 [](const auto& one, TileId number) { return one.tile < number; });
            std::copy(row->words.begin(), row->words.end(), words.begin());
            return;
        }
        const auto bytes = static_cast<Bytes>(words.size_bytes());
        std::memcpy(words.data(), memory_.at(tile, address, bytes), words.size_bytes());
    };
    Prepared& prepared = prepared_.at(exchange);
    try {
        auto outcome = run_exchange(spec_, exchanges_.at(exchange), read_row, for_each_);
        prepared.row_cycles.resize(static_cast<std::size_t>(spec_.chip.tiles));
        prepared.lanes.resize(prepared.row_cycles.size());
        for (std::size_t i = 0; i < outcome.tiles.size(); ++i) {
            prepared.row_cycles[outcome.tiles[i]] = outcome.prologue_cycles + outcome.row_cycles[i];
            prepared.lanes[outcome.tiles[i]] = {outcome.lane_in[i], outcome.lane_out[i]};
        }
        prepared.outcome = std::make_unique<const FabricOutcome>(std::move(outcome));
    } catch (...) {
        prepared.failure = std::current_exception();
    }
}

const FabricOutcome& ExchangeFabric::outcome(std::uint32_t exchange) const {
    const Prepared& prepared = prepared_.at(exchange);
    if (prepared.failure != nullptr) {
        std::rethrow_exception(prepared.failure);
    }
    TESSERA_ASSERT(prepared.outcome != nullptr);
    return *prepared.outcome;
}

Bytes ExchangeFabric::open(std::uint32_t exchange) {
    // Runs into one tile stay in their order and on one host thread; nobody sends what it receives
    // in the same phase (the rows are checked for it), so tiles do not depend on each other.
    const auto& copies = outcome(exchange).copies;
    std::vector<std::size_t> starts;
    for (std::size_t run = 0; run < copies.size(); ++run) {
        if (run == 0 || copies[run].destination_tile != copies[run - 1].destination_tile) {
            starts.push_back(run);
        }
    }
    starts.push_back(copies.size());
    const auto for_each_copy = [&](const auto& move) {
        for_each_(starts.size() - 1, [&](std::size_t group) {
            for (std::size_t run = starts[group]; run < starts[group + 1]; ++run) {
                move(run);
            }
        });
    };
    if (known_ != nullptr) {
        move_known(copies, for_each_copy);
    } else {
        for_each_copy([&](std::size_t run) { copy_bytes(copies[run]); });
    }
    return std::accumulate(copies.begin(), copies.end(), Bytes{0},
                           [](Bytes sum, const CopyRun& copy) { return sum + copy.bytes; });
}

void ExchangeFabric::copy_bytes(const CopyRun& copy) const {
    std::memcpy(memory_.at(copy.destination_tile, copy.destination_address, copy.bytes),
                memory_.at(copy.source_tile, copy.source_address, copy.bytes),
                static_cast<std::size_t>(copy.bytes));
}

/// Asks what the tiles know before any of it changes. One thread makes the copies of which a part is known.
template <class ForEachCopy>
void ExchangeFabric::move_known(const std::vector<CopyRun>& copies,
                                const ForEachCopy& for_each_copy) {
    enum class Brings : std::uint8_t { Nothing, Some, All };
    std::vector<Brings> brings(copies.size());
    for_each_copy([&](std::size_t run) {
        const CopyRun& copy = copies[run];
        if (known_->is_any_known(copy.source_tile, copy.source_address, copy.bytes)) {
            brings[run] = known_->is_all_known(copy.source_tile, copy.source_address, copy.bytes)
                              ? Brings::All
                              : Brings::Some;
        }
    });
    for (std::size_t run = 0; run < copies.size(); ++run) {
        if (brings[run] == Brings::Some) {
            const CopyRun& copy = copies[run];
            known_->copy(copy.source_tile, copy.source_address, copy.destination_tile,
                         copy.destination_address, copy.bytes);
            copy_bytes(copy);
        }
    }
    for_each_copy([&](std::size_t run) {
        const CopyRun& copy = copies[run];
        if (brings[run] == Brings::All) {
            known_->write(copy.destination_tile, copy.destination_address, copy.bytes);
            copy_bytes(copy);
        } else if (brings[run] == Brings::Nothing) {
            known_->forget(copy.destination_tile, copy.destination_address, copy.bytes);
        }
    });
}

void ExchangeFabric::tell(const program::TileValue& value) {
    std::memcpy(&told_.word, memory_.at(value.tile, value.address, sizeof told_.word),
                sizeof told_.word);
    told_.cycles = broadcast_cycles(spec_, value.tile);
}

} // namespace tessera::exchange
