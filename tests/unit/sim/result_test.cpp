// SPDX-License-Identifier: MIT
#include "models/spec/load.h"
#include "models/spec/matrix_unit.h"
#include "sim/result.h"
#include "sim/result_table.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

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

class FakeJob final : public job::Job {
public:
    const program::Program& plan(const spec::MachineSpec&) override { return program_; }
    std::vector<job::HostArray> operands() const override { return {}; }
    job::CheckOutcome check(const job::ReadTensor&, int) override { return {}; }
    std::string answer() const override { return {}; }
    nlohmann::json plan_json() const override { return nlohmann::json::object(); }
    std::optional<job::ProductWork> product() const override {
        return job::ProductWork{4000, 64000, partials};
    }
    Bytes useful_bytes() const override { return useful; }
    std::string sentence() const override { return "spmm by hand"; }

    ElementType partials = ElementType::F32;
    Bytes useful = 0;

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
        program.compute_sets[1].role = program::Role::Reduce;
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
        auto& exchanged = account.exchange_phase(0, 40, scatter);
        exchanged.bytes = 64;
        exchanged.sent_bytes = 24;
        exchanged.bound_cycles = 32;
        account.compute_phase(1, 20, reduce);
        return result_of(account);
    }

    nlohmann::json result_of(const ipu::Account& account) {
        return sim::make_result({.machine = machine,
                                 .machine_resolved = machine_json,
                                 .unused_parameters = {{"host.latency_us", "the run has no x"}},
                                 .workload_name = "by_hand",
                                 .workload_resolved = workload_json,
                                 .job = job,
                                 .program = program,
                                 .account = account,
                                 .check = std::nullopt,
                                 .trace = std::nullopt,
                                 .output_digest = "00000000",
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
    CHECK(result["tiles_busy"] == 4); // all of them exchange
    CHECK(result["tiles_busy_by_kind"]["compute"] == 2);
    CHECK(result["compute_sets"][0]["tile_cycles"]["max"] == 100);
    CHECK(result["compute_sets"][0]["tile_cycles"]["min"] == 0);
    CHECK(result["compute_sets"][0]["tile_cycles"]["mean"].get<double>() == Approx(40));
    CHECK(result["exchanges"][0]["bytes"] == 64);
    CHECK(result["exchanges"][0]["sent_bytes"] == 24);
    CHECK(result["exchanges"][0]["slowest_tile"] == 0); // the first of equals
    CHECK(result["exchanges"][0]["words"] == 16);
    CHECK_FALSE(result.contains("useful_bytes"));
    CHECK(result["memory"]["max_bytes"] == 980);
    CHECK(result["memory"]["worst_tile"] == 1);
    CHECK(result["memory"]["max_bytes_by_kind"]["code"] == 100);
    CHECK(result["memory"]["worst_tile_bytes_by_kind"]["code"] == 80);
}

TEST_CASE("of tiles that are equally full the first is the worst", "[unit][sim]") {
    Scene scene;
    scene.program.images[0] = scene.program.images[1];
    CHECK(scene.result()["memory"]["worst_tile"] == 0);
    // one byte more makes the later one the worst again
    scene.program.images[1].segments[1].bytes += 1;
    CHECK(scene.result()["memory"]["worst_tile"] == 1);
    scene.program.image_of_tile = {program::Program::kNoImage, program::Program::kNoImage, 1, 1};
    CHECK(scene.result()["memory"]["worst_tile"] == 2);
}

TEST_CASE("every count of a step stands in the result under its own name") {
    Scene scene;
    scene.program.compute_sets.resize(1);
    using Place = program::RemoteBuffer::Place;
    using Direction = program::StreamCopy::Direction;
    scene.program.remote_buffers = {{"far", Place::StreamingMemory, 4, 64},
                                    {"near", Place::Host, 4, 64}};
    scene.program.stream_copies = {{"load", 0, Direction::Read, 1, {}},
                                   {"give", 1, Direction::Write, 1, {}}};
    ipu::Account account(scene.program, 4);
    const std::vector<ipu::TileShare> uneven{{0, 10}, {1, 70}, {2, 1}, {3, 30}};
    for (int round = 0; round < 2; ++round) {
        auto& record = account.compute_phase(0, 80, uneven);
        record.bound_cycles += 11;
        record.worker_issues += 12;
        record.worker_bundles += 13;
        record.supervisor_instructions += 14;
        auto& exchange = account.exchange_phase(0, 50, {uneven.data(), 1});
        exchange.bytes += 400;
        exchange.sent_bytes += 100;
        for (const std::uint32_t copy : {0U, 1U}) {
            auto& stream = account.stream_phase(copy, 20 + copy, {uneven.data(), 1});
            stream.sent_bytes += 640 + copy;
            stream.transfer_cycles += 90 + copy;
            account.stream_arrived(copy, 320 + copy);
        }
    }
    const auto result = scene.result_of(account);
    CHECK(schema_accepts(result));
    const auto& set = result["compute_sets"][0];
    CHECK(set["executions"] == 2);
    CHECK(set["role"] == "work");
    CHECK(set["cycles"] == 160);
    CHECK(set["bound_cycles"] == 22);
    CHECK(set["worker_issues"] == 24);
    CHECK(set["worker_bundles"] == 26);
    CHECK(set["supervisor_instructions"] == 28);
    CHECK(set["active_tiles"] == 4);
    CHECK(set["slowest_tile"] == 1);
    CHECK(set["tile_cycles"]["min"] == 2);
    CHECK(set["tile_cycles"]["max"] == 140);
    CHECK(set["tile_cycles"]["mean"].get<double>() == Approx(2 * 111 / 4.0));
    CHECK(result["host"]["bundles"] == 26);
    CHECK(result["tiles_busy"] == 4);
    const auto& exchange = result["exchanges"][0];
    CHECK(exchange["bytes"] == 800);
    CHECK(exchange["sent_bytes"] == 200);
    CHECK(exchange["words"] == 200);
    for (const int copy : {0, 1}) {
        const auto& stream = result["streams"][copy];
        CHECK(stream["peer"] == (copy == 0 ? "streaming_memory.far" : "host.near"));
        CHECK(stream["role"] == "stream");
        CHECK(stream["direction"] == (copy == 0 ? "read" : "write"));
        CHECK(stream["cycles"] == 2 * (20 + copy));
        CHECK(stream["bytes"] == 2 * (320 + copy));
        CHECK(stream["sent_bytes"] == 2 * (640 + copy));
        CHECK(stream["transfer_cycles"] == 2 * (90 + copy));
    }
    CHECK(result["tiles"]["compute_cycles"]["min"] == 2);
    CHECK(result["tiles"]["compute_cycles"]["max"] == 140);
    CHECK(result["phases"]["stream"] == 2 * 41);
    CHECK(result["explanation"]["stream"]["cycles"].get<double>() == Approx(82));
    CHECK_FALSE(result["phases"].contains("idle"));
}

TEST_CASE(
    "of equally full tiles the lowest is named, and all tiles of the machine share the mean") {
    Scene scene;
    scene.program.images[0] = scene.program.images[1];
    scene.program.image_of_tile.resize(2); // the others hold nothing
    const auto result = scene.result();
    CHECK(result["memory"]["worst_tile"] == 0);
    CHECK(result["memory"]["max_bytes"] == 980);
    CHECK(result["memory"]["mean_bytes"].get<double>() == Approx(2 * 980 / 4.0));
    CHECK(result["memory"]["tile_bytes"] == scene.machine.memory.bytes());
}

TEST_CASE("the peak is that of the partials") {
    Scene scene;
    for (const auto partials : {ElementType::F16, ElementType::F32}) {
        scene.job.partials = partials;
        const auto macs = partials == ElementType::F16
                              ? spec::matrix_unit(scene.machine).macs_f16_f16
                              : spec::matrix_unit(scene.machine).macs_f16_f32;
        CHECK(scene.result()["peak_tflops"].get<double>() ==
              Approx(2.0 * 4 * static_cast<double>(macs) * 1e-3));
    }
}

TEST_CASE("useful bytes are over the whole run's time, in 1e9 bytes a second") {
    Scene scene;
    scene.job.useful = 4200;
    const auto result = scene.result();
    CHECK(result["useful_bytes"] == 4200);
    CHECK(result["gbytes_per_s"].get<double>() == Approx(4200 / 210e-9 / 1e9));
}

TEST_CASE("times have the unit in which they are at least one") {
    Scene scene;
    auto result = scene.result();
    const auto shown = [&](double seconds) {
        result["seconds"] = seconds;
        const auto text = sim::summary_text(result);
        const auto begin = text.find("(") + 1;
        return text.substr(begin, text.find(")", begin) - begin);
    };
    CHECK(shown(1) == "1.00 s");
    CHECK(shown(0.5) == "500.00 ms");
    CHECK(shown(1e-3) == "1.00 ms");
    CHECK(shown(0.0005) == "500.00 us");
    CHECK(shown(0) == "0.00 us");
}

TEST_CASE("a step goes to the part of the explanation that its role says") {
    using program::Role;
    const std::map<Role, std::pair<const char*, const char*>> parts{
        {Role::Work, {"compute", "exchange"}},
        {Role::Bring, {"compute", "exchange"}},
        {Role::Reduce, {"reduction", "reduction"}},
        {Role::Rearrange, {"rearrangement", "rearrangement"}},
        {Role::Stream, {"compute", "exchange"}},
        {Role::Control, {"control", "control"}}};
    for (const auto& role : program::kRoles) {
        CAPTURE(role.word);
        Scene scene;
        scene.program.compute_sets[1].role = role.role;
        scene.program.exchanges[0].role = role.role;
        const auto result = scene.result();
        CHECK(schema_accepts(result));
        CHECK(result["compute_sets"][1]["role"] == role.word);
        CHECK(result["exchanges"][0]["role"] == role.word);
        // multiply: mean of 40; the other set: mean of 5; the exchange: bound of 32
        std::map<std::string, double> expected{{"compute", 40}};
        expected[parts.at(role.role).first] += 5;
        expected[parts.at(role.role).second] += 32;
        for (const char* part : {"compute", "exchange", "reduction", "rearrangement", "control"}) {
            CHECK(result["explanation"][part]["cycles"].get<double>() == Approx(expected[part]));
        }
    }
}

TEST_CASE("a program whose names lie is explained by its roles") {
    Scene honest;
    Scene liar;
    liar.program.compute_sets[0].name = "rearrange: halo pre";
    liar.program.compute_sets[1].name = "multiply";
    liar.program.exchanges[0].name = "reduce: bring";
    const auto result = liar.result();
    CHECK(result["explanation"] == honest.result()["explanation"]);
    CHECK(result["explanation"]["rearrangement"]["cycles"] == 0.0);
    CHECK(result["compute_sets"][0]["name"] == "rearrange: halo pre");
    CHECK(result["compute_sets"][0]["role"] == "work");
}

TEST_CASE("every role has a word of its own, by which it is found") {
    std::set<std::string_view> words;
    for (const auto& entry : program::kRoles) {
        CHECK(&entry == &program::kRoles.at(static_cast<std::size_t>(entry.role)));
        CHECK(program::word(entry.role) == entry.word);
        CHECK(program::role_of(entry.word) == entry.role);
        CHECK(words.insert(entry.word).second);
    }
    for (const char* other : {"", "Work", "worker", "reduction"}) {
        CHECK_FALSE(program::role_of(other).has_value());
    }
}

TEST_CASE("the page lists every role with its sentence") {
    std::ifstream file(test::source_path("docs/models/ipu.md"));
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const auto& entry : program::kRoles) {
        CAPTURE(entry.word);
        CHECK(page.find(fmt::format("| `{}` | {} |", entry.word, entry.sentence)) !=
              std::string::npos);
    }
}

TEST_CASE("the parts of the explanation are the tiles' means, the bounds, and what is lost") {
    Scene scene;
    const auto result = scene.result();
    const auto cycles = [&](const char* part) {
        return result["explanation"][part]["cycles"].get<double>();
    };
    // multiply: 100 and 60 on two of four tiles; reduce: 20 on one; scatter: 40, of which 32 bound
    CHECK(cycles("compute") == Approx((100 + 60) / 4.0));
    CHECK(cycles("reduction") == Approx(20 / 4.0));
    CHECK(cycles("unused_tiles") ==
          Approx((100 + 60) / 2.0 - (100 + 60) / 4.0 + 20 / 1.0 - 20 / 4.0));
    CHECK(cycles("uneven_splits") == Approx(100 - (100 + 60) / 2.0));
    CHECK(cycles("exchange") == Approx(32));
    CHECK(cycles("exchange_overhead") == Approx(40 - 32));
    CHECK(cycles("sync") == Approx(50));
    CHECK(cycles("control") == Approx(0));
    double sum = 0;
    double percent = 0;
    for (const auto& part : result["explanation"]) {
        sum += part["cycles"].get<double>();
        percent += part["percent"].get<double>();
    }
    CHECK(sum == Approx(result["cycles"].get<double>()));
    CHECK(percent == Approx(100));
    CHECK(result["explanation"].size() == sim::result_columns().explanation.size());
}

TEST_CASE("an exchange among few tiles that is near its bound is neither uneven nor unused") {
    Scene scene;
    ipu::Account account(scene.program, 4);
    const std::vector<ipu::TileShare> two{{1, 1000}, {3, 990}};
    account.exchange_phase(0, 1000, two).bound_cycles = 960;
    const auto result = scene.result_of(account);
    CHECK(result["explanation"]["exchange"]["percent"].get<double>() == Approx(96));
    CHECK(result["explanation"]["exchange_overhead"]["percent"].get<double>() == Approx(4));
    CHECK(result["explanation"]["uneven_splits"]["cycles"] == 0.0);
    CHECK(result["explanation"]["unused_tiles"]["cycles"] == 0.0);
    CHECK(result["tiles_busy"] == 2);
    CHECK(result["tiles_busy_by_kind"]["exchange"] == 2);
    CHECK(result["tiles_busy_by_kind"]["compute"] == 0);
    const auto text = sim::summary_text(result);
    CHECK(text.find("tiles busy 2 of 4: exchange 2\n") != std::string::npos);
    CHECK(text.find("uneven") == std::string::npos);
}

TEST_CASE("a reduction's exchange, an empty compute set and the control program have their parts") {
    Scene scene;
    scene.program.exchanges[0].role = program::Role::Reduce;
    ipu::Account account(scene.program, 4);
    const std::vector<ipu::TileShare> one{{2, 30}};
    account.exchange_phase(0, 30, one).bound_cycles = 12;
    account.compute_phase(0, 11, {});
    account.control_phase(7);
    account.broadcast_phase(5);
    const auto result = scene.result_of(account);
    const auto cycles = [&](const char* part) {
        return result["explanation"][part]["cycles"].get<double>();
    };
    CHECK(cycles("reduction") == Approx(12));
    CHECK(cycles("exchange") == Approx(0));
    CHECK(cycles("exchange_overhead") == Approx(30 - 12));
    CHECK(cycles("control") == Approx(11 + 7 + 5));
    CHECK(cycles("uneven_splits") == Approx(0));
}

TEST_CASE("tiles are busy that compute, exchange or stream, each counted once") {
    Scene scene;
    scene.program.stream_copies.resize(1);
    scene.program.remote_buffers.resize(1);
    ipu::Account account(scene.program, 4);
    const std::vector<ipu::TileShare> first{{0, 10}};
    const std::vector<ipu::TileShare> both{{0, 10}, {1, 10}};
    account.compute_phase(0, 10, first);
    account.exchange_phase(0, 10, both);
    account.streams_until(3, 40); // in the background: no step waits for it
    account.sync_phase(5);
    account.compute_phase(1, 20, first);
    const auto result = scene.result_of(account);
    CHECK(result["tiles_busy_by_kind"]["compute"] == 1);
    CHECK(result["tiles_busy_by_kind"]["exchange"] == 2);
    CHECK(result["tiles_busy_by_kind"]["stream"] == 1);
    CHECK(result["tiles_busy"] == 3);
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
    CHECK(text.find("machine    four: 4 tiles at 1 GHz\n") != std::string::npos);
    CHECK(text.find("cycles     210 (0.21 us)\n") != std::string::npos);
    CHECK(text.find("tiles busy 4 of 4: compute 2, exchange 4\n") != std::string::npos);
    CHECK(text.find("fullest tile 1: 980 of 638,976 bytes (0.2 %) in 'start'\n") !=
          std::string::npos);
    CHECK(text.find("           code 80, tensor 900\n") != std::string::npos);
    CHECK(text.find("check      not made\n") != std::string::npos);
    // slowest first: 100, 40 and 20 cycles
    CHECK(text.find("unused     host.latency_us: the run has no x\n") != std::string::npos);
    CHECK(text.find("multiply") < text.find("scatter"));
    CHECK(text.find("scatter") < text.find("reduce_sum"));
    CHECK(text.find("more of") == std::string::npos);
    // a bar has 40 characters for all of the run: 120 of 210 cycles are 22.9
    CHECK(text.find("phases     compute                      120   57.1 %  " +
                    std::string(23, '#') + "\n") != std::string::npos);
    CHECK(text.find("sync                          50   23.8 %  " + std::string(10, '#') + "\n") !=
          std::string::npos);
    CHECK(text.find("stream") == std::string::npos); // parts of no cycles are not shown
}

TEST_CASE("a list of steps that is cut short says so") {
    Scene scene;
    auto result = scene.result();
    const auto step = result["compute_sets"][0];
    result["compute_sets"] = nlohmann::json::array();
    result["exchanges"] = nlohmann::json::array();
    for (int i = 0; i < 8; ++i) {
        result["compute_sets"].push_back(step);
    }
    CHECK(sim::summary_text(result).find("more of") == std::string::npos);
    for (int i = 0; i < 2; ++i) {
        result["exchanges"].push_back(step);
        result["exchanges"].back()["cycles"] = 70 + i;
    }
    CHECK(sim::summary_text(result).find(
              "\n           and 2 more of 141 cycles together; --json lists all\n") !=
          std::string::npos);
}

TEST_CASE("no line of a summary is longer than asked for, whatever the names and numbers") {
    Scene scene;
    auto result = scene.result();
    auto& step = result["compute_sets"][0];
    step["name"] = std::string(90, 'n');
    for (const char* large : {"cycles", "bound_cycles", "executions"}) {
        step[large] = 123456789;
    }
    result["phases"] = {
        {"compute", result["cycles"]}, {"exchange", 0}, {"sync", 0}, {"stream", 0}}; // 100 %
    result["sentence"] = "a very long sentence of many words " + std::string(60, 'x') + " and " +
                         std::string(60, 'y') + " for those who like that";
    for (const std::size_t columns : {80U, 100U, 140U}) {
        std::istringstream lines(sim::summary_text(result, {.columns = columns, .color = false}));
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= columns);
            CHECK((line.empty() || line.back() != ' '));
        }
    }
}

