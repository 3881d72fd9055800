// SPDX-License-Identifier: MIT
// Every figure of a point has its own place in the report.
#include "sim/vertex/check.h"
#include "sim/vertex/fit.h"
#include "sim/vertex/report.h"
#include "tests/support/counted.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using counts::Group;
using vertex::Json;

namespace {

const spec::MachineSpec kMachine;

/// A result in which no two figures are equal.
vertex::PointResult scene() {
    vertex::PhaseResult phase;
    phase.outcome.cycles = 11;
    phase.outcome.counts = test::counted({{Group::SupervisorInstructions, 12},
                                          {Group::WorkerIssues, 13},
                                          {Group::WorkerBundles, 14}});
    phase.racing_accesses = 15;
    phase.unused_reads = 16;
    phase.conflicts_found = 17;
    phase.workers = {
        {.worker = 21, .launch = 22, .entry = "w", .begin = 23, .end = 24, .cycles = 25}};
    phase.launches = {{.entry = "l", .workers = 31, .begin = 32, .end = 33, .cycles = 34}};
    tile::Race race;
    race.address = 41;
    race.first_context = -1;
    race.second_context = 4;
    race.first_cycle = 42;
    race.second_cycle = 43;
    race.second_writes = true;
    race.used_pc = 44;
    phase.races = {race};
    tile::Conflict conflict;
    conflict.kind = isa::ConflictKind::Fetch;
    conflict.context = 3;
    conflict.cycle = 51;
    conflict.address = 52;
    phase.conflicts = {conflict};
    conflict.kind = isa::ConflictKind::Element;
    phase.conflicts.push_back(conflict);
    vertex::PointResult result;
    result.phases = {phase};
    result.tile_cycles = 61;
    result.worker_cycles = 62;
    result.workers = {63, 64, {{"memory", 65}}};
    result.supervisor = {66, 67, {{"branch", 68}}};
    result.by_mnemonic = {{"add", 69}};
    result.by_class = {{"integer", 70}};
    result.by_lane = {{"main", 71}};
    result.lines = {{"a.S:1", 72, 73, 6}, {"a.S:2", 3, 18, 1}, {"stub", 2, 7, 0}};
    return result;
}

/// One without code: all that runs there is of a stub.
vertex::Bench empty_bench() {
    vertex::Bench bench;
    bench.codelets.resize(1);
    return bench;
}

} // namespace

TEST_CASE("every figure of a point stands in the report under its own name", "[unit][vertex]") {
    vertex::Bench bench = empty_bench();
    bench.parameters = {{"n", 1.5}};
    bench.code_bytes = 81;
    const auto region1 = kMachine.memory.region1_begin();
    bench.memory = {{"code", kMachine.memory.region0_begin(), 82, false, {}},
                    {"x", region1, 83, false, {}}};
    const vertex::ArrayCheck check{"x", 91, 92, {{93, 94, 95}}};
    const Json point = vertex::point_json(kMachine, bench, scene(), {check}, false);
    const std::int64_t elements0 = kMachine.memory.region0_bytes / kMachine.memory.element_bytes;
    CHECK(point["parameters"] == Json::parse(R"([{"name": "n", "value": 1.5}])"));
    CHECK(point["tile_cycles"] == 61);
    CHECK(point["worker_cycles"] == 62);
    CHECK(point["phases"] == Json::parse(R"([{
        "cycles": 11, "supervisor_instructions": 12, "worker_issues": 13, "worker_instructions": 14,
        "racing_accesses": 15, "unused_reads": 16, "conflicts": 17,
        "workers": [{"worker": 21, "launch": 22, "entry": "w", "begin": 23, "end": 24, "cycles": 25}],
        "launches": [{"entry": "l", "workers": 31, "begin": 32, "end": 33, "cycles": 34}]}])"));
    CHECK(point["workers"] ==
          Json::parse(R"({"issues": 63, "issue_cycles": 64, "stall_cycles": {"memory": 65}})"));
    CHECK(point["supervisor"] ==
          Json::parse(R"({"issues": 66, "issue_cycles": 67, "stall_cycles": {"branch": 68}})"));
    CHECK(point["instructions"] ==
          Json::parse(R"({"by_mnemonic": {"add": 69}, "by_class": {"integer": 70},
                          "by_lane": {"main": 71}})"));
    CHECK(point["lines"] ==
          Json::parse(R"([{"source": "a.S:1", "issues": 72, "cycles": 73, "workers": 6},
                          {"source": "a.S:2", "issues": 3, "cycles": 18, "workers": 1},
                          {"source": "stub", "issues": 2, "cycles": 7, "workers": 0}])"));
    CHECK(point["code_bytes"] == 81);
    REQUIRE(point["memory"].size() == 2);
    CHECK(point["memory"][0]["bytes"] == 82);
    CHECK(point["memory"][0]["element"] == 0);
    CHECK(point["memory"][1]["name"] == "x");
    CHECK(point["memory"][1]["address"] == region1);
    CHECK(point["memory"][1]["bytes"] == 83);
    CHECK(point["memory"][1]["element"] == elements0);
    CHECK(point["check"] == Json::parse(R"({"passed": false, "arrays": [{"array": "x",
        "elements": 91, "wrong": 92, "first": [{"index": 93, "got": 94, "expected": 95}]}]})"));
    CHECK_FALSE(point.contains("arrays"));
}

