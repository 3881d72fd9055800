// SPDX-License-Identifier: MIT
// A line of a store becomes a run: which line, which files, which settings.
#include "sim/result/result.h"
#include "sim/sweep/command/stored_point.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/store.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

using namespace tessera;
using Json = nlohmann::json;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

using Texts = std::vector<std::string>;

constexpr const char* kMatrix = "%%MatrixMarket matrix coordinate pattern general\n8 8 1\n";

/// A folder with a sweep of files, which is the working folder meanwhile.
class Stores {
public:
    Stores() {
        setenv("TESSERA_CONFIGS", test::source_path("configs").c_str(), 1);
        fs::current_path(folder_.path());
        write("m.json", R"({"schema_version": 1, "extends": "tiny", "name": "m"})");
        write("w.json", R"({"schema_version": 1, "kind": "spmm", "mode": "static", "n": 8,
                            "pattern": {"file": "a.mtx"}})");
        write("a.mtx", std::string(kMatrix) + "1 1\n");
        write("b.mtx", std::string(kMatrix) + "1 2\n");
        write("s.json", R"({"schema_version": 1, "machine": "./m.json", "workload": "./w.json",
                            "axes": [{"path": "workload.pattern.file", "values": ["b.mtx"]}]})");
    }
    ~Stores() {
        fs::current_path(before_);
        unsetenv("TESSERA_CONFIGS");
    }
    Stores(const Stores&) = delete;
    Stores& operator=(const Stores&) = delete;

    void write(const std::string& name, const std::string& text) const {
        static_cast<void>(folder_.write(name, text));
    }
    [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path(name); }

    /// The one point of s.json as a line of model `model`, and frozen into `store` if that is named.
    [[nodiscard]] Json line(int model = result::kModelVersion,
                            const std::string& store = {}) const {
        const config::ConfigPaths paths = config::default_config_paths();
        const sweep::Source source = sweep::read_source({"s.json", {}, {}, {}}, paths);
        sweep::PointKeys keys(model);
        sweep::Planner planner(source.sweep, source.document, paths, keys);
        if (!store.empty()) {
            sweep::freeze(source, planner, paths, path(store));
        }
        const sweep::PlannedPoint point = planner.at(0);
        REQUIRE(point.mistakes.empty());
        return {{"key", point.key.text()},
                {"status", "ok"},
                {"mode", "timing"},
                {"model", model},
                {"machine", point.machine},
                {"workload", point.workload},
                {"changes", {{"workload.pattern.file", "b.mtx"}}},
                {"contents", point.contents},
                {"result", {{"cycles", 1}}}};
    }
    void add(const std::string& store, const Json& line) const {
        sweep::StoreWriter(path(store)).append(line);
    }
    void add_key(const std::string& store, const std::string& begin) const {
        add(store, {{"key", begin + std::string(64 - begin.size(), '0')}, {"status", "crash"}});
    }

private:
    test::ScratchFolder folder_;
    fs::path before_ = fs::current_path();
};

cli::RunCommand asked(const std::string& point, const std::string& store = {}) {
    cli::RunCommand command;
    command.point = point;
    command.store = store;
    return command;
}

std::string refusal_of(const cli::RunCommand& command) {
    try {
        static_cast<void>(sweep::of_stored_point(command));
    } catch (const std::runtime_error& error) { // of usage or of files
        return error.what();
    }
    return "it runs";
}

/// What goes to the error stream meanwhile.
std::string warnings_of(const std::function<void()>& action) {
    const test::ScratchFolder folder;
    const std::string name = folder.path("said");
    std::FILE* file = std::fopen(name.c_str(), "w+");
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    const int before = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    action();
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    std::fclose(file);
    std::ifstream in(name);
    return {std::istreambuf_iterator<char>(in), {}};
}

} // namespace