TEST_CASE("names of steps are cut to what the numbers leave of a line, and to a least length") {
    constexpr std::size_t kLeast = 13;
    constexpr std::size_t kFull = Layout{}.columns; // narrower ones show no means
    Scene scene;
    auto result = scene.result();
    /// The line of a step with a name of so many characters, and how many of them it shows.
    const auto shown = [&](std::size_t columns, std::size_t name) {
        result["compute_sets"][0]["name"] = std::string(name, '~');
        std::istringstream lines(sim::summary_text(result, {.columns = columns, .color = false}));
        for (std::string line; std::getline(lines, line);) {
            const auto characters =
                static_cast<std::size_t>(std::count(line.begin(), line.end(), '~'));
            if (characters != 0) {
                const bool cut = line.find("~...") != std::string::npos;
                return std::pair(line.size(), characters + (cut ? 3 : 0));
            }
        }
        return std::pair<std::size_t, std::size_t>();
    };
    for (const std::size_t columns :
         {kLeast, kFull / 2, kFull - 1, kFull, kFull + 1, 2 * kFull, std::size_t{60}}) {
        CAPTURE(columns);
        const auto [line, cut] = shown(columns, 1000);
        const std::size_t others = line - cut;
        const std::size_t room = columns > others + kLeast ? columns - others : kLeast;
        CHECK(cut == room);
        for (const std::size_t name : {room - 1, room, room + 1}) {
            CHECK(shown(columns, name).second == std::min(name, room));
        }
        const auto text = sim::summary_text(result, {.columns = columns, .color = false});
        const bool heading_alone = text.find("\nsteps\n") != std::string::npos;
        const bool means = text.find("mean") != std::string::npos;
        CHECK(heading_alone == (columns < kFull));
        CHECK(means == (columns >= kFull));
    }
}

