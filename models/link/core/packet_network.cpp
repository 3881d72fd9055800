// SPDX-License-Identifier: MIT
#include "models/link/core/packet_network.h"

#include "base/ceil_div.h"
#include "base/error.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>

namespace tessera::link {
namespace {

using timing::LinkTiming;

/// No event is so many cycles after the one that makes it.
Cycles horizon_of(const LinkTiming& timing) {
    const Bytes packet = timing.payload_bytes + timing.overhead_bytes;
    const Cycles hop = std::max(timing.rail_hop_cycles, timing.rung_hop_cycles);
    const Cycles held = ceil_div(timing.ticks(packet), LinkTiming::kTicksPerCycle);
    // A lane or a link that is busy to a fraction of this cycle's end adds a cycle, rounding up another.
    return 3 + std::max({timing.turn_cycles, held + hop,
                         timing.lane_cycles(packet) + std::max(timing.block_cycles, hop)});
}

/// The element at the front of a list of free ones, or a new one at the end of `pool`.
template <class Element> std::int32_t make(std::vector<Element>& pool, std::int32_t& free) {
    if (free < 0) {
        pool.emplace_back();
        return static_cast<std::int32_t>(pool.size()) - 1;
    }
    const auto made = free;
    free = pool[static_cast<std::size_t>(made)].next;
    pool[static_cast<std::size_t>(made)] = {};
    return made;
}

template <class Element>
void drop(std::vector<Element>& pool, std::int32_t& free, std::int32_t element) {
    pool[static_cast<std::size_t>(element)].next = free;
    free = element;
}

template <class Element> Element& at(std::vector<Element>& pool, std::int32_t element) {
    return pool[static_cast<std::size_t>(element)];
}

} // namespace

PacketNetwork::PacketNetwork(const spec::MachineSpec& machine, const Topology& topology,
                             const RouteTable& routes)
    : timing_(timing::link_timing(machine)), routes_(routes), walks_(routes.walks()),
      wheel_(horizon_of(timing_)), horizon_(horizon_of(timing_)) {
    const bool is_endless = timing_.buffer_packets == 0;
    const auto places =
        is_endless ? std::numeric_limits<std::int64_t>::max() : timing_.buffer_packets;
    const auto contexts = static_cast<std::size_t>(topology.chips * timing_.contexts);
    contexts_.resize(contexts);
    for (auto& context : contexts_) {
        context.places = places;
    }
    receivers_.resize(contexts);
    for (const auto& edge : topology.edges) {
        auto& state = states_.emplace_back();
        state.first_link = static_cast<std::int32_t>(links_.size());
        state.links = edge.links;
        state.hop_cycles = edge.hop_cycles;
        for (std::int32_t i = 0; i < edge.links; ++i) {
            links_.push_back({0, places, static_cast<std::int32_t>(states_.size()) - 1});
        }
    }
    uses_.resize(states_.size());
    lanes_.is_in.resize(contexts);
    receiving_.is_in.resize(contexts);
    edges_.is_in.resize(states_.size());
}

void PacketNetwork::inject(std::span<const Message> messages, Cycles ready) {
    TESSERA_ASSERT(ready >= now_);
    order_.resize(messages.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
        return messages[static_cast<std::size_t>(a)].from_tile <
               messages[static_cast<std::size_t>(b)].from_tile;
    });
    std::int32_t turn = kNone;
    std::int32_t last = kNone;
    for (const auto index : order_) {
        const auto& message = messages[static_cast<std::size_t>(index)];
        TESSERA_ASSERT(message.bytes > 0 && message.bytes % 4 == 0);
        TESSERA_ASSERT(message.from_chip == messages.front().from_chip);
        TESSERA_ASSERT(!routes_.route(message.from_chip, message.to_chip).empty());
        const auto sent = make(sent_, free_sent_);
        at(sent_, sent).message = message;
        at(sent_, sent).packets_left = timing_.packets(message.bytes);
        if (turn != kNone && at(turns_, turn).tile == message.from_tile) {
            at(sent_, last).next = sent;
        } else {
            turn = make(turns_, free_turn_);
            at(turns_, turn) = {ready, message.from_tile, sent, kNone};
            add_turn(context_number(message.from_chip, message.from_tile), turn);
        }
        last = sent;
    }
}

