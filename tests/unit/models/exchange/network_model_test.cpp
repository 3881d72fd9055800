// SPDX-License-Identifier: MIT
// Meshes and rings beside a second way to say how messages go there: router by router over links
// that are called by their two ends. And what transfers may not do to a tile's memory, byte by byte.
#include "base/error.h"
#include "models/exchange/core/network.h"
#include "models/exchange/core/transfer_copies.h"
#include "models/timing/tile_position.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::exchange;

namespace {

using Way = std::vector<std::int64_t>; ///< routers from sender to receiver

/// Along the row first, then along the column.
Way mesh_way(const spec::MachineSpec& machine, TileId from, TileId to) {
    const std::int64_t at = timing::tile_position(machine.chip, from).physical_id;
    const std::int64_t end = timing::tile_position(machine.chip, to).physical_id;
    std::int64_t column = at % 64;
    std::int64_t row = at / 64;
    Way way{at};
    while (column != end % 64) {
        column += column < end % 64 ? 1 : -1;
        way.push_back(row * 64 + column);
    }
    while (row != end / 64) {
        row += row < end / 64 ? 1 : -1;
        way.push_back(row * 64 + column);
    }
    return way;
}

/// The shorter way round, or upwards; half way round goes up.
Way ring_way(const spec::MachineSpec& machine, TileId from, TileId to) {
    const std::int64_t tiles = machine.chip.tiles;
    Way up{from};
    for (std::int64_t at = from; at != to;) {
        up.push_back(at = at + 1 == tiles ? 0 : at + 1);
    }
    Way down{from};
    for (std::int64_t at = from; at != to;) {
        down.push_back(at = at == 0 ? tiles - 1 : at - 1);
    }
    return machine.exchange.ring_directions == 1 || up.size() <= down.size() ? up : down;
}

/// When each tile has sent and received everything.
std::vector<Cycles> cycles_of(const spec::MachineSpec& machine, const program::Exchange& exchange,
                              bool is_mesh) {
    const auto tiles = static_cast<std::size_t>(machine.chip.tiles);
    std::vector<Cycles> sent(tiles);
    std::vector<Cycles> received(tiles);
    std::map<std::pair<std::int64_t, std::int64_t>, Cycles> free_from; // by the ends of a link
    std::vector<bool> is_done(exchange.transfers.size());
    for (std::size_t count = 0; count < is_done.size(); ++count) {
        // The sender that is free first, the lowest of equals, and its first message.
        std::size_t next = is_done.size();
        for (std::size_t i = 0; i < is_done.size(); ++i) {
            const auto rank = [&](std::size_t of) {
                const TileId tile = exchange.transfers[of].source_tile;
                return std::tuple(sent[tile], tile, of);
            };
            if (!is_done[i] && (next == is_done.size() || rank(i) < rank(next))) {
                next = i;
            }
        }
        is_done[next] = true;
        const auto& transfer = exchange.transfers[next];
        const Cycles words = transfer.bytes / 4;
        Cycles on_link = 0;
        for (Bytes left = transfer.bytes; left > 0; left -= machine.exchange.link_bytes) {
            ++on_link;
        }
        const Cycles lasting = on_link > words ? on_link : words;
        const Cycles begin = sent[transfer.source_tile];
        std::map<std::pair<std::int64_t, std::int64_t>, Cycles> head_leaves; // links it has taken
        Cycles last_begin = begin;
        for (const auto& to : transfer.destinations) {
            const Way way = is_mesh ? mesh_way(machine, transfer.source_tile, to.tile)
                                    : ring_way(machine, transfer.source_tile, to.tile);
            Cycles head = begin;
            for (std::size_t i = 0; i + 1 < way.size(); ++i) {
                const std::pair link{way[i], way[i + 1]};
                if (head_leaves.count(link) == 0) {
                    const Cycles start = std::max(head, free_from[link]);
                    free_from[link] = start + on_link;
                    head_leaves[link] = start + machine.exchange.hop_cycles;
                    last_begin = i == 0 ? std::max(last_begin, start) : last_begin;
                }
                head = head_leaves[link];
            }
            received[to.tile] = std::max(head + lasting, received[to.tile] + words);
        }
        sent[transfer.source_tile] = last_begin + lasting;
    }
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        sent[tile] = std::max(sent[tile], received[tile]);
    }
    return sent;
}

