// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_file.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;

namespace {

SweepSpec sweep_of(const std::string& text) {
    return read_sweep(config::parse_document(text, "s.json"));
}

/// The mistakes, one a line; "ok" where there are none. Points are counted too.
std::string mistakes_of(const std::string& text) {
    try {
        const auto document = config::parse_document(text, "s.json");
        static_cast<void>(space_of(read_sweep(document), document));
        return "ok";
    } catch (const ConfigError& error) {
        std::string all;
        for (const Diagnostic& one : error.diagnostics()) {
            all += (all.empty() ? "" : "\n") + one.text();
        }
        return all;
    }
}

/// A sweep with these keys beside its workload.
std::string with(const std::string& keys) {
    return R"({"schema_version": 1, "workload": "dense_4096_f16", )" + keys + "}";
}

std::string axis_mistake(const std::string& axis, const std::string& sample = "grid") {
    return mistakes_of(with(
        fmt::format(R"("sample": {{"kind": "{}"{}}}, "axes": [{}])", sample,
                    sample == "random" || sample == "latin_hypercube" ? R"(, "n": 5)" : "", axis)));
}

} // namespace

TEST_CASE("a sweep file says machines, workloads, axes and what is good", "[unit][sweep]") {
    const SweepSpec sweep = sweep_of(R"({
        "schema_version": 1, "machine": ["bow", "c600"], "workload": "dense_4096_f16", "mode": "functional",
        "set": {"workload.partials": "f32"},
        "axes": [
            {"path": "tile.workers", "values": [4, 6, 8]},
            {"path": "exchange.lane_bytes", "log2": [4, 16]},
            {"path": "chip.clock_hz", "range": [1e9, 2e9, 5e8]},
            {"paths": ["chip.tiles", "memory.region0_bytes"], "values": [[1472, 1], [736, 2]]}],
        "points": [{"tile.workers": 12}],
        "derive": {"b": "2 * a", "a": "tile.workers + 1"},
        "exclude": ["tile.workers == 4 && exchange.lane_bytes > 8"],
        "constraints": ["memory_max_bytes < 600000"],
        "objectives": [{"path": "cycles"}, {"path": "tflops", "goal": "max", "over": "worst"}]
    })");
    CHECK(sweep.machines == std::vector<std::string>{"bow", "c600"});
    CHECK(sweep.workloads == std::vector<std::string>{"dense_4096_f16"});
    CHECK(sweep.mode == "functional");
    CHECK(sweep.exclude ==
          std::vector<std::string>{"tile.workers == 4 && exchange.lane_bytes > 8"});
    CHECK(sweep.constraints == std::vector<std::string>{"memory_max_bytes < 600000"});
    CHECK(sweep.set == Changes{{"workload.partials", "f32"}});
    REQUIRE(sweep.axes.size() == 4);
    CHECK(sweep.axes[1].choices.size() == 3);
    CHECK(sweep.axes[2].choices.back().front() == 2e9);
    CHECK(sweep.axes[3].paths.size() == 2);
    CHECK(sweep.points == std::vector<Changes>{{{"tile.workers", 12}}});
    REQUIRE(sweep.derived.size() == 2);
    CHECK(sweep.derived[0].path == "a"); // before what needs it
    CHECK(sweep.derived[1].path == "b");
    REQUIRE(sweep.objectives.size() == 2);
    CHECK_FALSE(sweep.objectives[0].largest);
    CHECK(sweep.objectives[1].largest);
    CHECK(sweep.objectives[1].over == Objective::Over::Worst);
    const auto document = config::parse_document("{}", "s.json");
    const Space space = space_of(sweep, document);
    CHECK(space.size() == 2 * 3 * 3 * 3 * 2);
    CHECK(space.at(0).front() == Change{"machine", "bow"});
    CHECK(space.at(space.size() - 1).front() == Change{"machine", "c600"});
}

TEST_CASE("one machine and one workload are no axes", "[unit][sweep]") {
    const auto document = config::parse_document(with(R"("machine": "bow")"), "s.json");
    const SweepSpec sweep = read_sweep(document);
    CHECK(sweep.mode == "timing");
    const Space space = space_of(sweep, document);
    CHECK(space.size() == 1);
    CHECK(space.at(0).empty());
}

