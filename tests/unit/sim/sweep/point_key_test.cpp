// SPDX-License-Identifier: MIT
#include "sim/sweep/point_key.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;

namespace {

using Sets = std::vector<std::string>;

std::string key_of(const std::string& machine, const std::string& workload, const Sets& sets = {},
                   const std::string& mode = "timing", int model_version = 1) {
    const auto given = catalog::split_overrides(sets);
    PointKeys keys(model_version);
    return keys
        .of(PointKeys::part_of(spec::load_machine(machine, test::source_paths(), given.machine)),
            keys.part_of(catalog::load_workload(workload, test::source_paths(), given.workload)),
            mode)
        .text();
}

} // namespace

TEST_CASE("SHA-256 is the published function", "[unit][sweep]") {
    // FIPS 180-4, examples of NIST
    CHECK(sha256("").text() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256("abc").text() ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a point's key says what its result hangs on", "[unit][sweep]") {
    const std::string base = key_of("tiny", "tiny_matmul");
    CHECK(base.size() == 64);
    CHECK(key_of("tiny", "tiny_matmul") == base);
    std::set<std::string> keys{base};
    std::size_t different = 1;
    const auto differs = [&](const std::string& key) {
        keys.insert(key);
        CHECK(keys.size() == ++different);
    };
    differs(key_of("bow", "tiny_matmul"));
    differs(key_of("tiny", "tiny_matmul_f32"));
    differs(key_of("tiny", "tiny_matmul", {"tile.workers=4"}));
    differs(key_of("tiny", "tiny_matmul", {"chip.clock_hz=1e9"}));
    differs(key_of("tiny", "tiny_matmul", {"workload.m=32"}));
    differs(key_of("tiny", "tiny_matmul", {"workload.seed=7"}));
    differs(key_of("tiny", "tiny_matmul", {}, "functional"));
    differs(key_of("tiny", "tiny_matmul", {}, "timing", 2));
}

TEST_CASE("coefficients of energy and area are in no key, as no run depends on them",
          "[unit][sweep]") {
    const auto part = [](const Sets& sets) {
        return PointKeys::part_of(spec::load_machine("tiny", test::source_paths(), sets));
    };
    CHECK(part({"energy.static_w=1", "area.rest_mm2=1"}) == part({}));
    CHECK(part({"tile.workers=5"}) != part({}));
}

TEST_CASE("parameters of systems are in the keys of systems alone", "[unit][sweep]") {
    const auto part = [](const std::string& machine, const Sets& sets = {}) {
        return nlohmann::json::parse(
            PointKeys::part_of(spec::load_machine(machine, test::source_paths(), sets)));
    };
    const nlohmann::json one = part("tiny");
    CHECK_FALSE(one.contains("system"));
    CHECK_FALSE(one["sync"].contains("hop_ns"));
    CHECK(one["sync"].contains("external_cycles"));
    // one chip of a system is a machine of one chip
    CHECK(part("tiny4", {"system.chips=1"}) == one);

    const nlohmann::json four = part("tiny4");
    CHECK(four["system"]["chips"] == 4);
    CHECK(four["sync"].contains("hop_ns"));
    for (const std::string other :
         {"system.chips=2", "system.zones=1", "system.links.turn_cycles=1", "sync.hop_ns=1"}) {
        CAPTURE(other);
        CHECK(part("tiny4", {other}) != four);
    }
}

TEST_CASE("every file of a folder counts in a key, and their order", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const auto pattern = [](int column) {
        return "%%MatrixMarket matrix coordinate pattern general\n4 4 1\n1 " +
               std::to_string(column) + "\n";
    };
    const std::string file = folder.write("training.json", R"({
        "schema_version": 1, "kind": "pipeline",
        "tensors": {"w": {"mode": "dynamic", "sequence": {"folder": "patterns"}}, "x": {"shape": [4, 2]}},
        "steps": [{"next": "w"}, {"family": "spmm", "inputs": ["w", "x"], "output": "y"}]})");
    const auto key_with = [&](int first, int second, const std::string& name) {
        std::filesystem::remove_all(folder.path("patterns"));
        static_cast<void>(folder.write("patterns/1.mtx", pattern(first)));
        static_cast<void>(folder.write("patterns/" + name, pattern(second)));
        return key_of("tiny", file);
    };
    const std::string key = key_with(1, 2, "2.mtx");
    CHECK(key_with(1, 2, "3.mtx") == key);
    CHECK(key_with(1, 3, "2.mtx") != key);
    CHECK(key_with(3, 2, "2.mtx") != key);
    CHECK(key_with(2, 1, "2.mtx") != key);
}