class Random {
public:
    explicit Random(unsigned seed) : random_(seed) {}
    std::int64_t operator()(std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>{first, last}(random_);
    }

private:
    std::mt19937 random_;
};

/// Sends from region 0, receives one behind the other in region 1.
program::Exchange random_exchange(const spec::MachineSpec& machine, Random& random) {
    program::Exchange made;
    made.name = "x";
    std::vector<Address> free(static_cast<std::size_t>(machine.chip.tiles),
                              machine.memory.region1_begin());
    for (auto many = random(1, 25); many > 0; --many) {
        program::Transfer transfer;
        transfer.source_tile = static_cast<TileId>(random(0, machine.chip.tiles - 1));
        transfer.source_address = machine.memory.region0_begin();
        transfer.bytes = 4 * random(1, 12);
        std::set<TileId> receivers;
        for (auto to = random(1, 3); to > 0; --to) {
            receivers.insert(static_cast<TileId>(random(0, machine.chip.tiles - 1)));
        }
        receivers.erase(transfer.source_tile);
        for (const TileId to : receivers) {
            transfer.destinations.push_back({to, free[to]});
            free[to] += static_cast<Address>(transfer.bytes);
        }
        if (!receivers.empty()) {
            made.transfers.push_back(std::move(transfer));
        }
    }
    return made;
}

} // namespace

TEST_CASE("messages on a mesh and a ring wait for links and lanes as routers would have them",
          "[timing][exchange]") {
    Random random(5);
    for (int round = 0; round < 200; ++round) {
        spec::MachineSpec machine;
        machine.chip.tiles = round % 4 == 0 ? 200 : random(2, 12);
        machine.exchange.link_bytes =
            std::vector<Bytes>{1, 3, 4, 8}[static_cast<std::size_t>(random(0, 3))];
        machine.exchange.hop_cycles = random(1, 3);
        machine.exchange.ring_directions = random(1, 2);
        const bool is_mesh = round % 2 == 0;
        machine.exchange.fabric = is_mesh ? spec::Fabric::Mesh : spec::Fabric::Ring;
        const auto made = random_exchange(machine, random);
        CAPTURE(round, is_mesh, machine.chip.tiles);
        const auto outcome = is_mesh ? run_mesh(machine, made) : run_ring(machine, made);
        const auto expected = cycles_of(machine, made, is_mesh);
        std::vector<Cycles> got(expected.size());
        for (std::size_t i = 0; i < outcome.tiles.size(); ++i) {
            got[outcome.tiles[i]] = outcome.row_cycles[i];
        }
        CHECK(got == expected);
        std::set<TileId> active;
        std::int64_t words_sent = 0;
        std::int64_t words_received = 0;
        for (const auto& transfer : made.transfers) {
            active.insert(transfer.source_tile);
            words_sent += transfer.bytes / 4;
            for (const auto& to : transfer.destinations) {
                active.insert(to.tile);
                words_received += transfer.bytes / 4;
            }
        }
        CHECK(outcome.tiles == std::vector<TileId>(active.begin(), active.end()));
        CHECK(outcome.words_sent == words_sent);
        CHECK(outcome.words_received == words_received);
        CHECK(outcome.bytes == 4 * words_received);
        CHECK(outcome.prologue_cycles == machine.exchange.prologue_cycles);
    }
}

