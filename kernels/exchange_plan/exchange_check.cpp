// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_check.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::exchange_plan {

namespace {

using program::Transfer;

constexpr Bytes kWordBytes = 4;

/// A used range of one tile's memory.
struct Range {
    Address begin = 0;
    Address end = 0;
};

void sort_by_address(std::span<Range> ranges) {
    if (!std::ranges::is_sorted(ranges, {}, &Range::begin))
        std::ranges::sort(ranges, {}, &Range::begin);
}

class TransferChecker {
public:
    TransferChecker(const spec::MachineSpec& machine, const std::string& name)
        : machine_(machine), name_(name), ranges_end_(2 * tile_count() + 1),
          last_seen_(tile_count()) {}

    void check(std::span<const Transfer> transfers) {
        for (index_ = 0; index_ < transfers.size(); ++index_)
            check_alone(transfers[index_]);
        // Counts become ends of the tiles' parts, and beginnings when the parts are filled from
        // behind.
        for (std::size_t part = 1; part < ranges_end_.size(); ++part)
            ranges_end_[part] += ranges_end_[part - 1];
        ranges_.resize(ranges_end_.back());
        for (auto at = transfers.rbegin(); at != transfers.rend(); ++at) {
            for (const auto& to : at->destinations)
                add(to.tile, to.address, at->bytes, true);
            add(at->source_tile, at->source_address, at->bytes, false);
        }
        for (TileId tile = 0; tile < tile_count(); ++tile)
            check_overlaps(tile, part_of(tile, false), part_of(tile, true));
    }

private:
    [[nodiscard]] std::size_t tile_count() const {
        return static_cast<std::size_t>(machine_.chip.tiles);
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw ProgramError(fmt::format("exchange {}: transfer {}: {}", name_, index_, what));
    }

    void check_alone(const Transfer& transfer) {
        if (transfer.bytes <= 0 || transfer.bytes % kWordBytes != 0)
            fail(fmt::format("got {} bytes, expected a positive multiple of 4 bytes",
                             transfer.bytes));
        if (transfer.destinations.empty())
            fail("got no destination, expected at least one");
        check_place(transfer.source_tile, transfer.source_address, transfer.bytes, false);
        for (const auto& destination : transfer.destinations) {
            check_place(destination.tile, destination.address, transfer.bytes, true);
            if (destination.tile == transfer.source_tile)
                fail(fmt::format("tile {} is source and destination, expected two tiles; "
                                 "workers copy inside a tile",
                                 destination.tile));
            if (last_seen_[destination.tile] == index_ + 1)
                fail(fmt::format("tile {} is a destination twice", destination.tile));
            last_seen_[destination.tile] = index_ + 1;
        }
    }

    void check_place(TileId tile, Address address, Bytes bytes, bool received) {
        if (static_cast<std::int64_t>(tile) >= machine_.chip.tiles)
            fail(fmt::format("got tile {}, expected 0..{}", tile, machine_.chip.tiles - 1));
        if (address % kWordBytes != 0)
            fail(fmt::format("tile {} address 0x{:x}: misaligned (4 bytes)", tile, address));
        if (address < machine_.memory.region0_begin() ||
            static_cast<Bytes>(address) + bytes > static_cast<Bytes>(machine_.memory.end()))
            fail(fmt::format("tile {} address 0x{:x}, {} bytes: outside tile memory", tile, address,
                             bytes));
        ++ranges_end_[part(tile, received)];
    }

    void add(TileId tile, Address address, Bytes bytes, bool received) {
        ranges_[--ranges_end_[part(tile, received)]] = {address,
                                                        address + static_cast<Address>(bytes)};
    }

    static std::size_t part(TileId tile, bool received) {
        return 2 * static_cast<std::size_t>(tile) + (received ? 1 : 0);
    }
    std::span<Range> part_of(TileId tile, bool received) {
        const auto at = part(tile, received);
        return {ranges_.data() + ranges_end_[at], ranges_.data() + ranges_end_[at + 1]};
    }

    void check_overlaps(TileId tile, std::span<Range> sent, std::span<Range> received) const {
        sort_by_address(sent);
        sort_by_address(received);
        std::size_t i = 0;
        for (std::size_t r = 0; r < received.size(); ++r) {
            if (r > 0 && received[r].begin < received[r - 1].end)
                fail_overlap(tile, received[r].begin, "is received twice");
            for (; i < sent.size() && sent[i].begin < received[r].end; ++i)
                if (sent[i].end > received[r].begin)
                    fail_overlap(tile, std::max(sent[i].begin, received[r].begin),
                                 "is sent and received");
        }
    }

    [[noreturn]] void fail_overlap(TileId tile, Address address, const char* reason) const {
        throw ProgramError(fmt::format("exchange {}: tile {} address 0x{:x}: {} in one "
                                       "exchange, which leaves its value open",
                                       name_, tile, address, reason));
    }

    const spec::MachineSpec& machine_;
    const std::string& name_;
    std::size_t index_ = 0;
    std::vector<Range> ranges_;           ///< sent by tile 0, received by it, sent by tile 1, ...
    std::vector<std::size_t> ranges_end_; ///< of each part
    std::vector<std::size_t> last_seen_;
};

} // namespace

void check_transfers(const spec::MachineSpec& machine, const std::string& name,
                     std::span<const Transfer> transfers) {
    TransferChecker{machine, name}.check(transfers);
}

} // namespace tessera::exchange_plan