TEST_CASE("a value has one key however it is written", "[unit][sweep]") {
    const std::string base = key_of("tiny", "tiny_matmul");
    const auto machine = spec::load_machine("tiny", test::source_paths());
    const auto workload = catalog::load_workload("tiny_matmul", test::source_paths());
    CHECK(key_of("tiny", "tiny_matmul",
                 {"tile.workers=" + machine.resolved["tile"]["workers"].dump()}) == base);
    CHECK(key_of("tiny", "tiny_matmul", {"workload.m=" + workload.resolved["m"].dump()}) == base);
    CHECK(key_of("tiny", "tiny_matmul", {"chip.clock_hz=2000000000"}) ==
          key_of("tiny", "tiny_matmul", {"chip.clock_hz=2e9"}));
    // the file is called otherwise, or says something else about itself
    const test::ScratchFolder folder;
    nlohmann::json described = machine.resolved;
    described["name"] = "other";
    described["description"] = "a machine";
    CHECK(key_of(folder.write("m.json", described.dump()), "tiny_matmul") == base);
    std::filesystem::copy_file(workload.file, folder.path("other.json"));
    CHECK(key_of("tiny", folder.path("other.json")) == base);
}

TEST_CASE("what a workload's files hold is part of the key", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string file =
        folder.write("w.json", R"({"schema_version": 1, "kind": "spmm", "mode": "static", "n": 8,
        "pattern": {"file": "p.mtx"}})");
    const std::string head = "%%MatrixMarket matrix coordinate real general\n4 4 1\n";
    const auto key = [&] { return key_of("tiny", file); };
    static_cast<void>(folder.write("p.mtx", head + "1 1 2.0\n"));
    const std::string first = key();
    CHECK(key() == first);
    static_cast<void>(folder.write("p.mtx", head + "1 2 2.0\n"));
    const std::string second = key();
    CHECK(second != first);
    static_cast<void>(folder.write("p.mtx", head + "1 1 2.0\n"));
    CHECK(key() == first);
    // what the file is called does not matter, how it is read does
    static_cast<void>(folder.write("q.mtx", head + "1 1 2.0\n"));
    CHECK(key_of("tiny", file, {"workload.pattern.file=" + folder.path("q.mtx")}) == first);
    // a file is read once
    PointKeys keys(1);
    const auto workload = catalog::load_workload(file, test::source_paths());
    REQUIRE(workload.inputs.size() == 1);
    const std::string part = keys.part_of(workload);
    static_cast<void>(folder.write("p.mtx", head + "1 2 2.0\n"));
    CHECK(keys.part_of(workload) == part);
    std::filesystem::remove(folder.path("p.mtx"));
    CHECK_THROWS_AS(key_of("tiny", file), IoError);
}

TEST_CASE("a key is its text", "[unit][sweep]") {
    const PointKey key = sha256("abc");
    CHECK(PointKey::from(key.text()) == key);
    CHECK(PointKey::from(key.text().substr(1)) == std::nullopt);
    CHECK(PointKey::from("x" + key.text().substr(1)) == std::nullopt);
    CHECK(PointKey::from(key.text() + "0") == std::nullopt);
}

TEST_CASE("a content is the first sixteen digits of a digest, of what is in the files alone",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    const auto digits = [](const std::string& text) { return sha256(text).text().substr(0, 16); };
    const std::string data = folder.write("a.mtx", "data");
    PointKeys keys(1);
    CHECK(keys.content_of(data) == digits(sha256("data").text()));
    const auto machine = spec::read_machine(
        folder.write("m.json", R"({"schema_version": 1, "extends": "tiny", "name": "n",
                                   "description": "d", "chip": {"tiles": 6}})"),
        test::source_paths());
    nlohmann::json whole = machine.whole.root;
    CHECK(whole["chip"]["tiles"] == 6);
    for (const char* const gone : {"name", "description", "extends"}) {
        whole.erase(gone);
    }
    CHECK(PointKeys::content_of(machine) == digits(whole.dump()));
    const std::string text =
        R"({"schema_version": 1, "name": "n", "description": "d", "kind": "matmul", "m": 16})";
    const auto workload = config::parse_document(text, "w.json");
    const std::string own = R"({"kind":"matmul","m":16,"schema_version":1})";
    CHECK(keys.content_of(workload, {}) == digits(own));
    CHECK(keys.content_of(workload, {{"/file", data}, {"/other", data}}) ==
          digits(own + "\n" + sha256("data").text() + "\n" + sha256("data").text()));
}
