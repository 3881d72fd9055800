// SPDX-License-Identifier: MIT
// The rules of models/link/core/packet_network.h once more, without events: every cycle looks at every
// packet, context and edge, and counts who holds a place. Slow, and its only state is when each packet
// was where.
#pragma once

#include "base/ceil_div.h"
#include "models/link/core/packet_network.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/timing/link_timing.h"
#include "tests/unit/models/link/traffic.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::link_test {

class PlainNetwork {
public:
    PlainNetwork(const spec::MachineSpec& machine, const std::vector<Step>& steps)
        : topology_(link::topology(machine)), routes_(machine, topology_),
          timing_(timing::link_timing(machine)) {
        for (const auto& edge : topology_.edges) {
            free_at_.emplace_back(static_cast<std::size_t>(edge.links));
        }
        for (const auto& step : steps) {
            add(step);
        }
        for (auto& [place, context] : contexts_) {
            std::stable_sort(context.turns.begin(), context.turns.end(),
                             [](const Turn& a, const Turn& b) { return a.key < b.key; });
        }
    }

    std::vector<link::NetworkEvent> run() {
        for (Cycles now = 0; messages_left_ > 0 || turns_left_ > 0; ++now) {
            const auto begin = happened_.size();
            for (auto& [place, context] : contexts_) {
                turns(place, context, now);
            }
            for (std::size_t edge = 0; edge < topology_.edges.size(); ++edge) {
                serve(edge, now);
            }
            for (auto& [place, lane] : receiving_) {
                receive(place, lane, now);
            }
            tell_arrived(now);
            std::sort(happened_.begin() + static_cast<std::ptrdiff_t>(begin), happened_.end(),
                      [](const auto& a, const auto& b) {
                          return std::tuple(a.chip, a.tile, a.message,
                                            a.kind == link::NetworkEvent::Kind::TurnBegins) <
                                 std::tuple(b.chip, b.tile, b.message,
                                            b.kind == link::NetworkEvent::Kind::TurnBegins);
                      });
        }
        return happened_;
    }

private:
    static constexpr Cycles kNever = std::numeric_limits<Cycles>::max();
    static constexpr auto kTicks = timing::LinkTiming::kTicksPerCycle;
    using Place = std::pair<std::int64_t, std::int64_t>; ///< chip and context

    struct Hold { ///< of a place at the far end of a link
        std::size_t edge = 0;
        std::size_t link = 0;
        Cycles until = kNever;
    };
    struct Packet {
        link::Message message;
        std::int64_t number = 0;
        Bytes payload = 0;
        Cycles here = kNever;        ///< at the block or chip where it waits next
        std::size_t passed = 0;      ///< edges
        Cycles block_until = kNever; ///< holds a place of its block
        std::vector<Hold> holds;
        Cycles in = kNever;

        [[nodiscard]] auto key() const {
            return std::tuple(here, message.from_chip, message.number, number);
        }
    };
    struct Turn {
        std::tuple<Cycles, std::int32_t, std::int64_t> key; ///< ready, tile, first message
        std::vector<link::Message> messages;
    };
    struct Context {
        std::deque<Turn> turns;
        bool runs = false;
        std::size_t message = 0;
        Bytes taken = 0;
        std::int64_t number = 0;
        std::int64_t lane = 0;
    };

    void add(const Step& step) {
        std::map<std::int32_t, std::vector<link::Message>> by_tile;
        for (const auto& message : step.messages) {
            by_tile[message.from_tile].push_back(message);
            receiving_[{message.to_chip, timing_.context_of(message.to_tile)}] = 0;
            ++messages_left_;
            packets_left_[message.number] = timing_.packets(message.bytes);
        }
        for (auto& [tile, messages] : by_tile) {
            const Place place{messages.front().from_chip, timing_.context_of(tile)};
            contexts_[place].turns.push_back(
                {{step.ready, tile, messages.front().number}, std::move(messages)});
            ++turns_left_;
        }
    }

    [[nodiscard]] bool has_room(std::int64_t held) const {
        return timing_.buffer_packets == 0 || held < timing_.buffer_packets;
    }

    [[nodiscard]] std::int64_t held_in_block(const Place& place, Cycles now) const {
        return std::count_if(packets_.begin(), packets_.end(), [&](const Packet& packet) {
            return now < packet.block_until &&
                   place == Place{packet.message.from_chip,
                                  timing_.context_of(packet.message.from_tile)};
        });
    }

