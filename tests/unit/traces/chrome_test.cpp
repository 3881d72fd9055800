// SPDX-License-Identifier: MIT
#include "tests/support/scratch_folder.h"
#include "traces/exporters/exporter.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::traces;
using nlohmann::json;

namespace {

/// Takes what `tell` sends and reads it back.
template <typename Tell>
json written(NameTable& names, Tell tell, Metadata metadata = {.machine = "tiny"}) {
    const test::ScratchFolder folder;
    Exporter trace{folder.path("t.json"),
                   parse_selection("all", "worker", 300),
                   names,
                   {.metadata = std::move(metadata)}};
    tell(trace);
    static_cast<void>(trace.finish());
    return json::parse(test::read_text(folder.path("t.json")));
}

std::vector<json> events_of(const json& trace, const std::string& phase) {
    std::vector<json> found;
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] == phase) {
            found.push_back(event);
        }
    }
    return found;
}

Span compute(Track track, Cycles begin, Cycles end, NameId name = kUnnamed) {
    return {track, Kind::Compute, name, begin, end, {}};
}

} // namespace

TEST_CASE("names of all letters survive Chrome's JSON", "[unit][traces]") {
    NameTable names;
    const std::vector<std::string> texts{"a \"quoted\" name", "back\\slash", "line\nbreak", "\x01",
                                         "\xc3\xa4"};
    const json trace = written(names, [&](Exporter& sink) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto begin = static_cast<Cycles>(i);
            sink.span(compute(machine_track(), begin, begin + 1, names.intern(texts[i])));
        }
        sink.span(compute(machine_track(), 10, 11, names.intern("broken \xff")));
        sink.span(compute(machine_track(), 11, 12));
    });
    const auto slices = events_of(trace, "X");
    REQUIRE(slices.size() == texts.size() + 2);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(slices[i]["name"] == texts[i]);
    }
    CHECK(slices[texts.size() + 1]["name"] == "compute");
}

TEST_CASE("metadata of Chrome's JSON says what ran", "[unit][traces]") {
    NameTable names;
    const json trace =
        written(names, [](Exporter& sink) { sink.span(compute(machine_track(), 0, 77)); },
                {.workload = "w\"", .machine = "m", .clock_hz = 1.5e9, .version = "9.8"});
    CHECK(trace["otherData"] == json{{"workload", "w\""},
                                     {"machine", "m"},
                                     {"clock_hz", 1.5e9},
                                     {"tessera", "9.8"},
                                     {"trace_clock", "cycles"},
                                     {"time_unit", "1 ns = 1 cycle"}});
    CHECK(trace["cycles"] == 77);
    CHECK(trace["displayTimeUnit"] == "ns");
}

TEST_CASE("a tile is a process whose threads have numbers of their own", "[unit][traces]") {
    NameTable names;
    const json trace = written(names, [](Exporter& sink) {
        sink.span(compute(machine_track(), 0, 5));
        for (const TileId tile : {0U, 255U, 256U}) {
            sink.span(compute(worker_track(tile, 0), 0, 5));
            sink.span(compute(supervisor_track(tile), 0, 5));
        }
    });
    std::map<int, std::string> process_of;
    std::map<std::pair<int, int>, int> threads;
    for (const auto& event : events_of(trace, "M")) {
        if (event["name"] == "process_name") {
            process_of[event["pid"]] = event["args"]["name"];
        } else if (event["name"] == "thread_name") {
            ++threads[{0, event["tid"]}];
        }
    }
    CHECK(process_of ==
          std::map<int, std::string>{
              {1, "tiny (1 ns = 1 cycle)"}, {2, "tile_0"}, {257, "tile_255"}, {258, "tile_256"}});
    CHECK(threads.size() == 1 + 3 * 3);
    for (const auto& [thread, times] : threads) {
        CHECK(times == 1);
        CHECK(thread.second != 0);
    }
}

