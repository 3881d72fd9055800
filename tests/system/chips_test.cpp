// SPDX-License-Identifier: MIT
// Chips of a system: words that go from one to another, who waits for whom, and what is told where
// they cannot go on. Each run is a process of its own, as SystemC elaborates once.
#include "models/program/system_binding.h"
#include "tests/system/chip_programs.h"
#include "tests/system/chip_runs.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <functional>

using namespace tessera;
using namespace tessera::test;
using Kind = program::Step::Kind;

namespace {

constexpr Address kFirst = ChipPrograms::kWords;
constexpr Address kSecond = kFirst + 1024;

std::string mistake_of(ChipPrograms& chips, std::optional<Cycles> max_cycles = {}) {
    const auto said = alone([&] {
        const auto& system = chips.finished();
        simulation::Simulation simulation(chips.machine(), system, options_of(chips));
        simulation.run(max_cycles);
        return nlohmann::json{{"mistake", ""}};
    });
    return said["mistake"];
}

} // namespace

TEST_CASE("words go from a tile of a chip to a tile of another, in both modes alike") {
    nlohmann::json first;
    for (const bool timing : {false, true}) {
        for (const int threads : {1, 2, 3, 7}) {
            ChipPrograms chips(tiny_chips(2));
            chips.message("there", {0, 1, kFirst}, {1, 2, kFirst}, 16);
            chips.message("back", {1, 2, kFirst}, {0, 3, kSecond}, 16);
            chips.all_link("there");
            chips.all_link("back");
            const auto from = chips.words(0, 1, kFirst, 4);
            const auto at = chips.words(1, 2, kFirst, 4);
            const auto to = chips.words(0, 3, kSecond, 4);
            const auto said = alone([&] {
                const auto& system = chips.finished();
                simulation::Simulation simulation(chips.machine(), system,
                                                  options_of(chips, timing, threads));
                write_words(simulation, from, {11, 12, 13, 14}, 0);
                simulation.run();
                nlohmann::json facts = facts_of(simulation);
                facts["at"] = read_words(simulation, at, 1);
                facts["to"] = read_words(simulation, to, 0);
                return facts;
            });
            INFO(said.dump());
            CHECK(said["at"] == nlohmann::json{11, 12, 13, 14});
            CHECK(said["to"] == nlohmann::json{11, 12, 13, 14});
            if (first.is_null()) {
                first = said;
            }
            CHECK(said == first);
            CHECK(said["cycles"][0] > said["cycles"][1]); // the last word goes to chip 0
        }
    }
}

TEST_CASE("a lone word takes the sum of its parts") {
    for (const Bytes bytes : {4, 16, 64}) {
        ChipPrograms chips(tiny_chips(2));
        chips.message("there", {0, 1, kFirst}, {1, 2, kFirst}, bytes);
        chips.all_link("there");
        const auto said = alone([&] {
            const auto& system = chips.finished();
            simulation::Simulation simulation(chips.machine(), system, options_of(chips));
            simulation.run();
            return facts_of(simulation);
        });
        const spec::MachineSpec machine = tiny_chips(2);
        const auto& links = machine.system.links;
        const double wire = static_cast<double>(bytes + links.overhead_bytes);
        const double cycle_ns = 1e9 / machine.chip.clock_hz;
        const double expected =
            static_cast<double>(machine.sync.external_cycles + machine.exchange.prologue_cycles +
                                links.turn_cycles + 2 * links.block_cycles +
                                machine.exchange.row_return_cycles) +
            2 * wire / 4 + wire / links.gbytes_per_s / cycle_ns + links.rung_hop_ns / cycle_ns;
        if (bytes == 4) { // the bound is what it takes, up to the way back into the program
            CHECK(said["links"][1][0].get<Cycles>() + machine.exchange.row_return_cycles ==
                  said["links"][1][1].get<Cycles>());
        }
        constexpr double kRoundings = 5; // of lanes, link and hop
        CHECK(said["cycles"][1].get<double>() == Approx(expected).margin(kRoundings));
    }
}

