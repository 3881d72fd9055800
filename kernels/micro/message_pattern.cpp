// SPDX-License-Identifier: MIT
#include "kernels/micro/message_pattern.h"

#include "kernels/micro/limits.h"
#include "kernels/workload/random.h"
#include "models/timing/tile_position.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::micro {
namespace {

using workload::ExchangePattern;
using workload::ExchangePatternWorkload;

class Messages {
public:
    Messages(const spec::MachineSpec& machine, const ExchangePatternWorkload& workload)
        : machine_(machine), workload_(workload) {
        pattern_.source_bytes.resize(static_cast<std::size_t>(machine.chip.tiles));
        pattern_.destination_bytes.resize(pattern_.source_bytes.size());
    }

    void reserve(std::size_t messages) { pattern_.transfers.reserve(messages); }

    /// One message. A tile's own counts only where it is asked for.
    void add(TileId from, std::size_t from_slot, TileId to, std::size_t to_slot) {
        if (from == to && !workload_.include_self) {
            return;
        }
        const Address source = take(pattern_.source_bytes[from], from_slot);
        const Address destination = take(pattern_.destination_bytes[to], to_slot);
        if (from == to) {
            pattern_.copies.push_back({from, source, destination});
        } else {
            pattern_.transfers.push_back(
                {from, source, workload_.bytes, false, {{to, destination}}});
        }
    }

    /// One message to all of `to`.
    void multicast(TileId from, const std::vector<TileId>& to) {
        program::Transfer transfer{
            from, take(pattern_.source_bytes[from], 0), workload_.bytes, false, {}};
        for (const TileId tile : to) {
            const Address address = take(pattern_.destination_bytes[tile], 0);
            if (tile == from) {
                pattern_.copies.push_back({from, transfer.source_address, address});
            } else {
                transfer.destinations.push_back({tile, address});
            }
        }
        if (!transfer.destinations.empty()) {
            pattern_.transfers.push_back(std::move(transfer));
        }
    }

    /// The tiles around a root. Its partner in the exchange comes last: with it no message can
    /// have double width.
    [[nodiscard]] std::vector<TileId> around(TileId root) const {
        std::vector<TileId> tiles;
        if (workload_.include_self) {
            tiles.push_back(root);
        }
        const auto partner = timing::partner_tile(machine_.chip, root);
        for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
            if (static_cast<TileId>(tile) != root && static_cast<TileId>(tile) != partner) {
                tiles.push_back(static_cast<TileId>(tile));
            }
        }
        if (partner) {
            tiles.push_back(*partner);
        }
        tiles.resize(static_cast<std::size_t>(
            tiles_or_all(machine_, workload_.tiles, static_cast<std::int64_t>(tiles.size()))));
        return tiles;
    }

    [[nodiscard]] std::size_t tiles() const {
        return static_cast<std::size_t>(
            tiles_or_all(machine_, workload_.tiles, machine_.chip.tiles));
    }
    [[nodiscard]] TileId source() const {
        return checked_tile(machine_, "source", workload_.source);
    }
    [[nodiscard]] TileId destination() const {
        return checked_tile(machine_, "destination", workload_.destination);
    }

    MessagePattern finish() { return std::move(pattern_); }

private:
    /// Where a slot begins in a row, which grows as needed.
    [[nodiscard]] Address take(Bytes& row_bytes, std::size_t slot) const {
        const Bytes begin = static_cast<Bytes>(slot) * workload_.bytes;
        row_bytes = std::max(row_bytes, begin + workload_.bytes);
        return static_cast<Address>(begin);
    }

    const spec::MachineSpec& machine_;
    const ExchangePatternWorkload& workload_;
    MessagePattern pattern_;
};

void add_all_to_all(Messages& messages) {
    const std::size_t tiles = messages.tiles();
    messages.reserve(tiles * tiles);
    for (std::size_t from = 0; from < tiles; ++from) {
        for (std::size_t to = 0; to < tiles; ++to) {
            messages.add(static_cast<TileId>(from), to, static_cast<TileId>(to), from);
        }
    }
}

/// Tile (row, column) of the squarest grid that the tiles fill, to tile (column, row).
void add_transpose(Messages& messages) {
    const std::size_t tiles = messages.tiles();
    std::size_t rows = 1;
    for (std::size_t r = 1; r * r <= tiles; ++r) {
        rows = tiles % r == 0 ? r : rows;
    }
    const std::size_t columns = tiles / rows;
    for (std::size_t from = 0; from < tiles; ++from) {
        const std::size_t to = from % columns * rows + from / columns;
        messages.add(static_cast<TileId>(from), 0, static_cast<TileId>(to), 0);
    }
}

/// Draws for tile after tile one of the tiles that are left and is not itself.
void add_random(Messages& messages, std::size_t chip_tiles, std::uint64_t seed) {
    std::vector<TileId> left(chip_tiles);
    std::iota(left.begin(), left.end(), TileId{0});
    const workload::CounterRandom random(seed, 0);
    for (std::size_t from = 0; from < messages.tiles(); ++from) {
        const auto end = left.size() - from;
        std::size_t drawn = random.below(end, from);
        if (left[drawn] == from && end > 1) {
            drawn = (drawn + 1) % end;
        }
        messages.add(static_cast<TileId>(from), 0, left[drawn], 0);
        std::swap(left[drawn], left[end - 1]);
    }
}

} // namespace

MessagePattern message_pattern(const spec::MachineSpec& machine,
                               const ExchangePatternWorkload& workload) {
    Messages messages(machine, workload);
    switch (workload.pattern) {
    case ExchangePattern::PointToPoint:
        messages.add(messages.source(), 0, messages.destination(), 0);
        break;
    case ExchangePattern::Pairs: {
        const std::size_t tiles = messages.tiles() / 2 * 2;
        for (std::size_t i = 0; i < tiles; ++i) {
            messages.add(static_cast<TileId>(i), 0, static_cast<TileId>((i + tiles / 2) % tiles),
                         0);
        }
        break;
    }
    case ExchangePattern::Broadcast:
        messages.multicast(messages.source(), messages.around(messages.source()));
        break;
    case ExchangePattern::Gather: {
        std::size_t slot = 0;
        for (const TileId from : messages.around(messages.destination())) {
            messages.add(from, 0, messages.destination(), slot++);
        }
        break;
    }
    case ExchangePattern::Scatter: {
        std::size_t slot = 0;
        for (const TileId to : messages.around(messages.source())) {
            messages.add(messages.source(), slot++, to, 0);
        }
        break;
    }
    case ExchangePattern::AllToAll:
        add_all_to_all(messages);
        break;
    case ExchangePattern::Random:
        add_random(messages, static_cast<std::size_t>(machine.chip.tiles), workload.seed);
        break;
    case ExchangePattern::Transpose:
        add_transpose(messages);
        break;
    case ExchangePattern::Shift:
        for (std::size_t i = 0; i < messages.tiles(); ++i) {
            messages.add(static_cast<TileId>(i), 0, static_cast<TileId>((i + 1) % messages.tiles()),
                         0);
        }
        break;
    }
    MessagePattern pattern = messages.finish();
    if (pattern.transfers.empty() && pattern.copies.empty()) {
        throw wrong_value("tiles",
                          fmt::format("got {} tiles, of which none has a message for another in "
                                      "this pattern, expected more tiles",
                                      messages.tiles()));
    }
    return pattern;
}

} // namespace tessera::micro
