// SPDX-License-Identifier: MIT
#include "base/config/shape.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/source.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;

namespace {

struct Planned {
    explicit Planned(const std::string& text)
        : document(config::parse_document(text, "s.json")), sweep(read_sweep(document)) {}

    [[nodiscard]] Plan plan(const Shard& shard = {}) const {
        return plan_points(sweep, document, test::source_paths(), PointKeys(1), shard);
    }
    [[nodiscard]] std::vector<PlannedPoint> points() const {
        PointKeys keys(1);
        const auto paths = test::source_paths();
        Planner planner(sweep, document, paths, keys);
        std::vector<PlannedPoint> all;
        for (std::int64_t number = 0; number < planner.size(); ++number) {
            all.push_back(planner.at(number));
        }
        return all;
    }

    config::Document document;
    SweepSpec sweep;
};

std::string sweep_text(const std::string& rest) {
    return R"({"schema_version": 1, "machine": "tiny", "workload": "tiny_matmul", )" + rest + "}";
}

std::string mistakes_of(const std::string& rest) {
    try {
        static_cast<void>(Planned(sweep_text(rest)).plan());
        return "ok";
    } catch (const ConfigError& error) {
        std::string all;
        for (const Diagnostic& one : error.diagnostics()) {
            all += one.text() + "\n";
        }
        return all;
    }
}

} // namespace

TEST_CASE("a point's key is that of the same run from elsewhere", "[unit][sweep]") {
    const Planned planned(
        sweep_text(R"("axes": [{"path": "tile.workers", "values": [2, 4]}], "set": {"seed": 3})"));
    for (const PlannedPoint& point : planned.points()) {
        const auto sets = catalog::split_overrides(sets_of(point.changes));
        PointKeys keys(1);
        const auto machine = spec::load_machine("tiny", test::source_paths(), sets.machine);
        const auto workload =
            catalog::load_workload("tiny_matmul", test::source_paths(), sets.workload);
        CHECK(point.key == keys.of(PointKeys::part_of(machine), keys.part_of(workload), "timing"));
    }
}

TEST_CASE("however many shards there are, they are the plan", "[unit][sweep]") {
    const Planned planned(sweep_text(R"("axes": [{"path": "sync.internal_cycles",
        "range": [1, 90, 1]}, {"path": "tile.workers", "values": [2, 4, 6, 4]}])"));
    const Plan whole = planned.plan();
    CHECK(whole.points.size() == 270); // 4 workers come twice, as one point
    CHECK(whole.equal.empty());        // of one name
    std::set<PointKey> keys;
    for (const Plan::Point& point : whole.points) {
        keys.insert(point.key);
    }
    CHECK(keys.size() == whole.points.size());
    for (const std::int64_t shards : {1, 2, 7, 500}) {
        std::set<PointKey> together;
        for (std::int64_t number = 0; number < shards; ++number) {
            for (const Plan::Point& point : planned.plan({number, shards}).points) {
                REQUIRE(point.number % shards == number);
                together.insert(point.key);
            }
        }
        CHECK(together == keys);
    }
}

TEST_CASE("what follows is computed before anything is checked", "[unit][sweep]") {
    // memory elements of 8 and 32 KiB do not divide the regions as they are
    const Planned planned(sweep_text(R"("axes": [{"path": "memory.element_bytes",
        "values": [8192, 16384, 32768]}],
        "derive": {"memory.region0_bytes": "13 * memory.element_bytes",
                   "memory.region1_bytes": "2 * memory.region0_bytes"})"));
    for (const PlannedPoint& point : planned.points()) {
        REQUIRE(point.mistakes.empty());
        REQUIRE(point.changes.size() == 3);
        CHECK(point.changes[2].value == 26 * point.changes[0].value.get<int>());
    }
}

TEST_CASE("what follows is a whole number where it is one exactly", "[unit][sweep]") {
    const auto derived = [](const std::string& expression) {
        return Planned(sweep_text(R"("derive": {"workload.seed": ")" + expression + "\"}"))
            .points()
            .front()
            .changes.front()
            .value;
    };
    CHECK(derived("5 / 2").is_number_float());
    CHECK(derived("5 / 2") == 2.5);
    CHECK(derived("6 / 2").is_number_integer());
    CHECK(derived("6 / 2") == 3);
    const std::string exact = "9007199254740992"; // 2^53, which a double tells from no neighbour
    CHECK(derived(exact + " - 1").is_number_integer());
    CHECK(derived(exact).is_number_float());
    CHECK(derived("0 - " + exact).is_number_float());
}

