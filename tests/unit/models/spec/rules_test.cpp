// SPDX-License-Identifier: MIT
#include "models/spec/load.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

using namespace tessera;
using tessera::test::Lines;

namespace {

Lines broken(const Lines& sets) {
    return test::mistakes_of(
        [&] { static_cast<void>(spec::load_machine("bow", test::source_paths(), sets)); });
}

} // namespace

TEST_CASE("region sizes are whole numbers of elements", "[unit][spec]") {
    CHECK(broken({"memory.region0_bytes=212994", "memory.region1_bytes=409600"}) ==
          Lines{"--set: memory.region0_bytes: got 212994 B, expected a multiple of "
                "memory.element_bytes = 16384 B",
                "--set: memory.region1_bytes: got 409600 B, expected a multiple of 2 * "
                "memory.element_bytes = 32768 B"});
    CHECK(broken({"memory.region0_bytes=229376"}).empty());
    CHECK(broken({"memory.base=311300"}) ==
          Lines{"--set: memory.base: got 311300 B, expected a multiple of 16 B"});
    CHECK(broken({"memory.element_bytes=1040"}).size() == 3);
    for (const std::string element :
         {"1025", "3072", "12288"}) { // the last two divide both regions
        CHECK(broken({"memory.element_bytes=" + element}).front() ==
              "--set: memory.element_bytes: got " + element + " B, expected a power of two");
    }
}

TEST_CASE("memory ends within the address space", "[unit][spec]") {
    const spec::MemorySpec bow;
    const auto fits = (1 << 21) - bow.base - bow.region0_bytes;
    REQUIRE(fits % (2 * bow.element_bytes) == 0);
    CHECK(broken({"memory.region1_bytes=" + std::to_string(fits)}).empty());
    const auto over = fits + 2 * bow.element_bytes;
    CHECK(broken({"memory.region1_bytes=" + std::to_string(over)}) ==
          Lines{"--set: memory.region1_bytes: got memory up to " +
                std::to_string((1 << 21) + 2 * bow.element_bytes) +
                " B (memory.base + memory.region0_bytes + memory.region1_bytes), expected at most "
                "2097152 B: 21 address bits"});
    CHECK(broken({"memory.base=0", "memory.region0_bytes=16384", "memory.region1_bytes=2064384"})
              .empty());
    CHECK(broken({"memory.base=16", "memory.region0_bytes=32768", "memory.region1_bytes=2064384"})
              .size() == 1);
}

TEST_CASE("region 0 ends where operands of setzi and call do", "[unit][spec]") {
    CHECK(broken({"memory.base=0", "memory.region0_bytes=1048576"}).empty());
    CHECK(broken({"memory.base=835584"}).empty()); // 835584 + 212992 = 2^20
    CHECK(broken({"memory.base=835600"}) ==
          Lines{"--set: memory.region0_bytes: got region 0 up to 1048592 B (memory.base + "
                "memory.region0_bytes), expected at most 1048576 B: setzi and call have 20 bits "
                "for addresses of code and vertex state"});
    CHECK(broken({"memory.base=16384", "memory.region0_bytes=1048576"}).size() == 1);
}

TEST_CASE("steps of the matrix unit an issue are a power of two, and its rates are no parameters",
          "[unit][spec]") {
    for (const std::string steps : {"0.5", "1", "2", "4"}) {
        CHECK(broken({"amp.steps_per_issue=" + steps}).empty());
    }
    for (const std::string steps : {"0.6", "0.75", "1.5", "3"}) {
        CHECK(
            broken({"amp.steps_per_issue=" + steps}) ==
            Lines{"--set: amp.steps_per_issue: got " + steps + " steps, expected 0.5, 1, 2 or 4"});
    }
    CHECK(broken({"amp.steps_per_issue=8"}).size() == 1);
    CHECK(broken({"amp.steps_per_issue=0.25"}).size() == 1);
    for (const std::string rate : {"sets", "macs_f16_f16", "macs_f16_f32", "macs_f32_f32"}) {
        CHECK(broken({"amp." + rate + "=1"}).front().find("unknown") != std::string::npos);
    }
}

TEST_CASE("double width needs complete pairs", "[unit][spec]") {
    CHECK(broken({"chip.tiles=5"}) ==
          Lines{"--set: chip.tiles: got 5 tiles, expected an even number while "
                "exchange.pair_double is true"});
    CHECK(broken({"chip.tiles=5", "exchange.pair_double=false"}).empty());
    CHECK(broken({"chip.tiles=5", "exchange.fabric=bound"}).size() == 1);
    CHECK(broken({"chip.tiles=5", "exchange.fabric=mesh"}).empty()); // whose links know no pairs
    CHECK(broken({"chip.tiles=5", "exchange.fabric=ring"}).empty());
}

TEST_CASE("the compiled exchange numbers 127 rows of tiles", "[unit][spec]") {
    const auto most = spec::kMostCompiledTiles;
    for (const std::string generation : {"ipu1", "ipu2"}) {
        const std::string set = "chip.generation=" + generation;
        CHECK(broken({set, "chip.tiles=2944"}).empty());
        CHECK(broken({set, "chip.tiles=" + std::to_string(most)}).empty());
        CHECK(
            broken({set, "chip.tiles=" + std::to_string(most + 2)}) ==
            Lines{"--set: chip.tiles: got 8130 tiles, expected at most 8128 (127 rows of 64: a mux "
                  "source has 13 bits) while exchange.fabric is \"compiled\""});
        for (const std::string fabric : {"bound", "mesh", "ring"})
            CHECK(broken({set, "chip.tiles=16384", "exchange.fabric=" + fabric}).empty());
    }
}