/// Turns of a context go in order of (ready, tile, first message).
void PacketNetwork::add_turn(std::int32_t context, std::int32_t turn) {
    const auto key = [&](std::int32_t number) {
        const auto& one = at(turns_, number);
        return std::tuple{one.ready, one.tile, at(sent_, one.first).message.number};
    };
    auto* behind = &at(contexts_, context).first_turn;
    while (*behind != kNone && key(*behind) < key(turn)) {
        behind = &at(turns_, *behind).next;
    }
    at(turns_, turn).next = *behind;
    *behind = turn;

    const Cycles ready = at(turns_, turn).ready;
    if (ready - now_ < horizon_) {
        add(ready, kBegin, context);
    } else {
        later_.emplace_back(ready, context);
        std::push_heap(later_.begin(), later_.end(), std::greater<>{});
    }
}

std::optional<Cycles> PacketNetwork::next() const {
    const auto soon = wheel_.next(now_);
    if (later_.empty()) {
        return soon;
    }
    return std::min(soon.value_or(later_.front().first), later_.front().first);
}

void PacketNetwork::advance(Cycles until, std::vector<NetworkEvent>& happened) {
    for (auto cycle_of_next = next(); cycle_of_next && *cycle_of_next <= until;
         cycle_of_next = next()) {
        now_ = *cycle_of_next;
        cycle(now_);
        happened.insert(happened.end(), told_.begin(), told_.end());
    }
    now_ = std::max(now_, until);
}

template <class Serve> void PacketNetwork::serve_touched(Touched& touched, const Serve& serve) {
    for (const auto part : touched.list) {
        at(touched.is_in, part) = 0;
        serve(part);
    }
    touched.list.clear();
}

