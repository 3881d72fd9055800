// SPDX-License-Identifier: MIT
// The links of a system, packet by packet: turns of tiles, exchange blocks, edges and the contexts that
// receive.
//
//   tile --lane--> block --link--> chip --link--> ... chip --lane--> tile
//     turn    + block_cycles      + hop                   + block_cycles
//
// A context is ceil(tiles / contexts) neighbouring tiles. Its tiles take turns in order of their
// numbers: turn_cycles, then the packets at the lane's rate. A packet waits in its context's block for
// the first free link of its route's edge, holds it for its bytes, and is at the next chip, whole, a hop
// after its last byte left. At its last chip it waits for the context of its tile. All these wait in
// order of (cycle, chip of the sender, message, packet); packets that come in one cycle are served when
// all of them are there, so no result depends on the order of calls.
//
// A link is free if it carries nothing and its far end has a place for a packet. The place is taken when
// the packet starts; it is free a hop after the packet's last byte left it. A context's block gives its
// places back when the last byte left. Contexts always receive.
//
// A lane and a link keep fractions of a cycle while they are busy; what others see is whole cycles,
// rounded up.
//
// Not modelled: errors and retries, adaptive routes, further virtual channels.
// Source: docs/models/links.md, docs/evidence.md#links
#pragma once

#include "base/units.h"
#include "models/link/core/edge_series.h"
#include "models/link/core/event_wheel.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/spec/machine_spec.h"
#include "models/timing/link_timing.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tessera::link {

/// One message of a link exchange.
struct Message {
    std::int64_t number = 0; ///< unique among those under way
    std::int32_t from_chip = 0;
    std::int32_t from_tile = 0;
    std::int32_t to_chip = 0; ///< another one of the domain
    std::int32_t to_tile = 0;
    Bytes bytes = 0; ///< a multiple of 4, above 0
};

struct NetworkEvent {
    /// TurnBegins and TurnOver are of a tile that sends (message -1). Arrived says that the last packet
    /// of a message is in, at the tile that receives it.
    enum class Kind { TurnBegins, TurnOver, Arrived };
    Kind kind = Kind::Arrived;
    Cycles cycle = 0;
    std::int32_t chip = 0;
    std::int32_t tile = 0;
    std::int64_t message = -1;

    bool operator==(const NetworkEvent&) const = default;
};

/// Contract: advance() goes through time in order; inject() comes at any time before the cycle that it
/// names has been left. The network does nothing by itself.
class PacketNetwork {
public:
    /// `routes` outlives the object and has no circle of full buffers.
    PacketNetwork(const spec::MachineSpec& machine, const Topology& topology,
                  const RouteTable& routes);

    /// The messages that tiles of one chip send in a step (all of it), whose turns may begin at
    /// `ready`, not before the cycle that was advanced to. Messages of a tile go in their order.
    void inject(std::span<const Message> messages, Cycles ready);

    /// No NetworkEvent comes before this cycle, unless more is injected; nothing while the network is
    /// idle. Something may move in this cycle without an event.
    [[nodiscard]] std::optional<Cycles> next() const;

    /// Appends what happens up to and including `until`, ordered by (cycle, chip, tile, message).
    void advance(Cycles until, std::vector<NetworkEvent>& happened);

    /// The traffic that has passed an edge since the start.
    struct EdgeUse {
        Bytes payload_bytes = 0;
        Bytes bytes = 0;        ///< with overheads
        Cycles busy_cycles = 0; ///< of all links of the edge together
        std::int64_t packets = 0;
        std::int64_t most_waiting = 0; ///< packets that waited for the edge at the end of a cycle
    };
    [[nodiscard]] const std::vector<EdgeUse>& edges() const { return uses_; }
    /// Each packet that begins to leave over an edge is added to `series`, which outlives the network.
    void record(EdgeSeries& series) { series_ = &series; }

private:
    /// The kinds of events of the wheel.
    enum Action : std::uint8_t {
        kBegin,    ///< a context may begin a turn
        kTurnOver, ///< of a context
        kLane,     ///< of a context: it may take the next packet
        kPlace,    ///< of a context: its block has a place again
        kArrival,  ///< of a packet, at a block or a chip
        kEdge,     ///< has a free link
        kCredit,   ///< of a link: its far end has a place again
        kReceiver, ///< a context may take the next packet
        kIn        ///< a message is in
    };
    static constexpr std::int32_t kNone = -1;