TEST_CASE("every figure that people read stands in its own line", "[unit][vertex]") {
    vertex::Bench bench = empty_bench();
    bench.parameters = {{"n", 1.5}};
    bench.code_bytes = 81;
    bench.memory = {{"x", kMachine.memory.region0_begin(), 83, false, {}}};
    const std::vector<vertex::ArrayCheck> checks{{"x", 91, 92, {{93, 94, 95}}}, {"y", 96, 0, {}}};
    const auto report = [&](const vertex::PointResult& result) {
        const Json point = vertex::point_json(kMachine, bench, result, checks, false);
        return vertex::report_text(vertex::result_json("v", "bow", {{"tile.workers", "why"}},
                                                       Json::array({point}), nullptr));
    };
    const std::string race = "RACE         word 0x29: supervisor @ 42: ";
    const std::vector<std::string> lines{
        "vertex       v on bow, n 1.5",
        "tile         61 cycles from the first instruction of the stub to its return",
        "worker 21    25 cycles, 23..24, w",
        "issues       63 of workers, 66 of the supervisor",
        "classes      integer 70",
        "mnemonics    add 69",
        "lanes        main 71",
        "stalls       workers: memory 65 cycles",
        "             supervisor: branch 68 cycles",
        "hot lines    73  worker-cycles  72  issues  a.S:1",
        "             18  cycles          3  issues  a.S:2",
        "              7  cycles          2  issues  stub",
        race,
        "CONFLICT     fetch at 0x34: worker_3 @ 51: ",
        "CONFLICT     element at 0x34: worker_3 @ 51: ",
        "code         81 bytes",
        "memory       0x4c000  83 B  element  0  x",
        "check        x: WRONG: 92 of 91 elements",
        "             [93] got 94, expected 95",
        "check        y: all 96 elements as expected",
        "unused       tile.workers: why"};
    std::string text = report(scene());
    std::size_t at = 0;
    for (const std::string& line : lines) {
        CAPTURE(line, text);
        const std::size_t found = text.find(line, at); // in this order
        REQUIRE(found != std::string::npos);
        CHECK((found == 0 || text[found - 1] == '\n'));
        at = found + line.size();
    }
    auto none = scene();
    none.workers.stall_cycles.clear();
    none.supervisor.stall_cycles = {{"a", 5}, {"b", 6}, {"c", 5}};
    none.phases[0].races.clear();
    none.phases[0].conflicts.clear();
    text = report(none);
    CHECK(text.find("workers: none cycles") != std::string::npos);
    CHECK(text.find("supervisor: b 6, a 5, c 5 cycles") != std::string::npos); // the most first
    CHECK(text.find("RACE") == std::string::npos);
    CHECK(text.find("CONFLICT") == std::string::npos);
}

namespace {

/// Lines of the report of some results, none of them broken, with one blank where there are several.
std::vector<std::string> lines_of(const std::vector<vertex::PointResult>& results,
                                  const vertex::Bench& bench = empty_bench(), Json fit = nullptr) {
    Json points = Json::array();
    for (const auto& result : results) {
        points.push_back(vertex::point_json(kMachine, bench, result, {}, false));
    }
    std::istringstream in(vertex::report_text(
        vertex::result_json("v", "bow", Json::object(), std::move(points), std::move(fit)),
        {.columns = 1000, .color = false}));
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        lines.emplace_back();
        for (std::string word; words >> word;) {
            lines.back() += (lines.back().empty() ? "" : " ") + word;
        }
    }
    return lines;
}
bool has(const std::vector<std::string>& lines, const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}
std::int64_t count_of(const std::vector<std::string>& lines, const std::string& part) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

} // namespace

