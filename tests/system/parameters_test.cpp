// SPDX-License-Identifier: MIT
// Every machine parameter moves cycles, bytes or a check, and those that are said to move nothing
// move nothing. Each run is a process of its own, as SystemC elaborates once.
//
// A new parameter needs one row in experiments(): two values, of which the second costs more or
// fails, and a scene that feels it.
#include "base/config/report.h"
#include "models/machine_file/load.h"
#include "sim/process/child.h"
#include "tests/system/parameter_scenes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

using namespace tessera;
using namespace tessera::test;
using program::StreamCopy;
using Place = program::RemoteBuffer::Place;

namespace {

// ---- machines

/// "a.b=1", "a.c.d=2" as a machine file over `tiny`.
std::string file_text(const Lines& sets) {
    nlohmann::json document = {{"schema_version", 1}, {"extends", "tiny"}};
    for (const auto& set : sets) {
        const auto equals = set.find('=');
        std::string pointer = "/" + set.substr(0, equals);
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const auto value = nlohmann::json::parse(set.substr(equals + 1), nullptr, false);
        document[nlohmann::json::json_pointer(pointer)] =
            value.is_discarded() ? nlohmann::json(set.substr(equals + 1)) : value;
    }
    return document.dump();
}

spec::LoadedMachine machine_of_file(const Lines& sets) {
    const ScratchFolder scratch;
    return machine_file::load(scratch.write("machine.json", file_text(sets)), source_paths());
}

/// Whether the rules between values allow it.
bool is_machine(const Lines& sets) {
    return mistakes_of([&] { static_cast<void>(machine_of_file(sets)); }).empty();
}

// ---- runs

struct Seen {
    Cycles cost = 0;
    std::string mistake; ///< or empty
    std::set<std::string> parts;
};

struct Run {
    Lines sets;
    Scene scene;
    bool by_option = true; ///< of --set; otherwise in a file
};

Seen seen_from(const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    return {json["cost"], json["mistake"], json["parts"]};
}

std::vector<Seen> see(const std::vector<Run>& runs) {
    std::vector<process::ChildBody> bodies;
    for (const Run& run : runs) {
        bodies.push_back([&run] {
            Seen seen;
            try {
                const auto machine = run.by_option
                                         ? machine_file::load("tiny", source_paths(), run.sets)
                                         : machine_of_file(run.sets);
                seen.cost = run.scene(machine.spec, seen.parts);
            } catch (const std::exception& error) {
                seen.mistake = error.what();
            }
            return process::ChildOutcome{process::kOk, nlohmann::json{{"cost", seen.cost},
                                                                      {"mistake", seen.mistake},
                                                                      {"parts", seen.parts}}
                                                           .dump()};
        });
    }
    std::vector<Seen> all;
    for (const auto& outcome : process::run_children(bodies, 2)) {
        REQUIRE(outcome.exit_code == process::kOk);
        all.push_back(seen_from(outcome.text));
    }
    return all;
}

// ---- what moves what

struct Experiment {
    std::string path;
    Lines others; ///< further settings
    std::string cheap;
    std::string dear;
    Scene scene;
    std::optional<Cycles> by = {}; ///< what the dear one costs more, where that is known
    std::string mistake = {};      ///< of the dear one, where that is a check
};

std::vector<Experiment> tile_experiments() {
    return {
        {"chip.generation", {}, "ipu21", "ipu2", fp8_scene, {}, "expected 21"},
        {"chip.tiles", {}, "8", "4", matmul_scene(64)},
        {"chip.clock_hz", {}, "1e9", "2e9", host_scene()},
        {"tile.workers", {}, "6", "8", code_scene("all_workers")},
        {"tile.pipeline_cycles", {}, "6", "12", code_scene("all_workers")},
        {"tile.unaligned_bundle_issues", {}, "1", "3", code_scene("unaligned")},
        {"tile.fetch_conflict",
         {},
         "ignore",
         "error",
         code_scene("own_element"),
         {},
         "element of the code being fetched"},
        {"tile.fetch_window_bytes",
         {"memory.element_bytes=1024"},
         "64",
         "1024",
         code_scene("next_element"),
         {},
         "element of the code being fetched"},
        {"tile.worker_fetch_window_bytes",
         {"memory.element_bytes=1024"},
         "16",
         "1024",
         code_scene("worker_next_element"),
         {},
         "element of the code being fetched"},
        {"tile.phase_limit_cycles",
         {},
         "10000000",
         "1000000",
         code_scene("supervisor_long"),
         {},
         "loop for ever"},
        {"memory.base", {}, "311296", "540672", code_scene("region1"), {}, "outside"},
        {"memory.region0_bytes",
         {"memory.region1_bytes=0"},
         "32768",
         "16384",
         code_scene("second_element"),
         {},
         "outside"},
        {"memory.region1_bytes", {}, "425984", "0", code_scene("region1"), {}, "outside"},
        {"memory.element_bytes",
         {"memory.region0_bytes=262144", "memory.region1_bytes=393216"},
         "16384",
         "65536",
         code_scene("second_element"),
         {},
         "element of the code being fetched"},
        {"amp.steps_per_issue", {}, "2", "1", matmul_scene(64)},
    };
}

std::vector<Experiment> exchange_experiments() {
    const Scene message = exchange_scene({3});
    const Scene wide = exchange_scene({2, 3});
    const std::string compiled = "exchange.fabric=compiled";
    const std::string mesh = "exchange.fabric=mesh";
    // two rows of the grid, and muxes that never make a word wait
    const Lines routes{"chip.tiles=128", "exchange.pair_double=false",
                       "exchange.mux_to_pointer_cycles=0", "exchange.mux_to_pointer_row_cycles=0"};
    return {
        {"exchange.fabric", {}, "bound", "compiled", message},
        {"exchange.lane_bytes", {}, "8", "4", message, kMessage / 8},
        {"exchange.pair_double", {}, "true", "false", wide},
        {"exchange.pair_min_items", {}, "64", "4096", wide},
        {"exchange.max_words_per_send", {}, "64", "1", rows_scene(64)},
        {"exchange.max_words_per_sendoff", {}, "4096", "1", rows_scene(kMessage)},
        {"exchange.far_first",
         {"chip.generation=ipu1", "chip.tiles=1216", "exchange.pair_double=false"},
         "true",
         "false",
         broadcast_events},
        {"exchange.mux_to_pointer_cycles", {}, "52", "152", control_scene},
        {"exchange.mux_to_pointer_row_cycles", {"chip.tiles=128"}, "2", "50", broadcast_events},
        {"exchange.route_cycles", routes, "20", "30", longest_route_events, 10},
        {"exchange.route_row_cycles", routes, "1", "100", longest_route_events},
        {"exchange.route_column_cycles", routes, "4", "14", longest_route_events},
        {"exchange.route_near_cycles", routes, "1", "100", longest_route_events},
        {"exchange.route_far_cycles", routes, "1", "100", longest_route_events},
        {"exchange.route_fold_cycles", routes, "1", "11", longest_route_events},
        {"exchange.route_step_cycles", routes, "1", "11", longest_route_events},
        {"exchange.route_half_cycles", routes, "1", "11", longest_route_events},
        {"exchange.row_tail_cycles", {}, "6", "16", control_scene, 10 * (kExchanges + kLooks)},
        {"exchange.row_return_cycles", {}, "6", "16", control_scene, 10 * (kExchanges + kLooks)},
        {"exchange.prologue_cycles", {}, "30", "40", control_scene, 10 * (kExchanges + kLooks)},
        {"exchange.link_bytes", {mesh}, "4", "1", message, kMessage - kMessage / 4},
        {"exchange.hop_cycles", {mesh}, "1", "11", control_scene},
        {"exchange.ring_directions", {"exchange.fabric=ring"}, "2", "1", message},
    };
}

std::vector<Experiment> control_experiments() {
    return {
        {"sync.internal_cycles", {}, "126", "226", control_scene, 100 * kBarriers},
        {"sync.external_cycles", {}, "600", "700", control_scene, 100},
        {"control.step_cycles", {}, "11", "21", control_scene, 10 * kSets},
        {"control.repeat_cycles", {}, "19", "29", control_scene, 10 * kRounds},
        {"control.branch_cycles", {}, "12", "22", control_scene, 10 * kLooks},
        {"control.call_cycles", {}, "19", "29", control_scene, 10 * kCalls},
        {"control.step_bytes", {}, "4", "14", control_bytes_scene, 10 * kSetsInText},
        {"control.exchange_bytes", {}, "32", "42", control_bytes_scene, 10 * kExchanges},
        {"control.sync_bytes", {}, "4", "14", control_bytes_scene, 10 * kZones},
        {"control.repeat_bytes", {}, "24", "34", control_bytes_scene, 10},
        {"control.branch_bytes", {}, "12", "22", control_bytes_scene, 10 * kLooks},
        {"control.while_limit_rounds", {}, "10", "9", while_scene, {}, "goes on after 9 rounds"},
    };
}

std::vector<Experiment> link_experiments() {
    using Direction = StreamCopy::Direction;
    const auto streaming = [](const std::vector<Direction>& directions) {
        return copies_scene(Place::StreamingMemory, directions);
    };
    const auto host = [](Direction direction) { return copies_scene(Place::Host, {direction}); };
    const Scene read = streaming({Direction::Read});
    const std::string gigahertz = "chip.clock_hz=1e9";
    return {
        {"streaming.read_gbytes_per_s", {gigahertz}, "2", "1", read, kRowBytes / 2},
        {"streaming.write_gbytes_per_s",
         {gigahertz},
         "2",
         "1",
         streaming({Direction::Write}),
         kRowBytes / 2},
        {"streaming.shared_rate",
         {},
         "false",
         "true",
         streaming({Direction::Read, Direction::Write})},
        {"streaming.latency_us", {gigahertz}, "10", "11.5", read, 1500},
        {"streaming.request_bytes", {}, "65536", "1048576", read},
        {"streaming.machine_gbytes_per_s", {gigahertz}, "2", "1", read, kRowBytes / 2},
        {"streaming.chips_sharing",
         {gigahertz, "streaming.machine_gbytes_per_s=2"},
         "1",
         "2",
         read,
         kRowBytes / 2},
        {"streaming.capacity_bytes",
         {},
         std::to_string(kRows * kRowBytes),
         std::to_string(kRows * kRowBytes - 1),
         read,
         {},
         "streaming.capacity_bytes"},
        {"streaming.copy_limit_bytes",
         {},
         std::to_string(kRowBytes),
         std::to_string(kRowBytes - 1),
         read,
         {},
         "65535"},
        {"host.read_gbytes_per_s", {gigahertz}, "2", "1", host(Direction::Read), kRowBytes / 2},
        {"host.write_gbytes_per_s", {gigahertz}, "2", "1", host(Direction::Write), kRowBytes / 2},
        {"host.latency_us", {gigahertz}, "10", "11.5", control_scene, 1500},
        {"host.request_bytes", {}, "65536", "1048576", host(Direction::Read)},
    };
}

/// Machines of several chips that there cannot be. What systems do is not in these.
std::vector<Experiment> system_experiments() {
    const Scene scene = sync_scene();
    const Lines three{"system.chips=3"};
    const Lines four{"system.chips=4"};
    return {
        {"system.chips", {}, "4", "3", scene, {}, "expected an even number"},
        {"system.domain_chips", four, "4", "3", scene, {}, "(system.domain_chips)"},
        {"system.chip_delay", four, "[1, 2, 3, 4]", "[1, 2, 3, 4, 5]", scene, {}, "5 chips"},
        {"system.links.topology", three, "full", "ladder", scene, {}, "expected an even number"},
        {"system.links.payload_bytes", four, "64", "66", scene, {}, "a multiple of 4 B"},
        {"system.links.routes",
         four,
         R"([{"through": [0, 1, 3]}])",
         R"([{"through": [0, 1, 4]}])",
         scene,
         {},
         "got chip 4"},
    };
}

/// Messages between chips, and their barriers.
std::vector<Experiment> between_chips_experiments() {
    const std::string two = "system.chips=2";
    const std::string four = "system.chips=4";
    const std::string gigahertz = "chip.clock_hz=1e9";
    constexpr Bytes kFew = 64;
    constexpr Bytes kMany = 2048;
    const Scene word = messages_scene(0, 1, kFew);
    const Scene bulk = messages_scene(0, 1, kMany);
    return {
        {"sync.hop_ns", {four, gigahertz}, "15", "25", zones_scene(1), 20},
        {"system.zones", {two}, "2", "1", zones_scene(2), {}, "expected at most 1"},
        {"system.links.rung_links", {two}, "2", "1", bulk},
        {"system.links.rail_links", {four}, "2", "1", messages_scene(0, 2, kMany)},
        {"system.links.gbytes_per_s", {two}, "16", "8", bulk},
        {"system.links.overhead_bytes", {two}, "10", "20", bulk},
        {"system.links.hop_ns", {four, gigahertz}, "133", "233", messages_scene(0, 2, kFew), 100},
        {"system.links.rung_hop_ns", {two, gigahertz}, "202", "302", word, 100},
        {"system.links.turn_cycles", {two}, "78", "88", word, 10},
        {"system.links.block_cycles", {two}, "23", "33", word, 20},
        {"system.links.contexts", {two}, "4", "1", bulk},
        {"system.links.buffer_packets", {two}, "0", "1", bulk},
    };
}

std::vector<Experiment> experiments() {
    std::vector<Experiment> all;
    for (auto some : {tile_experiments(), exchange_experiments(), control_experiments(),
                      link_experiments(), system_experiments(), between_chips_experiments()}) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

/// Those that stand in an object; not the name and what belongs to the file. Elements of a list are
/// the list. Coefficients of energy and area move no run: tests/unit/sim/cost_test.cpp has them.
std::set<std::string> machine_parameters() {
    std::set<std::string> paths;
    for (const auto& parameter : config::parameters(spec::machine_shape())) {
        if (parameter.path.find('.') != std::string::npos &&
            !parameter.path.starts_with("energy.") && !parameter.path.starts_with("area.")) {
            paths.insert(parameter.path.substr(0, parameter.path.find(".N.")));
        }
    }
    return paths;
}

Lines with(Lines sets, const std::string& path, const std::string& value) {
    sets.push_back(path + "=" + value);
    return sets;
}

/// In each scene every parameter that neither machine nor program use changes nothing.
void check_unused(const Lines& machine_sets, const Scene& scene) {
    const Seen plain = see({{machine_sets, scene, false}}).front();
    REQUIRE(plain.mistake.empty());
    const auto machine = machine_of_file(machine_sets);
    std::vector<Run> runs;
    for (const auto& experiment : experiments()) {
        const auto* field = config::field_at(spec::machine_shape(), experiment.path);
        const bool by_machine =
            config::unused_reason(spec::machine_shape(), machine.resolved, experiment.path).empty();
        const bool by_program =
            field->used_by.empty() ||
            std::any_of(field->used_by.begin(), field->used_by.end(),
                        [&](const std::string& part) { return plain.parts.count(part) == 1; });
        if (!by_machine || !by_program) {
            for (const auto& value : {experiment.cheap, experiment.dear}) {
                const auto sets = with(machine_sets, experiment.path, value);
                if (is_machine(sets)) {
                    runs.push_back({sets, scene, false});
                }
            }
        }
    }
    REQUIRE(runs.size() > 10);
    const auto all = see(runs);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(runs[i].sets.back(), all[i].mistake);
        CHECK(all[i].cost == plain.cost);
    }
}

} // namespace

