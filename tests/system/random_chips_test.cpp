// SPDX-License-Identifier: MIT
// Random systems of 2 to 8 chips: they end, in all ways of running them alike, and edges carry what messages say.
// One mistake in them is told.
#include "tests/system/chip_runs.h"
#include "tests/system/random_chips.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using Kind = program::Step::Kind;

namespace {

constexpr double kSeconds = 10; ///< of the clock, for one system

struct Way {
    std::optional<std::int64_t> buffer_packets = {};
    bool timing = false;
    int threads = 1;
    std::optional<std::uint64_t> shuffle = {};
};

nlohmann::json run_random(std::uint64_t seed, const Way& way) {
    RandomChips random(seed, way.buffer_packets);
    const auto tensors = random.tensors();
    const auto& system = random.chips().finished();
    auto options = options_of(random.chips(), way.timing, way.threads);
    for (auto& one : options) {
        one.shuffle = way.shuffle;
    }
    simulation::Simulation simulation(random.chips().machine(), system, std::move(options));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        write_words(simulation, tensors[i], random.given()[i], i / RandomChips::kTiles);
    }
    simulation.run();
    nlohmann::json facts = facts_of(simulation);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        facts["memory"].push_back(read_words(simulation, tensors[i], i / RandomChips::kTiles));
    }
    return facts;
}

void check_systems(std::uint64_t systems) {
    for (std::uint64_t seed = 1; seed <= systems; ++seed) {
        const std::array<Way, 5> ways{{{},
                                       {.timing = true, .threads = 2},
                                       {.threads = 3, .shuffle = seed},
                                       {.buffer_packets = 1},
                                       {.buffer_packets = 0}}};
        std::vector<RunBody> bodies;
        for (const Way& way : ways) {
            bodies.push_back([seed, way] { return run_random(seed, way); });
        }
        const auto said = alone(bodies, {.seconds = kSeconds});
        INFO(seed);
        for (const auto& one : said) {
            INFO(one.value("mistake", ""));
            REQUIRE(one.contains("memory"));
            CHECK(one["memory"] == said[0]["memory"]);
            for (const auto& link : one.value("links", nlohmann::json::array())) {
                CHECK(link[0] <= link[1]); // a bound is no more than the time
            }
        }
        CHECK(said[1] == said[0]);
        CHECK(said[2] == said[0]);
        const RandomChips random(seed);
        CHECK(said[0]["memory"] == nlohmann::json(random.left()));
        const auto sums = random.edge_bytes();
        for (std::size_t edge = 0; edge < sums.size(); ++edge) {
            for (const auto& one : said) {
                CHECK(one["edges"][edge][2] == sums[edge].first);
                CHECK(one["edges"][edge][3] == sums[edge].second);
            }
        }
    }
}

/// A random system with a ring of messages among its steps, which is right.
struct Ring {
    static constexpr Address kPlace = RandomChips::kFree;

    explicit Ring(std::uint64_t seed) : random(seed), chips(random.chips()) {
        auto& children = chips.hands[0].program().control.children;
        step = random.below(children.size() + 1);
        victim = random.below(random.count());
        before = (victim + random.count() - 1) % random.count();
        behind = (victim + 1) % random.count();
        for (std::size_t chip = 0; chip < random.count(); ++chip) {
            chips.message("ring", {chip, 1, kPlace}, {(chip + 1) % random.count(), 2, kPlace}, 16);
        }
        for (std::size_t chip = 0; chip < random.count(); ++chip) {
            insert(chip, chips.link_step(chip, "ring"));
        }
    }
    /// In front of what stands at the ring's place.
    void insert(std::size_t chip, program::Step made) {
        auto& steps = steps_of(chip);
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(step), std::move(made));
    }
    [[nodiscard]] std::vector<program::Step>& steps_of(std::size_t chip) {
        return chips.hands[chip].program().control.children;
    }
    program::LinkMessage& sent() { return chips.link(victim, "ring").sends.front(); }
    program::LinkMessage& received() { return chips.link(victim, "ring").receives.front(); }
    /// The word at kPlace of the victim's tile 0 is not 0.
    void set_word() {
        chips.hands[victim].program().images[0].segments.back().data =
            std::make_shared<const std::vector<std::byte>>(ChipPrograms::kDataBytes, std::byte{1});
    }

    RandomChips random;
    ChipPrograms& chips;
    std::size_t step = 0;   ///< where the ring stands in the control program of each chip
    std::size_t victim = 0; ///< whose program gets the mistake
    std::size_t before = 0; ///< in the ring
    std::size_t behind = 0;
    std::optional<Cycles> max_cycles = {};
};

/// Spoils a ring; returns what must be told of it.
using Spoil = std::function<std::vector<std::string>(Ring&)>;