TEST_CASE("what follows for one kind of workload changes its points alone", "[unit][sweep]") {
    const Planned planned(R"({"schema_version": 1, "machine": "tiny",
        "workload": ["tiny_matmul", "tiny_spmm_b1"],
        "derive": {"workload.block": "8 * 2", "tile.workers": "2 + 2"}})");
    for (const PlannedPoint& point : planned.points()) {
        CHECK(point.mistakes.empty());
        CHECK(point.changes.size() == (point.workload == "tiny_matmul" ? 1 : 2));
    }
}

TEST_CASE("points of a sweep's own come behind those of its axes and count more than what is set",
          "[unit][sweep]") {
    const Planned planned(sweep_text(R"("set": {"tile.workers": 6, "workload.n": 16},
        "axes": [{"path": "workload.n", "values": [8, 24]}],
        "points": [{"tile.workers": 2}, {"workload.n": 32}])"));
    std::vector<Changes> changes;
    for (const PlannedPoint& point : planned.points()) {
        changes.push_back(point.changes);
    }
    const auto both = [](int workers, int n) {
        return Changes{{"tile.workers", workers}, {"workload.n", n}};
    };
    CHECK(changes == std::vector<Changes>{both(6, 8), both(6, 24), both(2, 16), both(6, 32)});
    const Planned alone(sweep_text(R"("points": [{"tile.workers": 2}])"));
    CHECK(alone.points().size() == 1);
}

TEST_CASE("a condition may name whatever word and truth a parameter has", "[unit][sweep]") {
    std::string conditions;
    for (const config::Shape* shape : {&spec::machine_shape(), &catalog::workload_shape()}) {
        for (const config::Parameter& parameter : config::parameters(*shape)) {
            std::istringstream words(parameter.type == "text" ? parameter.range : "");
            for (std::string word; std::getline(words, word, '|');) {
                if (word.front() != '*') { // else the ending of a file
                    conditions += ", \"workload.kind == " + word + " && tile.workers == 0\"";
                }
            }
        }
    }
    REQUIRE(std::count(conditions.begin(), conditions.end(), ',') > 20);
    CHECK(mistakes_of("\"exclude\": [" + conditions.substr(2) + "]") == "ok");
    const auto excluded = [](const std::string& condition) {
        return Planned(sweep_text(R"("set": {"exchange.pair_double": true}, "exclude": [")" +
                                  condition + "\"]"))
            .plan()
            .excluded;
    };
    // with a word among its names, and without
    for (const char* kind : {" && workload.kind == matmul", ""}) {
        for (const int value : {0, 1, 2}) {
            CAPTURE(kind, value);
            const std::string is = " == " + std::to_string(value) + kind;
            CHECK(excluded("exchange.pair_double" + is) == (value == 1 ? 1 : 0));
            CHECK(excluded("exchange.far_first" + is) == (value == 0 ? 1 : 0));
        }
        CHECK(excluded(std::string("workload.n == workload.n") + kind) == 1);
        CHECK(excluded(std::string("workload.n == tile.workers + 9999") + kind) == 0);
    }
}