TEST_CASE("the ten hottest lines are shown, and how many more there are", "[unit][vertex]") {
    for (const std::int64_t lines : {0, 1, 9, 10, 11, 15}) {
        auto result = scene();
        result.lines.assign(static_cast<std::size_t>(lines), {"a.S:1", 7, 7, 1});
        const auto text = lines_of({result});
        CAPTURE(lines);
        CHECK(count_of(text, "7 cycles 7 issues a.S:1") == std::min<std::int64_t>(lines, 10));
        CHECK(count_of(text, "more lines") == (lines > 10 ? 1 : 0));
        CHECK(has(text, fmt::format("and {} more lines; --json lists all", lines - 10)) ==
              (lines > 10));
    }
    // cycles of several workers are not those of the tile
    auto result = scene();
    result.lines = {{"a.S:1", 3, 18, 2}, {"a.S:2", 3, 18, 1}};
    CHECK(has(lines_of({result}), "hot lines 18 worker-cycles 3 issues a.S:1"));
    CHECK(has(lines_of({result}), "18 cycles 3 issues a.S:2"));
}

TEST_CASE("phases and launches are told apart where there are several", "[unit][vertex]") {
    const std::string slowest = "workers 62 cycles, the slowest of each launch";
    auto result = scene();
    auto text = lines_of({result});
    CHECK(count_of(text, "phase ") == 0);
    CHECK_FALSE(has(text, slowest));
    CHECK(has(text, "worker 21 25 cycles, 23..24, w"));

    auto phases = result;
    phases.phases.push_back(phases.phases.front());
    phases.phases.back().outcome.cycles = 12;
    text = lines_of({phases});
    CHECK(has(text, "phase 0 11 cycles"));
    CHECK(has(text, "phase 1 12 cycles"));
    CHECK(has(text, slowest));
    CHECK(count_of(text, "worker 21 ") == 2);
    phases.phases.back().launches.clear(); // a phase of the supervisor alone
    CHECK_FALSE(has(lines_of({phases}), slowest));

    // launches that follow each other and are alike in what is shown are a row
    result.phases[0].launches = {{.entry = "l", .workers = 6, .begin = 1, .end = 9, .cycles = 8},
                                 {.entry = "l", .workers = 6, .begin = 11, .end = 19, .cycles = 8},
                                 {.entry = "l", .workers = 5, .begin = 21, .end = 29, .cycles = 8},
                                 {.entry = "l", .workers = 5, .begin = 31, .end = 38, .cycles = 7},
                                 {.entry = "m", .workers = 5, .begin = 41, .end = 48, .cycles = 7},
                                 {.entry = "m", .workers = 5, .begin = 51, .end = 58, .cycles = 7}};
    text = lines_of({result});
    CHECK(has(text, "launches workers cycles begin entry"));
    CHECK(has(text, "0-1 6 8 1 l, each"));
    CHECK(has(text, "2 5 8 21 l"));
    CHECK(has(text, "3 5 7 31 l"));
    CHECK(has(text, "4-5 5 7 41 m, each"));
    CHECK(has(text, slowest));
    CHECK(count_of(text, "worker 21 ") == 0); // launches instead
}

TEST_CASE("troubles of the same places are shown once, and how many more there are",
          "[unit][vertex]") {
    auto result = scene();
    auto& phase = result.phases[0];
    CHECK(count_of(lines_of({result}), "more of them") == 0);
    phase.races.push_back(phase.races.front());
    phase.conflicts = {phase.conflicts[0], phase.conflicts[1], phase.conflicts[0],
                       phase.conflicts[0]};
    auto text = lines_of({result});
    CHECK(count_of(text, "RACE ") == 1);
    CHECK(count_of(text, "CONFLICT ") == 2);
    CHECK(count_of(text, "1 more of them") == 1);
    CHECK(count_of(text, "2 more of them") == 1);
    CHECK(count_of(text, "more of them") == 2);
    // what a race was used for is told where it is known
    CHECK(count_of(text, "used at") == 1);
    for (auto& race : phase.races) {
        race.used_pc = 0;
    }
    CHECK(count_of(lines_of({result}), "used at") == 0);
}

