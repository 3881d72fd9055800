// SPDX-License-Identifier: MIT
#include "models/spec/load.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>

using namespace tessera;
using namespace tessera::spec;
using tessera::test::Lines;
using tessera::test::mistakes_of;
using tessera::test::ScratchFolder;
using tessera::test::source_paths;

namespace {

nlohmann::json values(const MachineSpec& machine) {
    return config::resolved(machine_shape(), &machine);
}

/// A list is set as a whole; a parameter of its elements has no path of its own.
bool is_of_an_element(const std::string& path) {
    return path.find(".N.") != std::string::npos;
}

/// The mistakes in loading `file` of `scratch`, whose folder is also the only root.
Lines mistakes(const ScratchFolder& scratch, const std::string& name_or_path,
               const Lines& sets = {}) {
    return mistakes_of(
        [&] { static_cast<void>(load_machine(name_or_path, {{scratch.path()}}, sets)); },
        scratch.path());
}

} // namespace

TEST_CASE("every machine in configs loads and its resolved form loads to the same",
          "[unit][spec]") {
    const auto entries = config::list_configs(source_paths(), "machines");
    REQUIRE(entries.size() >= 5);
    for (const auto& entry : entries) {
        INFO(entry.name);
        const auto loaded = load_machine(entry.name, source_paths());
        CHECK(loaded.spec.name == entry.name);
        const ScratchFolder scratch;
        const auto copy = scratch.write("copy.json", loaded.resolved.dump());
        CHECK(load_machine(copy, source_paths()).resolved == loaded.resolved);
    }
}

TEST_CASE("bow is the default machine", "[unit][spec]") {
    const auto bow = load_machine("bow", source_paths());
    CHECK(bow.resolved == values(MachineSpec{}));
    CHECK(bow.spec.memory.bytes() == 624 * 1024);
    CHECK(bow.spec.memory.end() == 0xe8000);
}

TEST_CASE("machines of several chips have the chips that they are made of", "[unit][spec]") {
    const auto only_chips = [](const std::string& name) {
        auto resolved = load_machine(name, source_paths()).resolved;
        for (const char* between : {"system", "sync", "energy", "name", "description"}) {
            resolved.erase(between);
        }
        return resolved;
    };
    for (const auto& [system, chip] : {std::pair{"c2_card", "gc2"},
                                       {"gc2_ladder16", "gc2"},
                                       {"m2000", "gc200"},
                                       {"bow2000", "bow"},
                                       {"tiny2", "tiny"},
                                       {"tiny4", "tiny"},
                                       {"tiny8", "tiny"}}) {
        CAPTURE(system);
        CHECK(only_chips(system) == only_chips(chip));
        CHECK(load_machine(system, source_paths()).spec.system.chips > 1);
        CHECK(load_machine(chip, source_paths()).spec.system.chips == 1);
    }
    const auto ladder = load_machine("gc2_ladder16", source_paths()).spec;
    CHECK(ladder.system.chips == 16);
    CHECK(ladder.system.links.rung_links == 2 * ladder.system.links.rail_links);
    CHECK(ladder.sync.external_cycles == 500);
}

TEST_CASE("the other machines differ from bow where they say so", "[unit][spec]") {
    const auto gc200 = load_machine("gc200", source_paths()).spec;
    CHECK(gc200.chip.clock_hz == 1.325e9);
    CHECK(gc200.chip.tiles == 1472);
    const auto gc2 = load_machine("gc2", source_paths()).spec;
    CHECK(gc2.chip.generation == Generation::Ipu1);
    CHECK(gc2.memory.bytes() == 256 * 1024);
    CHECK(gc2.memory.region1_begin() == 0x60000);
    const auto tiny = load_machine("tiny", source_paths());
    CHECK(tiny.spec.chip.tiles == 4);
    CHECK(tiny.spec.chip.clock_hz == MachineSpec{}.chip.clock_hz);
    REQUIRE(tiny.files.size() == 2);
    CHECK(tiny.files[0].filename() == "tiny.json");
    CHECK(tiny.files[1].filename() == "bow.json");
}

TEST_CASE("every parameter can be set by its path and moves its own value only", "[unit][spec]") {
    const auto bow = load_machine("bow", source_paths());
    for (const auto& parameter : config::parameters(machine_shape())) {
        if (!parameter.settable || is_of_an_element(parameter.path)) {
            continue; // not settable: schema_version, extends, description
        }
        INFO(parameter.path);
        CHECK_FALSE(parameter.sentence.empty());
        if (!config::unused_reason(machine_shape(), bow.resolved, parameter.path).empty()) {
            continue; // below
        }
        // the value it has already is legal and must be accepted in the form that listings show
        const auto same =
            load_machine("bow", source_paths(), {parameter.path + "=" + parameter.default_value});
        CHECK(same.resolved == bow.resolved);
        std::string pointer = "/" + parameter.path;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        CHECK(same.origins.at(pointer).text() == "--set");
    }
}