TEST_CASE("every machine parameter has an experiment and moves what it says") {
    std::set<std::string> without = machine_parameters();
    std::vector<Run> runs;
    const auto all = experiments();
    for (const auto& experiment : all) {
        CHECK(machine_parameters().count(experiment.path) == 1);
        without.erase(experiment.path);
        for (const auto& value : {experiment.cheap, experiment.dear}) {
            runs.push_back({with(experiment.others, experiment.path, value), experiment.scene});
        }
    }
    CHECK(without == std::set<std::string>{});
    const auto seen = see(runs);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Seen& cheap = seen[2 * i];
        const Seen& dear = seen[2 * i + 1];
        CAPTURE(all[i].path, cheap.cost, dear.cost, cheap.mistake, dear.mistake);
        CHECK(cheap.mistake.empty());
        if (!all[i].mistake.empty()) {
            CHECK_THAT(dear.mistake, Catch::Matchers::Contains(all[i].mistake));
            continue;
        }
        CHECK(dear.mistake.empty());
        CHECK(dear.cost > cheap.cost);
        CHECK(dear.cost - cheap.cost == all[i].by.value_or(dear.cost - cheap.cost));
    }
}

TEST_CASE("what a product does not use changes nothing") {
    check_unused({}, matmul_scene(64));
}

TEST_CASE("what a product over a mesh does not use changes nothing") {
    check_unused({"exchange.fabric=mesh"}, matmul_scene(64));
}

TEST_CASE("what a product over a ring does not use changes nothing") {
    check_unused({"exchange.fabric=ring"}, matmul_scene(64));
}

TEST_CASE("what a product over a bound does not use changes nothing") {
    check_unused({"exchange.fabric=bound"}, matmul_scene(64));
}

TEST_CASE("what decisions over a mesh do not use changes nothing") {
    check_unused({"exchange.fabric=mesh"}, control_scene);
}

TEST_CASE("what barriers do not use changes nothing") {
    check_unused({}, sync_scene());
}

TEST_CASE("what a copy from the host does not use changes nothing") {
    check_unused({"streaming.capacity_bytes=0"}, host_scene());
}

TEST_CASE("what machine parameters are used by is what programs can have") {
    for (const auto& path : machine_parameters()) {
        CAPTURE(path);
        for (const auto& part : config::field_at(spec::machine_shape(), path)->used_by) {
            CHECK(run::known_parts().count(part) == 1);
        }
    }
}
