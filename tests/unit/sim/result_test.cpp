// SPDX-License-Identifier: MIT
#include "models/spec/load.h"
#include "models/spec/matrix_unit.h"
#include "sim/result.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace tessera;
using sim::RunFacts;

namespace {

bool schema_accepts(const nlohmann::json& document) {
    const auto schema_json = sim::result_schema();
    valijson::Schema schema;
    valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{schema_json}, schema);
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document}, nullptr);
}

class FakeJob final : public sim::Job {
public:
    const program::Program& plan(const spec::MachineSpec&) override { return program_; }
    std::vector<sim::HostArray> operands() const override { return {}; }
    sim::CheckOutcome check(const sim::ReadTensor&, int) const override { return {}; }
    std::string answer() const override { return {}; }
    nlohmann::json plan_json() const override { return nlohmann::json::object(); }
    std::optional<sim::ProductWork> product() const override {
        return sim::ProductWork{4000, 64000, workload::PartialsType::F32};
    }
    Bytes useful_bytes() const override { return 0; }
    std::string sentence() const override { return "spmm by hand"; }

private:
    program::Program program_;
};

/// Two compute sets, one of them a reduction, and an exchange, on four tiles.
struct Scene {
    Scene() {
        machine.name = "four";
        machine.chip.tiles = 4;
        machine.chip.clock_hz = 1e9;
        machine_json = {{"name", "four"}, {"chip", {{"tiles", 4}, {"clock_hz", 1e9}}}};
        program.compute_sets.resize(2);
        program.compute_sets[0].name = "multiply";
        program.compute_sets[1].name = "reduce_sum";
        program.exchanges.resize(1);
        program.exchanges[0].name = "scatter";
        program.image_of_tile = {0, 1, program::Program::kNoImage, program::Program::kNoImage};
        program.images.resize(2);
        program.images[0].segments.push_back({0, 100, program::SegmentKind::Code, "code", nullptr});
        program.images[1].segments.push_back({0, 80, program::SegmentKind::Code, "code", nullptr});
        program.images[1].segments.push_back({0, 900, program::SegmentKind::Tensor, "a", nullptr});
    }

    nlohmann::json result() {
        ipu::Account account(program, 4);
        const std::vector<ipu::TileShare> multiply{{0, 100}, {1, 60}};
        const std::vector<ipu::TileShare> scatter{{0, 40}, {1, 40}, {2, 40}, {3, 40}};
        const std::vector<ipu::TileShare> reduce{{0, 20}};
        account.compute_phase(0, 100, multiply);
        account.sync_phase(50);
        account.exchange_phase(0, 40, scatter).bytes = 64;
        account.compute_phase(1, 20, reduce);
        return sim::make_result({.machine = machine,
                                 .machine_resolved = machine_json,
                                 .workload_name = "by_hand",
                                 .workload_resolved = workload_json,
                                 .job = job,
                                 .program = program,
                                 .account = account,
                                 .check = std::nullopt,
                                 .trace = std::nullopt,
                                 .host = {}});
    }

    spec::MachineSpec machine;
    nlohmann::json machine_json;
    nlohmann::json workload_json = nlohmann::json::object();
    program::Program program;
    FakeJob job;
};

} // namespace

TEST_CASE("a result holds the numbers of a run known by hand") {
    Scene scene;
    const auto result = scene.result();
    CHECK(result["cycles"] == 100 + 50 + 40 + 20);
    CHECK(result["phases"]["compute"] == 120);
    CHECK(result["seconds"].get<double>() == Approx(210e-9));
    CHECK(result["tflops"].get<double>() == Approx(4000 / 210e-9 * 1e-12));
    CHECK(result["peak_tflops"].get<double>() ==
          Approx(2.0 * 4 * static_cast<double>(spec::matrix_unit(scene.machine).macs_f16_f32) *
                 1e9 * 1e-12));
    CHECK(result["fraction_of_peak"].get<double>() ==
          Approx(result["tflops"].get<double>() / result["peak_tflops"].get<double>()));
    CHECK(result["flops_dense_equivalent"] == 64000);
    CHECK(result["tiles_busy"] == 2);
    CHECK(result["compute_sets"][0]["tile_cycles"]["max"] == 100);
    CHECK(result["compute_sets"][0]["tile_cycles"]["min"] == 0);
    CHECK(result["compute_sets"][0]["tile_cycles"]["mean"].get<double>() == Approx(40));
    CHECK(result["exchanges"][0]["words"] == 16);
    CHECK(result["memory"]["max_bytes"] == 980);
    CHECK(result["memory"]["worst_tile"] == 1);
    CHECK(result["memory"]["max_bytes_by_kind"]["code"] == 100);
    CHECK(result["memory"]["worst_tile_bytes_by_kind"]["code"] == 80);
}