const std::vector<std::pair<const char*, Spoil>>& mistakes() {
    using Texts = std::vector<std::string>;
    static const std::vector<std::pair<const char*, Spoil>> all{
        {"a message is not received",
         [](Ring& ring) {
             ring.chips.link(ring.victim, "ring").receives.clear();
             return Texts{
                 fmt::format("chip {} sends message 0 of channel {}", ring.before, ring.victim),
                 "tile_1", fmt::format("chip {} receives none", ring.victim)};
         }},
        {"a message is not sent",
         [](Ring& ring) {
             ring.chips.link(ring.victim, "ring").sends.clear();
             return Texts{
                 fmt::format("chip {} receives message 0 of channel {}", ring.behind, ring.victim),
                 fmt::format("chip {} sends none", ring.victim)};
         }},
        {"sizes differ",
         [](Ring& ring) {
             ring.received().place.bytes = 8;
             return Texts{"16 bytes of tile_1", "8 bytes of tile_2",
                          fmt::format("chip {}", ring.victim)};
         }},
        {"two messages have one target",
         [](Ring& ring) {
             ring.chips.message("ring", {ring.before, 3, Ring::kPlace},
                                {ring.victim, 2, Ring::kPlace + 8}, 16);
             return Texts{fmt::format("chip {}, tile_2, {:#x} is written by the message from chip "
                                      "{} and written by the message from chip {}",
                                      ring.victim, Ring::kPlace + 8, ring.before, ring.before)};
         }},
        {"a word is written and read",
         [](Ring& ring) {
             ring.chips.message("ring", {ring.victim, 2, Ring::kPlace + 12},
                                {ring.behind, 0, Ring::kPlace}, 8);
             return Texts{fmt::format("chip {}, tile_2, {:#x} is written by the message from chip "
                                      "{} and read by the message to chip {}",
                                      ring.victim, Ring::kPlace + 12, ring.before, ring.behind)};
         }},
        {"a word is written where code stands",
         [](Ring& ring) {
             ring.received().place.address =
                 ring.chips.hands[ring.victim].program().images[2].segments.front().address;
             return Texts{fmt::format("chip {}, tile_2", ring.victim),
                          "would be written over code"};
         }},
        {"a tile that is none",
         [](Ring& ring) {
             ring.received().place.tile = 4;
             return Texts{fmt::format("link exchange ring of chip {}", ring.victim), "tile_4"};
         }},
        {"half a word",
         [](Ring& ring) {
             ring.sent().place.address = Ring::kPlace + 2;
             return Texts{fmt::format("link exchange ring of chip {}", ring.victim), "tile_1",
                          "expected whole words"};
         }},
        {"a zone that is none",
         [](Ring& ring) {
             ring.chips.link(ring.victim, "ring").zone = program::SyncZone::group(7);
             return Texts{fmt::format("link exchange ring of chip {}", ring.victim),
                          "its zone is not one of the system's 3"};
         }},
        {"a zone left out",
         [](Ring& ring) {
             ring.chips.zone(std::vector<std::uint32_t>(ring.random.count(), 0));
             ring.chips.link(ring.victim, "ring").zone = program::SyncZone::group(3);
             return Texts{"link exchange ring", fmt::format("chip {}", ring.victim), "in zone 3",
                          "in zone 0"};
         }},
        {"another name",
         [](Ring& ring) {
             for (auto& exchange : ring.chips.hands[ring.victim].program().link_exchanges) {
                 exchange.name = exchange.name == "ring" ? "rang" : exchange.name;
             }
             return Texts{fmt::format("chip {} at its other end has no link exchange of that name",
                                      ring.victim)};
         }},
        {"unequal counts of a loop",
         [](Ring& ring) {
             for (std::size_t chip = 0; chip < ring.random.count(); ++chip) {
                 auto& made = ring.steps_of(chip)[ring.step];
                 made = HandProgram::step(Kind::Repeat, 0, {made});
                 made.count = chip == ring.victim ? 2 : 3;
             }
             return Texts{fmt::format("chip {} ", ring.victim),
                          "is at link exchange ring of zone 0"};
         }},
        {"zones in another order",
         [](Ring& ring) {
             for (int zone = 0; zone < 2; ++zone) {
                 ring.chips.zone(std::vector<std::uint32_t>(ring.random.count(), 0));
             }
             for (std::size_t chip = 0; chip < ring.random.count(); ++chip) {
                 ring.insert(chip, ChipPrograms::sync_step(chip == ring.victim ? 3 : 4));
                 ring.insert(chip, ChipPrograms::sync_step(chip == ring.victim ? 4 : 3));
             }
             return Texts{"chips would wait in a circle",
                          fmt::format("chip {} is at a sync of zone 4", ring.victim),
                          fmt::format("waits for chip {}", ring.victim), "is at a sync of zone 3"};
         }},
        {"a chip that ends early",
         [](Ring& ring) {
             ring.steps_of(ring.victim).resize(ring.step);
             return Texts{fmt::format("chip {} has ended", ring.victim),
                          "is at link exchange ring of zone 0"};
         }},
        {"a barrier that one lacks",
         [](Ring& ring) {
             for (std::size_t chip = 0; chip < ring.random.count(); ++chip) {
                 if (chip != ring.victim) {
                     ring.insert(chip, ChipPrograms::sync_step(0));
                 }
             }
             return Texts{"is at a sync of zone 0",
                          fmt::format("chip {} is at link exchange ring of zone 0", ring.victim)};
         }},
        {"another meeting",
         [](Ring& ring) {
             static_cast<void>(ring.chips.link(ring.victim, "other"));
             ring.steps_of(ring.victim)[ring.step] = ring.chips.link_step(ring.victim, "other");
             return Texts{"link exchange ring of zone 0",
                          fmt::format("chip {} is at link exchange other", ring.victim)};
         }},
        {"a decision that differs",
         [](Ring& ring) {
             for (std::size_t chip = 0; chip < ring.random.count(); ++chip) {
                 program::Step decides =
                     HandProgram::step(Kind::If, 0, {ChipPrograms::sync_step(0)});
                 decides.value = program::TileValue{0, Ring::kPlace + 128};
                 ring.insert(chip, decides);
             }
             ring.set_word();
             return Texts{fmt::format("ipu_{} is at a sync of zone 0", ring.victim)};
         }},
        {"a loop that never ends",
         [](Ring& ring) {
             auto& hand = ring.chips.hands[ring.victim];
             program::Step turns = HandProgram::step(
                 Kind::While, 0,
                 {HandProgram::step(Kind::ComputeSet,
                                    hand.compute_set("on", {{TileId{0}, "loop_of_50"}}))});
             turns.value = program::TileValue{0, Ring::kPlace + 128};
             ring.insert(ring.victim, turns);
             ring.set_word();
             ring.max_cycles = 1'000'000;
             return Texts{"not over after 1000000 cycles",
                          fmt::format("waits for ipu_{}", ring.victim),
                          fmt::format("ipu_{} is in step", ring.victim)};
         }},
        {"a fault",
         [](Ring& ring) {
             auto& hand = ring.chips.hands[ring.victim];
             ring.insert(ring.victim,
                         HandProgram::step(Kind::ComputeSet,
                                           hand.compute_set("bad", {{TileId{3}, "fault_late"}})));
             return Texts{fmt::format("ipu_{}.tile_3.supervisor", ring.victim)};
         }},
        {"a place that a word names, outside memory",
         [](Ring& ring) {
             ring.received().place.indexed =
                 program::LinkIndex{Ring::kPlace + 128, 0, 1 << 20, 16, 1};
             return Texts{fmt::format("ipu_{}", ring.victim), "expected them inside tile memory"};
         }},
    };
    return all;
}

