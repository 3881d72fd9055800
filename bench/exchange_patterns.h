// SPDX-License-Identifier: MIT
// Exchanges that users plan: who sends how many bytes to whom. Of use to benchmarks and tests.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <random>
#include <string>
#include <vector>

namespace tessera::exchange_patterns {

/// Transfers with addresses: every tile sends from the first half of region 1 and receives, packed,
/// from its second half on, downwards into region 0 when that is full.
class Layout {
public:
    explicit Layout(const spec::MachineSpec& machine)
        : memory_(machine.memory), tiles_(static_cast<TileId>(machine.chip.tiles)),
          send_at_(tiles_, machine.memory.region1_begin()),
          receive_at_(tiles_, half(machine.memory)) {}

    [[nodiscard]] TileId tiles() const { return tiles_; }

    /// Bytes that one tile can receive or send, in any number of messages.
    [[nodiscard]] static Bytes room(const spec::MemorySpec& memory) {
        return static_cast<Bytes>(memory.end()) - half(memory);
    }

    void send(TileId source, const std::vector<TileId>& receivers, Bytes bytes,
              bool paired = false) {
        auto& from = send_at_[source];
        if (from + bytes > half(memory_))
            from = memory_.region1_begin(); // the same words again
        program::Transfer transfer{source, from, bytes, paired, {}};
        from += static_cast<Address>(bytes);
        Address at = 0;
        if (paired)
            for (const auto tile : receivers)
                at = std::max(at, receive_at_[tile]);
        for (const auto tile : receivers) {
            transfer.destinations.push_back({tile, paired ? at : receive_at_[tile]});
            receive_at_[tile] = transfer.destinations.back().address + static_cast<Address>(bytes);
        }
        transfers_.push_back(std::move(transfer));
    }

    [[nodiscard]] std::vector<program::Transfer> take() { return std::move(transfers_); }

private:
    static Address half(const spec::MemorySpec& memory) {
        const auto pair = static_cast<Address>(2 * memory.element_bytes);
        return memory.region1_begin() + (memory.end() - memory.region1_begin()) / 2 / pair * pair;
    }

    spec::MemorySpec memory_;
    TileId tiles_;
    std::vector<Address> send_at_;
    std::vector<Address> receive_at_;
    std::vector<program::Transfer> transfers_;
};

