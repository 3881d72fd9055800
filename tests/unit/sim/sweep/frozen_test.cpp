// SPDX-License-Identifier: MIT
#include "sim/sweep/frozen.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
namespace fs = std::filesystem;

namespace {

constexpr const char* kHead = "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n";

std::string bytes_in(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

/// A sweep of files in a folder of its own, and a store beside it.
class Frozen {
public:
    Frozen() {
        write("in/m.json", R"({"schema_version": 1, "extends": "tiny", "name": "m"})");
        for (const char* folder : {"in", "in/x"}) {
            write(std::string(folder) + "/w.json", R"({"schema_version": 1, "kind": "spmm",
                "mode": "static", "n": 8, "pattern": {"file": "a.mtx"}})");
        }
        write("in/a.mtx", std::string(kHead) + "1 1\n");
        write("in/b.mtx", std::string(kHead) + "1 2\n");
        write("in/x/a.mtx", std::string(kHead) + "1 3\n");
        for (const char* name : {"s", "t"}) {
            write(std::string("in/") + name + ".json", R"({"schema_version": 1,
                "machine": ["./m.json", "tiny"], "workload": ["w.json", "x/w.json"],
                "description": ")" + std::string(name) + R"(",
                "axes": [{"path": "workload.pattern.file", "values": ["a.mtx", "b.mtx"]}]})");
        }
    }

    void write(const std::string& name, const std::string& text) const {
        static_cast<void>(folder_.write(name, text));
    }
    [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path(name); }
    [[nodiscard]] Source source(const std::string& file) const {
        return read_source({file, {}, {}, {}}, paths_);
    }
    fs::path freeze(const Source& source) const {
        PointKeys keys(1);
        Planner planner(source.sweep, source.document, paths_, keys);
        return sweep::freeze(source, planner, paths_, path("store"));
    }
    /// Key, names and contents of every point.
    [[nodiscard]] std::vector<std::string> points(const std::string& file) const {
        const Source source = this->source(file);
        PointKeys keys(1);
        Planner planner(source.sweep, source.document, paths_, keys);
        std::vector<std::string> all;
        for (std::int64_t number = 0; number < planner.size(); ++number) {
            const PlannedPoint point = planner.at(number);
            CHECK(point.mistakes.empty());
            std::string text = point.key.text() + " " + point.machine + " " + point.workload;
            for (const auto& [path, content] : point.contents) {
                text += " " + path + "=" + content;
            }
            all.push_back(text);
        }
        return all;
    }

private:
    test::ScratchFolder folder_;
    config::ConfigPaths paths_ = test::source_paths();
};

} // namespace

TEST_CASE("a frozen sweep has the points of its file, whatever has become of that",
          "[unit][sweep]") {
    const Frozen bench;
    const std::string file = bench.path("in/s.json");
    const auto points = bench.points(file);
    REQUIRE(points.size() == 2 * 2 * 2);
    const fs::path frozen = bench.freeze(bench.source(file));
    CHECK(frozen.parent_path() == bench.path("store/sweeps"));
    CHECK(frozen.stem().string().substr(0, 2) == "s-");
    const fs::path folder = frozen.parent_path() / frozen.stem();
    for (const char* copy :
         {"machines/m.json", "machines/tiny.json", "workloads/w.json", "workloads/w-2.json",
          "files/a.mtx", "files/b.mtx", "files/a-2.mtx", "places.json"}) {
        CAPTURE(copy);
        CHECK(fs::is_regular_file(folder / copy));
    }
    CHECK(std::distance(fs::directory_iterator(folder / "files"), {}) == 3);
    CHECK(std::distance(fs::directory_iterator(folder / "workloads"), {}) == 2);
    CHECK(bytes_in(folder / "files/b.mtx") == bytes_in(bench.path("in/b.mtx")));
    CHECK(bench.points(frozen) == points);
    // what is frozen already is not written again, and a frozen sweep is its own
    CHECK(bench.freeze(bench.source(file)) == frozen);
    CHECK(bench.freeze(bench.source(frozen)) == frozen);
    CHECK(std::distance(fs::directory_iterator(frozen.parent_path()), {}) == 2);
    // a file that is another one since is frozen beside it
    bench.write("in/b.mtx", std::string(kHead) + "2 2\n");
    const fs::path since = bench.freeze(bench.source(file));
    CHECK(since != frozen);
    fs::remove_all(bench.path("in"));
    CHECK(bench.points(frozen) == points);
    CHECK(bench.points(since) != points);
}