TEST_CASE("an option that the machine has no use for is a mistake", "[unit][spec]") {
    const auto said = [](const Lines& sets, const std::string& machine = "bow") {
        return mistakes_of([&] { static_cast<void>(load_machine(machine, source_paths(), sets)); });
    };
    CHECK(said({"exchange.link_bytes=4"}) ==
          Lines{"--set: exchange.link_bytes: unused on this machine; it is used with "
                "exchange.fabric mesh or ring, and that is compiled here"});
    CHECK(said({"exchange.link_bytes=4", "exchange.fabric=ring"}).empty());
    CHECK(said({"exchange.pair_double=true", "exchange.fabric=ring"}) ==
          Lines{"--set: exchange.pair_double: unused on this machine; it is used with "
                "exchange.fabric compiled or bound, and that is ring here"});
    CHECK(said({"exchange.pair_min_items=3", "exchange.pair_double=false"}) ==
          Lines{"--set: exchange.pair_min_items: unused on this machine; it is used with "
                "exchange.pair_double true, and that is false here"});
    CHECK(said({"streaming.latency_us=1"}, "gc2") ==
          Lines{"--set: streaming.latency_us: unused on this machine; it is used with "
                "streaming.capacity_bytes other than 0, and that is 0 here"});
    CHECK(said({R"(exchange={"hop_cycles": 3})"}).size() == 1);
    // several at once, beside what breaks a rule
    CHECK(said({"exchange.link_bytes=4", "exchange.hop_cycles=1", "chip.tiles=5"}).size() == 3);
    // a machine file may carry any
    const ScratchFolder scratch;
    const auto file = scratch.write(
        "a.json", R"({"schema_version": 1, "exchange": {"link_bytes": 8, "ring_directions": 1}})");
    CHECK(load_machine(file, source_paths()).spec.exchange.link_bytes == 8);
}

TEST_CASE("every condition of a parameter names another parameter and values that it can have",
          "[unit][spec]") {
    for (const auto& parameter : config::parameters(machine_shape())) {
        if (is_of_an_element(parameter.path)) {
            continue;
        }
        const auto* field = config::field_at(machine_shape(), parameter.path);
        REQUIRE(field != nullptr);
        for (const auto& condition : field->used_with) {
            CAPTURE(parameter.path, condition.path);
            const auto* other = config::field_at(machine_shape(), condition.path);
            REQUIRE(other != nullptr);
            CHECK(other != field);
            CHECK_FALSE(condition.values.empty());
            for (const auto& value : condition.values) {
                const auto& allowed = other->allowed;
                CHECK((allowed.empty() ||
                       std::find(allowed.begin(), allowed.end(), value) != allowed.end()));
                CHECK(value.is_number() == other->default_value.is_number());
                CHECK(value.is_boolean() == other->default_value.is_boolean());
            }
        }
    }
    CHECK(config::field_at(machine_shape(), "exchange.nothing") == nullptr);
    CHECK(config::field_at(machine_shape(), "exchange.fabric.x") == nullptr);
    CHECK(config::unused_reason(machine_shape(), nlohmann::json::object(), "nothing").empty());
}

TEST_CASE("the list says where parameters are used", "[unit][spec]") {
    const auto used = [](const std::string& path) {
        return config::used_text(*config::field_at(machine_shape(), path));
    };
    CHECK(used("exchange.link_bytes") ==
          "with exchange.fabric mesh or ring; by exchanges or decisions");
    CHECK(used("exchange.pair_min_items") ==
          "with exchange.fabric compiled or bound and exchange.pair_double true; by exchanges");
    CHECK(used("streaming.read_gbytes_per_s") ==
          "with streaming.capacity_bytes other than 0; by reads of streaming memory");
    CHECK(used("sync.internal_cycles") == "by barriers, exchanges or decisions");
    CHECK(used("chip.tiles").empty());
}

TEST_CASE("files say where values come from through extends and set", "[unit][spec]") {
    const ScratchFolder scratch;
    const auto base = scratch.write("machines/base.json", "{\"schema_version\": 1,\n"
                                                          " \"tile\": {\"workers\": 4,\n"
                                                          "            \"pipeline_cycles\": 4}}");
    const auto top =
        scratch.write("machines/top.json", "{\"schema_version\": 1, \"extends\": \"base\",\n"
                                           " \"tile\": {\"workers\": 5}}");
    const auto loaded = load_machine("top", {{scratch.path()}}, {"sync.internal_cycles=90"});
    CHECK(loaded.spec.name == "top"); // no name in it: the file's
    CHECK(loaded.spec.tile.workers == 5);
    CHECK(loaded.spec.tile.pipeline_cycles == 4);
    CHECK(loaded.spec.sync.internal_cycles == 90);
    CHECK(loaded.origins.at("/tile/workers").text() == top + ":2");
    CHECK(loaded.origins.at("/tile/pipeline_cycles").text() == base + ":3");
    CHECK(loaded.origins.at("/sync/internal_cycles").text() == "--set");
}