TEST_CASE("each chip has processes of its own, far from those of the others", "[unit][traces]") {
    constexpr int kOfChip = 1 << 16; // more than a chip has tiles
    NameTable names;
    const json trace = written(names,
                               [](Exporter& sink) {
                                   for (const std::uint32_t chip : {0U, 2U}) {
                                       sink.span(compute(machine_track().of_chip(chip), 0, 5));
                                       sink.span(compute(worker_track(3, 0).of_chip(chip), 0, 5));
                                   }
                               },
                               {.machine = "tiny", .chips = 3});
    std::map<int, int> processes;
    for (const auto& event : events_of(trace, "M")) {
        if (event["name"] == "process_name") {
            ++processes[event["pid"]];
        }
    }
    // each chip's machine, and tile 3 of two of them
    CHECK(processes ==
          std::map<int, int>{
              {1, 1}, {kOfChip + 1, 1}, {2 * kOfChip + 1, 1}, {5, 1}, {2 * kOfChip + 5, 1}});
    std::map<int, int> slices;
    for (const auto& event : events_of(trace, "X")) {
        ++slices[event["pid"]];
    }
    CHECK(slices == std::map<int, int>{{1, 1}, {5, 1}, {2 * kOfChip + 1, 1}, {2 * kOfChip + 5, 1}});
}

TEST_CASE("a flow goes by time, whichever of its slices came first", "[unit][traces]") {
    NameTable names;
    const json trace = written(names, [](Exporter& sink) {
        Span barrier = compute(machine_track(), 40, 50);
        barrier.flow = {7, true};
        Span slowest = compute(slowest_track(), 10, 40);
        slowest.flow = {7, false};
        Span tile = compute(tile_track(3), 5, 40);
        tile.flow = {7, false};
        Span open = compute(slowest_track(), 50, 60);
        open.flow = {8, false};
        for (const Span& span : {slowest, barrier, tile, open}) {
            sink.span(span);
        }
    });
    std::string phases;
    for (const auto& event : trace["traceEvents"]) {
        if (event.value("cat", "") == "flow") {
            phases += event["ph"].get<std::string>() + event["ts"].dump() + " ";
            CHECK(event["id"] == 7); // what never ends is no arrow
            // an arrow ends in the slice that encloses its point, not in the next one
            CHECK(event.value("bp", "") == (event["ph"] == "s" ? "" : "e"));
        }
    }
    CHECK(phases == "s0.005 t0.01 f0.04 ");
}

TEST_CASE("points of a flow at one cycle stay in the order in which they came", "[unit][traces]") {
    for (const bool tile_first : {false, true}) {
        NameTable names;
        const json trace = written(names, [tile_first](Exporter& sink) {
            Span slowest = compute(slowest_track(), 10, 40);
            Span tile = compute(tile_track(3), 10, 40);
            Span barrier = compute(machine_track(), 40, 50);
            slowest.flow = tile.flow = {7, false};
            barrier.flow = {7, true};
            for (const Span& span : {tile_first ? tile : slowest, tile_first ? slowest : tile}) {
                sink.span(span);
            }
            sink.span(barrier);
        });
        const auto first = events_of(trace, "s");
        const auto second = events_of(trace, "t");
        REQUIRE(first.size() == 1);
        REQUIRE(second.size() == 1);
        const auto machine = events_of(trace, "f").at(0)["pid"];
        CHECK((first[0]["pid"] == machine) != tile_first);
        CHECK((second[0]["pid"] == machine) == tile_first);
    }
}

TEST_CASE("a flow of one point is an end, bound to its slice", "[unit][traces]") {
    NameTable names;
    const json trace = written(names, [](Exporter& sink) {
        Span barrier = compute(machine_track(), 40, 50);
        barrier.flow = {7, true};
        sink.span(barrier);
    });
    const auto ends = events_of(trace, "f");
    REQUIRE(ends.size() == 1);
    CHECK(ends[0]["bp"] == "e");
    CHECK(events_of(trace, "s").empty());
}

TEST_CASE("the machine's time is exact to the picosecond and says its cycles", "[unit][traces]") {
    NameTable names;
    const json trace = written(names,
                               [](Exporter& sink) {
                                   sink.span(compute(machine_track(), 0, 1));
                                   sink.span(compute(machine_track(), 1, 37));
                                   sink.counter({Counter::ActiveTiles, 37, 1});
                               },
                               {.machine = "bow", .clock_hz = 1.85e9, .clock = Clock::Machine});
    const auto slices = events_of(trace, "X");
    CHECK(slices[0]["dur"] == 0.000541);
    CHECK(slices[1]["ts"] == 0.000541);
    CHECK(slices[1]["dur"] == 0.019459);
    CHECK(slices[1]["args"] == json{{"begin_cycle", 1}, {"cycles", 36}});
    CHECK(events_of(trace, "C")[0]["ts"] == 0.02);
    CHECK(events_of(trace, "M")[0]["args"]["name"] == "bow (machine time at 1.85 GHz)");
}
