// SPDX-License-Identifier: MIT
#include "models/link/core/link_bound.h"

#include "base/ceil_div.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace tessera::link {
namespace {

using timing::LinkTiming;

/// The bytes that one edge or one context that receives has to carry.
struct Load {
    Bytes bytes = 0;                                    ///< with overheads
    Cycles before = std::numeric_limits<Cycles>::max(); ///< until a first packet can be there
    Cycles behind = std::numeric_limits<Cycles>::max(); ///< from a packet's end here to its arrival

    void add(Bytes more, Cycles way_here, Cycles way_on) {
        bytes += more;
        before = std::min(before, way_here);
        behind = std::min(behind, way_on);
    }
};

/// A context that sends.
struct Sender {
    Cycles turns = 0;
    std::int32_t last_tile = -1;
    Cycles behind = 0; ///< from the end of its last packet on the lane to its arrival
};

class Loads {
public:
    Loads(const LinkTiming& timing, const Topology& topology, const RouteTable& routes)
        : timing_(timing), topology_(topology), routes_(routes), edges_(topology.edges.size()),
          receivers_(static_cast<std::size_t>(topology.chips * timing.contexts)),
          senders_(receivers_.size()),
          sent_(static_cast<std::size_t>(topology.chips * timing.contexts *
                                         timing.tiles_per_context)) {}

    void add(const Message& message) {
        const Bytes all = timing_.with_overhead(message.bytes);
        // The last packet is the least one.
        const Bytes least = message.bytes -
                            (timing_.packets(message.bytes) - 1) * timing_.payload_bytes +
                            timing_.overhead_bytes;
        const Cycles in = timing_.lane_cycles(least) + timing_.block_cycles;
        const Cycles on_link = ceil_div(timing_.ticks(least), LinkTiming::kTicksPerCycle);
        const auto route = routes_.route(message.from_chip, message.to_chip);
        Cycles way = 0;
        for (const auto edge : route) {
            way += on_link + hop(edge);
        }
        const Cycles out = timing_.turn_cycles + timing_.lane_cycles(least) + timing_.block_cycles;
        Cycles passed = 0;
        for (const auto edge : route) {
            const Cycles left = passed + on_link;
            edges_[static_cast<std::size_t>(edge)].add(all, out + passed, way - left + in);
            passed = left + hop(edge);
        }
        receivers_[context(message.to_chip, message.to_tile)].add(all, out + way,
                                                                  timing_.block_cycles);
        add_sent(message, all, timing_.block_cycles + way + in);
    }

    [[nodiscard]] LinkBound bound() const {
        LinkBound out;
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            const auto& edge = edges_[i];
            const auto links = topology_.edges[i].links;
            const Cycles cycles =
                edge.bytes == 0
                    ? 0
                    : edge.before + edge.behind +
                          ceil_div(timing_.ticks(edge.bytes), LinkTiming::kTicksPerCycle * links);
            if (cycles > out.edge_cycles) {
                out.edge_cycles = cycles;
                out.edge = static_cast<std::int32_t>(i);
            }
        }
        for (const auto& receiver : receivers_) {
            if (receiver.bytes > 0) {
                out.context_cycles =
                    std::max(out.context_cycles, receiver.before + receiver.behind +
                                                     timing_.lane_cycles(receiver.bytes));
            }
        }
        bool is_turn = false;
        for (std::size_t i = 0; i < senders_.size(); ++i) {
            Cycles lanes = 0;
            const auto tiles = static_cast<std::size_t>(timing_.tiles_per_context);
            for (std::size_t tile = i * tiles; tile < (i + 1) * tiles; ++tile) {
                lanes += timing_.lane_cycles(sent_[tile]);
            }
            const Cycles cycles = senders_[i].turns + lanes + senders_[i].behind;
            if (cycles > out.lane_cycles) {
                out.lane_cycles = cycles;
                is_turn = senders_[i].turns >= lanes;
            }
        }
        const Cycles most = out.cycles();
        out.binds = most == 0                    ? Binds::Nothing
                    : most == out.edge_cycles    ? Binds::Edge
                    : most == out.context_cycles ? Binds::Context
                    : is_turn                    ? Binds::Turn
                                                 : Binds::Lane;
        return out;
    }

private:
    [[nodiscard]] Cycles hop(std::int32_t edge) const {
        return topology_.edges[static_cast<std::size_t>(edge)].hop_cycles;
    }
    [[nodiscard]] std::size_t context(std::int32_t chip, std::int32_t tile) const {
        return static_cast<std::size_t>(chip * timing_.contexts + timing_.context_of(tile));
    }

    void add_sent(const Message& message, Bytes all, Cycles behind) {
        auto& sender = senders_[context(message.from_chip, message.from_tile)];
        auto& sent = sent_[static_cast<std::size_t>(
            message.from_chip * timing_.contexts * timing_.tiles_per_context + message.from_tile)];
        if (sent == 0) {
            sender.turns += timing_.turn_cycles;
        }
        sent += all;
        if (message.from_tile >= sender.last_tile) {
            sender.last_tile = message.from_tile;
            sender.behind = behind;
        }
    }

    const LinkTiming& timing_;
    const Topology& topology_;
    const RouteTable& routes_;
    std::vector<Load> edges_;
    std::vector<Load> receivers_; ///< by chip and context
    std::vector<Sender> senders_; ///< by chip and context
    std::vector<Bytes> sent_;     ///< by tile, as if each context had all of its tiles
};

} // namespace

std::string_view text(Binds binds) {
    constexpr std::array<std::string_view, 5> kTexts{"nothing", "edge", "context", "lane", "turn"};
    return kTexts.at(static_cast<std::size_t>(binds));
}

Cycles LinkBound::cycles() const {
    return std::max({edge_cycles, context_cycles, lane_cycles});
}

LinkBound link_bound(const LinkTiming& timing, const Topology& topology, const RouteTable& routes,
                     std::span<const Message> messages) {
    Loads loads{timing, topology, routes};
    for (const auto& message : messages) {
        loads.add(message);
    }
    return loads.bound();
}

} // namespace tessera::link
