// SPDX-License-Identifier: MIT
// The links of a system: messages of link exchanges go from tiles of one chip to tiles of others.
//
//   chip --open--> what its tiles send is injected --packet network--> turn begins: bytes are read
//                                                                      turn is over
//                                                                      message is in: bytes are written
//   chip <--links_over-- tiles whose turn is over and whose messages are in
//
// Ports: is the chips' Links; chips, by number.
// Timing: of core/packet_network.h; turns may begin a prologue behind the release, a cycle at least.
// Not modelled: link exchanges in the background (docs/deviations.md).
// Source: docs/models/links.md
#pragma once

#include "base/units.h"
#include "models/events/link_events.h"
#include "models/link/core/edge_series.h"
#include "models/link/core/link_bound.h"
#include "models/link/core/packet_network.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/ports/ports.h"
#include "models/program/known_words.h"
#include "models/program/system_binding.h"
#include "models/program/system_program.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace tessera::link {

/// The memory of a chip's tiles, with what is known of it in timing mode.
struct ChipWords {
    const program::TileMemory* memory = nullptr;
    program::KnownWords* known = nullptr; ///< null: all data are there
};

class LinkFabric : public sc_core::sc_module, public ports::Links {
public:
    sc_core::sc_port<ports::LinkUser, 0, sc_core::SC_ZERO_OR_MORE_BOUND> chips;

    /// All outlive the fabric. `words` are by chip.
    LinkFabric(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
               const program::SystemProgram& system, const program::SystemBinding& binding,
               std::vector<ChipWords> words);

    std::span<const program::LinkUse> open(std::int64_t chip, std::uint32_t exchange,
                                           std::int64_t step, std::int64_t round) override;

    [[nodiscard]] const Topology& topology() const { return topology_; }
    /// By edge of the topology.
    [[nodiscard]] const std::vector<PacketNetwork::EdgeUse>& edges() const {
        return network_.edges();
    }
    /// Takes what happens in a cycle in an order that follows from the seed. No result may depend on it.
    void shuffle(std::uint64_t seed) { shuffle_.emplace(seed); }
    /// Before the run: `listener` hears what goes between chips.
    void listen(events::LinkListener& listener) { listener_ = &listener; }
    /// Before the run: what goes over edges is kept by time.
    void record_edges();
    /// By edge of the topology; null unless it is recorded.
    [[nodiscard]] const EdgeSeries* edges_by_time() const { return series_ ? &*series_ : nullptr; }
    /// Whether chip `chip` is in a link exchange.
    [[nodiscard]] bool is_under_way(std::size_t chip) const { return parts_[chip].tiles > 0; }

private:
    /// What a chip has to do with the link exchange that it is in.
    struct Part {
        std::size_t tiles = 0;          ///< of it that are not over
        std::vector<std::int32_t> open; ///< by tile: its turn, and messages to come
        events::Linked told;
    };
    /// A message under way.
    struct Parcel {
        std::vector<std::byte> bytes;
        std::vector<bool> known; ///< by word, in timing mode
    };
    /// What goes from one chip to another in a link exchange, for the listener.
    struct Way {
        std::int64_t open = 0; ///< messages that are not in
        bool has_begun = false;
        events::Carried told;
    };
    void on_event();
    void wake_for_next();
    void open_ways(std::size_t chip, std::uint32_t exchange, std::int64_t step);
    void hear_turn(const NetworkEvent& event);
    void hear_arrival(std::uint32_t message);
    /// The messages of its link exchange that the tile sends.
    [[nodiscard]] std::span<const std::uint32_t> sends_of(std::size_t chip, TileId tile) const;
    [[nodiscard]] Address address_of(std::size_t chip, const program::LinkPlace& place,
                                     std::int64_t round) const;
    [[nodiscard]] Message message(std::uint32_t number) const;
    [[nodiscard]] const LinkBound& bound_of(std::size_t chip, std::uint32_t exchange);
    void read(std::size_t chip, TileId tile);
    void write(std::uint32_t message);
    void close(std::size_t chip, TileId tile);

    const spec::MachineSpec& spec_;
    const program::SystemProgram& system_;
    const program::SystemBinding& binding_;
    std::vector<ChipWords> words_;
    Topology topology_;
    RouteTable routes_;
    PacketNetwork network_;
    std::vector<Part> parts_;                                           ///< by chip
    std::map<std::pair<std::size_t, std::uint32_t>, LinkBound> bounds_; ///< by chip and exchange
    std::vector<Parcel> parcels_;       ///< by message of the binding
    std::vector<Address> from_address_; ///< of those under way
    std::vector<Address> into_address_;
    std::vector<program::LinkUse> uses_;
    std::vector<NetworkEvent> happened_;
    std::vector<std::vector<TileId>> over_; ///< by chip, in this cycle
    std::vector<std::size_t> order_;        ///< of chips
    std::optional<std::mt19937_64> shuffle_;
    std::optional<EdgeSeries> series_;
    events::LinkListener* listener_ = nullptr;
    std::map<std::pair<std::size_t, std::size_t>, Way> ways_; ///< by sending and receiving chip
    sc_core::sc_event ev_network_;
};

} // namespace tessera::link