void check_mistakes(std::size_t programs) {
    std::vector<RunBody> bodies;
    std::vector<std::vector<std::string>> parts;
    const auto seed_of = [](std::size_t number) { return 1000 + number; };
    const auto& all = mistakes();
    for (std::size_t number = 0; number < programs; ++number) {
        const Spoil& spoil = all[number % all.size()].second;
        Ring ring(seed_of(number));
        parts.push_back(spoil(ring));
        bodies.push_back([&, number] {
            Ring spoilt(seed_of(number));
            static_cast<void>(spoil(spoilt));
            const auto& system = spoilt.chips.finished();
            simulation::Simulation simulation(spoilt.chips.machine(), system,
                                              options_of(spoilt.chips));
            simulation.run(spoilt.max_cycles);
            return nlohmann::json{{"mistake", "none"}, {"exit_code", 0}};
        });
    }
    const auto said = alone(bodies, {.seconds = kSeconds});
    for (std::size_t number = 0; number < programs; ++number) {
        const auto mistake = said[number]["mistake"].get<std::string>();
        INFO(all[number % all.size()].first << ", seed " << seed_of(number) << ": " << mistake);
        CHECK(said[number]["exit_code"] == process::kProgramFault);
        for (const std::string& part : parts[number]) {
            INFO(part);
            CHECK(mistake.find(part) != std::string::npos);
        }
    }
}

} // namespace

TEST_CASE("random systems of chips end and are alike: 25 of them") {
    check_systems(25);
}

TEST_CASE("random systems of chips end and are alike: 200 of them", "[.slow]") {
    check_systems(200);
}

TEST_CASE("a random system with a ring is right") {
    for (std::uint64_t seed = 1000; seed < 1010; ++seed) {
        const auto said = alone([&] {
            Ring ring(seed);
            const auto& system = ring.chips.finished();
            simulation::Simulation simulation(ring.chips.machine(), system, options_of(ring.chips));
            simulation.run();
            return nlohmann::json{{"ended", true}};
        });
        INFO(said.dump());
        CHECK(said.contains("ended"));
    }
}

TEST_CASE("one mistake in a random system is told: 60 of them") {
    check_mistakes(60);
}