    struct Sent { ///< a message under way
        Message message;
        std::int64_t packets_left = 0; ///< that are not in
        std::int32_t next = kNone;     ///< of the same turn; of free ones
    };
    struct Turn {
        Cycles ready = 0;
        std::int32_t tile = 0;
        std::int32_t first = kNone; ///< message
        std::int32_t next = kNone;  ///< of the context; of free ones
    };
    struct Packet {
        std::int64_t message_number = 0;
        std::int64_t number = 0; ///< in its message
        std::int32_t from_chip = 0;
        std::int32_t message = kNone;
        std::uint32_t place = 0;   ///< of its next edge in the walks of the routes
        std::uint32_t left = 0;    ///< edges to go
        std::int32_t held = kNone; ///< link at whose far end it is or goes
        std::int32_t payload = 0;  ///< bytes
        std::int32_t next = kNone; ///< in its queue; of free ones
    };
    struct Queue {
        std::int32_t first = kNone;
        std::int32_t last = kNone;
        std::int64_t size = 0;
    };
    struct Context {                     ///< that sends; by chip and context
        std::int32_t first_turn = kNone; ///< that waits
        std::int32_t running = kNone;    ///< turn
        std::int32_t message =
            kNone; ///< that the lane takes next; none between the last packet and the turn's end
        Bytes taken = 0;         ///< of that message
        std::int64_t packet = 0; ///< of that message
        std::int64_t lane = 0;   ///< when the lane is free: lane bytes since cycle 0
        std::int64_t places = 0; ///< of its block
    };
    struct Receiver { ///< by chip and context
        Queue queue;
        std::int64_t lane = 0;
        Cycles wake = -1;
    };
    struct EdgeState {
        Queue queue;
        std::int32_t first_link = 0;
        std::int32_t links = 1;
        Cycles hop_cycles = 1;
        Cycles wake = -1; ///< when an event will serve it
        std::int64_t busy_ticks = 0;
    };
    struct Link {
        std::int64_t free_at = 0; ///< ticks
        std::int64_t places = 0;  ///< at its far end
        std::int32_t edge = 0;
    };
    /// The parts of one kind that are to be served in this cycle, each once.
    struct Touched {
        std::vector<std::int32_t> list;
        std::vector<char> is_in;

        void add(std::int32_t part) {
            auto& in = is_in[static_cast<std::size_t>(part)];
            if (in == 0) {
                in = 1;
                list.push_back(part);
            }
        }
    };

    [[nodiscard]] std::int32_t context_number(std::int32_t chip, std::int32_t tile) const {
        return static_cast<std::int32_t>(chip * timing_.contexts + timing_.context_of(tile));
    }
    void add(Cycles cycle, Action kind, std::int32_t part) { wheel_.add(cycle, {kind, part}); }
    void add_turn(std::int32_t context, std::int32_t turn);
    void cycle(Cycles now);
    void happen(const WheelEvent& event, Cycles now);
    void begin_turn(std::int32_t number, Cycles now);
    void end_turn(std::int32_t number, Cycles now);
    void serve_lane(std::int32_t number, Cycles now);
    void send_packet(std::int32_t number, Cycles now);
    void queue_arrivals();
    void serve_edge(std::int32_t number, Cycles now);
    void start_on_link(std::int32_t number, std::int32_t packet, std::int32_t link, Cycles now);
    void give_place_back(const Packet& packet, Cycles left);
    void serve_receiver(std::int32_t number, Cycles now);
    void push(Queue& queue, std::int32_t packet);
    std::int32_t pop(Queue& queue);
    template <class Serve> void serve_touched(Touched& touched, const Serve& serve);

    timing::LinkTiming timing_;
    const RouteTable& routes_;
    std::span<const std::int32_t> walks_;
    std::vector<Context> contexts_;
    std::vector<Receiver> receivers_;
    std::vector<EdgeState> states_;
    std::vector<Link> links_;
    std::vector<EdgeUse> uses_;
    EdgeSeries* series_ = nullptr;

    std::vector<Sent> sent_;
    std::vector<Turn> turns_;
    std::vector<Packet> packets_;
    std::int32_t free_sent_ = kNone;
    std::int32_t free_turn_ = kNone;
    std::int32_t free_packet_ = kNone;

    Cycles now_ = 0;
    EventWheel wheel_;
    std::vector<std::pair<Cycles, std::int32_t>>
        later_; ///< a heap: kBegin beyond the wheel's horizon
    Cycles horizon_;

    // of the cycle that is under way
    std::vector<WheelEvent> events_;
    std::vector<std::int32_t> arrivals_;
    std::vector<NetworkEvent> told_;
    Touched lanes_;
    Touched edges_;
    Touched receiving_;
    std::vector<std::int32_t> order_; ///< of messages, in inject()
};

} // namespace tessera::link