    void turns(const Place& place, Context& context, Cycles now) {
        const auto tell = [&](link::NetworkEvent::Kind kind) {
            happened_.push_back({kind, now, static_cast<std::int32_t>(place.first),
                                 std::get<1>(context.turns.front().key), -1});
        };
        if (context.runs && context.message == context.turns.front().messages.size() &&
            timing_.lane_cycles(context.lane) == now) {
            tell(link::NetworkEvent::Kind::TurnOver);
            context.turns.pop_front();
            context.runs = false;
            --turns_left_;
        }
        if (!context.runs && !context.turns.empty() &&
            std::get<0>(context.turns.front().key) <= now) {
            tell(link::NetworkEvent::Kind::TurnBegins);
            context.runs = true;
            context.message = 0;
            context.taken = 0;
            context.number = 0;
            context.lane = 4 * (now + timing_.turn_cycles);
        }
        while (context.runs && context.message < context.turns.front().messages.size() &&
               context.lane < 4 * (now + 1) && has_room(held_in_block(place, now))) {
            const auto& message = context.turns.front().messages[context.message];
            const Bytes payload = std::min(timing_.payload_bytes, message.bytes - context.taken);
            context.lane = std::max(context.lane, 4 * now) + payload + timing_.overhead_bytes;
            context.taken += payload;
            Packet packet;
            packet.message = message;
            packet.number = context.number++;
            packet.payload = payload;
            packet.here = timing_.lane_cycles(context.lane) + timing_.block_cycles;
            packets_.push_back(packet);
            if (context.taken == message.bytes) {
                ++context.message;
                context.taken = 0;
                context.number = 0;
            }
        }
    }

    /// Packets that wait for this in `now`, in order.
    template <class Is> std::vector<Packet*> waiting(Cycles now, const Is& is) {
        std::vector<Packet*> found;
        for (auto& packet : packets_) {
            if (packet.here <= now && packet.in == kNever && is(packet)) {
                found.push_back(&packet);
            }
        }
        std::sort(found.begin(), found.end(),
                  [](const Packet* a, const Packet* b) { return a->key() < b->key(); });
        return found;
    }

    [[nodiscard]] std::span<const std::int32_t> route_of(const Packet& packet) const {
        return routes_.route(packet.message.from_chip, packet.message.to_chip);
    }

    /// The packet's last byte leaves where it is.
    void leaves(Packet& packet, Cycles left) const {
        if (packet.holds.empty()) {
            packet.block_until = left;
        } else {
            auto& hold = packet.holds.back();
            hold.until = left + topology_.edges[hold.edge].hop_cycles;
        }
    }

    void serve(std::size_t edge, Cycles now) {
        for (auto* packet : waiting(now, [&](const Packet& one) {
                 const auto route = route_of(one);
                 return one.passed < route.size() &&
                        static_cast<std::size_t>(route[one.passed]) == edge;
             })) {
            auto& free_at = free_at_[edge];
            std::size_t best = free_at.size();
            for (std::size_t link = 0; link < free_at.size(); ++link) {
                std::int64_t held = 0;
                for (const auto& other : packets_) {
                    for (const auto& hold : other.holds) {
                        held += hold.edge == edge && hold.link == link && now < hold.until ? 1 : 0;
                    }
                }
                if (has_room(held) &&
                    (best == free_at.size() || std::max(free_at[link], now * kTicks) <
                                                   std::max(free_at[best], now * kTicks))) {
                    best = link;
                }
            }
            if (best == free_at.size() || free_at[best] >= (now + 1) * kTicks) {
                return;
            }
            free_at[best] = std::max(free_at[best], now * kTicks) +
                            timing_.ticks(packet->payload + timing_.overhead_bytes);
            const Cycles left = ceil_div(free_at[best], kTicks);
            leaves(*packet, left);
            packet->holds.push_back({edge, best, kNever});
            packet->here = left + topology_.edges[edge].hop_cycles;
            ++packet->passed;
        }
    }

    void receive(const Place& place, std::int64_t& lane, Cycles now) {
        for (auto* packet : waiting(now, [&](const Packet& one) {
                 return one.passed == route_of(one).size() &&
                        place ==
                            Place{one.message.to_chip, timing_.context_of(one.message.to_tile)};
             })) {
            if (lane >= 4 * (now + 1)) {
                return;
            }
            lane = std::max(lane, 4 * now) + packet->payload + timing_.overhead_bytes;
            const Cycles left = timing_.lane_cycles(lane);
            leaves(*packet, left);
            packet->in = left + timing_.block_cycles;
        }
    }

    void tell_arrived(Cycles now) {
        for (auto& packet : packets_) {
            if (packet.in != now) {
                continue;
            }
            const auto& message = packet.message;
            if (--packets_left_[message.number] == 0) {
                happened_.push_back({link::NetworkEvent::Kind::Arrived, now, message.to_chip,
                                     message.to_tile, message.number});
                --messages_left_;
            }
        }
    }

    link::Topology topology_;
    link::RouteTable routes_;
    timing::LinkTiming timing_;
    std::map<Place, Context> contexts_;
    std::map<Place, std::int64_t> receiving_;        ///< when the lane is free: bytes since cycle 0
    std::vector<std::vector<std::int64_t>> free_at_; ///< by edge and link, ticks
    std::vector<Packet> packets_;
    std::map<std::int64_t, std::int64_t> packets_left_; ///< by message
    std::int64_t messages_left_ = 0;
    std::int64_t turns_left_ = 0;
    std::vector<link::NetworkEvent> happened_;
};

} // namespace tessera::link_test
