// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/sweep/source.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;

namespace {

std::string mistakes_of(const SourceOptions& options) {
    try {
        static_cast<void>(read_source(options, test::source_paths()));
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

TEST_CASE("a sweep is a file, a name, or a workload by itself", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string sweep =
        folder.write("in/a.json", R"({"schema_version": 1, "workload": "tiny_matmul"})");
    const std::string workload = folder.write(
        "in/w.json", R"({"schema_version": 1, "kind": "matmul", "m": 16, "k": 16, "n": 16})");
    const auto read = [](const std::string& what) {
        return read_source({what, {}, {}, {}}, test::source_paths());
    };
    CHECK(read(sweep).name == "a");
    CHECK(read(sweep).file == sweep);
    CHECK(read(sweep).sweep.workloads == std::vector<std::string>{"tiny_matmul"});
    CHECK(read(workload).name == "w");
    CHECK(read(workload).sweep.workloads == std::vector<std::string>{workload});
    CHECK(read("tiny_matmul").name == "tiny_matmul");
    CHECK_FALSE(read("tiny_matmul").file);
    CHECK(read("tiny_matmul").sweep.workloads == std::vector<std::string>{"tiny_matmul"});
    CHECK(read("workers").name == "workers");
    CHECK_FALSE(read("workers").sweep.axes.empty());
    CHECK(mistakes_of({"wrkers", {}, {}, {}}) ==
          "unknown sweep or workload 'wrkers'; did you mean 'workers'?\n");
    CHECK(mistakes_of({"tiny_matmull", {}, {}, {}}) ==
          "unknown sweep or workload 'tiny_matmull'; did you mean 'tiny_matmul'?\n");
}

TEST_CASE("a mistake in an option is told of the option, one of the file with its place",
          "[unit][sweep]") {
    CHECK(mistakes_of({"tiny_matmul", {}, {"n"}, {}}) == "--set: got 'n', expected path=value\n");
    CHECK(mistakes_of({"tiny_matmul", {}, {"=3"}, {}}) == "--set: got '=3', expected path=value\n");
    CHECK_THAT(mistakes_of({"tiny_matmul", {}, {"n=\xff"}, {}}),
               Catch::StartsWith("--set: got ") && Catch::Contains("expected text in UTF-8"));
    CHECK_THAT(mistakes_of({"tiny_matmul", {}, {}, "fast"}), Catch::StartsWith("--mode"));
    CHECK_THAT(mistakes_of({"tiny_matmul", {"bow", "bow"}, {}, {}}),
               Catch::StartsWith("--machine"));
    const test::ScratchFolder folder;
    // mistakes in lines 4 and 6, with an axis between them that options take out
    const std::string file = folder.write("s.json", "{\"schema_version\": 1,\n"
                                                    "\"workload\": \"tiny_matmul\",\n"
                                                    "\"axes\": [\n"
                                                    "{\"path\": \"a\", \"values\": [1, null]},\n"
                                                    "{\"path\": \"b\", \"values\": [2]},\n"
                                                    "{\"path\": \"c\", \"values\": [3, null]}]}");
    const auto lines = [&](const std::vector<std::string>& sets) {
        const std::string text = mistakes_of({file, {}, sets, {}});
        std::string found;
        for (const char* line : {":4:", ":5:", ":6:"}) {
            found += text.find("s.json" + std::string(line)) != std::string::npos ? line : "";
        }
        return found;
    };
    CHECK(lines({}) == ":4::6:");
    CHECK(lines({"b=7"}) == ":4::6:");
    CHECK(lines({"b=7,8"}) == ":4::6:");
    CHECK(lines({"a=7"}) == ":6:");
    CHECK(lines({"c=7"}) == ":4:");
    CHECK(lines({"a=7", "b=8"}) == ":6:");
    CHECK(mistakes_of({file, {}, {"a=7", "c=8,9"}, {}}) == "ok");
    // what is no list of axes is told as that
    const std::string none =
        folder.write("t.json", R"({"schema_version": 1, "workload": "tiny_matmul", "axes": 3})");
    CHECK_THAT(mistakes_of({none, {}, {"a=7,8"}, {}}), Catch::Contains("/axes: got number 3"));
}

TEST_CASE("an option takes the place of what the file says of its path, by either name",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string file = folder.write("s.json", R"({"schema_version": 1,
        "workload": "tiny_matmul", "set": {"seed": 3, "workload.n": 8},
        "axes": [{"path": "workload.m", "values": [16, 32]},
                 {"path": "tile.workers", "values": [2, 4]}]})");
    const auto read = [&](const std::vector<std::string>& sets) {
        return read_source({file, {}, sets, {}}, test::source_paths()).sweep;
    };
    CHECK(read({"workload.seed=5"}).set == Changes{{"workload.n", 8}, {"workload.seed", 5}});
    CHECK(read({"seed=5"}).set == Changes{{"workload.seed", 5}, {"workload.n", 8}});
    CHECK(read({"seed=5"}).axes.size() == 2);
    const SweepSpec moved = read({"workload.n=8,16", "workload.m=64"});
    REQUIRE(moved.axes.size() == 2);
    CHECK(moved.axes[0].paths.front() == "tile.workers");
    CHECK(moved.axes[1].paths.front() == "workload.n");
    CHECK(moved.set == Changes{{"workload.seed", 3}, {"workload.m", 64}});
    // values have the types that they look like
    const SweepSpec typed = read({"a=2.5", "b=true", "c=mesh", "d=[1,2]", "e=null", "f={\"x\":1}"});
    const auto value = [&](const std::string& path) {
        for (const Change& change : typed.set) {
            if (change.path == path) {
                return change.value;
            }
        }
        return nlohmann::json("not there");
    };
    CHECK(value("a") == 2.5);
    CHECK(value("b") == true);
    CHECK(value("c") == "mesh");
    CHECK(value("d") == nlohmann::json({1, 2}));
    CHECK(value("e") == "null");
    CHECK(value("f") == "{\"x\":1}");
}

TEST_CASE("one text that is two files is a mistake, told with both places", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string file = folder.write("in/s.json", "{\"schema_version\": 1,\n"
                                                       "\"workload\": \"tiny_spmm_b1\",\n"
                                                       "\"points\": [\n"
                                                       "{\"workload.pattern.file\": \"a.mtx\"},\n"
                                                       "{\"machine\": \"./m.json\"}]}");
    const std::string hint = "; what a file names is relative to that file, what an option names "
                             "to the working folder\n";
    CHECK(mistakes_of({file, {}, {"workload.pattern.file=b.mtx"}, {}}) == "ok");
    CHECK(mistakes_of({file, {"tiny"}, {"workload.pattern.kind=a.mtx"}, {}}) == "ok");
    CHECK(mistakes_of({file, {}, {"workload.pattern.file=a.mtx"}, {}}) ==
          file +
              ":4:27: /points/0/workload.pattern.file: got 'a.mtx', which is another file than "
              "that of --set: workload.pattern.file" +
              hint);
    CHECK(mistakes_of({file, {"./m.json"}, {}, {}}) ==
          file +
              ":5:13: /points/1/machine: got './m.json', which is another file than that of "
              "--machine: /machine/0" +
              hint);
    // names that are looked up are the same for all
    const std::string other = folder.write("in/t.json", R"({"schema_version": 1,
        "workload": "tiny_matmul", "points": [{"machine": "tiny"}]})");
    CHECK(mistakes_of({other, {"tiny"}, {}, {}}) == "ok");
}

TEST_CASE("what a sweep names stands beside its file, wherever it names it", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string in = folder.path("in");
    const auto place_of = [&](const std::string& keys, const std::string& path,
                              const std::string& written) -> std::string {
        const std::string file =
            folder.write("in/s.json", R"({"schema_version": 1, )" + keys +
                                          (keys.find("\"workload\":") == std::string::npos
                                               ? R"(, "workload": "tiny_spmm_b1"})"
                                               : "}"));
        const Source source = read_source({file, {}, {}, {}}, test::source_paths());
        const Places::Place* const place = source.sweep.places.find(path, written);
        return place == nullptr ? "none" : place->file + (place->is_sought ? " or in data" : "");
    };
    const std::string path = "workload.pattern.file";
    const std::string sought = in + "/a.mtx or in data";
    CHECK(place_of(R"("set": {"workload.pattern.file": "a.mtx"})", path, "a.mtx") == sought);
    CHECK(place_of(R"("points": [{"workload.pattern.file": "a.mtx"}])", path, "a.mtx") == sought);
    CHECK(place_of(R"("axes": [{"path": "workload.pattern.file", "values": ["b.mtx", "a.mtx"]}])",
                   path, "a.mtx") == sought);
    CHECK(place_of(R"("axes": [{"paths": ["workload.n", "workload.pattern.file"],
                                "values": [[8, "b.mtx"], [16, "a.mtx"]]}])",
                   path, "a.mtx") == sought);
    CHECK(place_of(R"("set": {"workload.pattern.file": "../x/./a.mtx"})", path, "../x/./a.mtx") ==
          folder.path("x/a.mtx") + " or in data");
    CHECK(place_of(R"("set": {"workload.pattern.file": "/x/a.mtx"})", path, "/x/a.mtx") ==
          "/x/a.mtx or in data");
    CHECK(place_of(R"("set": {"workload.pattern.generator": "a.mtx"})",
                   "workload.pattern.generator", "a.mtx") == "none");
    CHECK(place_of(R"("set": {"workload.pattern.file": 3})", path, "3") == "none");
    CHECK(place_of(R"("machine": "./m.json")", kMachinePath, "./m.json") == in + "/m.json");
    CHECK(place_of(R"("machine": ["tiny", "./m.json"])", kMachinePath, "./m.json") ==
          in + "/m.json");
    CHECK(place_of(R"("machine": ["tiny", "./m.json"])", kMachinePath, "tiny") == "none");
    CHECK(place_of(R"("points": [{"machine": "../m.json"}])", kMachinePath, "../m.json") ==
          folder.path("m.json"));
    CHECK(place_of(R"("workload": "./w.json")", kWorkloadPath, "./w.json") == in + "/w.json");
}
