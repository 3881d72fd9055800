// SPDX-License-Identifier: MIT
#include "base/config/paths.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::config;
using tessera::test::Lines;
using tessera::test::mistakes_of;

namespace {

/// Sets TESSERA_CONFIGS for one scope.
class Environment {
public:
    explicit Environment(const std::string& value) { setenv("TESSERA_CONFIGS", value.c_str(), 1); }
    ~Environment() { unsetenv("TESSERA_CONFIGS"); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
};

} // namespace

TEST_CASE("the first root that has a name wins", "[unit][config]") {
    const test::ScratchFolder scratch;
    const auto first = scratch.write("one/machines/a.json", "{}");
    const auto hidden = scratch.write("two/machines/a.json", "{}");
    const auto second = scratch.write("two/machines/b.json", "{}");
    const auto other = scratch.write("two/machines/notes.txt", "");
    const ConfigPaths paths{{scratch.path("one"), scratch.path("two"), scratch.path("absent")}};
    CHECK(find_config(paths, "machines", "machine", "a") == first);
    CHECK(find_config(paths, "machines", "machine", "b") == second);
    const auto entries = list_configs(paths, "machines");
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].name == "a");
    CHECK(entries[0].file == first);
    CHECK(entries[1].name == "b");
    CHECK(list_configs(paths, "sweeps").empty());
}

TEST_CASE("an unknown name is told with the nearest or all known ones", "[unit][config]") {
    const auto unknown = [](const std::string& name, const ConfigPaths& paths) {
        return mistakes_of(
            [&] { static_cast<void>(find_config(paths, "machines", "machine", name)); });
    };
    CHECK(unknown("tyni", test::source_paths()) ==
          Lines{"unknown machine 'tyni'; did you mean 'tiny'?"});
    CHECK(unknown("banana", test::source_paths()) ==
          Lines{"unknown machine 'banana'; known: bow, bow2000, c2_card, c600, gc2, gc200, "
                "gc2_ladder16, m2000, tiny, tiny2, tiny4, tiny8"});
    CHECK(unknown("bow", {}) == Lines{"unknown machine 'bow'; no machines found; set "
                                      "TESSERA_CONFIGS to a configs folder"});
}

TEST_CASE("what has a slash or ends in json is a path", "[unit][config]") {
    CHECK(is_path("a/b"));
    CHECK(is_path("b.json"));
    CHECK_FALSE(is_path("bow"));
    CHECK_FALSE(is_path("json"));
    CHECK(find_config({}, "machines", "machine", "x/absent") == "x/absent");
}

TEST_CASE("the environment names roots that come first and must exist", "[unit][config]") {
    const test::ScratchFolder scratch;
    {
        const Environment set(":" + scratch.path() + ":");
        const auto paths = default_config_paths();
        REQUIRE_FALSE(paths.roots.empty());
        CHECK(paths.roots.front() == scratch.path());
        CHECK(find_name(paths, "machines", "bow").has_value()); // the source tree comes last
    }
    const Environment set(scratch.path("absent"));
    CHECK(mistakes_of([] { static_cast<void>(default_config_paths()); }, scratch.path()) ==
          Lines{"TESSERA_CONFIGS: got 'absent', expected a folder with machines/ and workloads/"});
}

TEST_CASE("the ending alone makes a path", "[unit][config]") {
    CHECK(is_path(".json"));
    CHECK(is_path("/"));
    for (const std::string ending : {".mtx", ".smtx", ".npy"}) {
        for (const std::string packed : {"", ".gz"}) {
            CHECK(is_matrix_file("a" + ending + packed));
            CHECK(is_path("a" + ending + packed));
            CHECK_FALSE(is_path("a" + ending + packed + "x"));
            CHECK_FALSE(is_path("a" + ending.substr(1) + packed));
        }
    }
    for (const std::string ending : {".npz", ".safetensors"}) {
        CHECK(is_matrix_file("a" + ending));
        CHECK(is_path("a" + ending));
        CHECK_FALSE(is_matrix_file("a" + ending + ".gz"));
    }
    CHECK_FALSE(is_matrix_file("a/b.json"));
    CHECK_FALSE(is_path("a.gz"));
    CHECK_FALSE(is_path("json."));
    CHECK_FALSE(is_path("a.jsonx"));
    CHECK_FALSE(is_path(""));
}