TEST_CASE("points that are excluded are not, whether they could be or not", "[unit][sweep]") {
    const Planned planned(sweep_text(R"("axes": [{"path": "tile.workers", "range": [1, 12, 1]}],
        "exclude": ["tile.workers > 8", "workload.kind == matmul && tile.workers == 3"])"));
    const Plan plan = planned.plan();
    CHECK(plan.points.size() == 7);
    CHECK(plan.excluded == 5);
    CHECK(plan.invalid == 0);
}

TEST_CASE("what no point can have is told, what some cannot is counted", "[unit][sweep]") {
    CHECK(mistakes_of(R"("axes": [{"path": "tile.workers", "values": [2, 99]}])")
              .find("got 99 workers") != std::string::npos);
    CHECK(mistakes_of(R"("axes": [{"path": "tile.workrs", "values": [2, 4]}])")
              .find("did you mean 'tile.workers'?") != std::string::npos);
    CHECK(mistakes_of(R"("axes": [{"path": "exchange.hop_cycles", "values": [2, 4]}])")
              .find("unused on this machine") != std::string::npos);
    CHECK(mistakes_of(R"("exclude": ["tile.workrs > 2"])").find("did you mean 'tile.workers'?") !=
          std::string::npos);
    // each mistake of two once, by their places
    const std::string two = mistakes_of(R"("set": {"tile.workrs": 2, "sync.intern_cycles": 9},
        "axes": [{"path": "tile.workers", "values": [2, 4]}])");
    CHECK(std::count(two.begin(), two.end(), '\n') == 2);
    CHECK(two.find("sync.intern_cycles") < two.find("tile.workrs"));
    // of a machine or workload that is right with nothing, whatever the others are
    const test::ScratchFolder folder;
    const std::string machine =
        folder.write("m.json", R"({"schema_version": 1, "extends": "tiny", "name": "m",
            "memory": {"element_bytes": 24}})");
    const std::string workload = folder.write(
        "w.json", R"({"schema_version": 1, "kind": "matmul", "m": 16, "k": 16, "n": 0})");
    const auto with = [](const std::string& machines, const std::string& workloads) {
        const Planned planned(R"({"schema_version": 1, "machine": ["tiny")" + machines +
                              R"(], "workload": ["tiny_matmul")" + workloads +
                              R"(], "axes": [{"path": "tile.workers", "values": [2, 4]}]})");
        static_cast<void>(planned.plan());
    };
    CHECK_NOTHROW(with("", ""));
    CHECK_THROWS_AS(with(", \"" + machine + "\"", ""), ConfigError);
    CHECK_THROWS_AS(with("", ", \"" + workload + "\""), ConfigError);
    // of three thousand random numbers some are wrong
    const Planned planned(sweep_text(R"("axes": [{"path": "tile.workers", "range": [1, 16]}],
        "sample": {"kind": "random", "n": 3000, "seed": 2})"));
    const Plan plan = planned.plan();
    CHECK(plan.points.size() == 8);
    CHECK(plan.invalid > 1000);
    CHECK(plan.invalid_examples.size() == 3);
}

TEST_CASE("what a point derives and excludes has a limit of work", "[unit][sweep]") {
    const auto refusal = [](const std::string& pointer, const std::string& text,
                            const std::string& most) {
        return pointer + ": '" + text + "', character 1: the expressions of a point may take " +
               most + " steps in all, ";
    };
    // two steps a term
    const std::string half = "sum(k,0,20000000,1)"; // of what one point has, with its characters
    CHECK_THAT(mistakes_of(R"("derive": {"workload.n": ")" + half + R"("})"),
               Catch::Contains(refusal("/derive/workload.n", half, "40000000")));
    const std::string some = "sum(k,0,40000,0)"; // what each of 400 points has, almost
    const std::string axis = R"("axes": [{"path": "workload.seed", "range": [1, 400, 1]}], )";
    CHECK(mistakes_of(axis + R"("exclude": [")" + some + "\"]") == "ok");
    const auto less = std::string("\"sum(k,0,50000,0)\"");
    CHECK_THAT(mistakes_of(axis + R"("exclude": [)" + less + "]"),
               Catch::Contains(refusal("/exclude/0", "sum(k,0,50000,0)", "100000")));
    // all of a point's share it
    CHECK_THAT(mistakes_of(axis + R"("exclude": [")" + some + R"(", ")" + some + "\"]"),
               Catch::Contains(refusal("/exclude/1", some, "100000")));
}

TEST_CASE("every machine and workload gets the whole sample", "[unit][sweep]") {
    for (const char* kind : {"random", "latin_hypercube", "one_at_a_time", "grid"}) {
        const bool has_n = kind[0] == 'r' || kind[0] == 'l';
        const Planned planned(std::string(R"({"schema_version": 1, "machine": ["bow", "gc200"],
            "workload": ["tiny_matmul", "tiny_spmm_b1", "cora"],
            "axes": [{"path": "tile.workers", "values": [2, 3, 4, 5]}], "sample": {"kind": ")") +
                              kind + (has_n ? R"(", "n": 5}})" : R"("}})"));
        std::map<std::pair<std::string, std::string>, std::vector<std::string>> by_what;
        for (const PlannedPoint& point : planned.points()) {
            std::string changes;
            for (const std::string& set : sets_of(point.changes)) {
                changes += set + " ";
            }
            by_what[{point.machine, point.workload}].push_back(changes);
        }
        const auto points = planned.points();
        for (std::size_t i = 0; i < points.size();
             ++i) { // all workloads of a machine come together
            CHECK(points[i].machine == points[i / 3 * 3].machine);
            CHECK(points[i].workload == planned.sweep.workloads[i % 3]);
        }
        CHECK(by_what.size() == 6);
        for (const auto& [what, changes] : by_what) {
            CHECK(changes == by_what.begin()->second);
        }
    }
}