TEST_CASE("a sample takes stretches and counts", "[unit][sweep]") {
    const SweepSpec sweep =
        sweep_of(with(R"("sample": {"kind": "latin_hypercube", "n": 9, "seed": 3},
        "axes": [{"path": "a", "range": [1, 100], "scale": "log"}, {"path": "b", "range": [0.5, 2]}])"));
    CHECK(sweep.sample.points == 9);
    CHECK(sweep.sample.seed == 3);
    REQUIRE(sweep.axes[0].stretch);
    CHECK(sweep.axes[0].stretch->whole);
    CHECK(sweep.axes[0].stretch->logarithmic);
    CHECK_FALSE(sweep.axes[1].stretch->whole);
}

TEST_CASE("mistakes in a sweep file are told with their place", "[unit][sweep]") {
    CHECK(mistakes_of(R"({"schema_version": 1})") ==
          "s.json:1:1: /workload: missing, expected a string or an array");
    CHECK(mistakes_of(with(R"("axis": [])")) ==
          "s.json:1:53: /axis: unknown key; did you mean 'axes'?");
    CHECK(mistakes_of(R"({"schema_version": 1, "workload": []})") ==
          "s.json:1:35: /workload: got an empty list, expected a name or several");
    CHECK(mistakes_of(R"({"schema_version": 1, "workload": ["a", "a"]})") ==
          "s.json:1:41: /workload/1: 'a' stands here twice");
    CHECK(mistakes_of(R"({"schema_version": 1, "workload": ["a", 3]})") ==
          "s.json:1:41: /workload/1: got number 3, expected a name or a file");
    CHECK(mistakes_of(with(R"("set": {"tile.workers": null})")) ==
          "s.json:1:77: /set/tile.workers: got null, expected a number, text, true, false or a "
          "list");
    CHECK(mistakes_of(with(R"("sample": {"kind": "random"})")) ==
          "s.json:1:63: /sample/n: missing, expected a number of points");
}

TEST_CASE("an axis has one form and values that go with it", "[unit][sweep]") {
    const auto tells = [](const std::string& axis, const std::string& words,
                          const std::string& sample = "grid") {
        CAPTURE(axis);
        CHECK_THAT(axis_mistake(axis, sample), Catch::Contains(words));
    };
    tells(R"({"values": [1]})", "expected 'path' or 'paths', one of them");
    tells(R"({"path": "a", "paths": ["b"], "values": [1]})", "expected 'path' or 'paths'");
    tells(R"({"path": "a"})", "expected 'values', 'range' or 'log2', one of them");
    tells(R"({"path": "a", "values": [1], "log2": [1, 2]})", "one of them");
    tells(R"({"path": "a", "values": []})", "got an empty list, expected a value or several");
    tells(R"({"path": "a", "values": [1, null]})", "got null, expected a number");
    tells(R"({"paths": ["a", "b"], "values": [[1, 2], [3]]})", "expected a list of 2 values");
    tells(R"({"paths": ["a", "b"], "log2": [1, 2]})", "several paths go together by 'values'");
    tells(R"({"path": "machine", "values": ["bow"]})", "'machine' is no axis");
    tells(R"({"path": "a", "range": [1, 2]})", "got 2 numbers, expected [from, to, step]");
    tells(R"({"path": "a", "range": [1, 2]})",
          "without a step it is for a random or latin_hypercube sample");
    tells(R"({"path": "a", "range": [1, 2, 1, 1]})", "got 4 numbers, expected [from, to, step]");
    tells(R"({"path": "a", "range": [1]})", "expected [from, to] or [from, to, step]", "random");
    tells(R"({"path": "a", "range": [2, 2]})", "the second one larger", "random");
    tells(R"({"path": "a", "range": [2, 1]})", "the second one larger", "random");
    tells(R"({"path": "a", "range": [0, 1], "scale": "log"})", "two numbers above 0", "random");
    tells(R"({"path": "a", "range": [1, 2, 1], "scale": "log"})",
          "a scale is of a range [from, to]", "random");
    tells(R"({"path": "a", "range": [1, 2, 0]})", "no step of 0 leads from 1 to 2");
    tells(R"({"path": "a", "range": [1, 2, -1]})", "no step of -1 leads from 1 to 2");
    tells(R"({"path": "a", "range": [0, 1, 1e-12]})", "expected at most 10,000,000");
    tells(R"({"path": "a", "range": [1, 10000001, 1]})",
          "got 10,000,001 values, expected at most 10,000,000");
    CHECK(axis_mistake(R"({"path": "a", "range": [1, 10000000, 1]})") == "ok");
    tells(R"({"path": "a", "range": ["x", 2, 1]})", "got string \"x\", expected a number");
    tells(R"({"path": "a", "log2": [3, 8]})", "two powers of two");
    tells(R"({"path": "a", "log2": [0, 8]})", "two powers of two");
    tells(R"({"path": "a", "log2": [2, 6]})", "two powers of two");
    CHECK(axis_mistake(R"({"path": "a", "log2": [8, 8]})") == "ok");
    tells(R"({"path": "a", "log2": [1.5, 8]})", "two powers of two");
    CHECK(axis_mistake(R"({"path": "a", "log2": [1, 8]})") == "ok");
    tells(R"({"path": "a", "log2": [8, 4]})", "the second one not less");
    CHECK_THAT(
        mistakes_of(with(
            R"("axes": [{"path": "a", "values": [1]}, {"paths": ["b", "a"], "values": [[1, 2]]}])")),
        Catch::Contains("'a' is changed twice"));
}

TEST_CASE("a grid that nobody could run is refused before anything is made", "[unit][sweep]") {
    std::string axes;
    for (const char* path : {"a", "b", "c", "d"}) {
        axes += fmt::format(R"({}{{"path": "{}", "range": [1, 1000, 1]}})",
                            axes.empty() ? "" : ", ", path);
    }
    CHECK_THAT(
        mistakes_of(with(R"("axes": [)" + axes + "]")),
        Catch::Contains("got a grid of 1,000,000,000,000 points, expected at most "
                        "10,000,000; a random or latin_hypercube sample takes some of them"));
    CHECK(mistakes_of(with(R"("sample": {"kind": "random", "n": 100}, "axes": [)" + axes + "]")) ==
          "ok");
}

TEST_CASE("a sweep has at most ten million points", "[unit][sweep]") {
    const auto axes = [](const std::string& last) {
        std::string text;
        for (int i = 0; i < 6; ++i) {
            text += fmt::format(R"({{"path": "a{}", "range": [1, 10, 1]}}, )", i);
        }
        return with("\"axes\": [" + text + last + "]");
    };
    CHECK(mistakes_of(axes(R"({"path": "b", "range": [1, 10, 1]})")) == "ok");
    CHECK_THAT(mistakes_of(axes(R"({"path": "b", "range": [1, 11, 1]})")),
               Catch::Contains("got a grid of 11,000,000 points, expected at most 10,000,000"));
}

TEST_CASE("workloads weigh the same where nothing is said", "[unit][sweep]") {
    const SweepSpec sweep = sweep_of(R"({"schema_version": 1, "workload": ["a", "b", "c"],
        "set": {"yes": true, "list": [1, 2], "word": "x", "seed": 3},
        "objectives": [{"path": "cycles", "over": "weighted_sum"}, {"path": "cycles"}]})");
    CHECK(sweep.objectives[0].weights == std::vector<double>{1, 1, 1});
    CHECK(sweep.objectives[1].weights.empty());
    CHECK(sweep.set ==
          Changes{{"list", {1, 2}}, {"workload.seed", 3}, {"word", "x"}, {"yes", true}});
}