TEST_CASE("a link exchange is bound by the barrier before it only where that takes longer") {
    const auto links = [](Cycles barrier) {
        spec::MachineSpec machine = tiny_chips(2);
        machine.sync.external_cycles = barrier;
        ChipPrograms chips(machine);
        chips.message("there", {0, 1, kFirst}, {1, 2, kFirst}, 4);
        chips.all_link("there");
        const auto said = alone([&] {
            const auto& system = chips.finished();
            simulation::Simulation simulation(chips.machine(), system, options_of(chips));
            simulation.run();
            return facts_of(simulation);
        });
        return said["links"];
    };
    const auto free = links(0);
    CHECK(free[0][0] == 0); // nothing comes to chip 0
    CHECK(free[0][2] == "nothing");
    const auto bound = free[1][0].get<Cycles>();
    REQUIRE(bound > 1);
    for (const Cycles barrier : {bound - 1, bound, bound + 1}) {
        const auto said = links(barrier);
        CAPTURE(barrier, bound);
        CHECK(said[1][0] == bound);
        CHECK(said[1][1] == free[1][1]); // it begins with the release
        CHECK(said[1][2] == (barrier > bound ? "barrier" : free[1][2].get<std::string>()));
        CHECK(said[0][2] == "barrier");
    }
}

TEST_CASE("what a sender computes behind its turn changes nothing that it has sent") {
    ChipPrograms chips(tiny_chips(2));
    chips.message("there", {0, 1, kFirst}, {1, 2, kFirst}, 2048);
    chips.all_link("there");
    const auto set = chips.hands[0].compute_set("write over", {{TileId{1}, "store_7"}});
    chips.then(0, HandProgram::step(Kind::ComputeSet, set));
    const auto from = chips.words(0, 1, kFirst, 4);
    const auto to = chips.words(1, 2, kFirst, 4);
    const auto said = alone([&] {
        const auto& system = chips.finished();
        simulation::Simulation simulation(chips.machine(), system, options_of(chips));
        write_words(simulation, from, {1, 2, 3, 4}, 0);
        simulation.run();
        return nlohmann::json{{"sent", read_words(simulation, to, 1)},
                              {"left", read_words(simulation, from, 0)},
                              {"chip 0", simulation.account(0).cycles()},
                              {"chip 1", simulation.account(1).cycles()}};
    });
    INFO(said.dump());
    CHECK(said["sent"] == nlohmann::json{1, 2, 3, 4});
    CHECK(said["left"] == nlohmann::json{7, 2, 3, 4});
    CHECK(said["chip 0"] < said["chip 1"]); // it has computed before the message was in
}

TEST_CASE("groups of a zone do not wait for each other, and a late chip is waited for") {
    ChipPrograms chips(tiny_chips(4));
    chips.no_zones();
    chips.zone({0, 0, 1, 1});
    chips.hands[1].then_compute(chips.hands[1].compute_set("late", {{TileId{0}, "loop_of_50"}}));
    for (std::size_t chip = 0; chip < 4; ++chip) {
        chips.then(chip, ChipPrograms::sync_step(0));
    }
    const auto said = alone([&] {
        const auto& system = chips.finished();
        simulation::Simulation simulation(chips.machine(), system, options_of(chips));
        simulation.run();
        return facts_of(simulation);
    });
    const spec::MachineSpec machine = tiny_chips(4);
    const auto cycles = said["cycles"];
    CHECK(cycles[0] == cycles[1]);
    CHECK(cycles[2] == cycles[3]);
    CHECK(cycles[0].get<Cycles>() > machine.sync.external_cycles);
    // the second board is a hop away each way
    const auto hop = std::llround(machine.sync.hop_ns * 1e-9 * machine.chip.clock_hz);
    CHECK(cycles[2].get<Cycles>() == machine.sync.external_cycles + 2 * hop);
    CHECK(cycles[0].get<Cycles>() > cycles[2].get<Cycles>());
}

TEST_CASE("a barrier is a hop each way longer for each board to the group's last one, and no "
          "shorter than a "
          "cycle") {
    struct Case {
        std::vector<std::uint32_t> zone; ///< the group of each chip
        std::int64_t boards;             ///< behind the first, of the group of the last chip
    };
    for (const Case& one : {Case{{0, 0}, 0}, Case{{0, 0, 0, 0}, 1}, Case{{0, 0, 0, 0, 0, 0}, 2},
                            Case{{0, 0, 0, 0, 0, 0, 0, 0}, 3}, Case{{0, 0, 0, 0, 1, 1, 1, 1}, 3}}) {
        for (const Cycles external : {0, 1, 2, 600}) {
            auto machine = tiny_chips(std::ssize(one.zone));
            machine.sync.external_cycles = external;
            ChipPrograms chips(machine);
            chips.no_zones();
            chips.zone(one.zone);
            for (std::size_t chip = 0; chip < one.zone.size(); ++chip) {
                chips.then(chip, ChipPrograms::sync_step(0));
            }
            const auto said = alone([&] {
                const auto& system = chips.finished();
                simulation::Simulation simulation(chips.machine(), system, options_of(chips));
                simulation.run();
                return facts_of(simulation);
            });
            const auto hop = std::llround(machine.sync.hop_ns * 1e-9 * machine.chip.clock_hz);
            CAPTURE(one.zone, external);
            CHECK(said["cycles"].back().get<Cycles>() ==
                  std::max<Cycles>(1, external + 2 * one.boards * hop));
        }
    }
}

