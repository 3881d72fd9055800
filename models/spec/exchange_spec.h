// SPDX-License-Identifier: MIT
// The exchange between the tiles of one chip.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::spec {

/// What carries the words: the compiled exchange of the machine, or one of the others for what-if.
enum class Fabric { Compiled, Bound, Mesh, Ring };

/// Most tiles that the compiled exchange can number: 127 rows of 64. A mux source has 13 bits, and
/// the last 64 of its values hold the one that selects no tile.
inline constexpr std::int64_t kMostCompiledTiles = 127 * 64;

struct ExchangeSpec {
    Fabric fabric = Fabric::Compiled;
    Bytes lane_bytes = 4;
    bool pair_double = true;
    std::int64_t pair_min_items = 64;
    std::int64_t max_words_per_send = 64;
    std::int64_t max_words_per_sendoff = 4096;
    bool far_first = false;
    Cycles mux_to_pointer_cycles = 52;
    Cycles mux_to_pointer_row_cycles = 2;
    Cycles route_cycles = 21;
    Cycles route_row_cycles = 2;
    Cycles route_column_cycles = 6;
    Cycles route_near_cycles = 1;
    Cycles route_far_cycles = 5;
    Cycles route_fold_cycles = 4;
    Cycles route_step_cycles = 1;
    Cycles route_half_cycles = 8;
    Cycles row_tail_cycles = 6;
    Cycles row_return_cycles = 6;
    Cycles prologue_cycles = 30;
    Bytes link_bytes = 4;
    Cycles hop_cycles = 1;
    std::int64_t ring_directions = 2;

    /// Whether the fabric has the tile's lanes as `lane_bytes` says, and pairs of them. The links
    /// of a mesh or a ring have neither: a tile's lane is a word wide there.
    [[nodiscard]] bool has_wide_lanes() const {
        return fabric == Fabric::Compiled || fabric == Fabric::Bound;
    }
    /// Whether two tiles may receive at double width.
    [[nodiscard]] bool pairs() const { return pair_double && has_wide_lanes(); }
    /// Items that a lane moves a cycle: words of 4 bytes, and of a pair items of 8.
    [[nodiscard]] std::int64_t lane_items() const { return has_wide_lanes() ? lane_bytes / 4 : 1; }

    bool operator==(const ExchangeSpec&) const = default;