TEST_CASE("extends takes a path relative to its file", "[unit][spec]") {
    const ScratchFolder scratch;
    const auto base =
        scratch.write("other/base.json", R"({"schema_version": 1, "tile": {"workers": 3}})");
    const auto top =
        scratch.write("here/top.json", R"({"schema_version": 1, "extends": "../other/base.json"})");
    const auto loaded = load_machine(top, {});
    CHECK(loaded.spec.tile.workers == 3);
    CHECK(loaded.files[1] == base);
}

TEST_CASE("an extends circle is told and ends", "[unit][spec]") {
    const ScratchFolder scratch;
    for (const char* link : {"a b", "b c", "c b"}) {
        const std::string text = link;
        const auto file =
            scratch.write("machines/" + text.substr(0, 1) + ".json",
                          "{\"schema_version\": 1,\n \"extends\": \"" + text.substr(2) + "\"}");
        CHECK_FALSE(file.empty());
    }
    CHECK(mistakes(scratch, "a") ==
          Lines{"machines/c.json:2:13: /extends: goes round in a circle: a.json extends b.json "
                "extends c.json extends b.json"});
    const auto self =
        scratch.write("self.json", R"({"schema_version": 1, "extends": "./self.json"})");
    CHECK(mistakes(scratch, self).size() == 1);
}

TEST_CASE("an extends that leads nowhere is told with its place", "[unit][spec]") {
    const ScratchFolder scratch;
    const auto known = scratch.write("machines/bow.json", R"({"schema_version": 1})");
    const auto named = scratch.write("a.json", R"({"schema_version": 1, "extends": "bwo"})");
    CHECK(mistakes(scratch, named) ==
          Lines{"a.json:1:34: /extends: unknown machine 'bwo'; did you mean 'bow'?"});
    const auto path = scratch.write("b.json", R"({"schema_version": 1, "extends": "absent.json"})");
    CHECK_THROWS_AS(load_machine(path, {}), IoError);
    CHECK_THROWS_WITH(load_machine(path, {}), path + ":1:34: /extends: cannot read '" +
                                                  scratch.path("absent.json") + "': no such file");
}

TEST_CASE("an absent file is an io error and an unknown name a config error", "[unit][spec]") {
    CHECK_THROWS_AS(load_machine("absent.json", source_paths()), IoError);
    CHECK_THROWS_AS(load_machine("some/absent", source_paths()), IoError);
    CHECK(mistakes_of([] { static_cast<void>(load_machine("gc20", source_paths())); }) ==
          Lines{"unknown machine 'gc20'; did you mean 'gc2'?"});
}

TEST_CASE("mistakes of all files and options come at once", "[unit][spec]") {
    const ScratchFolder scratch;
    const auto base = scratch.write("machines/base.json", "{\n"
                                                          "    \"tile\": {\n"
                                                          "        \"workers\": 0\n"
                                                          "    }\n"
                                                          "}\n");
    const auto top = scratch.write("machines/top.json", "{\n"
                                                        "    \"schema_version\": 1,\n"
                                                        "    \"extends\": \"base\",\n"
                                                        "    \"chip\": {\"clock_hz\": \"fast\"},\n"
                                                        "    \"memory\": {\n"
                                                        "        \"region0_byte\": 1024\n"
                                                        "    },\n"
                                                        "    \"tile\": {\"workers\": 4}\n"
                                                        "}\n");
    CHECK(mistakes(scratch, "top", {"tile.worker=3", "chip.generation=ipu3"}) ==
          Lines{"machines/base.json:1:1: /schema_version: missing, expected 1",
                "machines/base.json:3:20: /tile/workers: got 0 workers, expected 1..8 workers",
                "machines/top.json:4:26: /chip/clock_hz: got string \"fast\", expected a number "
                "of Hz",
                "machines/top.json:6:9: /memory/region0_byte: unknown key; did you mean "
                "'region0_bytes'?",
                "--set: chip.generation: got string \"ipu3\", expected one of ipu1, ipu2, ipu21; "
                "did you mean 'ipu1'?",
                "--set: tile.worker: unknown key; did you mean 'tile.workers'?"});
}

TEST_CASE("a machine file that is no object is told", "[unit][spec]") {
    const ScratchFolder scratch;
    const auto file = scratch.write("a.json", "[1]");
    CHECK(mistakes(scratch, file, {"tile.workers=4"}).front() ==
          "a.json:1:1: got an array, expected an object");
}
