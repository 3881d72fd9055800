// SPDX-License-Identifier: MIT
// The links between chips, driven through their ports alone. The cycles are those of a network by itself.
#include "base/error.h"
#include "models/ipu/core/chip_memory.h"
#include "models/link/link_fabric.h"
#include "models/timing/link_timing.h"
#include "tests/component/fakes.h"
#include "tests/component/hand_program.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using ports::Clock;
using test::run_for;

namespace {

constexpr Address kFrom = 0x80000;
constexpr Address kInto = 0x81000;
constexpr Address kWord = 0x82000; ///< says where a message stands
constexpr TileId kSender = 1;      ///< of chip 0
constexpr TileId kReceiver = 2;    ///< of chip 1

spec::MachineSpec two_chips() {
    spec::MachineSpec machine = test::four_tiles();
    machine.system.chips = 2;
    machine.system.domain_chips = 2;
    return machine;
}

/// Two chips, the first of which sends a message to the second.
struct Pair {
    struct Chip : ports::LinkUser {
        void links_over(std::span<const TileId> tiles) override {
            for (const TileId tile : tiles) {
                over.emplace_back(tile, Clock::now());
            }
        }
        void linked(const events::Linked& linked) override { parts.push_back(linked); }
        std::vector<std::pair<TileId, Cycles>> over;
        std::vector<events::Linked> parts;
    };
    struct Listener : events::LinkListener {
        void carried(const events::Carried& carried) override { all.push_back(carried); }
        std::vector<events::Carried> all;
    };

    explicit Pair(Bytes bytes, spec::MachineSpec made_of = two_chips(),
                  std::optional<program::LinkIndex> from = {},
                  std::optional<program::LinkIndex> into = {}, bool timing = false)
        : machine(std::move(made_of)) {
        for (std::size_t chip = 0; chip < 2; ++chip) {
            auto program = std::make_shared<program::Program>();
            auto& exchange = program->link_exchanges.emplace_back();
            exchange.name = "e";
            if (chip == 0) {
                exchange.sends = {{0, 0, {kSender, kFrom, bytes, from}}};
            } else {
                exchange.receives = {{0, 0, {kReceiver, kInto, bytes, into}}};
            }
            system.programs.push_back(program);
            system.program_of_chip.push_back(chip);
            memories.emplace_back(machine);
            known.emplace_back(4, machine.memory.region0_begin(), machine.memory.bytes());
        }
        system.peers = {{{1, 0}}, {{0, 0}}};
        system.zones = {{0, 0}};
        binding = program::bind(system, 4);
        std::vector<link::ChipWords> words;
        for (std::size_t chip = 0; chip < 2; ++chip) {
            words.push_back({&memories[chip], timing ? &known[chip] : nullptr});
        }
        fabric.emplace(sc_core::sc_gen_unique_name("links"), machine, system, binding, words);
        for (Chip& chip : chips) {
            fabric->chips.bind(chip);
        }
        fabric->listen(listener);
    }

    static link::Message message(Bytes bytes) {
        return {.number = 0,
                .from_chip = 0,
                .from_tile = kSender,
                .to_chip = 1,
                .to_tile = kReceiver,
                .bytes = bytes};
    }
    /// Returns what a network by itself does with the message, which may go in cycle `ready`.
    [[nodiscard]] std::vector<link::NetworkEvent> alone(Bytes bytes, Cycles ready) const {
        const link::Topology topology = link::topology(machine);
        const link::RouteTable routes(machine, topology);
        link::PacketNetwork network(machine, topology, routes);
        network.inject(std::vector<link::Message>{message(bytes)}, ready);
        std::vector<link::NetworkEvent> happened;
        while (const auto next = network.next()) {
            network.advance(*next, happened);
        }
        return happened;
    }
    void put(std::size_t chip, TileId tile, Address address, std::uint32_t word) const {
        std::memcpy(memories[chip].at(tile, address, 4), &word, 4);
    }
    [[nodiscard]] std::uint32_t get(std::size_t chip, TileId tile, Address address) const {
        std::uint32_t word = 0;
        std::memcpy(&word, memories[chip].at(tile, address, 4), 4);
        return word;
    }

    spec::MachineSpec machine;
    program::SystemProgram system;
    program::SystemBinding binding;
    std::deque<ipu::ChipMemory> memories;
    std::deque<program::KnownWords> known;
    std::array<Chip, 2> chips;
    Listener listener;
    std::optional<link::LinkFabric> fabric;
};

} // namespace