TEST_CASE("a chip with a delay begins later, and others wait for it") {
    const auto run = [](std::vector<std::int64_t> delays) {
        return alone([&] {
            spec::MachineSpec machine = tiny_chips(2);
            machine.system.chip_delay = std::move(delays);
            ChipPrograms chips(machine);
            chips.message("there", {0, 1, kFirst}, {1, 2, kFirst}, 16);
            chips.all_link("there");
            const auto& system = chips.finished();
            simulation::Simulation simulation(chips.machine(), system, options_of(chips));
            simulation.run();
            return facts_of(simulation);
        });
    };
    constexpr Cycles kDelay = 12345;
    const auto plain = run({});
    for (const auto& delays : {std::vector<std::int64_t>{0, kDelay}, {kDelay}, {kDelay, kDelay}}) {
        const auto late = run(delays);
        for (int chip = 0; chip < 2; ++chip) {
            CHECK(late["cycles"][chip].get<Cycles>() ==
                  plain["cycles"][chip].get<Cycles>() + kDelay);
        }
    }
}

TEST_CASE("a place that a word names is another one on each chip and in each round") {
    for (const std::int64_t sign : {1, -1}) {
        constexpr std::int64_t kPlaces = 4;
        ChipPrograms chips(tiny_chips(2));
        for (std::size_t chip = 0; chip < 2; ++chip) {
            const std::size_t other = 1 - chip;
            program::LinkExchange& link = chips.link(chip, "round");
            const program::LinkIndex index{kSecond, sign, 4, kPlaces, 1};
            link.sends.push_back({static_cast<std::uint32_t>(other), 0, {0, kFirst, 4, index}});
            link.receives.push_back({static_cast<std::uint32_t>(other), 0, {1, kFirst, 4, index}});
            program::Step repeat =
                HandProgram::step(Kind::Repeat, 0, {chips.link_step(chip, "round")});
            repeat.count = 3;
            chips.then(chip, repeat);
        }
        std::array<program::ArrayId, 2> from;
        std::array<program::ArrayId, 2> to;
        std::array<program::ArrayId, 2> ranks_0;
        std::array<program::ArrayId, 2> ranks_1;
        for (std::size_t chip = 0; chip < 2; ++chip) {
            from.at(chip) = chips.words(chip, 0, kFirst, kPlaces);
            to.at(chip) = chips.words(chip, 1, kFirst, kPlaces);
            ranks_0.at(chip) = chips.words(chip, 0, kSecond, 1);
            ranks_1.at(chip) = chips.words(chip, 1, kSecond, 1);
        }
        const std::array<std::int64_t, 2> rank{2, 5};
        for (const bool timing : {false, true}) {
            const auto said = alone([&] {
                const auto& system = chips.finished();
                simulation::Simulation simulation(chips.machine(), system,
                                                  options_of(chips, timing));
                nlohmann::json words;
                for (std::size_t chip = 0; chip < 2; ++chip) {
                    const auto base = static_cast<std::uint32_t>(100 * chip);
                    write_words(simulation, from.at(chip), {base, base + 1, base + 2, base + 3},
                                chip);
                    const auto word = static_cast<std::uint32_t>(rank.at(chip));
                    write_words(simulation, ranks_0.at(chip), {word}, chip);
                    write_words(simulation, ranks_1.at(chip), {word}, chip);
                }
                simulation.run();
                for (std::size_t chip = 0; chip < 2; ++chip) {
                    words.push_back(read_words(simulation, to.at(chip), chip));
                }
                return words;
            });
            for (std::size_t chip = 0; chip < 2; ++chip) {
                std::array<std::uint32_t, kPlaces> expected{};
                const auto place = [&](std::size_t of, std::int64_t round) {
                    const std::int64_t sum = rank.at(of) + sign * round + 1;
                    return static_cast<std::size_t>((sum % kPlaces + kPlaces) % kPlaces);
                };
                for (std::int64_t round = 0; round < 3; ++round) {
                    expected.at(place(chip, round)) =
                        static_cast<std::uint32_t>(100 * (1 - chip) + place(1 - chip, round));
                }
                INFO(said.dump());
                CHECK(said[chip] == nlohmann::json(expected));
            }
        }
    }
}