/// First all that comes in this cycle, then all that can start.
void PacketNetwork::cycle(Cycles now) {
    told_.clear();
    wheel_.take(now, events_);
    for (const auto& event : events_) {
        happen(event, now);
    }
    while (!later_.empty() && later_.front().first == now) {
        std::pop_heap(later_.begin(), later_.end(), std::greater<>{});
        begin_turn(later_.back().second, now);
        later_.pop_back();
    }
    queue_arrivals();
    serve_touched(lanes_, [&](std::int32_t part) { serve_lane(part, now); });
    serve_touched(edges_, [&](std::int32_t part) { serve_edge(part, now); });
    serve_touched(receiving_, [&](std::int32_t part) { serve_receiver(part, now); });
    const auto key = [](const NetworkEvent& event) {
        // A turn that is over comes before the tile's next one.
        return std::tuple{event.chip, event.tile, event.message,
                          event.kind == NetworkEvent::Kind::TurnBegins};
    };
    std::sort(told_.begin(), told_.end(),
              [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

void PacketNetwork::happen(const WheelEvent& event, Cycles now) {
    const auto part = event.part;
    switch (static_cast<Action>(event.kind)) {
    case kBegin:
        begin_turn(part, now);
        break;
    case kTurnOver:
        end_turn(part, now);
        break;
    case kPlace:
        if (at(contexts_, part).places++ == 0) {
            lanes_.add(part);
        }
        break;
    case kLane:
        lanes_.add(part);
        break;
    case kArrival:
        arrivals_.push_back(part);
        break;
    case kCredit:
        ++at(links_, part).places;
        edges_.add(at(links_, part).edge);
        break;
    case kEdge:
        edges_.add(part);
        break;
    case kReceiver:
        receiving_.add(part);
        break;
    case kIn: {
        const auto& message = at(sent_, part).message;
        told_.push_back(
            {NetworkEvent::Kind::Arrived, now, message.to_chip, message.to_tile, message.number});
        drop(sent_, free_sent_, part);
        break;
    }
    }
}

void PacketNetwork::begin_turn(std::int32_t number, Cycles now) {
    auto& context = at(contexts_, number);
    const auto turn = context.first_turn;
    if (context.running != kNone || turn == kNone || at(turns_, turn).ready > now) {
        return;
    }
    context.first_turn = at(turns_, turn).next;
    context.running = turn;
    context.message = at(turns_, turn).first;
    context.taken = 0;
    context.packet = 0;
    context.lane = (now + timing_.turn_cycles) * timing_.lane_bytes;
    told_.push_back({NetworkEvent::Kind::TurnBegins, now,
                     at(sent_, context.message).message.from_chip, at(turns_, turn).tile, -1});
    if (timing_.turn_cycles == 0) {
        lanes_.add(number);
    } else {
        add(now + timing_.turn_cycles, kLane, number);
    }
}

void PacketNetwork::end_turn(std::int32_t number, Cycles now) {
    auto& context = at(contexts_, number);
    const auto chip = static_cast<std::int32_t>(number / timing_.contexts);
    told_.push_back(
        {NetworkEvent::Kind::TurnOver, now, chip, at(turns_, context.running).tile, -1});
    drop(turns_, free_turn_, context.running);
    context.running = kNone;
    begin_turn(number, now);
}

void PacketNetwork::serve_lane(std::int32_t number, Cycles now) {
    auto& context = at(contexts_, number);
    const auto behind = (now + 1) * timing_.lane_bytes;
    while (context.message != kNone && context.places > 0 && context.lane < behind) {
        send_packet(number, now);
    }
    if (context.message != kNone && context.places > 0) {
        add(context.lane / timing_.lane_bytes, kLane, number);
    }
}

/// The next packet of the running turn goes on the lane.
void PacketNetwork::send_packet(std::int32_t number, Cycles now) {
    auto& context = at(contexts_, number);
    const auto& message = at(sent_, context.message).message;
    const Bytes payload = std::min(message.bytes - context.taken, timing_.payload_bytes);
    const auto made = make(packets_, free_packet_);
    auto& packet = at(packets_, made);
    packet.message_number = message.number;
    packet.number = context.packet++;
    packet.from_chip = message.from_chip;
    packet.message = context.message;
    packet.place = static_cast<std::uint32_t>(routes_.place(message.from_chip, message.to_chip));
    packet.left =
        static_cast<std::uint32_t>(routes_.route(message.from_chip, message.to_chip).size());
    packet.payload = static_cast<std::int32_t>(payload);
    context.lane =
        std::max(context.lane, now * timing_.lane_bytes) + payload + timing_.overhead_bytes;
    const Cycles end = timing_.lane_cycles(context.lane);
    add(end + timing_.block_cycles, kArrival, made);
    if (timing_.buffer_packets > 0) {
        --context.places;
    }
    context.taken += payload;
    if (context.taken == message.bytes) {
        context.message = at(sent_, context.message).next;
        context.taken = 0;
        context.packet = 0;
        if (context.message == kNone) {
            add(end, kTurnOver, number);
        }
    }
}

/// Packets that came in this cycle join their queues in order.
void PacketNetwork::queue_arrivals() {
    const auto before = [&](std::int32_t a, std::int32_t b) {
        const auto& one = at(packets_, a);
        const auto& other = at(packets_, b);
        return std::tie(one.from_chip, one.message_number, one.number) <
               std::tie(other.from_chip, other.message_number, other.number);
    };
    std::sort(arrivals_.begin(), arrivals_.end(), before);
    for (const auto number : arrivals_) {
        const auto& packet = at(packets_, number);
        if (packet.left > 0) {
            const auto edge = walks_[packet.place];
            push(at(states_, edge).queue, number);
            edges_.add(edge);
        } else {
            const auto& message = at(sent_, packet.message).message;
            const auto receiver = context_number(message.to_chip, message.to_tile);
            push(at(receivers_, receiver).queue, number);
            receiving_.add(receiver);
        }
    }
    arrivals_.clear();
}

void PacketNetwork::serve_edge(std::int32_t number, Cycles now) {
    auto& edge = at(states_, number);
    const auto from = now * LinkTiming::kTicksPerCycle;
    while (edge.queue.size > 0) {
        std::int32_t first = kNone;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        for (auto link = edge.first_link; link < edge.first_link + edge.links; ++link) {
            const auto free_at = std::max(at(links_, link).free_at, from);
            if (at(links_, link).places > 0 && free_at < least) {
                first = link;
                least = free_at;
            }
        }
        if (first == kNone) { // a credit comes
            break;
        }
        const Cycles free_cycle = least / LinkTiming::kTicksPerCycle;
        if (free_cycle > now) {
            if (edge.wake != free_cycle) {
                edge.wake = free_cycle;
                add(free_cycle, kEdge, number);
            }
            break;
        }
        start_on_link(number, pop(edge.queue), first, now);
    }
    auto& use = at(uses_, number);
    use.most_waiting = std::max(use.most_waiting, edge.queue.size);
}

void PacketNetwork::start_on_link(std::int32_t number, std::int32_t packet_number,
                                  std::int32_t link_number, Cycles now) {
    auto& edge = at(states_, number);
    auto& link = at(links_, link_number);
    auto& packet = at(packets_, packet_number);
    const Bytes bytes = packet.payload + timing_.overhead_bytes;
    const auto held = timing_.ticks(bytes);
    link.free_at = std::max(link.free_at, now * LinkTiming::kTicksPerCycle) + held;
    const Cycles left = ceil_div(link.free_at, LinkTiming::kTicksPerCycle);
    if (timing_.buffer_packets > 0) {
        --link.places;
        give_place_back(packet, left);
    }
    packet.held = link_number;
    ++packet.place;
    --packet.left;
    add(left + edge.hop_cycles, kArrival, packet_number);

    auto& use = at(uses_, number);
    edge.busy_ticks += held;
    use.busy_cycles = edge.busy_ticks / LinkTiming::kTicksPerCycle;
    use.payload_bytes += packet.payload;
    use.bytes += bytes;
    ++use.packets;
    if (series_ != nullptr) {
        series_->add(static_cast<std::size_t>(number), now, packet.payload, bytes);
    }
}

/// The packet's last byte leaves its place in cycle `left`.
void PacketNetwork::give_place_back(const Packet& packet, Cycles left) {
    if (packet.held == kNone) {
        const auto& message = at(sent_, packet.message).message;
        add(left, kPlace, context_number(message.from_chip, message.from_tile));
    } else {
        add(left + at(states_, at(links_, packet.held).edge).hop_cycles, kCredit, packet.held);
    }
}

void PacketNetwork::serve_receiver(std::int32_t number, Cycles now) {
    auto& receiver = at(receivers_, number);
    const auto behind = (now + 1) * timing_.lane_bytes;
    while (receiver.queue.size > 0 && receiver.lane < behind) {
        const auto packet_number = pop(receiver.queue);
        const auto& packet = at(packets_, packet_number);
        receiver.lane = std::max(receiver.lane, now * timing_.lane_bytes) + packet.payload +
                        timing_.overhead_bytes;
        const Cycles left = timing_.lane_cycles(receiver.lane);
        if (timing_.buffer_packets > 0) {
            give_place_back(packet, left);
        }
        if (--at(sent_, packet.message).packets_left == 0) {
            add(left + timing_.block_cycles, kIn, packet.message);
        }
        drop(packets_, free_packet_, packet_number);
    }
    const Cycles free_cycle = receiver.lane / timing_.lane_bytes;
    if (receiver.queue.size > 0 && receiver.wake != free_cycle) {
        receiver.wake = free_cycle;
        add(free_cycle, kReceiver, number);
    }
}

void PacketNetwork::push(Queue& queue, std::int32_t packet) {
    at(packets_, packet).next = kNone;
    (queue.last == kNone ? queue.first : at(packets_, queue.last).next) = packet;
    queue.last = packet;
    ++queue.size;
}

std::int32_t PacketNetwork::pop(Queue& queue) {
    const auto packet = queue.first;
    queue.first = at(packets_, packet).next;
    if (queue.first == kNone) {
        queue.last = kNone;
    }
    --queue.size;
    return packet;
}

} // namespace tessera::link