TEST_CASE("a message takes what stands there when its turn begins, and is there when it is in") {
    Pair pair(8);
    const auto& machine = pair.machine;
    run_for(5);
    CHECK(pair.fabric->open(0, 0, 3, 0).size() == 1);
    CHECK(pair.fabric->is_under_way(0));
    CHECK_FALSE(pair.fabric->is_under_way(1));
    CHECK(pair.fabric->open(1, 0, 9, 0).size() == 1);
    const Cycles ready = 5 + machine.exchange.prologue_cycles;
    const auto expected = pair.alone(8, ready);
    REQUIRE(expected.size() == 3);
    REQUIRE(expected[0].cycle == ready);
    const Cycles over = expected[1].cycle;
    const Cycles in = expected[2].cycle;
    run_for(ready - 5 - 1);
    pair.put(0, kSender, kFrom, 11);
    pair.put(0, kSender, kFrom + 4, 12);
    run_for(2);
    pair.put(0, kSender, kFrom, 13); // too late
    run_for(in - Clock::now());
    CHECK(pair.get(1, kReceiver, kInto) == 0);
    run_for(1);
    CHECK(pair.get(1, kReceiver, kInto) == 11);
    CHECK(pair.get(1, kReceiver, kInto + 4) == 12);
    run_for(1000);
    using Over = std::vector<std::pair<TileId, Cycles>>;
    CHECK(pair.chips[0].over == Over{{kSender, over}});
    CHECK(pair.chips[1].over == Over{{kReceiver, in}});
    CHECK_FALSE(pair.fabric->is_under_way(0));

    const Cycles back = machine.exchange.row_return_cycles;
    REQUIRE(pair.chips[0].parts.size() == 1);
    const events::Linked& sent = pair.chips[0].parts[0];
    CHECK(sent.exchange == 0);
    CHECK(sent.step == 3);
    CHECK(sent.begin == 5);
    CHECK(sent.end == over + back);
    CHECK(sent.sent_bytes == 8);
    CHECK(sent.bytes == 0);
    CHECK(sent.bound_cycles == 0); // it waits for nothing to come
    REQUIRE(pair.chips[1].parts.size() == 1);
    const events::Linked& received = pair.chips[1].parts[0];
    CHECK(received.step == 9);
    CHECK(received.end == in + back);
    CHECK(received.sent_bytes == 0);
    CHECK(received.bytes == 8);

    REQUIRE(pair.listener.all.size() == 1);
    const events::Carried& carried = pair.listener.all[0];
    CHECK(carried.from == 0);
    CHECK(carried.to == 1);
    CHECK(carried.step == 3);
    CHECK(carried.step_there == 9);
    CHECK(carried.begin == ready);
    CHECK(carried.sent == over);
    CHECK(carried.first_in == in);
    CHECK(carried.last_in == in);
    CHECK(carried.bytes == 8);
    CHECK(carried.messages == 1);
}

TEST_CASE("what a chip waits for between chips is the barrier where that is longer") {
    const spec::MachineSpec plain = two_chips();
    const link::Topology topology = link::topology(plain);
    const link::RouteTable routes(plain, topology);
    const std::vector<link::Message> messages = {Pair::message(400)};
    const Cycles bound =
        plain.exchange.prologue_cycles +
        link::link_bound(timing::link_timing(plain), topology, routes, messages).cycles();
    struct Row {
        Cycles barrier;
        bool by_barrier;
    };
    std::deque<Pair> pairs;
    const std::vector<Row> rows = {{0, false}, {bound, false}, {bound + 1, true}};
    for (const Row& row : rows) {
        spec::MachineSpec machine = plain;
        machine.sync.external_cycles = row.barrier;
        pairs.emplace_back(400, machine);
    }
    // without a prologue a turn begins a cycle behind the release
    spec::MachineSpec at_once = plain;
    at_once.exchange.prologue_cycles = 0;
    pairs.emplace_back(400, at_once);
    for (Pair& pair : pairs) {
        static_cast<void>(pair.fabric->open(0, 0, 1, 0));
        static_cast<void>(pair.fabric->open(1, 0, 1, 0));
    }
    run_for(10000);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        CAPTURE(rows[at].barrier);
        const events::Linked& told = pairs[at].chips[1].parts.at(0);
        CHECK(told.bound_cycles == bound);
        CHECK((told.bound_by == "barrier") == rows[at].by_barrier);
    }
    CHECK(pairs.back().chips[1].over ==
          std::vector<std::pair<TileId, Cycles>>{{kReceiver, pairs.back().alone(400, 1)[2].cycle}});
}

