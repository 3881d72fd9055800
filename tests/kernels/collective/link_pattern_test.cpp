// SPDX-License-Identifier: MIT
// Who sends to whom in patterns of messages between chips, and what each tile is to receive.
#include "base/error.h"
#include "kernels/chips/chips.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using workload::LinkPatternKind;
using workload::LinkPatternWorkload;

namespace {

using End = std::pair<std::size_t, TileId>; ///< chip, tile

spec::MachineSpec machine_of(std::int64_t chips, std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.system.chips = chips;
    machine.chip.tiles = tiles;
    return machine;
}

/// The pairs of sends and receives of all chips that have one channel and one index.
std::map<End, End> pairs_of(const chips::Emitted& emitted) {
    std::map<End, End> pairs;
    std::size_t receives = 0;
    for (std::size_t chip = 0; chip < emitted.graphs.size(); ++chip) {
        std::set<std::pair<std::uint32_t, std::uint32_t>> sent; // no two sends are one message
        for (const graph::LinkMessage& send : emitted.graphs[chip].link_exchanges.front().sends) {
            CHECK(sent.emplace(send.channel, send.index).second);
            const program::Peer peer = emitted.peers[chip].at(send.channel);
            std::size_t met = 0;
            for (const auto& receive :
                 emitted.graphs.at(peer.chip).link_exchanges.front().receives) {
                if (receive.channel == peer.channel && receive.index == send.index) {
                    CHECK(receive.bytes == send.bytes);
                    pairs[{chip, send.tile}] = {peer.chip, receive.tile};
                    ++met;
                }
            }
            CHECK(met == 1);
        }
        receives += emitted.graphs[chip].link_exchanges.front().receives.size();
    }
    CHECK(receives == pairs.size());
    return pairs;
}

} // namespace

TEST_CASE("a random pattern sends from each tile to one of another chip, no tile twice",
          "[kernels][collective]") {
    for (const std::int64_t many : {2, 3, 4, 8}) {
        for (const std::int64_t tiles : {1, 2, 5, 16}) {
            std::set<std::map<End, End>> drawn;
            for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
                CAPTURE(many, tiles, seed);
                LinkPatternWorkload workload;
                workload.pattern = LinkPatternKind::Random;
                workload.bytes = 8;
                workload.seed = seed;
                const auto pairs = pairs_of(chips::emit(machine_of(many, tiles), workload));
                CHECK(pairs.size() == static_cast<std::size_t>(many * tiles));
                std::set<End> to;
                for (const auto& [from, into] : pairs) {
                    CHECK(from.first != into.first);
                    CHECK(to.insert(into).second);
                }
                drawn.insert(pairs);
            }
            CHECK((drawn.size() > 1 || many * tiles <= 4)); // seeds draw different ones
        }
    }
}

TEST_CASE("bulk patterns send from each tile to the tile of its number", "[kernels][collective]") {
    for (const std::int64_t wanted : {0, 1, 3, 8}) {
        for (const bool both : {false, true}) {
            CAPTURE(wanted, both);
            LinkPatternWorkload workload;
            workload.pattern = both ? LinkPatternKind::BulkBoth : LinkPatternKind::Bulk;
            workload.bytes = 4;
            workload.source = 2;
            workload.destination = 1;
            workload.tiles = wanted;
            const auto machine = machine_of(4, 8);
            std::map<End, End> expected;
            const std::int64_t tiles = wanted == 0 ? 8 : wanted;
            for (std::int64_t number = 0; number < tiles; ++number) { // evenly spread
                const auto tile = static_cast<TileId>(number * 8 / tiles);
                expected[{2, tile}] = {1, tile};
                if (both) {
                    expected[{1, tile}] = {2, tile};
                }
            }
            CHECK(pairs_of(chips::emit(machine, workload)) == expected);
        }
    }
}

TEST_CASE("what a tile is to receive is what its partner is given", "[kernels][collective]") {
    constexpr Bytes kBytes = 12;
    LinkPatternWorkload workload;
    workload.pattern = LinkPatternKind::Random;
    workload.bytes = kBytes;
    workload.repeats = 3;
    const auto emitted = chips::emit(machine_of(3, 4), workload);
    const auto pairs = pairs_of(emitted);
    const auto values = emitted.values();
    CHECK(emitted.useful_bytes == 3 * 4 * kBytes * 3);
    CHECK(emitted.choices == std::map<std::string, std::int64_t>{{"chips", 3}, {"messages", 12}});
    CHECK(emitted.graph_of_chip == std::vector<std::size_t>{0, 1, 2});
    CHECK(emitted.zones == std::vector<std::vector<std::uint32_t>>{{0, 0, 0}});
    for (const graph::Graph& graph : emitted.graphs) {
        CHECK(graph.name == "12 messages of 12 B between 3 chips, 3 times");
        REQUIRE(graph.tensors.size() == 2);
        CHECK((graph.tensors[0].given && !graph.tensors[0].wanted));
        CHECK((!graph.tensors[1].given && graph.tensors[1].wanted));
    }
    // Each tile of a chip has a row of its array, in the order of their numbers.
    std::set<std::vector<std::byte>> different;
    for (const auto& [from, into] : pairs) {
        const auto row = [](const chips::ChipBytes& of, TileId tile) {
            const auto at = of.bytes.begin() + static_cast<std::ptrdiff_t>(tile * kBytes);
            return std::vector(at, at + kBytes);
        };
        const auto given = row(values.given.at(from.first), from.second);
        CHECK(given == row(values.expected.at(into.first), into.second));
        different.insert(given);
    }
    CHECK(different.size() == pairs.size());
}

TEST_CASE("chips and tiles of a pattern are those of the machine", "[kernels][collective]") {
    LinkPatternWorkload workload;
    workload.bytes = 4;
    workload.source = 3;
    workload.destination = 0;
    workload.tile = 7;
    CHECK(pairs_of(chips::emit(machine_of(4, 8), workload)) ==
          std::map<End, End>{{{3, 7}, {0, 7}}});
    const auto refusal = [&](std::int64_t chips, std::int64_t tiles) -> std::string {
        try {
            static_cast<void>(chips::emit(machine_of(chips, tiles), workload));
        } catch (const ConfigError& error) {
            const Diagnostic& told = error.diagnostics().front();
            return told.pointer + ": " + told.message;
        }
        return {};
    };
    CHECK(refusal(4, 8).empty());
    CHECK(refusal(3, 8) ==
          "/source: got chip 3, expected one below 3, the system.chips of machine bow");
    CHECK(refusal(4, 7) == "/tile: got tile 7, expected 0..6 on machine 'bow' (chip.tiles)");
    workload.source = 0;
    workload.destination = 4;
    CHECK(refusal(4, 8) ==
          "/destination: got chip 4, expected one below 4, the system.chips of machine bow");
}