TEST_CASE("changes of layout have a line of the explanation") {
    for (const std::string name : {"rearrange: own part", "halo pre", "halo post"}) {
        Scene scene;
        scene.program.compute_sets[1].name = name;
        const auto result = scene.result();
        CHECK(result["explanation"]["rearrangement"]["cycles"].get<double>() == Approx(5));
        CHECK(result["explanation"]["reduction"]["cycles"].get<double>() == Approx(0));
    }
}

TEST_CASE("the parts of the explanation sum to the run") {
    Scene scene;
    const auto result = scene.result();
    const auto cycles = [&](const char* part) {
        return result["explanation"][part]["cycles"].get<double>();
    };
    CHECK(cycles("compute") == Approx(40));
    CHECK(cycles("exchange") == Approx(40));
    CHECK(cycles("sync") == Approx(50));
    CHECK(cycles("reduction") == Approx(5));
    CHECK(cycles("uneven_splits") == Approx((100 - 40) + (20 - 5)));
    double sum = 0;
    double percent = 0;
    for (const auto& part : result["explanation"]) {
        sum += part["cycles"].get<double>();
        percent += part["percent"].get<double>();
    }
    CHECK(sum == Approx(result["cycles"].get<double>()));
    CHECK(percent == Approx(100));
}

TEST_CASE("the schema accepts results and refuses what is none") {
    Scene scene;
    auto result = scene.result();
    CHECK(schema_accepts(result));
    auto extra = result;
    extra["surprise"] = 1;
    CHECK_FALSE(schema_accepts(extra));
    auto missing = result;
    missing.erase("phases");
    CHECK_FALSE(schema_accepts(missing));
    auto mistyped = result;
    mistyped["cycles"] = "many";
    CHECK_FALSE(schema_accepts(mistyped));
}

TEST_CASE("the checked in schema of results is the one the program writes") {
    std::ifstream file(tessera::test::source_path("configs/schemas/result.schema.json"));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    CHECK(text == sim::json_text(sim::result_schema()));
}

TEST_CASE("the summary says what the result says") {
    Scene scene;
    const auto text = sim::summary_text(scene.result());
    CAPTURE(text);
    CHECK(text.find("workload   by_hand: spmm by hand\n") != std::string::npos);
    CHECK(text.find("cycles     210 (0.21 us)") != std::string::npos);
    CHECK(text.find("tiles busy 2 of 4") != std::string::npos);
    CHECK(text.find("fullest tile 1: 980 of") != std::string::npos);
    CHECK(text.find("in 'start': code 80, tensor 900") != std::string::npos);
    CHECK(text.find("check      not made") != std::string::npos);
    CHECK(text.find("multiply") < text.find("scatter"));
}

TEST_CASE("the summary shows what a matrix unit does that is not as built") {
    Scene scene;
    auto result = scene.result();
    CHECK(sim::summary_text(result).find("steps an issue") == std::string::npos);
    REQUIRE(result["matrix_unit"]["memory_bytes_per_cycle"] == 24);
    result["machine"]["amp"]["steps_per_issue"] = 2.0;
    result["matrix_unit"] = {{"macs_per_cycle", 128}, {"memory_bytes_per_cycle", 48}};
    CHECK(sim::summary_text(result).find(
              "amp        2 steps an issue: 128 MACs and 48 bytes of memory a tile cycle\n") !=
          std::string::npos);
}

TEST_CASE("ratios are to the first workload") {
    Scene scene;
    auto first = scene.result();
    auto second = first;
    second["cycles"] = 420;
    second["workload"]["name"] = "slower";
    const auto text = sim::ratio_text({first, second});
    CAPTURE(text);
    CHECK(text.find("1.000") != std::string::npos);
    CHECK(text.find("2.000") != std::string::npos);
}

TEST_CASE("a run of no cycles divides by nothing") {
    Scene scene;
    const ipu::Account account(scene.program, 4);
    const auto result = sim::make_result({.machine = scene.machine,
                                          .machine_resolved = scene.machine_json,
                                          .workload_name = "empty",
                                          .workload_resolved = scene.workload_json,
                                          .job = scene.job,
                                          .program = scene.program,
                                          .account = account,
                                          .check = std::nullopt,
                                          .trace = std::nullopt,
                                          .host = {}});
    CHECK(schema_accepts(result));
    CHECK(result["tflops"] == 0.0);
    CHECK_FALSE(sim::summary_text(result).empty());
}