TEST_CASE("no word is received twice, or received and sent; sent it may be often",
          "[unit][exchange]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    const Address base = machine.memory.region0_begin();
    Random random(6);
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        program::Exchange made;
        made.name = "x";
        std::map<std::pair<TileId, Address>, int> sent; // by word
        std::map<std::pair<TileId, Address>, int> received;
        for (auto many = random(1, 4); many > 0; --many) {
            const auto tile = static_cast<TileId>(random(0, 1));
            const auto words = random(1, 4);
            const auto from = base + static_cast<Address>(4 * random(0, 15));
            const auto to = base + static_cast<Address>(4 * random(0, 30));
            const TileId other = random(0, 3) == 0 ? 2U : 1U - tile;
            made.transfers.push_back({tile, from, 4 * words, false, {{other, to}}});
            for (std::int64_t word = 0; word < words; ++word) {
                ++sent[{tile, from + static_cast<Address>(4 * word)}];
                ++received[{other, to + static_cast<Address>(4 * word)}];
            }
        }
        CAPTURE(round);
        // The first word of the lowest tile that is.
        std::string expected;
        for (const auto& [where, times] : received) {
            if (times > 1 || sent.count(where) != 0) {
                expected = "exchange x: tile " + std::to_string(where.first);
                break;
            }
        }
        std::string got;
        try {
            const auto copies = transfer_copies(machine, made);
            CHECK(copies.size() == made.transfers.size());
            CHECK(std::is_sorted(copies.begin(), copies.end(), [](const auto& a, const auto& b) {
                return std::pair(a.destination_tile, a.destination_address) <
                       std::pair(b.destination_tile, b.destination_address);
            }));
        } catch (const ProgramError& error) {
            got = error.what();
        }
        CHECK_THAT(got, Catch::StartsWith(expected));
        CHECK(got.empty() == expected.empty());
        refused += got.empty() ? 0 : 1;
    }
    CHECK(refused > 300);
    CHECK(refused < 1700);
}

TEST_CASE("a word is refused wherever in a sent run it is received, also behind a shorter run",
          "[unit][exchange]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    const Address base = machine.memory.region0_begin();
    constexpr int kFirst = 2;
    constexpr int kWords = 8;
    for (const int inner : {0, 1, 3, kWords - 1}) { // a run of one word inside the other
        for (int word = 0; word < kFirst + kWords + 2; ++word) {
            CAPTURE(inner, word);
            const auto at = [base](int words) { return base + static_cast<Address>(4 * words); };
            program::Exchange made;
            made.transfers.push_back({0, at(kFirst), 4 * kWords, false, {{1, at(0)}}});
            made.transfers.push_back({0, at(kFirst + inner), 4, false, {{2, at(0)}}});
            made.transfers.push_back({3, at(0), 4, false, {{0, at(word)}}});
            if (word >= kFirst && word < kFirst + kWords) {
                CHECK_THROWS_AS(transfer_copies(machine, made), ProgramError);
            } else {
                CHECK_NOTHROW(transfer_copies(machine, made));
            }
        }
    }
}

TEST_CASE("a transfer's ends are whole words of tile memory, to the last one", "[unit][exchange]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    const Address base = machine.memory.region0_begin();
    const Address end = machine.memory.end();
    const auto fault = [&](program::Transfer transfer) {
        program::Exchange made;
        made.name = "x";
        made.transfers.push_back(std::move(transfer));
        try {
            static_cast<void>(transfer_copies(machine, made));
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(fault({0, base, 8, false, {{3, end - 8}}}).empty());
    CHECK(fault({3, end - 8, 8, false, {{0, base}}}).empty());
    for (const auto& [address, bytes] : std::vector<std::pair<Address, Bytes>>{{base - 4, 8},
                                                                               {end - 4, 8},
                                                                               {base, 0},
                                                                               {base, -4},
                                                                               {base, 2},
                                                                               {base, 6},
                                                                               {base + 2, 4}}) {
        CAPTURE(address, bytes);
        CHECK_THAT(
            fault({0, address, bytes, false, {{1, base + 64}}}),
            Catch::StartsWith("exchange x: tile 0: got " + std::to_string(bytes) + " bytes at"));
        if (bytes > 0 && bytes % 4 == 0) {
            CHECK_THAT(fault({0, base + 64, bytes, false, {{1, address}}}),
                       Catch::StartsWith("exchange x: tile 1: got"));
        }
    }
    CHECK(fault({4, base, 4, false, {{0, base}}}) ==
          "exchange x: transfer with tile 4, expected 0..3");
    CHECK(fault({0, base, 4, false, {{4, base}}}) ==
          "exchange x: transfer with tile 4, expected 0..3");
    CHECK(fault({2, base, 4, false, {{1, base}, {2, base + 8}}}) ==
          "exchange x: tile 2 is its own receiver");
}
