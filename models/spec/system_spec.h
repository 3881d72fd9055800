// SPDX-License-Identifier: MIT
// Several chips: how many, the links between them, and the zones in which they meet.
#pragma once

#include "base/units.h"

#include <cstdint>
#include <vector>

namespace tessera::spec {

/// How the chips of a domain stand to each other. Ladder: two wide; chips 2 b and 2 b + 1 are the pair
/// of board b, which a rung joins; rails join chips of neighbouring boards. Full: each pair by an edge.
enum class Topology { Ladder, Full };

/// The chips that a message between two of them goes through, both ends included.
struct RouteSpec {
    std::vector<std::int64_t> through;

    template <class Description> static void describe(Description& d) {
        d.list("through", &RouteSpec::through, [](auto chip) { chip.range(0, 1023); })
            .range(2, 1024)
            .required()
            .unit("chips")
            .says("chips in order, sender and receiver included; neighbours have an edge");
    }
};

struct LinksSpec {
    Topology topology = Topology::Ladder;
    std::int64_t rung_links = 2;
    std::int64_t rail_links = 2;
    double gbytes_per_s = 16;
    Bytes payload_bytes = 64;
    Bytes overhead_bytes = 10;
    double hop_ns = 133;
    double rung_hop_ns = 202;
    Cycles turn_cycles = 78;
    Cycles block_cycles = 23;
    std::int64_t contexts = 32;
    std::int64_t buffer_packets = 128;
    std::vector<RouteSpec> routes;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/evidence.md#links";
        d.field("topology", &LinksSpec::topology,
                {{"ladder", Topology::Ladder}, {"full", Topology::Full}})
            .says("which chips an edge joins")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("rung_links", &LinksSpec::rung_links)
            .unit("links")
            .range(1, 6)
            .says("of the edge between the chips of a board; of each edge where all are joined")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("rail_links", &LinksSpec::rail_links)
            .unit("links")
            .range(1, 4)
            .says("of the edge between chips of neighbouring boards")
            .from(kSource)
            .used_with("system.links.topology", {"ladder"})
            .unused_with("system.chips", {1, 2})
            .used_by({"link exchanges"});
        d.field("gbytes_per_s", &LinksSpec::gbytes_per_s)
            .unit("GB/s")
            .range(1, 1000)
            .says("of a link, each way")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("payload_bytes", &LinksSpec::payload_bytes)
            .unit("B")
            .range(4, 1024)
            .says("the most that a packet carries; a multiple of 4")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("overhead_bytes", &LinksSpec::overhead_bytes)
            .unit("B")
            .range(0, 64)
            .says("of a packet, besides what it carries")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("hop_ns", &LinksSpec::hop_ns)
            .unit("ns")
            .range(10, 1000)
            .says("from the end of a packet on a link to its arrival at the next chip, over a rail")
            .from(kSource)
            .used_with("system.links.topology", {"ladder"})
            .unused_with("system.chips", {1, 2})
            .used_by({"link exchanges"});
        d.field("rung_hop_ns", &LinksSpec::rung_hop_ns)
            .unit("ns")
            .range(10, 1000)
            .says("the same over a rung, and over each edge where all chips are joined")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("turn_cycles", &LinksSpec::turn_cycles)
            .unit("cycles")
            .range(0, 1000)
            .says("of a tile's turn in its context, before its first packet")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("block_cycles", &LinksSpec::block_cycles)
            .unit("cycles")
            .range(0, 500)
            .says("from a tile to the exchange block of its context, each way")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("contexts", &LinksSpec::contexts)
            .unit("contexts")
            .range(1, 1024)
            .says("of a chip, each of ceil(tiles / contexts) neighbouring tiles, which take turns")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.field("buffer_packets", &LinksSpec::buffer_packets)
            .unit("packets")
            .range(0, 4096)
            .says("at the far end of each link; 0: endless")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
        d.list("routes", &LinksSpec::routes)
            .range(0, 1 << 20)
            .says("routes of single pairs of chips, in place of the topology's")
            .empty_if_absent("rungs first, then rails; direct where all chips are joined")
            .unused_with("system.chips", {1})
            .used_by({"link exchanges"});
    }
};

struct SystemSpec {
    std::int64_t chips = 1;
    std::int64_t domain_chips = 64;
    std::int64_t zones = 2;
    std::vector<std::int64_t> chip_delay;
    LinksSpec links;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/evidence.md#links";
        d.field("chips", &SystemSpec::chips)
            .unit("chips")
            .range(1, 1024)
            .says("equal chips with one clock")
            .from(kSource);
        d.field("domain_chips", &SystemSpec::domain_chips)
            .unit("chips")
            .range(1, 1024)
            .says("the most chips that links join")
            .from(kSource)
            .unused_with("system.chips", {1});
        d.field("zones", &SystemSpec::zones)
            .unit("zones")
            .range(1, 8)
            .says("partitions of the chips in which a program may let them meet")
            .from(kSource)
            .unused_with("system.chips", {1})
            .used_by({"barriers between chips"});
        d.list("chip_delay", &SystemSpec::chip_delay,
               [](auto cycles) { cycles.range(0, 1000000000); })
            .unit("cycles")
            .range(0, 1024)
            .says("by chip, when its tiles begin; chips that are not named begin at once")
            .empty_if_absent("all begin at once")
            .from(kSource)
            .unused_with("system.chips", {1});
        d.object("links", &SystemSpec::links).says("the links between chips");
    }
};

} // namespace tessera::spec