TEST_CASE("a grid too large is a mistake where the machine file says it", "[unit][spec]") {
    const test::ScratchFolder scratch;
    const auto file = scratch.write("large.json", "{\n  \"schema_version\": 1,\n  \"chip\": "
                                                  "{\"tiles\": 9000}\n}\n");
    CHECK(test::mistakes_of(
              [&] { static_cast<void>(spec::load_machine(file, test::source_paths())); },
              scratch.path()) ==
          Lines{"large.json:3:21: /chip/tiles: got 9000 tiles, expected at most 8128 (127 rows of "
                "64: a mux source has 13 bits) while exchange.fabric is \"compiled\""});
}

TEST_CASE("a lane is one, two or four words wide and an instruction fills it", "[unit][spec]") {
    for (const std::string width : {"4", "8", "16"})
        CHECK(broken({"exchange.lane_bytes=" + width}).empty());
    for (const std::string width : {"0", "2", "12", "32"})
        CHECK(broken({"exchange.lane_bytes=" + width}).size() == 1);
    for (const std::string name : {"max_words_per_send", "max_words_per_sendoff"}) {
        const std::string set = "exchange." + name + "=";
        CHECK(broken({"exchange.lane_bytes=16", set + "4"}).empty());
        CHECK(broken({"exchange.lane_bytes=16", set + "3"}) ==
              Lines{"--set: exchange." + name +
                    ": got 3 words, expected at least 4 (exchange.lane_bytes / 4)"});
        for (const auto& mistake : broken({set + "1", "exchange.fabric=mesh"})) {
            CHECK(mistake.find("expected at least") == std::string::npos);
        }
        CHECK(broken({set + "1"}).empty());
    }
}

TEST_CASE("no entry lies between those of a pair", "[unit][spec]") {
    CHECK(broken({"exchange.route_near_cycles=5"}).empty());
    CHECK(broken({"exchange.route_near_cycles=6"}) ==
          Lines{"--set: exchange.route_near_cycles: got 6 cycles, expected 1..5 "
                "(exchange.route_column_cycles - 1) while exchange.pair_double is true"});
    CHECK(broken({"exchange.route_far_cycles=6"}).empty());
    CHECK(broken({"exchange.route_far_cycles=2"}).empty());
    for (const std::string far : {"1", "7"})
        CHECK(broken({"exchange.route_far_cycles=" + far}) ==
              Lines{"--set: exchange.route_far_cycles: got " + far +
                    " cycles, expected 2..6 (exchange.route_column_cycles) while "
                    "exchange.pair_double is true"});
    CHECK(broken({"exchange.route_far_cycles=1", "exchange.pair_double=false"}).empty());
    CHECK(broken({"exchange.route_far_cycles=1", "exchange.fabric=bound"}).empty());
}

namespace {

/// The mistakes of a machine file whose `system` is `text`.
Lines broken_system(const std::string& text) {
    const test::ScratchFolder scratch;
    const auto file =
        scratch.write("s.json", "{\n  \"schema_version\": 1,\n  \"system\": " + text + "\n}\n");
    return test::mistakes_of(
        [&] { static_cast<void>(spec::load_machine(file, test::source_paths())); }, scratch.path());
}

} // namespace

TEST_CASE("a ladder has pairs of chips, as many as links join", "[unit][spec]") {
    CHECK(broken_system(R"({"chips": 4})").empty());
    CHECK(broken_system(R"({"chips": 3})") ==
          Lines{"s.json:3:23: /system/chips: got 3 chips, expected an even number while "
                "system.links.topology is \"ladder\""});
    CHECK(broken_system(R"({"chips": 3, "links": {"topology": "full"}})").empty());
    CHECK(broken_system(R"({"chips": 8, "domain_chips": 8})").empty());
    CHECK(broken_system(R"({"chips": 8, "domain_chips": 7})") ==
          Lines{"s.json:3:23: /system/chips: got 8 chips, expected at most 7 "
                "(system.domain_chips)"});
}

TEST_CASE("packets carry whole words", "[unit][spec]") {
    CHECK(broken_system(R"({"chips": 2, "links": {"payload_bytes": 68}})").empty());
    CHECK(broken_system(R"({"chips": 2, "links": {"payload_bytes": 66}})") ==
          Lines{"s.json:3:53: /system/links/payload_bytes: got 66 B, expected a multiple of 4 B"});
}

TEST_CASE("delays are of chips that there are", "[unit][spec]") {
    CHECK(broken_system(R"({"chips": 2, "chip_delay": [0, 9]})").empty());
    CHECK(broken_system(R"({"chips": 2, "chip_delay": [0, 9, 9]})") ==
          Lines{"s.json:3:40: /system/chip_delay: got delays of 3 chips, expected at most 2 "
                "(system.chips)"});
}

TEST_CASE("one chip has no rules of several", "[unit][spec]") {
    CHECK(broken_system(R"({"chips": 1, "domain_chips": 1, "chip_delay": [0, 9],
        "links": {"payload_bytes": 66, "routes": [{"through": [0, 1]}]}})")
              .empty());
}