TEST_CASE(
    "colors change nothing but the colors, and what is wrong has another than what is right") {
    Scene scene;
    auto result = scene.result();
    const auto stripped = [&] {
        return std::regex_replace(sim::summary_text(result, {.columns = 100, .color = true}),
                                  std::regex("\033\\[[0-9;]*m"), "");
    };
    CHECK(stripped() == sim::summary_text(result));
    const auto sign = [&](bool passed) {
        result["check"] = {{"passed", passed}, {"sentence", "said: all is known"}};
        const auto text = sim::summary_text(result, {.columns = 100, .color = true});
        CHECK(stripped() == sim::summary_text(result));
        return text.substr(text.find("said") - 6, 6);
    };
    CHECK(sign(true) != sign(false));
}

TEST_CASE("speeds have the unit in which they are short") {
    Scene scene;
    auto result = scene.result();
    const auto shown = [&](double gbytes) {
        result["gbytes_per_s"] = gbytes;
        result["useful_bytes"] = 1234;
        const auto text = sim::summary_text(result);
        const auto end = text.find(": 1,234 bytes");
        REQUIRE(end != std::string::npos);
        const auto begin = text.rfind("speed      ", end) + 11;
        return text.substr(begin, end - begin);
    };
    CHECK(shown(59041.0) == "59.04 TB/s");
    CHECK(shown(1e6) == "1 PB/s");
    CHECK(shown(1000) == "1 TB/s");
    CHECK(shown(999.9) == "999.9 GB/s");
    CHECK(shown(999.96) == "1 TB/s");
    CHECK(shown(1) == "1 GB/s");
    CHECK(shown(0.5) == "500 MB/s");
    CHECK(shown(1e-9) == "1 B/s");
    CHECK(shown(0) == "0 GB/s");
}

TEST_CASE("cycles over bound are those of the copy where a stream may run in the background") {
    Scene scene;
    auto result = scene.result();
    auto step = result["compute_sets"][0];
    step["cycles"] = 950;
    step["transfer_cycles"] = 1200;
    step["bound_cycles"] = 1000;
    result["streams"] = {step};
    CHECK(sim::summary_text(result).find("     1.20  ") != std::string::npos);
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
    second.erase("fraction_of_peak");
    CHECK(sim::ratio_text({first, second}) ==
          "workload  cycles     time  of peak  cycles ratio\n" +
              fmt::format("by_hand      210  0.21 us  {:>7}         1.000\n",
                          fmt::format("{:.1f} %", 100 * first["fraction_of_peak"].get<double>())) +
              "slower       420  0.21 us        -         2.000\n");
}

TEST_CASE("a run of no cycles divides by nothing") {
    Scene scene;
    const ipu::Account account(scene.program, 4);
    const auto result = scene.result_of(account);
    CHECK(schema_accepts(result));
    CHECK(result["tflops"] == 0.0);
    CHECK_FALSE(sim::summary_text(result).empty());
}