TEST_CASE("a stored point runs with its files, its settings and then those that are given",
          "[unit][sweep]") {
    const Stores bench;
    const Json line = bench.line();
    bench.add("here.sweep", line);
    cli::RunCommand command = asked(line["key"], "here.sweep");
    command.sets = {"tile.workers=4"};
    const std::string said = warnings_of([&] { command = sweep::of_stored_point(command); });
    CHECK(said.empty());
    CHECK(command.workloads == Texts{"./w.json"});
    CHECK(command.machine == "./m.json");
    CHECK(command.sets == Texts{"workload.pattern.file=\"b.mtx\"", "tile.workers=4"});
    CHECK(command.mode == "timing");
    // a mode that is given counts
    command = asked(line["key"], "here.sweep");
    command.mode = "functional";
    CHECK(sweep::of_stored_point(command).mode == "functional");
}

TEST_CASE("a point is one key, whatever number of lines it has and how much of it is given",
          "[unit][sweep]") {
    const Stores bench;
    const Json line = bench.line();
    const auto key = line["key"].get<std::string>();
    bench.add("one.sweep", line);
    bench.add("one.sweep", line);
    bench.add("two.sweep", line);
    for (const std::string& store : Texts{"", "one.sweep", "two.sweep"}) {
        for (const std::size_t length : {std::size_t{1}, std::size_t{12}, key.size()}) {
            CHECK(sweep::of_stored_point(asked(key.substr(0, length), store)).machine ==
                  "./m.json");
        }
    }
    CHECK(refusal_of(asked(key.substr(1, 20), "one.sweep")) ==
          "run: --point: no key of one.sweep begins with '" + key.substr(1, 20) + "'");
    CHECK(refusal_of(asked("x", "")) == "run: --point: no key of the stores here begins with 'x'");
    // another key that begins so, in the same store or in another
    const std::string begin = key.substr(0, 3);
    bench.add_key("two.sweep", begin + (key[3] == 'f' ? "e" : "f"));
    CHECK(sweep::of_stored_point(asked(begin, "one.sweep")).machine == "./m.json");
    for (const std::string& store : Texts{"", "two.sweep"}) {
        CHECK(refusal_of(asked(begin, store)) ==
              "run: --point: several keys begin with '" + begin + "'");
        CHECK(sweep::of_stored_point(asked(key.substr(0, 4), store)).machine == "./m.json");
    }
}

TEST_CASE("stores here are the folders of that ending, and none where one is named",
          "[unit][sweep]") {
    const Stores bench;
    const Json line = bench.line();
    bench.add("results", line);
    bench.write("notes.sweep.txt", "no folder");
    const std::string begin = line["key"].get<std::string>().substr(0, 20);
    CHECK(refusal_of(asked(begin)) ==
          "run: --point: no key of the stores here begins with '" + begin + "'");
    CHECK(sweep::of_stored_point(asked(line["key"], "results")).machine == "./m.json");
    bench.add_key("other.sweep", "0123");
    CHECK(refusal_of(asked(line["key"], "other.sweep")).find("no key of other.sweep") !=
          std::string::npos);
    bench.add("a.sweep", line);
    CHECK(sweep::of_stored_point(asked(line["key"])).machine == "./m.json");
}

TEST_CASE("what was frozen with a sweep is what its points run, whatever has become of the files",
          "[unit][sweep]") {
    const Stores bench;
    const Json line = bench.line(result::kModelVersion, "s.sweep");
    bench.add("s.sweep", line);
    const auto check = [&] {
        const cli::RunCommand run = sweep::of_stored_point(asked(line["key"], "s.sweep"));
        CHECK_THAT(run.machine, Catch::EndsWith("machines/m.json"));
        CHECK_THAT(run.workloads.at(0), Catch::EndsWith("workloads/w.json"));
        CHECK_THAT(run.sets.at(0), Catch::StartsWith("workload.pattern.file=") &&
                                       Contains("s.sweep/sweeps/") && Contains("files/b.mtx"));
    };
    check();
    for (const char* name : {"m.json", "w.json", "a.mtx", "b.mtx"}) {
        bench.write(name, "{}");
    }
    check();
    for (const char* name : {"m.json", "w.json", "a.mtx", "b.mtx"}) {
        fs::remove(bench.path(name));
    }
    check();
}

