// SPDX-License-Identifier: MIT
#include "models/exchange/core/transfer_copies.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tessera::exchange {

namespace {

/// Bytes [begin, end) of a tile that an exchange reads or writes.
struct Span {
    TileId tile = 0;
    Bytes begin = 0;
    Bytes end = 0;
    bool received = false;
};

[[noreturn]] void fail(const program::Exchange& exchange, const std::string& what) {
    throw ProgramError(fmt::format("exchange {}: {}", exchange.name, what));
}

Span span_of(const spec::MachineSpec& machine, const program::Exchange& exchange, TileId tile,
             Address address, Bytes bytes, bool received) {
    const Span span{tile, static_cast<Bytes>(address), static_cast<Bytes>(address) + bytes,
                    received};
    if (static_cast<std::int64_t>(tile) >= machine.chip.tiles)
        fail(exchange,
             fmt::format("transfer with tile {}, expected 0..{}", tile, machine.chip.tiles - 1));
    if (bytes <= 0 || bytes % 4 != 0 || address % 4 != 0 ||
        span.begin < static_cast<Bytes>(machine.memory.region0_begin()) ||
        span.end > static_cast<Bytes>(machine.memory.end()))
        fail(exchange, fmt::format("tile {}: got {} bytes at 0x{:x}, expected whole words inside "
                                   "tile memory",
                                   tile, bytes, address));
    return span;
}

/// No word is received twice, or received and sent.
void check_apart(const program::Exchange& exchange, std::vector<Span> spans) {
    std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
        return std::tie(a.tile, a.begin, a.end) < std::tie(b.tile, b.begin, b.end);
    });
    Bytes received_to = 0;
    Bytes sent_to = 0;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const Span& span = spans[i];
        if (i == 0 || spans[i - 1].tile != span.tile)
            received_to = sent_to = 0;
        if (span.begin < received_to || (span.received && span.begin < sent_to))
            fail(exchange,
                 fmt::format("tile {}: the word at 0x{:x} is received {}", span.tile, span.begin,
                             span.received && span.begin < received_to ? "twice" : "and sent"));
        Bytes& reached = span.received ? received_to : sent_to;
        reached = std::max(reached, span.end);
    }
}

} // namespace

std::vector<CopyRun> transfer_copies(const spec::MachineSpec& machine,
                                     const program::Exchange& exchange) {
    std::vector<CopyRun> copies;
    std::vector<Span> spans;
    for (const auto& transfer : exchange.transfers) {
        spans.push_back(span_of(machine, exchange, transfer.source_tile, transfer.source_address,
                                transfer.bytes, false));
        for (const auto& destination : transfer.destinations) {
            spans.push_back(span_of(machine, exchange, destination.tile, destination.address,
                                    transfer.bytes, true));
            if (destination.tile == transfer.source_tile)
                fail(exchange, fmt::format("tile {} is its own receiver", destination.tile));
            copies.push_back({transfer.source_tile, transfer.source_address, destination.tile,
                              destination.address, transfer.bytes});
        }
    }
    check_apart(exchange, std::move(spans));
    std::sort(copies.begin(), copies.end(), [](const CopyRun& a, const CopyRun& b) {
        return std::tie(a.destination_tile, a.destination_address) <
               std::tie(b.destination_tile, b.destination_address);
    });
    return copies;
}

FabricOutcome outcome_of_transfers(const spec::MachineSpec& machine,
                                   const program::Exchange& exchange) {
    FabricOutcome outcome;
    outcome.copies = transfer_copies(machine, exchange);
    std::vector<bool> active(static_cast<std::size_t>(machine.chip.tiles));
    for (const auto& transfer : exchange.transfers) {
        outcome.words_sent += transfer.bytes / 4;
        active[transfer.source_tile] = true;
    }
    for (const auto& copy : outcome.copies) {
        outcome.bytes += copy.bytes;
        active[copy.destination_tile] = true;
    }
    outcome.words_received = outcome.bytes / 4;
    for (TileId tile = 0; tile < active.size(); ++tile)
        if (active[tile])
            outcome.tiles.push_back(tile);
    outcome.row_cycles.assign(outcome.tiles.size(), 0);
    return outcome;
}

} // namespace tessera::exchange