TEST_CASE("what only one kind of workload has changes its points alone", "[unit][sweep]") {
    const auto planned = [](const std::string& axis) {
        return Planned(R"({"schema_version": 1, "machine": "tiny",
            "workload": ["tiny_matmul", "tiny_spmm_b1"],
            "axes": [{"path": "workload.n", "values": [8, 16, 24]}, )" +
                       axis + "]}");
    };
    const auto sweep = planned(R"({"path": "workload.block", "values": [1, 16]},
                                  {"path": "workload.pattern.density", "values": [0.1, 0.2]})");
    CHECK(sweep.plan().points.size() == 3 + 3 * 2 * 2);
    for (const PlannedPoint& point : sweep.points()) {
        CHECK(point.changes.size() == (point.workload == "tiny_matmul" ? 1 : 3));
    }
    CHECK_THROWS_AS(planned(R"({"path": "workload.blok", "values": [1, 16]})").plan(), ConfigError);
}

TEST_CASE("values of an option are apart where a comma is between them", "[unit][sweep]") {
    using Texts = std::vector<std::string>;
    CHECK(split_values("4") == Texts{"4"});
    CHECK(split_values("4,6,8") == Texts{"4", "6", "8"});
    CHECK(split_values("[1,2],[3,4]") == Texts{"[1,2]", "[3,4]"});
    CHECK(split_values(R"("a,b",c)") == Texts{R"("a,b")", "c"});
    CHECK(split_values("") == Texts{""});
    CHECK(split_values("],,[") == Texts{"]", "", "["});
}

TEST_CASE("what a file names is relative to it, what an option names to the working folder",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string head = "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n";
    static_cast<void>(folder.write("in/a.mtx", head + "1 1\n"));
    static_cast<void>(folder.write("in/deep/w.json", R"({"schema_version": 1, "kind": "spmm",
        "mode": "static", "n": 8, "pattern": {"file": "a.mtx"}})"));
    static_cast<void>(folder.write("in/deep/a.mtx", head + "1 2\n"));
    static_cast<void>(folder.write("a.mtx", head + "1 3\n"));
    const std::string file = folder.write("in/s.json", R"({"schema_version": 1,
        "machine": "tiny", "workload": "deep/w.json",
        "axes": [{"path": "workload.n", "values": [8, 16]},
                 {"paths": ["workload.pattern.file", "tile.workers"],
                  "values": [["a.mtx", 4], ["deep/a.mtx", 6]]}]})");
    const auto planned = [&](const std::string& what, const std::vector<std::string>& options) {
        const auto paths = test::source_paths();
        const Source source = read_source({what, {}, options, {}}, paths);
        PointKeys keys(1);
        Planner planner(source.sweep, source.document, paths, keys);
        std::vector<PlannedPoint> found;
        for (std::int64_t i = 0; i < planner.size(); ++i) {
            found.push_back(planner.at(i));
            REQUIRE(found.back().mistakes.empty());
        }
        return found;
    };
    const auto has = [](const PlannedPoint& point, const std::string& named) {
        const std::string set = "workload.pattern.file=\"" + named + "\"";
        return std::count(point.sets.begin(), point.sets.end(), set) == 1;
    };
    const auto points = planned(file, {});
    REQUIRE(points.size() == 4);
    CHECK(points[0].workload_file == folder.path("in/deep/w.json"));
    CHECK(points[0].workload == "deep/w.json");
    CHECK(has(points[0], folder.path("in/a.mtx")));
    CHECK(has(points[1], folder.path("in/deep/a.mtx")));
    CHECK(points[0].contents.at("workload") == points[1].contents.at("workload"));
    CHECK(points[0].contents.at("workload.pattern.file") !=
          points[1].contents.at("workload.pattern.file"));
    // not what is called so in the working folder, but for what an option says
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    CHECK(has(planned("in/s.json", {})[0], "in/a.mtx"));
    CHECK(has(planned("in/s.json", {"workload.n=4,8"})[0], "in/a.mtx"));
    CHECK(has(planned("./in/deep/w.json", {"workload.pattern.file=a.mtx,in/a.mtx"})[0], "a.mtx"));
    std::filesystem::remove("in/a.mtx");
    CHECK_THROWS_WITH(planned("in/s.json", {}),
                      Catch::Contains("in/s.json:5:") &&
                          Catch::Contains("cannot find 'a.mtx'; looked for in/a.mtx"));
    static_cast<void>(folder.write("in/a.mtx", head + "1 1\n"));
    static_cast<void>(folder.write("in/t.json", R"({"schema_version": 1, "workload": "deep/w.json",
        "points": [{"workload.pattern.file": "a.mtx"}]})"));
    CHECK_THROWS_WITH(planned("in/t.json", {"workload.pattern.file=a.mtx"}),
                      Catch::Contains("another file than that of"));
    std::filesystem::current_path(before);
}

