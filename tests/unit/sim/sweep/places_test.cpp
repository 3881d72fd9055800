// SPDX-License-Identifier: MIT
// Where the files are that a sweep names, and what the lines of a sweep are called.
#include "sim/sweep/line_name.h"
#include "sim/sweep/places.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
namespace fs = std::filesystem;

namespace {

Places::Place at(const std::string& file) {
    Places::Place place;
    place.file = file;
    return place;
}

} // namespace

TEST_CASE("a setting names a file where its parameter may and its value ends as one",
          "[unit][sweep]") {
    CHECK(names_file("workload.pattern.file", "a.mtx"));
    CHECK(names_file("workload.pattern.file", ".mtx"));
    CHECK_FALSE(names_file("workload.pattern.file", "mtx"));
    CHECK_FALSE(names_file("workload.pattern.file", "a.mtx.old"));
    CHECK_FALSE(names_file("workload.pattern.file", "a.png"));
    CHECK_FALSE(names_file("workload.pattern.file", ""));
    CHECK_FALSE(names_file("workload.pattern.file", 3));
    CHECK_FALSE(names_file("workload.pattern.generator", "a.mtx"));
    CHECK_FALSE(names_file("workload.name", "a.mtx"));
    // of a list's elements the last key counts; machines name no files
    CHECK(names_file("workload.steps.0.pattern.file", "a.mtx"));
    CHECK_FALSE(names_file("pattern.file", "a.mtx"));
    CHECK_FALSE(names_file("machine.pattern.file", "a.mtx"));
    CHECK_FALSE(names_file("file", "a.mtx"));
}

TEST_CASE("a name leads to one file", "[unit][sweep]") {
    Places places;
    CHECK(places.add("workload", "w", at("in/w.json")));
    CHECK(places.add("workload", "w", at("in/w.json")));
    CHECK_FALSE(places.add("workload", "w", at("other/w.json")));
    CHECK(places.find("workload", "w")->file == "in/w.json");
    // the same text under another path is another name
    CHECK(places.add("machine", "w", at("other/w.json")));
    CHECK(places.all().size() == 2);
    CHECK(places.find("machine", "x") == nullptr);
    CHECK(places.find("mode", "w") == nullptr);
    places.replace("workload", "w", at("other/w.json"));
    CHECK(places.find("workload", "w")->file == "other/w.json");
    CHECK(places.find("machine", "w")->file == "other/w.json");
    CHECK(places.file_of("workload", "w", {}) == "other/w.json");
    CHECK(places.file_of("workload", "v", {}) == "v"); // not of the sweep: as it is written
}

TEST_CASE("a file is sought beside the sweep and then below data/ of each configs folder",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    const auto path = [&](const std::string& name) {
        return fs::path(folder.path(name)).lexically_normal().string();
    };
    const config::ConfigPaths paths{{folder.path("first"), folder.path("second")}};
    Places places;
    const Diagnostic where{"s.json", 3, 4, "/axes/0", "", ""};
    places.add("p", "x/a.mtx", {folder.path("in/./x/a.mtx"), "", true, where});
    const auto file = [&] { return places.file_of("p", "x/a.mtx", paths); };
    CHECK_THROWS_WITH(file(), "s.json:3:4: /axes/0: cannot find 'x/a.mtx'; looked for " +
                                  path("in/x/a.mtx") + ", " + path("first/data/x/a.mtx") + ", " +
                                  path("second/data/x/a.mtx"));
    CHECK_THROWS_AS(file(), IoError);
    for (const char* there : {"second/data/x/a.mtx", "first/data/x/a.mtx", "in/x/a.mtx"}) {
        static_cast<void>(folder.write(there, ""));
        CHECK(file() == path(there));
    }
    // a folder is no file
    fs::remove(path("in/x/a.mtx"));
    fs::create_directory(path("in/x/a.mtx"));
    CHECK(file() == path("first/data/x/a.mtx"));
    // where nothing is to be sought nothing is looked at
    places.replace("p", "x/a.mtx", {"gone/a.mtx", "", false, where});
    CHECK(file() == "gone/a.mtx");
}

TEST_CASE("lines are called alike where machine, workload, mode and settings are",
          "[unit][sweep]") {
    const auto value = [](const nlohmann::json& json) { return value_of(json); };
    const LineName base = line_name("m", "w", "timing", {{"a", value(1)}, {"b", value("x")}});
    CHECK(line_name("m", "w", "timing", {{"b", value("x")}, {"a", value(1)}}) == base);
    CHECK(line_name("m", "w", "timing", {{"a", value(1.0)}, {"b", value("x")}}) == base);
    CHECK(line_name("m", "w", "timing", {{"a", value(true)}, {"b", value("x")}}) == base);
    const std::vector<LineName> others{
        line_name("n", "w", "timing", {{"a", value(1)}, {"b", value("x")}}),
        line_name("m", "v", "timing", {{"a", value(1)}, {"b", value("x")}}),
        line_name("m", "w", "estimate", {{"a", value(1)}, {"b", value("x")}}),
        line_name("m", "w", "timing", {{"a", value(1)}}), line_name("m", "w", "timing", {}),
        line_name("m", "w", "timing", {{"a", value(2)}, {"b", value("x")}}),
        line_name("m", "w", "timing", {{"a", value("1")}, {"b", value("x")}}), // a word
        line_name("m", "w", "timing", {{"a", value(1)}, {"c", value("x")}}),
        line_name("m", "w", "timing", {{"b", value(1)}, {"a", value("x")}}),
        // the same letters, cut elsewhere
        line_name("mw", "", "timing", {{"a", value(1)}, {"b", value("x")}}),
        line_name("m", "wt", "iming", {{"a", value(1)}, {"b", value("x")}}),
        line_name("m", "w", "timinga", {{"", value(1)}, {"b", value("x")}})};
    CHECK(std::set<LineName>(others.begin(), others.end()).size() == others.size());
    for (const LineName other : others) {
        CHECK(other != base);
    }
}

TEST_CASE("values of settings have a text", "[unit][sweep]") {
    const auto text = [](const nlohmann::json& json) { return value_text(value_of(json)); };
    CHECK(text(nullptr).empty());
    CHECK(text(nlohmann::json::object()).empty());
    CHECK(text(3) == "3");
    CHECK(text(0.25) == "0.25");
    CHECK(text(true) == "1");
    CHECK(text(false) == "0");
    CHECK(text("a, b") == "a, b");
    CHECK(text(nlohmann::json::array()) == "[]");
    CHECK(text({1, "a", {2, 3}}) == "[1, a, [2, 3]]");
}