TEST_CASE("a word names the place of a message, round and round") {
    struct Row {
        std::int32_t word;
        std::int64_t round;
        program::LinkIndex index; ///< without its word
        Address address;
    };
    constexpr Address kOf = kWord;
    std::deque<Pair> pairs;
    for (const Row& row : {
             Row{0, 7, {kOf, 0, 16, 4, 0}, kFrom},            // the round does not matter
             Row{3, 7, {kOf, 0, 16, 4, 0}, kFrom + 3 * 16},   // the last item
             Row{4, 0, {kOf, 0, 16, 4, 0}, kFrom},            // and the first again
             Row{-1, 0, {kOf, 0, 16, 4, 0}, kFrom + 3 * 16},  // the one before the first
             Row{1, 2, {kOf, 1, 16, 8, 0}, kFrom + 3 * 16},   // forwards by the round
             Row{1, 2, {kOf, -1, 16, 8, 0}, kFrom + 7 * 16},  // backwards
             Row{1, 2, {kOf, 1, 16, 8, 2}, kFrom + 5 * 16},   // and a shift
             Row{1, 2, {kOf, -1, 16, 8, -8}, kFrom + 7 * 16}, // below 0 more than once
             Row{2, 0, {kOf, 0, -16, 4, 0}, kFrom - 2 * 16},  // downwards
             Row{5, 1000, {kOf, 1, 16, 1, 0}, kFrom},         // of one item
         }) {
        CAPTURE(row.word, row.round, row.index.sign, row.index.shift);
        Pair& pair = pairs.emplace_back(4, two_chips(), row.index);
        pair.put(0, kSender, kWord, static_cast<std::uint32_t>(row.word));
        const auto uses = pair.fabric->open(0, 0, 1, row.round);
        REQUIRE(uses.size() == 2); // ascending addresses
        CHECK(uses[0].address == row.address);
        CHECK(uses[0].bytes == 4);
        CHECK_FALSE(uses[0].writes);
        CHECK(uses[1].address == kWord);
        CHECK(uses[1].bytes == 4);
        CHECK_FALSE(uses[1].writes);
    }
    // what comes goes by a word of its own chip
    Pair& into =
        pairs.emplace_back(4, two_chips(), std::nullopt, program::LinkIndex{kOf, 1, 16, 4, 0});
    into.put(1, kReceiver, kWord, 1);
    const auto uses = into.fabric->open(1, 0, 1, 2);
    REQUIRE(uses.size() == 2);
    CHECK(uses[0].address == kInto + 3 * 16);
    CHECK(uses[0].writes);
    CHECK_FALSE(uses[1].writes);
}

TEST_CASE("a place that a word names is in memory, and known in timing mode") {
    const program::LinkIndex down{kWord, 0, -(1 << 20), 4, 0};
    Pair below(4, two_chips(), down);
    below.put(0, kSender, kWord, 1); // 0x80000 - 0x100000
    CHECK_THROWS_WITH(below.fabric->open(0, 0, 1, 0),
                      "tile_1: a message at address -524288, outside tile memory");
    const program::LinkIndex up{kWord, 0, 1 << 20, 4, 0};
    Pair above(4, two_chips(), up);
    above.put(0, kSender, kWord, 1);
    CHECK_THROWS_WITH(above.fabric->open(0, 0, 1, 0),
                      Catch::Contains("tile_1: got 4 bytes at 0x180000, expected them inside tile "
                                      "memory [0x4c000, 0xe8000) of 4 tiles"));
    Pair unknown(4, two_chips(), program::LinkIndex{kWord, 0, 16, 4, 0}, {}, true);
    CHECK_THROWS_WITH(unknown.fabric->open(0, 0, 1, 0),
                      "tile_1, 0x82000 says where a message stands, tensor data that timing mode "
                      "does not have");
    unknown.known[0].learn(kSender, kWord, 4);
    CHECK_NOTHROW(unknown.fabric->open(0, 0, 1, 0));
    // a message over the word that names its place
    Pair over(4, two_chips(), {}, program::LinkIndex{kInto, 0, 16, 4, 0});
    CHECK_THROWS_WITH(
        over.fabric->open(1, 0, 1, 0),
        "link exchange e: chip 1, tile_2, 0x81000 is written by the message from chip "
        "0 and read by the message to chip 1 in one step");
}

TEST_CASE("in timing mode known words are known where they come, and the others are not") {
    std::deque<Pair> pairs;
    for (const unsigned sent_known : {0b0000U, 0b0101U, 0b1000U, 0b1111U}) {
        Pair& pair = pairs.emplace_back(16, two_chips(), std::nullopt, std::nullopt, true);
        for (Address word = 0; word < 4; ++word) {
            pair.put(0, kSender, kFrom + 4 * word, 100 + word);
            if ((sent_known >> word & 1U) != 0) {
                pair.known[0].learn(kSender, kFrom + 4 * word, 4);
            }
        }
        pair.known[1].learn(kReceiver, kInto - 4, 24); // and a word to both sides
        static_cast<void>(pair.fabric->open(0, 0, 1, 0));
        static_cast<void>(pair.fabric->open(1, 0, 1, 0));
    }
    run_for(10000);
    std::size_t at = 0;
    for (const unsigned sent_known : {0b0000U, 0b0101U, 0b1000U, 0b1111U}) {
        CAPTURE(sent_known);
        Pair& pair = pairs[at++];
        CHECK(pair.known[1].is_known(kReceiver, kInto - 4));
        CHECK(pair.known[1].is_known(kReceiver, kInto + 16));
        for (Address word = 0; word < 4; ++word) {
            const bool is_known = (sent_known >> word & 1U) != 0;
            CHECK(pair.known[1].is_known(kReceiver, kInto + 4 * word) == is_known);
            if (is_known) {
                CHECK(pair.get(1, kReceiver, kInto + 4 * word) == 100 + word);
            }
        }
        CHECK(pair.chips[0].parts.at(0).sent_bytes == 16);
        CHECK(pair.chips[1].parts.at(0).bytes == 16);
    }
}