TEST_CASE("lines are called as the sweep writes them", "[unit][sweep]") {
    const auto name = [](const std::string& machine, const std::string& workload,
                         const Changes& changes, const std::string& mode = "timing") {
        return name_of(PlannedLine{machine, workload, changes, false}, mode);
    };
    const LineName base = name("m", "w", {{"a", 1}, {"b", "x"}});
    CHECK(name("m", "w", {{"b", "x"}, {"a", 1.0}}) == base);
    for (const LineName other :
         {name("m", "w", {{"a", 1}, {"b", "x"}}, "estimate"), name("m", "w", {{"a", 1}}),
          name("w", "m", {{"a", 1}, {"b", "x"}}), name("m", "w", {{"a", "1"}, {"b", "x"}}),
          name("m", "w", {{"a", 2}, {"b", "x"}}), name("m", "w", {{"a", 1}, {"c", "x"}})}) {
        CHECK(other != base);
    }
    CHECK(name("m", "w", {{"a", {1, 2}}}) != name("m", "w", {{"a", {1, 3}}}));
    CHECK(name("m", "w", {{"a", true}}) == name("m", "w", {{"a", 1}}));
    CHECK(name("m", "w", {{"a", false}}) == name("m", "w", {{"a", 0}}));
    CHECK(value_text(value_of(nlohmann::json{1.5, "x", true, {2, false}})) ==
          "[1.5, x, 1, [2, 0]]");
    CHECK(value_text(value_of("x")) == "x"); // without its quotation marks
    CHECK(value_of(nlohmann::json::object()) == std::nullopt);
}

TEST_CASE("points of equal content are planned once, with their other names", "[unit][sweep]") {
    const test::ScratchFolder folder;
    for (const char* workload : {"q1.json", "q2.json", "up.json"}) {
        static_cast<void>(folder.write(
            workload,
            std::string(R"({"schema_version": 1, "kind": "matmul", "m": 16, "k": 16, "n": )") +
                (workload[0] == 'q' ? "16}" : "32}")));
    }
    const std::string file = folder.write("s.json", R"({"schema_version": 1, "machine": "tiny",
        "workload": ["./q1.json", "q2.json", "./up.json"],
        "axes": [{"path": "tile.workers", "values": [2, 4]}]})");
    const auto paths = test::source_paths();
    const Source source = read_source({file, {}, {}, {}}, paths);
    const Plan plan = plan_points(source.sweep, source.document, paths, PointKeys(1));
    CHECK(plan.points.size() == 4);
    REQUIRE(plan.equal.size() == 2);
    PointKeys keys(1);
    Planner planner(source.sweep, source.document, paths, keys);
    std::set<std::string> workloads;
    for (const Plan::Point& point : plan.equal) {
        const PlannedLine line = planner.line(point.number);
        workloads.insert(line.workload);
        CHECK(point.name == name_of(line, "timing"));
        CHECK(std::count_if(plan.points.begin(), plan.points.end(), [&](const Plan::Point& one) {
                  return one.key == point.key && one.name != point.name;
              }) == 1);
    }
    CHECK(workloads.size() == 1);
}

TEST_CASE("options count more than the file", "[unit][sweep]") {
    const auto read = [](const std::vector<std::string>& sets) {
        return read_source({"workers", {"tiny"}, sets, "functional"}, test::source_paths()).sweep;
    };
    const SweepSpec several = read({"tile.workers=2,3"});
    REQUIRE(several.axes.size() == 1);
    CHECK(several.axes.front().choices.size() == 2);
    CHECK(several.machines == std::vector<std::string>{"tiny"});
    CHECK(several.mode == "functional");
    const SweepSpec one = read({"tile.workers=2", "workload.n=64,128"});
    REQUIRE(one.axes.size() == 1);
    CHECK(one.axes.front().paths.front() == "workload.n");
    CHECK(one.set == Changes{{"tile.workers", 2}});
    CHECK_THROWS_AS(read({"tile.workers"}), ConfigError);
    CHECK_THROWS_AS(read_source({"wrkers", {}, {}, {}}, test::source_paths()), ConfigError);
}