TEST_CASE("symbols that no source has are named with their places", "[unit][vertex]") {
    vertex::Bench bench = empty_bench();
    CHECK(count_of(lines_of({scene()}, bench), "undefined") == 0);
    bench.undefined = {{"f", "a.S:3"}, {"g", "b.S:4"}};
    CHECK(has(lines_of({scene()}, bench),
              "undefined f (a.S:3), g (b.S:4): in no source; nothing that ran needs it"));
}

TEST_CASE("several points are a table, with what a fit makes of them", "[unit][vertex]") {
    vertex::Bench bench = empty_bench();
    bench.parameters = {{"n", 1.5}};
    auto other = scene();
    other.tile_cycles = 161;
    CHECK(count_of(lines_of({scene()}, bench), "tile cycles") == 0);
    auto text = lines_of({scene(), other}, bench);
    CHECK(has(text, "n tile cycles worker cycles"));
    CHECK(has(text, "1.5 61 62"));
    CHECK(has(text, "1.5 161 62"));

    vertex::Fit fit;
    fit.formula = "a + b * n";
    fit.coefficients = {{"a", 1.0}, {"b", 2.0}};
    fit.fitted = {60.996, 161.5};
    // cycles are whole: less than a millionth of one is none
    for (const auto& [residual, shown] :
         {std::pair{0.5, "0.5"}, {1e-6, "1e-06"}, {0.99e-6, "0"}, {0.0, "0"}}) {
        fit.largest_residual = residual;
        text = lines_of({scene(), other}, bench, vertex::fit_json(fit, "tile_cycles"));
        CHECK(has(text, "n tile cycles worker cycles fitted"));
        CHECK(has(text, "1.5 61 62 61.00"));
        CHECK(has(text, "1.5 161 62 161.50"));
        CHECK(has(text, "fit of tile_cycles: a + b * n"));
        CHECK(has(text, "a 1"));
        CHECK(has(text, "b 2"));
        CHECK(has(text, std::string("largest residual ") + shown + " cycles"));
    }
}

TEST_CASE("what races come to is told", "[unit][vertex]") {
    auto result = scene();
    const auto told = [&] {
        const Json point = vertex::point_json(kMachine, empty_bench(), result, {}, false);
        const std::string text = vertex::report_text(
            vertex::result_json("v", "bow", Json::object(), Json::array({point}), nullptr));
        const std::size_t at = text.find("\norder ");
        std::string words;
        std::istringstream in(at == std::string::npos ? "" : text.substr(at));
        for (std::string word; in >> word && word != "code";) {
            words += (words.empty() ? "" : " ") + word;
        }
        return words;
    };
    CHECK(told().empty());
    const std::string accesses = "order 15 pairs of accesses race; ";
    result.order = vertex::OrderEffect{0, 0, result.tile_cycles, ""};
    CHECK(told() == accesses +
                        "no word of memory and no cycle depends on their order, slot by slot "
                        "or one context after the other");
    const auto first_word = [&] {
        return vertex::point_json(kMachine, empty_bench(), result, {},
                                  false)["order"]["first_word"];
    };
    CHECK(first_word().is_null()); // no word has an address
    result.order->other_cycles = 99;
    CHECK(told() == accesses + "their order decides the cycles, 99 if one context runs after the "
                               "other; shown is the machine's, slot by slot");
    result.order->words = 1;
    result.order->first_word = 0x1234;
    CHECK(first_word() == 0x1234);
    CHECK(told() ==
          accesses +
              "their order decides 1 word of memory, the first at 0x1234, and the cycles, "
              "99 if one context runs after the other; shown is the machine's, slot by slot");
    result.order->other_cycles = result.tile_cycles;
    CHECK(told() == accesses +
                        "their order decides 1 word of memory, the first at 0x1234; shown is "
                        "the machine's, slot by slot");
    result.phases[0].racing_accesses = 1;
    CHECK(told().find("order 1 pair of accesses races; ") == 0);
    result.phases[0].racing_accesses = 15;
    result.order->other_cycles = 99;
    result.order->words = 2;
    CHECK(told() == accesses +
                        "their order decides 2 words of memory, the first at 0x1234, and the "
                        "cycles, 99 if one context runs after the other; shown is the "
                        "machine's, slot by slot");
    result.order->other_fault = "it fell";
    CHECK(told() == accesses + "shown is the machine's order, slot by slot; one context after the "
                               "other the run ends in a fault: it fell");
    const Json point = vertex::point_json(kMachine, empty_bench(), result, {}, false);
    CHECK(point["order"]["words"].is_null());
    CHECK(point["order"]["other_fault"] == "it fell");
}