    template <class Description> static void describe(Description& d) {
        d.field("fabric", &ExchangeSpec::fabric,
                {{"compiled", Fabric::Compiled},
                 {"bound", Fabric::Bound},
                 {"mesh", Fabric::Mesh},
                 {"ring", Fabric::Ring}})
            .says("what carries the words: compiled is the machine's; bound, mesh and ring are for "
                  "what-if")
            .from("docs/evidence.md#exchange-other-fabrics")
            .used_by({"exchanges", "decisions"});
        d.field("lane_bytes", &ExchangeSpec::lane_bytes)
            .unit("B/cycle")
            .one_of({4, 8, 16})
            .says("width of a tile's lane, each way, in the compiled exchange; the two tiles of a "
                  "pair have twice that together")
            .from("docs/evidence.md#exchange-lanes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions", "reads of streaming memory",
                      "writes to streaming memory", "reads from the host", "writes to the host"});
        d.field("pair_double", &ExchangeSpec::pair_double)
            .says("twice a lane's bytes a cycle into the two tiles of a pair that receive the same "
                  "data")
            .from("docs/evidence.md#exchange-double-width")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges"});
        d.field("pair_min_items", &ExchangeSpec::pair_min_items)
            .unit("items of 8 B")
            .range(1, 4096)
            .says("shortest message of double width")
            .from("docs/evidence.md#exchange-double-width")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_with("exchange.pair_double", {true})
            .used_by({"exchanges"});
        // The upper ends of both ranges are what the instructions' count fields hold.
        d.field("max_words_per_send", &ExchangeSpec::max_words_per_send)
            .unit("words")
            .range(1, 64)
            .says("longest run that a send instruction covers")
            .from("docs/evidence.md#exchange-messages")
            .used_with("exchange.fabric", {"compiled"})
            .used_by({"exchanges"});
        d.field("max_words_per_sendoff", &ExchangeSpec::max_words_per_sendoff)
            .unit("words")
            .range(1, 4096)
            .says("longest run that a sendoff instruction adds")
            .from("docs/evidence.md#exchange-messages")
            .used_with("exchange.fabric", {"compiled"})
            .used_by({"exchanges"});
        d.field("far_first", &ExchangeSpec::far_first)
            .says("the planner may send the first words of a multicast to far receivers alone, "
                  "while the muxes of near ones cannot have turned")
            .from("docs/evidence.md#exchange-far-first")
            .used_with("exchange.fabric", {"compiled"})
            .used_by({"exchanges"});
        d.field("mux_to_pointer_cycles", &ExchangeSpec::mux_to_pointer_cycles)
            .unit("cycles")
            .range(0, 1000)
            .says("from a word at a receiver's mux to its pointer, in row 0 of the grid")
            .from("docs/evidence.md#exchange-latency")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("mux_to_pointer_row_cycles", &ExchangeSpec::mux_to_pointer_row_cycles)
            .unit("cycles")
            .range(0, 100)
            .says("more of it for each row of the grid")
            .from("docs/evidence.md#exchange-latency")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_cycles", &ExchangeSpec::route_cycles)
            .unit("cycles")
            .range(0, 1000)
            .says("what is the same of all routes, from sending a word to the receiver's pointer")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_row_cycles", &ExchangeSpec::route_row_cycles)
            .unit("cycles")
            .range(0, 100)
            .says("more of a route for each row of the grid between its sender and row 0")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_column_cycles", &ExchangeSpec::route_column_cycles)
            .unit("cycles")
            .range(2, 100)
            .says("from one folded column to the next on the bus between sender and receiver")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_near_cycles", &ExchangeSpec::route_near_cycles)
            .unit("cycles")
            .range(1, 100)
            .says("from the bus to a receiver's column, subs on the near side (sub + 2: one more)")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_far_cycles", &ExchangeSpec::route_far_cycles)
            .unit("cycles")
            .range(1, 100)
            .says("from the bus to a receiver's column, subs on the far side (sub + 2: one less)")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_fold_cycles", &ExchangeSpec::route_fold_cycles)
            .unit("cycles")
            .range(0, 100)
            .says("more of a route for each folded column from receiver to sender, less the other "
                  "way")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_step_cycles", &ExchangeSpec::route_step_cycles)
            .unit("cycles")
            .range(0, 100)
            .says("more of a route for each column that lies from the receiver to the sender's "
                  "turn, less the other way")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("route_half_cycles", &ExchangeSpec::route_half_cycles)
            .unit("cycles")
            .range(0, 100)
            .says("more of a route whose sender is in columns 8 to 15")
            .from("docs/evidence.md#exchange-routes")
            .used_with("exchange.fabric", {"compiled", "bound"})
            .used_by({"exchanges", "decisions"});
        d.field("row_tail_cycles", &ExchangeSpec::row_tail_cycles)
            .unit("cycles")
            .range(0, 1000)
            .says("events that an exchange row stays alive after its last arrival")
            .from("docs/evidence.md#exchange-rows")
            .used_with("exchange.fabric", {"compiled"})
            .used_by({"exchanges", "decisions"});
        d.field("row_return_cycles", &ExchangeSpec::row_return_cycles)
            .unit("cycles")
            .range(0, 1000)
            .says("the branch that ends an exchange row")
            .from("docs/evidence.md#exchange-rows")
            .used_with("exchange.fabric", {"compiled"})
            .used_by({"exchanges", "decisions"});
        d.field("prologue_cycles", &ExchangeSpec::prologue_cycles)
            .unit("cycles")
            .range(0, 10000)
            .says("base pointers, sync and call before an exchange row")
            .from("docs/evidence.md#exchange-rows")
            .used_with("exchange.fabric", {"compiled", "mesh", "ring"})
            .used_by({"exchanges", "decisions"});
        d.field("link_bytes", &ExchangeSpec::link_bytes)
            .unit("B/cycle")
            .range(1, 4096)
            .says("width of a link of the mesh or the ring, each way")
            .from("docs/evidence.md#exchange-other-fabrics")
            .used_with("exchange.fabric", {"mesh", "ring"})
            .used_by({"exchanges", "decisions"});
        d.field("hop_cycles", &ExchangeSpec::hop_cycles)
            .unit("cycles")
            .range(0, 1000)
            .says("from tile to neighbouring tile on the mesh or the ring")
            .from("docs/evidence.md#exchange-other-fabrics")
            .used_with("exchange.fabric", {"mesh", "ring"})
            .used_by({"exchanges", "decisions"});
        d.field("ring_directions", &ExchangeSpec::ring_directions)
            .range(1, 2)
            .says("1: words go round towards higher tile numbers; 2: the shorter way")
            .from("docs/evidence.md#exchange-other-fabrics")
            .used_with("exchange.fabric", {"ring"})
            .used_by({"exchanges", "decisions"});
    }
};

} // namespace tessera::spec