TEST_CASE("the sweep of a store is the one that was run last", "[unit][sweep]") {
    using namespace std::chrono_literals;
    const Frozen bench;
    CHECK_FALSE(last_frozen(bench.path("store")));
    const Source source = bench.source(bench.path("in/s.json"));
    const fs::path one = bench.freeze(source);
    const fs::path other = bench.freeze(bench.source(bench.path("in/t.json")));
    REQUIRE(one < other);
    const auto now = fs::file_time_type::clock::now();
    const auto last = [&](std::chrono::seconds one_was, std::chrono::seconds other_was) {
        fs::last_write_time(one, now - one_was);
        fs::last_write_time(other, now - other_was);
        return last_frozen(bench.path("store")).value();
    };
    CHECK(last(20s, 10s) == other);
    CHECK(last(10s, 20s) == one);
    CHECK(last(10s, 10s) == other); // of equals the later name
    // who runs it again makes it the last one
    fs::last_write_time(one, now - 20s);
    CHECK(bench.freeze(source) == one);
    CHECK(last_frozen(bench.path("store")) == one);
    fs::last_write_time(one, now - 20s);
    CHECK(bench.freeze(bench.source(one)) == one);
    CHECK(last_frozen(bench.path("store")) == one);
    // whatever the order in which a folder has them
    for (const auto& [first, then] : {std::pair{"a/sweeps/s.json", "a/sweeps/t.json"},
                                      {"b/sweeps/t.json", "b/sweeps/s.json"}}) {
        bench.write(first, "{}");
        bench.write(then, "{}");
        const std::string store(1, first[0]);
        for (const char* const newer : {"s.json", "t.json"}) {
            const fs::path file = bench.path(store + "/sweeps/" + newer);
            for (const char* const all : {"s.json", "t.json"}) {
                fs::last_write_time(bench.path(store + "/sweeps/" + all), now - 20s);
            }
            CHECK(last_frozen(bench.path(store)).value().filename() == "t.json");
            fs::last_write_time(file, now - 10s);
            CHECK(last_frozen(bench.path(store)) == file);
        }
    }
    // what is no sweep does not count
    bench.write("store/sweeps/z.txt", "");
    bench.write("store/sweeps/z.json/z.json", "");
    CHECK(last_frozen(bench.path("store")) == one);
}

TEST_CASE("what a name of a store led to is found by its content", "[unit][sweep]") {
    const Frozen bench;
    const Source source = bench.source(bench.path("in/s.json"));
    const fs::path frozen = bench.freeze(source);
    const fs::path folder = frozen.parent_path() / frozen.stem();
    PointKeys keys(1);
    const auto paths = test::source_paths();
    Planner planner(source.sweep, source.document, paths, keys);
    const FrozenNames names(bench.path("store"));
    const auto found = [&](const std::string& path, const std::string& written) {
        return names.find(path, written, planner.content_of(path, written));
    };
    CHECK(found("machine", "./m.json") == (folder / "machines/m.json").string());
    CHECK(found("workload", "w.json") == (folder / "workloads/w.json").string());
    CHECK(found("workload", "x/w.json") == (folder / "workloads/w-2.json").string());
    CHECK(found("workload.pattern.file", "b.mtx") == (folder / "files/b.mtx").string());
    CHECK_FALSE(names.find("workload", "w.json", "0123456789abcdef"));
    CHECK_FALSE(names.find("machine", "w.json", planner.content_of("workload", "w.json")));
    CHECK_FALSE(FrozenNames(bench.path("nothing")).find("workload", "w.json", ""));
}

TEST_CASE("whether points were asked for one by one is frozen too", "[unit][sweep]") {
    const Frozen bench;
    Source source = bench.source(bench.path("in/s.json"));
    const fs::path run = bench.freeze(source);
    source.is_asked = true;
    const fs::path asked = bench.freeze(source);
    CHECK(asked != run);
    CHECK(bench.source(asked).is_asked);
    CHECK_FALSE(bench.source(run).is_asked);
}

TEST_CASE("frozen sweeps are copied with their times and replace nothing", "[unit][sweep]") {
    using namespace std::chrono_literals;
    const Frozen bench;
    const fs::path one = bench.freeze(bench.source(bench.path("in/s.json")));
    const fs::path other = bench.freeze(bench.source(bench.path("in/t.json")));
    fs::last_write_time(other, fs::file_time_type::clock::now() - 100s);
    CHECK_NOTHROW(copy_frozen(bench.path("nothing"), bench.path("copy")));
    CHECK_FALSE(fs::exists(bench.path("copy")));
    copy_frozen(bench.path("store"), bench.path("copy"));
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(bench.path("store"))) {
        if (entry.is_regular_file()) {
            const fs::path copy =
                bench.path("copy") / fs::relative(entry.path(), bench.path("store"));
            REQUIRE(fs::exists(copy));
            CHECK(bytes_in(copy) == bytes_in(entry.path()));
            CHECK(fs::last_write_time(copy) == entry.last_write_time());
            ++files;
        }
    }
    CHECK(files > 2 * 7);
    CHECK(last_frozen(bench.path("copy")).value().filename() == one.filename());
    const fs::path copied = bench.path("copy/sweeps") / one.filename();
    bench.write("copy/sweeps/" + one.filename().string(), "changed");
    copy_frozen(bench.path("store"), bench.path("copy"));
    CHECK(bytes_in(copied) == "changed");
    CHECK_NOTHROW(copy_frozen(bench.path("store"), bench.path("store")));
}