TEST_CASE("what placement costs is told with the lines to align", "[unit][vertex]") {
    auto result = scene();
    const auto text = [&] {
        const Json point = vertex::point_json(kMachine, empty_bench(), result, {}, false);
        return vertex::report_text(
            vertex::result_json("v", "bow", Json::object(), Json::array({point}), nullptr));
    };
    CHECK(text().find("placement") == std::string::npos);
    result.placement = {100, 0.07, {}};
    std::vector<std::string> expected{"before"};
    for (const std::size_t line : {1U, 2U, 3U, 4U, 5U}) {
        const auto cycles = static_cast<Cycles>(50 - 10 * line);
        result.placement.lines.push_back({fmt::format("a.S:{}", line), 0, cycles});
        // three of them are named
        expected.push_back(line <= 3 ? fmt::format("{}{} a.S:{} ({} cycles)", expected.back(),
                                                   line == 1 ? "" : ",", line, cycles)
                                     : expected[3]);
        // lines of text are broken anywhere
        std::string said;
        for (const char c : text()) {
            if (c != ' ' && c != '\n') {
                said += c;
            }
        }
        std::string whole = "100 cycles of workers, 7.0 %, are lost by branches to bundles at 4 "
                            "modulo 8: .align 8 " +
                            expected.back() +
                            (line > 3 ? fmt::format(", and {} more", line - 3) : "");
        std::erase(whole, ' ');
        CAPTURE(line, said);
        CHECK(said.find("placement" + whole + "RACE") != std::string::npos); // the next line
    }
}

TEST_CASE("workers side by side that take the same are one line", "[unit][vertex]") {
    // begins and ends are those of all of them, in whatever order they ran
    auto result = scene();
    auto& workers = result.phases[0].workers;
    workers = {{.worker = 0, .launch = 0, .entry = "w", .begin = 5, .end = 30, .cycles = 25},
               {.worker = 1, .launch = 0, .entry = "w", .begin = 4, .end = 31, .cycles = 25}};
    const auto lines = [&] {
        const Json point = vertex::point_json(kMachine, empty_bench(), result, {}, false);
        const std::string text = vertex::report_text(
            vertex::result_json("v", "bow", Json::object(), Json::array({point}), nullptr));
        std::vector<std::string> found;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            if (line.rfind("worker", 0) == 0) {
                found.push_back(line);
            }
        }
        return found;
    };
    using Lines = std::vector<std::string>;
    CHECK(lines() == Lines{"workers 0-1  25 cycles each, 4..31, w"});
    workers[1].cycles = 26;
    CHECK(lines() == Lines{"worker 0     25 cycles, 5..30, w", "worker 1     26 cycles, 4..31, w"});
    workers[1].cycles = 25;
    workers[1].entry = "other";
    CHECK(lines().size() == 2);
    workers[1].entry = "w";
    workers[1].worker = 2;
    CHECK(lines().size() == 2);
}

TEST_CASE("races and conflicts tell both sides, who, when and where", "[unit][vertex]") {
    const Json point = vertex::point_json(kMachine, empty_bench(), scene(), {}, false);
    REQUIRE(point["races"].size() == 1);
    const Json& race = point["races"][0];
    CHECK(race["address"] == 41);
    CHECK(race["first"]["context"] == "supervisor");
    CHECK(race["first"]["cycle"] == 42);
    CHECK(race["first"]["writes"] == false);
    CHECK(race["second"]["context"] == "worker_4");
    CHECK(race["second"]["cycle"] == 43);
    CHECK(race["second"]["writes"] == true);
    CHECK(race["used_at"] == "stub");
    CHECK(point["order"].is_null());
    REQUIRE(point["conflicts"].size() == 2);
    CHECK(point["conflicts"][0]["kind"] == "fetch");
    CHECK(point["conflicts"][1]["kind"] == "element");
    CHECK(point["conflicts"][0]["context"] == "worker_3");
    CHECK(point["conflicts"][0]["cycle"] == 51);
    CHECK(point["conflicts"][0]["address"] == 52);
    CHECK(point["check"].is_null());
    for (const int context : {-1, 0, 1, 5}) {
        auto result = scene();
        result.phases[0].races[0].first_context = context;
        result.phases[0].conflicts[0].context = context;
        const Json told = vertex::point_json(kMachine, empty_bench(), result, {}, false);
        const std::string who = context == -1 ? "supervisor" : "worker_" + std::to_string(context);
        CHECK(told["races"][0]["first"]["context"] == who);
        CHECK(told["conflicts"][0]["context"] == who);
    }
}

