// SPDX-License-Identifier: MIT
// Random exchanges that obey the rules of what may be asked for.
#pragma once

#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <random>
#include <vector>

namespace tessera::exchange_test {

/// How a random set of transfers looks.
struct Pattern {
    std::int64_t tiles = 4;
    int transfers = 40;
    int max_receivers = 3;
    std::int64_t max_words = 300;
    int paired_percent = 40;
    /// Where receives begin in region 1: a multiple of 32 KiB keeps them in other elements than
    /// sends.
    Bytes receive_offset = 0x20000;
    bool use_region0 = false;
};

class RandomTransfers {
public:
    RandomTransfers(const spec::MachineSpec& machine, const Pattern& pattern, unsigned seed)
        : machine_(machine), pattern_(pattern), random_(seed) {
        const auto data = machine.memory.region1_begin();
        receive_at_.assign(static_cast<std::size_t>(pattern.tiles),
                           data + static_cast<Address>(pattern.receive_offset));
    }

    std::vector<program::Transfer> make() {
        std::vector<program::Transfer> transfers;
        for (int i = 0; i < pattern_.transfers; ++i) {
            auto next = below(100) < pattern_.paired_percent ? paired() : plain();
            if (next.destinations.empty())
                continue;
            transfers.push_back(std::move(next));
        }
        return transfers;
    }

private:
    std::int64_t below(std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random_);
    }
    TileId any_tile() { return static_cast<TileId>(below(pattern_.tiles)); }

    program::Transfer from_somewhere(std::int64_t words) {
        program::Transfer transfer;
        transfer.source_tile = any_tile();
        transfer.bytes = words * 4;
        const bool region0 = pattern_.use_region0 && below(3) == 0;
        // Rows stand in the first element of region 0; data keeps clear of it and of the fetch
        // ahead.
        const auto begin = region0 ? machine_.memory.region0_begin() +
                                         static_cast<Address>(machine_.memory.element_bytes)
                                   : machine_.memory.region1_begin();
        const auto room = region0 ? machine_.memory.region0_bytes - machine_.memory.element_bytes
                                  : pattern_.receive_offset;
        transfer.source_address =
            begin + static_cast<Address>(below((room - transfer.bytes) / 8) * 8);
        return transfer;
    }

    /// Claims room for `bytes` in `tile` at or after `address`; false when memory is full.
    bool claim(TileId tile, Address address, Bytes bytes) {
        if (address + bytes > static_cast<Bytes>(machine_.memory.end()))
            return false;
        receive_at_[tile] = address + static_cast<Address>(bytes);
        return true;
    }

    program::Transfer plain() {
        auto transfer = from_somewhere(1 + below(pattern_.max_words));
        const auto wanted = 1 + below(pattern_.max_receivers);
        for (int tries = 0; tries < 3 * wanted; ++tries) {
            const auto tile = any_tile();
            const bool known =
                std::any_of(transfer.destinations.begin(), transfer.destinations.end(),
                            [&](const auto& d) { return d.tile == tile; });
            // A gap now and then: contiguous and fresh pointers both occur.
            const auto at = receive_at_[tile] + static_cast<Address>(below(2) * 4);
            if (tile == transfer.source_tile || known || !claim(tile, at, transfer.bytes))
                continue;
            transfer.destinations.push_back({tile, at});
            if (static_cast<std::int64_t>(transfer.destinations.size()) == wanted)
                break;
        }
        return transfer;
    }

    program::Transfer paired() {
        auto transfer = from_somewhere(128 + 2 * below(pattern_.max_words / 2));
        transfer.paired = true;
        const auto wanted = 1 + below(pattern_.max_receivers);
        for (int tries = 0; tries < 3 * wanted; ++tries) {
            const TileId even = any_tile() & ~1U;
            const bool known =
                std::any_of(transfer.destinations.begin(), transfer.destinations.end(),
                            [&](const auto& d) { return d.tile == even; });
            const auto at = (std::max(receive_at_[even], receive_at_[even + 1]) + 7U) & ~7U;
            if (even / 2 == transfer.source_tile / 2 || known || !claim(even, at, transfer.bytes) ||
                !claim(even + 1, at, transfer.bytes))
                continue;
            transfer.destinations.push_back({even, at});
            transfer.destinations.push_back({even + 1, at});
            if (static_cast<std::int64_t>(transfer.destinations.size()) >= 2 * wanted)
                break;
        }
        return transfer;
    }

    const spec::MachineSpec& machine_;
    Pattern pattern_;
    std::mt19937 random_;
    std::vector<Address> receive_at_;
};

} // namespace tessera::exchange_test