TEST_CASE("programs with one mistake end with a message that names it") {
    const auto good = [] {
        auto chips = std::make_unique<ChipPrograms>(tiny_chips(4));
        for (std::size_t chip = 0; chip < 4; ++chip) {
            chips->message("ring", {chip, 1, kFirst}, {(chip + 1) % 4, 2, kFirst}, 16);
        }
        chips->all_link("ring");
        return chips;
    };
    CHECK(mistake_of(*good()).empty());
    const auto told = [&](const std::function<void(ChipPrograms&)>& spoil,
                          const std::vector<std::string>& parts,
                          std::optional<Cycles> max_cycles = {}) {
        const auto chips = good();
        spoil(*chips);
        const std::string mistake = mistake_of(*chips, max_cycles);
        INFO(mistake);
        for (const std::string& part : parts) {
            INFO(part);
            CHECK(mistake.find(part) != std::string::npos);
        }
    };
    told([](auto& chips) { chips.link(1, "ring").receives.clear(); },
         {"link exchange ring", "chip 0 sends message 0 of channel 1", "tile_1",
          "chip 1 receives none"});
    told([](auto& chips) { chips.link(1, "ring").sends.clear(); },
         {"chip 2 receives message 0 of channel 1", "chip 1 sends none"});
    told([](auto& chips) { chips.link(1, "ring").receives.front().place.bytes = 8; },
         {"16 bytes of tile_1", "8 bytes of tile_2"});
    told(
        [](auto& chips) {
            chips.message("ring", {2, 3, kFirst}, {1, 2, kFirst + 8}, 16);
        },
        {"chip 1, tile_2, 0x80008 is written by the message from chip 0 and written by the message "
         "from chip 2"});
    told(
        [](auto& chips) {
            chips.message("ring", {1, 2, kFirst + 12}, {3, 0, kFirst}, 8);
        },
        {"chip 1, tile_2", "is written by the message from chip 0 and read by the message to chip "
                           "3"});
    told(
        [](auto& chips) {
            const auto& image = chips.hands[1].program().images[2].segments.front();
            chips.link(1, "ring").receives.front().place.address = image.address;
        },
        {"chip 1, tile_2", "would be written over code"});
    told([](auto& chips) { chips.link(2, "ring").receives.front().place.tile = 4; },
         {"link exchange ring of chip 2", "tile_4", "expected a tile below 4"});
    told([](auto& chips) { chips.link(2, "ring").receives.front().place.address = 2; },
         {"expected whole words"});
    // a place that goes by a word: its numbers have ends, and it stays among whole words
    const std::int64_t most = std::int64_t{1} << 21;
    using Index = program::LinkIndex;
    const std::string above = "its index has a stride, a count or a shift above 2097152";
    const std::string no_multiple = "its index has a word or a stride that is no multiple of 4, a "
                                    "count below 1, or a sign that is not -1, 0 or 1";
    const auto with = [](std::int64_t Index::*number, std::int64_t value) {
        return [=](auto& chips) {
            auto& index = chips.link(1, "ring").receives.front().place.indexed.emplace();
            index.word = 0x80000;
            index.*number = value;
        };
    };
    told(with(&Index::stride, most + 4), {above});
    told(with(&Index::stride, -most - 4), {above});
    told(with(&Index::count, most + 1), {above});
    told(with(&Index::shift, most + 1), {above});
    told(with(&Index::shift, -most - 1), {above});
    told(with(&Index::stride, 6), {no_multiple});
    told(with(&Index::count, 0), {no_multiple});
    told(
        [](auto& chips) {
            chips.link(1, "ring").receives.front().place.indexed.emplace().word = 0x80002;
        },
        {no_multiple});
    for (const int sign : {-2, 2}) {
        told(
            [sign](auto& chips) {
                chips.link(1, "ring").receives.front().place.indexed.emplace().sign = sign;
            },
            {no_multiple});
    }
    told([](auto& chips) { chips.link(1, "ring").zone = program::SyncZone::group(1); },
         {"link exchange ring of chip 1", "its zone is not one of the system's 1"});
    told(
        [](auto& chips) {
            chips.no_zones();
            chips.zone({0, 0, 1, 1});
        },
        {"have messages for each other and are in different groups of zone 0"});
    told([](auto& chips) { chips.no_zones(); }, {"its zone is not one of the system's 0"});
    told([](auto& chips) { chips.hands[3].program().link_exchanges.front().name = "rang"; },
         {"chip 3 at its other end has no link exchange of that name"});
    // a chip does not come, or comes once more
    told([](auto& chips) { chips.hands[2].program().control.children.clear(); },
         {"chips would wait for ever", "chip 0 is at link exchange ring of zone 0 in step 1",
          "chip 2 has ended behind step 0"});
    told( // the zones have the numbers 0 and 1
        [](auto& chips) {
            chips.zone({0, 0, 1, 1});
            for (std::size_t chip = 0; chip < 4; ++chip) {
                chips.then(chip, ChipPrograms::sync_step(2));
            }
        },
        {"is at a sync of zone 2 in step 2, expected a zone below 2"});
    told([](auto& chips) { chips.then(1, ChipPrograms::sync_step(0)); },
         {"chip 1 is at a sync of zone 0 in step 2", "chip 0 has ended behind step 1"});
    told(
        [](auto& chips) {
            for (std::size_t chip = 0; chip < 4; ++chip) {
                program::Step repeat =
                    HandProgram::step(Kind::Repeat, 0, {chips.link_step(chip, "ring")});
                repeat.count = chip == 3 ? 4 : 5;
                chips.hands[chip].program().control.children = {repeat};
            }
        },
        {"chip 0 is at link exchange ring of zone 0 in step 5", "chip 3 has ended behind step 4"});
    told(
        [](auto& chips) {
            chips.zone({0, 0, 1, 1});
            chips.zone({0, 1, 1, 0});
            for (std::size_t chip = 0; chip < 4; ++chip) { // 0 1 | 1 2 | 2 3 | 3 0: round and round
                const bool even = chip % 2 == 0;
                chips.then(chip, ChipPrograms::sync_step(even ? 1 : 2));
                chips.then(chip, ChipPrograms::sync_step(even ? 2 : 1));
            }
        },
        {"chips would wait in a circle",
         "chip 0 is at a sync of zone 1 in step 2 and waits for chip "
         "1",
         "zone 2"});
    told(
        [](auto& chips) {
            static_cast<void>(chips.link(2, "other"));
            chips.hands[2].program().control.children = {chips.link_step(2, "other")};
        },
        {"unbalanced zone 0", "link exchange ring", "chip 2 is at link exchange other"});
    told(
        [](auto& chips) {
            chips.hands[2].program().control.children.insert(
                chips.hands[2].program().control.children.begin(),
                HandProgram::step(Kind::ComputeSet,
                                  chips.hands[2].compute_set("bad", {{TileId{3}, "fault_late"}})));
        },
        {"ipu_2.tile_3.supervisor"});
    // what only the run finds
    told(
        [](auto& chips) { // the place that a word of chip 1 names is outside memory; others go on
            program::LinkPlace& place = chips.link(1, "ring").receives.front().place;
            place.indexed = program::LinkIndex{kSecond, 0, 1 << 20, 16, 1};
        },
        {"ipu_1", "expected them inside tile memory"});
    told(
        [](auto& chips) { // decisions differ
            for (std::size_t chip = 0; chip < 4; ++chip) {
                program::Step decides =
                    HandProgram::step(Kind::If, 0, {ChipPrograms::sync_step(0)});
                decides.value = program::TileValue{0, kSecond};
                chips.then(chip, decides);
                if (chip == 3) {
                    chips.hands[chip].program().images[0].segments.back().data =
                        std::make_shared<const std::vector<std::byte>>(ChipPrograms::kDataBytes,
                                                                       std::byte{1});
                }
            }
        },
        {"nobody can go on: ipu_0 has ended its program in step 1; ipu_1 has ended its program in "
         "step 1; ",
         "; ipu_3 is at a sync of zone 0 in step 2 and waits for ipu_0, ipu_1, ipu_2"});
    told(
        [](auto& chips) { // round and round
            program::Step turns = HandProgram::step(
                Kind::While, 0,
                {HandProgram::step(Kind::ComputeSet,
                                   chips.hands[1].compute_set("on", {{TileId{0}, "loop_of_50"}}))});
            turns.value = program::TileValue{0, kSecond};
            chips.hands[1].program().images[0].segments.back().data =
                std::make_shared<const std::vector<std::byte>>(ChipPrograms::kDataBytes,
                                                               std::byte{1});
            auto& steps = chips.hands[1].program().control.children;
            steps.insert(steps.begin(), turns);
        },
        {"not over after 20000 cycles: ipu_0 is at link exchange ring of zone 0 in step 1 and "
         "waits "
         "for ipu_1; ",
         "ipu_1 is in step"},
        20000);
}