TEST_CASE("all arrays stand in the report with what the run left in them", "[unit][vertex]") {
    vertex::Bench bench = empty_bench();
    bench.arrays.resize(3);
    auto result = scene();
    for (std::size_t i = 0; i < bench.arrays.size(); ++i) {
        bench.arrays[i].name = "x" + std::to_string(i);
        bench.arrays[i].type = vertex::find_value_type("u8");
        bench.arrays[i].shape = {2};
        result.arrays.push_back({static_cast<std::byte>(i), static_cast<std::byte>(i + 10)});
    }
    CHECK(vertex::point_json(kMachine, bench, result, {}, true)["arrays"] ==
          Json::parse(R"({"x0": {"type": "u8", "shape": [2], "values": [0, 10]},
                          "x1": {"type": "u8", "shape": [2], "values": [1, 11]},
                          "x2": {"type": "u8", "shape": [2], "values": [2, 12]}})"));
    CHECK_FALSE(vertex::point_json(kMachine, bench, result, {}, false).contains("arrays"));
}

TEST_CASE("the report has as many lines as people read, and numbers that JSON has",
          "[unit][vertex]") {
    auto result = scene();
    for (const std::size_t lines :
         {std::size_t{0}, std::size_t{19}, std::size_t{20}, std::size_t{21}}) {
        result.lines.assign(lines, {"a.S:1", 1, 1, 1});
        CHECK(vertex::point_json(kMachine, empty_bench(), result, {}, false)["lines"].size() ==
              std::min<std::size_t>(lines, 20));
    }
    vertex::Bench bench = empty_bench();
    const double infinity = std::numeric_limits<double>::infinity();
    bench.parameters = {
        {"whole", 3}, {"part", 0.25}, {"nan", std::nan("")}, {"up", infinity}, {"down", -infinity}};
    const Json shown = vertex::point_json(kMachine, bench, result, {}, false)["parameters"];
    CHECK(shown[0]["value"].is_number_integer());
    CHECK(shown[0]["value"] == 3);
    CHECK(shown[1]["value"] == 0.25);
    CHECK(shown[2]["value"] == "nan");
    CHECK(shown[3]["value"] == "inf");
    CHECK(shown[4]["value"] == "-inf");
    // the largest that are shown as whole numbers, and those beyond
    for (const double value : {8e15, -8e15, 9e15, -9e15, 1e18, 1e19, -1e19, 1e300, -1e300}) {
        CAPTURE(value);
        bench.parameters = {{"large", value}};
        const Json large =
            vertex::point_json(kMachine, bench, result, {}, false)["parameters"][0]["value"];
        CHECK(large.get<double>() == value);
        CHECK(large.is_number_integer() == (std::fabs(value) < 9e15));
    }
}

TEST_CASE("a fit and a result have their parts under their own names", "[unit][vertex]") {
    vertex::Fit fit;
    fit.formula = "a + b * n";
    fit.coefficients = {{"a", 1.0}, {"b", 2.0}};
    fit.fitted = {3.0, 4.0};
    fit.largest_residual = 5.0;
    const Json told = vertex::fit_json(fit, "tile_cycles");
    CHECK(told == Json::parse(R"({"formula": "a + b * n", "of": "tile_cycles",
        "coefficients": [{"name": "a", "value": 1.0}, {"name": "b", "value": 2.0}],
        "fitted": [3.0, 4.0], "largest_residual": 5.0})"));
    const Json result = vertex::result_json("v", "bow", Json::object(), Json::array({1}), told);
    CHECK(result["name"] == "v");
    CHECK(result["machine"] == "bow");
    CHECK(result["points"] == Json::array({1}));
    CHECK(result["fit"] == told);
    CHECK(result["unused_parameters"] == Json::object());
}