TEST_CASE("a point whose files have changed, or are gone, does not run", "[unit][sweep]") {
    const Stores bench;
    const Json line = bench.line();
    bench.add("here.sweep", line);
    const std::string refused = "the files of the point have changed since: machine './m.json', "
                                "workload './w.json'";
    bench.write("b.mtx", std::string(kMatrix) + "2 2\n");
    CHECK(refusal_of(asked(line["key"])) == refused);
    bench.write("b.mtx", std::string(kMatrix) + "1 2\n");
    CHECK(refusal_of(asked(line["key"])) == "it runs");
    bench.write("m.json", R"({"schema_version": 1, "extends": "tiny", "name": "m",
                              "tile": {"workers": 2}})");
    CHECK(refusal_of(asked(line["key"])) == refused);
    fs::remove(bench.path("m.json"));
    CHECK(refusal_of(asked(line["key"])) == refused);
}

TEST_CASE("a point of another model version is found by the key that it had, with a warning",
          "[unit][sweep]") {
    const Stores bench;
    for (const int model :
         {1, result::kModelVersion - 1, result::kModelVersion, result::kModelVersion + 1}) {
        CAPTURE(model);
        const Json line = bench.line(model);
        bench.add("here.sweep", line);
        const std::string said = warnings_of([&] {
            CHECK(sweep::of_stored_point(asked(line["key"], "here.sweep")).machine == "./m.json");
        });
        const bool warns = said.find("the point is of model version " + std::to_string(model) +
                                     ", this program is of " +
                                     std::to_string(result::kModelVersion)) != std::string::npos;
        CHECK(warns == (model != result::kModelVersion));
        CHECK(said.empty() == !warns);
    }
}

TEST_CASE("lines without contents have keys with the names of files, and copies by their names",
          "[unit][sweep]") {
    const Stores bench;
    Json line = bench.line();
    const config::ConfigPaths paths = config::default_config_paths();
    sweep::PointKeys keys(result::kModelVersion);
    const auto key =
        keys.of(sweep::PointKeys::part_of(spec::load_machine("./m.json", paths, {})),
                keys.older_part_of(catalog::load_workload(
                    "./w.json", paths,
                    catalog::split_overrides({"workload.pattern.file=\"b.mtx\""}).workload)),
                "timing");
    CHECK(key.text() != line["key"]); // the names of files are in it
    line["key"] = key.text();
    line.erase("contents");
    bench.add("old.sweep", line);
    CHECK(sweep::of_stored_point(asked(key.text())).machine == "./m.json");
    // copies that an older version made beside the points: by the short name, in any of its sweeps
    for (const char* name : {"m", "w"}) {
        const std::string kind = name == std::string("m") ? "machines" : "workloads";
        const std::string copy = "old.sweep/sweeps/s-1/" + kind + "/" + name + ".json";
        bench.write(copy, "");
        fs::copy_file(bench.path(std::string(name) + ".json"), bench.path(copy),
                      fs::copy_options::overwrite_existing);
        fs::remove(bench.path(std::string(name) + ".json"));
    }
    for (const char* name : {"a.mtx", "b.mtx"}) { // a copy's own names lead to files beside it
        fs::copy_file(bench.path(name),
                      bench.path(std::string("old.sweep/sweeps/s-1/workloads/") + name));
    }
    const cli::RunCommand run = sweep::of_stored_point(asked(key.text()));
    CHECK_THAT(run.machine, Catch::EndsWith("sweeps/s-1/machines/m.json"));
    CHECK_THAT(run.workloads.at(0), Catch::EndsWith("sweeps/s-1/workloads/w.json"));
}
