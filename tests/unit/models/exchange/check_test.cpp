// SPDX-License-Identifier: MIT
// Words that an exchange may not send or receive twice, and what a plan says of its rows.
#include "base/error.h"
#include "kernels/exchange_plan/exchange_check.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

std::string fault_of(const spec::MachineSpec& machine,
                     const std::vector<program::Transfer>& transfers) {
    try {
        exchange_plan::check_transfers(machine, "x", transfers);
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("a word is received once, and not sent in the same exchange", "[exchange][check]") {
    int legal = 0;
    int twice = 0;
    int both = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        std::mt19937 random{seed};
        const auto below = [&](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        spec::MachineSpec machine;
        machine.chip.tiles = 3;
        const Address base = machine.memory.region1_begin();
        std::vector<program::Transfer> transfers;
        std::map<TileId, std::map<Address, int>> received;
        std::map<TileId, std::set<Address>> sent;
        for (std::uint32_t left = 1 + below(5); left > 0; --left) {
            const auto words = 1 + below(4);
            const auto address = [&] { return base + 4 * below(16); };
            const TileId source = below(3);
            const auto from = address();
            std::vector<program::Destination> to;
            for (std::uint32_t k = 1; k <= 1 + below(2); ++k)
                to.push_back({(source + k) % 3, address()});
            for (Address word = 0; word < words; ++word) {
                sent[source].insert(from + 4 * word);
                for (const auto& one : to)
                    ++received[one.tile][one.address + 4 * word];
            }
            transfers.push_back(transfer(source, from, 4 * Bytes{words}, to));
        }
        std::string tile;
        bool is_twice = false;
        bool is_both = false;
        for (TileId t = 0; t < 3 && tile.empty(); ++t)
            for (const auto& [address, count] : received[t]) {
                is_twice = is_twice || count > 1;
                is_both = is_both || sent[t].count(address) > 0;
                tile = is_twice || is_both ? std::to_string(t) : "";
            }
        CAPTURE(seed);
        const auto fault = fault_of(machine, transfers);
        REQUIRE(fault.empty() == tile.empty());
        legal += tile.empty() ? 1 : 0;
        twice += is_twice && !is_both ? 1 : 0;
        both += is_both && !is_twice ? 1 : 0;
        if (tile.empty())
            continue;
        REQUIRE(fault.rfind("exchange x: tile " + tile + " address 0x", 0) == 0);
        const auto address =
            static_cast<Address>(std::stoul(fault.substr(fault.find("0x") + 2), nullptr, 16));
        const auto at = static_cast<TileId>(std::stoul(tile));
        if (fault.find("is received twice in one exchange") != std::string::npos) {
            REQUIRE(is_twice);
            REQUIRE(received[at][address] > 1);
        } else {
            REQUIRE(fault.find("is sent and received in one exchange") != std::string::npos);
            REQUIRE(received[at][address] > 0);
            REQUIRE(sent[at].count(address) > 0);
        }
    }
    CHECK(legal > 100);
    CHECK(twice > 100);
    CHECK(both > 100);
}

TEST_CASE("words are in tile memory, from its first to its last", "[exchange][check]") {
    const spec::MachineSpec machine;
    const Address first = machine.memory.region0_begin();
    const Address end = machine.memory.end();
    const auto tiles = static_cast<TileId>(machine.chip.tiles);
    const auto legal = [&](TileId from, Address source, TileId to, Address target, Bytes bytes) {
        return fault_of(machine, {transfer(from, source, bytes, {{to, target}})}).empty();
    };
    for (const Bytes bytes : {4, 64}) {
        const auto size = static_cast<Address>(bytes);
        for (const auto& [at, is_legal] :
             {std::pair{first, true}, std::pair{first - 4, false}, std::pair{end - size, true},
              std::pair{end - size + 4, false}}) {
            CHECK(legal(0, at, 1, 0x90000, bytes) == is_legal);
            CHECK(legal(0, 0x90000, 1, at, bytes) == is_legal);
        }
        CHECK(legal(tiles - 1, first, 0, first, bytes));
        CHECK(legal(0, first, tiles - 1, first, bytes));
        CHECK_FALSE(legal(tiles, first, 0, first, bytes));
        CHECK_FALSE(legal(0, first, tiles, first, bytes));
        for (Address off = 1; off < 4; ++off) {
            CHECK_FALSE(legal(0, first + off, 1, first, bytes));
            CHECK_FALSE(legal(0, first, 1, first + off, bytes));
            CHECK_FALSE(legal(0, first, 1, first, bytes + off));
        }
    }
    CHECK_FALSE(legal(0, first, 1, first, -4));
    CHECK(fault_of(machine, {transfer(0, first, 4, {{1, first}}),
                             transfer(0, first, 4, {{2, first}, {3, first}, {2, first + 8}})}) ==
          "exchange x: transfer 1: tile 2 is a destination twice");
}

TEST_CASE("a plan counts its words, messages and rows", "[exchange][check]") {
    const spec::MachineSpec machine;
    for (unsigned seed = 0; seed < 30; ++seed) {
        std::mt19937 random{seed};
        std::vector<program::Transfer> transfers;
        std::int64_t sent = 0;
        std::int64_t received = 0;
        for (TileId source = 0; source < 1 + seed % 5; ++source) {
            const auto words = static_cast<Bytes>(1 + random() % 50);
            std::vector<program::Destination> to{{20 + source, 0x90000}};
            if (random() % 2 == 0)
                to.push_back({40 + source, 0x90000});
            sent += words;
            received += words * static_cast<std::int64_t>(to.size());
            transfers.push_back(transfer(2 * source, 0x60000, 4 * words, to));
        }
        const auto plan = exchange_plan::plan_exchange_with_stats(machine, "x", transfers);
        Bytes bytes = 0;
        Bytes longest = 0;
        for (const auto& row : plan.exchange.rows) {
            bytes += static_cast<Bytes>(4 * row.words.size());
            longest = std::max(longest, static_cast<Bytes>(4 * row.words.size()));
        }
        CHECK(plan.stats.words_received == received);
        CHECK(plan.stats.words_sent >= sent);
        CHECK(plan.stats.words_sent <= received);
        CHECK(plan.stats.row_bytes == bytes);
        CHECK(plan.stats.longest_row_bytes == longest);
        CHECK(plan.stats.active_tiles == static_cast<std::int64_t>(plan.exchange.rows.size()));
        CHECK(plan.stats.wide_messages == 0);
        CHECK(plan.stats.lowered_messages == 0);
    }
}
