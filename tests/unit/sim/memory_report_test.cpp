// SPDX-License-Identifier: MIT
#include "sim/result/memory_report.h"
#include "sim/result/result.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

using namespace tessera;
using program::Lifetime;
using Kind = program::SegmentKind;

namespace {

/// Three steps, the middle one in a repeat; tiles 0, 1 and 3 of five hold the same, tile 2 more.
struct Scene {
    Scene() {
        machine.name = "five";
        machine.chip.tiles = 5;
        program.compute_sets.resize(2);
        program.compute_sets[0].name = "multiply";
        program.compute_sets[1].name = "reduce";
        program.exchanges.resize(1);
        program.exchanges[0].name = "bring";
        program::Step repeat;
        repeat.kind = program::Step::Kind::Repeat;
        repeat.count = 7;
        repeat.children = {step(program::Step::Kind::ComputeSet, 0)};
        program.control.children = {step(program::Step::Kind::Exchange, 0), repeat,
                                    step(program::Step::Kind::ComputeSet, 1)};
        program.image_of_tile = {0, 0, 1, 0, program::Program::kNoImage};
        program.images.resize(2);
        program.images[0].segments = {
            {base, 100, Kind::Code, "codelets", nullptr, {}},
            {base + 200, 64, Kind::Tensor, "home", nullptr, {0, 0}},
            {base + 300, 40, Kind::Tensor, "x", nullptr, {0, 1}},
            {base + 200, 48, Kind::Tensor, "out", nullptr, {1, Lifetime::kEnd}}};
        program.images[1] = program.images[0];
        program.images[1].segments.push_back(
            {base + 400, 8, Kind::VertexState, "state", nullptr, {}});
    }

    static program::Step step(program::Step::Kind kind, std::uint32_t index) {
        program::Step made;
        made.kind = kind;
        made.index = index;
        return made;
    }

    [[nodiscard]] nlohmann::json report() const {
        return result::make_memory_report(machine, "by_hand", program);
    }

    static constexpr Address base = 0x4c000;
    spec::MachineSpec machine;
    program::Program program;
};

} // namespace

TEST_CASE("the memory report holds what a program known by hand keeps in each step") {
    const Scene scene;
    const auto report = scene.report();
    REQUIRE(report["steps"].size() == 3);
    CHECK(report["steps"][0]["name"] == "bring");
    CHECK(report["steps"][0]["steps"] == "0");
    CHECK(report["steps"][1]["name"] == "multiply");
    CHECK(report["steps"][2]["name"] == "reduce");
    CHECK(report["steps"][0]["max_bytes"] == 100 + 64 + 40 + 8);
    CHECK(report["steps"][1]["max_bytes"] == 100 + 40 + 48 + 8);
    CHECK(report["steps"][2]["max_bytes"] == 100 + 48 + 8);
    CHECK(report["steps"][0]["worst_tile"] == 2);
    CHECK(report["steps"][2]["mean_bytes"].get<double>() == Approx((4 * (100 + 48) + 8) / 5.0));
    CHECK(report["steps"][1]["max_bytes_by_kind"]["tensor"] == 40 + 48);
    CHECK(report["steps"][1]["max_bytes_by_kind"]["vertex_state"] == 8);
    CHECK(report["steps"][1]["mean_bytes_by_kind"]["vertex_state"].get<double>() ==
          Approx(8 / 5.0));
}

TEST_CASE("equal steps of a memory report share a row, however many there are") {
    Scene scene;
    auto& steps = scene.program.control.children;
    const auto ends = steps; // bring, multiply in a repeat, reduce
    constexpr std::uint32_t kRounds = 1000;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
        steps.push_back(ends[1]);
        steps.push_back(ends[2]);
    }
    const auto report = scene.report();
    // The first multiply keeps x, the others and all of reduce keep out alone.
    REQUIRE(report["steps"].size() == 4);
    CHECK(report["steps"][1]["steps"] == "1");
    CHECK(report["steps"][2]["name"] == "reduce");
    CHECK(report["steps"][2]["steps"].get<std::string>().rfind("2,4,6,", 0) == 0);
    CHECK(report["steps"][3]["name"] == "multiply");
    CHECK(report["steps"][3]["max_bytes"] == 100 + 48 + 8);
    CHECK(report["buffers"][2]["last_step"] == 2 + 2 * kRounds);
    // One of a name is one range.
    steps = std::vector<program::Step>(kRounds, ends[2]);
    CHECK(scene.report()["steps"].back()["steps"] == fmt::format("2-{}", kRounds - 1));
}

