// SPDX-License-Identifier: MIT
#include "models/exchange/core/network.h"

#include "models/exchange/core/transfer_copies.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tessera::exchange {

namespace {

using Node = std::int64_t;

/// Routers at the places of the grid, with four links each.
class Mesh {
public:
    explicit Mesh(const spec::MachineSpec& machine) {
        for (TileId tile = 0; tile < static_cast<TileId>(machine.chip.tiles); ++tile)
            node_of_.push_back(timing::tile_position(machine.chip, tile).physical_id);
        links_ = 4 * timing::grid_rows(machine.chip.tiles) * kWidth;
    }

    [[nodiscard]] std::size_t links() const { return static_cast<std::size_t>(links_); }

    /// Calls `over(link)` for every link of the way, in order.
    template <class Over> void route(TileId from, TileId to, const Over& over) const {
        Node at = node_of_[from];
        const Node end = node_of_[to];
        const auto walk = [&](Node steps, Node stride, Node direction) {
            for (; steps > 0; --steps, at += stride)
                over(static_cast<std::size_t>(4 * at + direction));
        };
        const Node right = end % kWidth - at % kWidth;
        const Node down = end / kWidth - at / kWidth;
        walk(right, 1, 0);
        walk(-right, -1, 1);
        walk(down, kWidth, 2);
        walk(-down, -kWidth, 3);
    }

private:
    static constexpr Node kWidth = timing::kTilesPerRow;
    std::vector<Node> node_of_;
    Node links_ = 0;
};

class Ring {
public:
    explicit Ring(const spec::MachineSpec& machine)
        : tiles_(machine.chip.tiles), both_ways_(machine.exchange.ring_directions == 2) {}

    [[nodiscard]] std::size_t links() const { return static_cast<std::size_t>(2 * tiles_); }

    template <class Over> void route(TileId from, TileId to, const Over& over) const {
        const Node up = (Node{to} - Node{from} + tiles_) % tiles_;
        const bool upwards = !both_ways_ || up <= tiles_ - up;
        const Node hops = upwards ? up : tiles_ - up;
        const Node step = upwards ? 1 : tiles_ - 1;
        Node at = from;
        for (Node hop = 0; hop < hops; ++hop, at = (at + step) % tiles_)
            over(static_cast<std::size_t>(2 * at + (upwards ? 0 : 1)));
    }

private:
    Node tiles_;
    bool both_ways_;
};

/// One exchange over the links of a topology.
template <class Topology> class Network {
public:
    Network(const spec::MachineSpec& machine, const program::Exchange& exchange)
        : spec_(machine.exchange), exchange_(exchange), topology_(machine),
          links_(topology_.links()), sent_(static_cast<std::size_t>(machine.chip.tiles)),
          received_(sent_.size()) {}

    void run() {
        const auto& transfers = exchange_.transfers;
        std::vector<std::vector<std::size_t>> of_source(sent_.size());
        for (std::size_t i = 0; i < transfers.size(); ++i)
            of_source[transfers[i].source_tile].push_back(i);
        // The sender that is free first; of equals the one with the lowest number.
        using Entry = std::pair<Cycles, TileId>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> free;
        for (TileId tile = 0; tile < of_source.size(); ++tile)
            if (!of_source[tile].empty())
                free.emplace(0, tile);
        std::vector<std::size_t> next(of_source.size());
        while (!free.empty()) {
            const TileId tile = free.top().second;
            free.pop();
            send(transfers[of_source[tile][next[tile]++]]);
            if (next[tile] < of_source[tile].size())
                free.emplace(sent_[tile], tile);
        }
    }

    /// Until the tile's last word is out, and in.
    [[nodiscard]] Cycles cycles(TileId tile) const {
        return std::max(sent_[tile], received_[tile]);
    }

private:
    struct Link {
        Cycles free_at = 0;
        std::int64_t message = -1; ///< that holds it now
        Cycles head_out = 0;       ///< when that message's head leaves it
    };

    void send(const program::Transfer& transfer) {
        ++message_;
        const Cycles words = transfer.bytes / 4;
        const Cycles on_link = (transfer.bytes + spec_.link_bytes - 1) / spec_.link_bytes;
        const Cycles begin = sent_[transfer.source_tile];
        // A narrow link slows the whole message, a wide one does not make a lane faster.
        const Cycles lasting = std::max(words, on_link);
        Cycles last_start = begin;
        for (const auto& destination : transfer.destinations) {
            Cycles head = begin;
            bool first = true;
            topology_.route(transfer.source_tile, destination.tile, [&](std::size_t index) {
                Link& link = links_[index];
                if (link.message != message_) {
                    const Cycles start = std::max(head, link.free_at);
                    link = {start + on_link, message_, start + spec_.hop_cycles};
                    last_start = first ? std::max(last_start, start) : last_start;
                }
                head = link.head_out;
                first = false;
            });
            Cycles& lane = received_[destination.tile];
            lane = std::max(head + lasting, lane + words);
        }
        sent_[transfer.source_tile] = last_start + lasting;
    }

    const spec::ExchangeSpec& spec_;
    const program::Exchange& exchange_;
    Topology topology_;
    std::vector<Link> links_;
    std::vector<Cycles> sent_;     ///< by tile: its outgoing lane is free
    std::vector<Cycles> received_; ///< by tile: its incoming lane is free
    std::int64_t message_ = -1;
};

template <class Topology>
FabricOutcome run_network(const spec::MachineSpec& machine, const program::Exchange& exchange) {
    FabricOutcome outcome = outcome_of_transfers(machine, exchange);
    outcome.prologue_cycles = machine.exchange.prologue_cycles;
    Network<Topology> network(machine, exchange);
    network.run();
    for (std::size_t i = 0; i < outcome.tiles.size(); ++i)
        outcome.row_cycles[i] = network.cycles(outcome.tiles[i]);
    return outcome;
}

} // namespace

FabricOutcome run_mesh(const spec::MachineSpec& machine, const program::Exchange& exchange) {
    return run_network<Mesh>(machine, exchange);
}

FabricOutcome run_ring(const spec::MachineSpec& machine, const program::Exchange& exchange) {
    return run_network<Ring>(machine, exchange);
}

} // namespace tessera::exchange