TEST_CASE("expressions are read before anything runs", "[unit][sweep]") {
    CHECK_THAT(mistakes_of(with(R"("exclude": ["tile.workers >"])")),
               Catch::Contains("/exclude/0: 'tile.workers >', character 15: got the end"));
    CHECK_THAT(mistakes_of(with(R"("constraints": ["1", "sqr(2) < 3"])")),
               Catch::Contains("unknown function 'sqr'; did you mean 'sqrt'?"));
    CHECK_THAT(mistakes_of(with(R"("derive": {"a": "b", "b": "c + 1", "c": "2 * b"})")),
               Catch::EndsWith("it follows from itself: b needs c needs b"));
    CHECK_THAT(mistakes_of(with(R"("derive": {"a": "a"})")),
               Catch::Contains("it follows from itself: a needs a"));
    CHECK_THAT(mistakes_of(with(R"("derive": {"a": 3})")),
               Catch::Contains("got number 3, expected an expression in quotes"));
    CHECK_THAT(mistakes_of(with(R"("derive": {"a": "1"}, "axes": [{"path": "a", "values": [1]}])")),
               Catch::Contains("'a' is changed twice"));
    for (const std::string name : {"a b", "1", "a +", "min(1)", ""}) {
        CHECK_THAT(mistakes_of(with(R"("metrics": {")" + name + R"(": "cycles"})")),
                   Catch::EndsWith("expressions could not name it"));
    }
    CHECK(mistakes_of(with(R"("metrics": {"a.b": "c", "c": "cycles"})")) == "ok");
    CHECK_THAT(mistakes_of(with(R"("objectives": [{"path": "cycles", "weights": [1, 2]}])")),
               Catch::Contains("weights are of weighted_sum"));
    CHECK_THAT(
        mistakes_of(with(
            R"("objectives": [{"path": "cycles", "over": "weighted_sum", "weights": [1, 2]}])")),
        Catch::Contains("got 2 weights, expected one for each of 1 workload"));
}

TEST_CASE("the schema is one of an object", "[unit][sweep]") {
    const auto schema = sweep_schema();
    CHECK(schema["type"] == "object");
    CHECK(schema["required"] == nlohmann::json::array({"schema_version", "workload"}));
    CHECK(schema["properties"]["axes"]["items"]["properties"].contains("log2"));
}

TEST_CASE("the schema in configs and the presets are what the program writes and reads") {
    const auto configs = std::filesystem::path(test::source_path("configs"));
    CHECK(test::read_text(configs / "schemas" / "sweep.schema.json") ==
          sweep_schema().dump(2) + "\n");
    std::size_t presets = 0;
    for (const auto& entry : std::filesystem::directory_iterator(configs / "sweeps")) {
        INFO(entry.path());
        const auto document = config::read_document(entry.path());
        CHECK(document.root.contains("description"));
        CHECK(space_of(read_sweep(document), document).size() > 0);
        ++presets;
    }
    CHECK(presets > 0);
}