TEST_CASE("equal tiles of a memory report share a row") {
    const Scene scene;
    const auto report = scene.report();
    REQUIRE(report["tiles"].size() == 2);
    const auto& tiles = report["tiles"][0];
    CHECK(tiles["tiles"] == "0-1,3");
    CHECK(tiles["always_bytes"] == 100);
    CHECK(tiles["peak_bytes"] == 100 + 64 + 40);
    CHECK(tiles["peak_step"] == 0);
    CHECK(tiles["peak_not_always_bytes_by_kind"]["tensor"] == 64 + 40);
    CHECK(tiles["peak_not_always_bytes_by_kind"]["code"] == 0);
    CHECK(tiles["free_bytes"] == report["tile_bytes"].get<Bytes>() - 100 - 64 - 40);
    CHECK(report["tiles"][1]["tiles"] == "2");
    CHECK(report["tiles"][1]["always_bytes_by_kind"]["vertex_state"] == 8);
}

TEST_CASE("of equally full tiles a memory report names the lowest in each step") {
    Scene scene;
    scene.program.images[1] = scene.program.images[0];
    scene.program.images[1].segments[2].bytes += 8; // x, which is kept until step 1
    scene.program.images[0].segments[3].bytes += 8; // out, from step 1 on
    const auto report = scene.report();
    CHECK(report["steps"][0]["worst_tile"] == 2);
    CHECK(report["steps"][1]["worst_tile"] == 0);
    CHECK(report["steps"][2]["worst_tile"] == 0);
    CHECK(report["steps"][1]["max_bytes_by_kind"]["tensor"] == 40 + 48 + 8);
    // always: from the first step to the last, whether or not beyond
    auto& always = scene.program.images[0].segments[0].lifetime;
    for (const auto& [first, last, bytes] :
         {std::tuple{0U, 2U, 100}, std::tuple{0U, 1U, 0}, std::tuple{1U, 2U, 0}}) {
        always = {first, last};
        CHECK(scene.report()["tiles"][0]["always_bytes"] == bytes);
    }
}

TEST_CASE("a buffer is kept from its first step to its last, though nothing comes when it goes") {
    Scene scene;
    for (std::uint32_t first = 0; first < 3; ++first) {
        for (std::uint32_t last = first; last < 3; ++last) {
            for (auto& image : scene.program.images) {
                image.segments = {{scene.base, 100, Kind::Code, "codelets", nullptr, {}},
                                  {scene.base + 200, 64, Kind::Tensor, "x", nullptr, {}}};
                image.segments[1].lifetime = {first, last};
            }
            std::map<std::string, Bytes> kept;
            const auto report = scene.report();
            for (const auto& row : report["steps"]) {
                kept[row["name"].get<std::string>()] = row["max_bytes"].get<Bytes>();
            }
            CAPTURE(first, last);
            const std::vector<std::string> names{"bring", "multiply", "reduce"};
            for (std::uint32_t step = 0; step < 3; ++step) {
                CHECK(kept.at(names[step]) == (step >= first && step <= last ? 164 : 100));
            }
        }
    }
}

TEST_CASE("where no tile keeps anything the first is the one that keeps most") {
    Scene scene;
    for (auto& image : scene.program.images) {
        image.segments.clear();
    }
    const auto report = scene.report();
    for (const auto& step : report["steps"]) {
        CHECK(step["worst_tile"] == 0);
        CHECK(step["max_bytes"] == 0);
        CHECK(step["mean_bytes"] == 0.0);
    }
}

TEST_CASE("numbers of tiles are single ones, twos and ranges") {
    Scene scene;
    scene.machine.chip.tiles = 12;
    scene.program.image_of_tile = {0, 0, 1, 0, 1, 1, 1, 0, 1, 0};
    const auto report = scene.report();
    CHECK(report["tiles"][0]["tiles"] == "0-1,3,7,9");
    CHECK(report["tiles"][1]["tiles"] == "2,4-6,8");
}

TEST_CASE("buffers of a memory report say where and how long they stand") {
    const Scene scene;
    const auto report = scene.report();
    REQUIRE(report["buffers"].size() == 5);
    const auto& out = report["buffers"][2]; // by address, then by first step
    CHECK(out["name"] == "out");
    CHECK(out["kind"] == "tensor");
    CHECK(out["address"] == Scene::base + 200);
    CHECK(out["first_step"] == 1);
    CHECK(out["last_step"] == 2);
    CHECK(out["tiles"] == "0-3");
}

TEST_CASE("the schema accepts memory reports and refuses what is none") {
    const auto accepts = [](const nlohmann::json& document) {
        const auto schema_json = result::memory_report_schema();
        valijson::Schema schema;
        valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(
            valijson::adapters::NlohmannJsonAdapter{schema_json}, schema);
        valijson::Validator validator{valijson::Validator::kStrongTypes};
        return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document},
                                  nullptr);
    };
    auto report = Scene{}.report();
    CHECK(accepts(report));
    report["buffers"][0]["kind"] = "wax";
    CHECK_FALSE(accepts(report));
    CHECK(accepts(result::make_memory_report({}, "empty", {})));
}

TEST_CASE("the checked in schema of memory reports is the one the program writes") {
    std::ifstream file(tessera::test::source_path("configs/schemas/memory.schema.json"));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    CHECK(text == result::json_text(result::memory_report_schema()));
}
