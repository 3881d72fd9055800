// SPDX-License-Identifier: MIT
#include "kernels/catalog/catalog.h"
#include "models/spec/matrix_unit.h"
#include "sim/result/estimate_gap.h"
#include "sim/result/result.h"
#include "sim/result/result_table.h"
#include "tests/support/counted.h"
#include "tests/support/source_path.h"
#include "tests/unit/models/listeners/told.h"
#include "tests/unit/sim/scene.h"

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
#include <set>

using namespace tessera;
using counts::Group;
using events::Doing;
using test::Scene;

namespace {

bool schema_accepts(const nlohmann::json& document) {
    const auto schema_json = result::result_schema();
    valijson::Schema schema;
    valijson::SchemaParser{valijson::SchemaParser::kDraft7}.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{schema_json}, schema);
    valijson::Validator validator{valijson::Validator::kStrongTypes};
    return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document}, nullptr);
}

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
    listeners::Account account(scene.program, 4);
    test::Told run(4, {&account});
    for (int round = 0; round < 2; ++round) {
        run.phase(Doing::ComputeSet, 0, {{0, 10}, {1, 70}, {2, 1}, {3, 30}},
                  {.counts = test::counted({{Group::WorkerIssues, 12},
                                            {Group::WorkerBundles, 13},
                                            {Group::SupervisorInstructions, 14}}),
                   .bound_cycles = 11,
                   .uneven = {}});
        run.moved({.bytes = 400, .sent_bytes = 100});
        run.phase(Doing::Exchange, 0, {{0, 50}});
        for (const std::uint32_t copy : {0U, 1U}) {
            run.ended({.copy = copy,
                       .begin = 5,
                       .end = 5 + 90 + copy,
                       .sent_bytes = 640 + copy,
                       .bytes = 320 + copy,
                       .tiles = {}});
            run.phase(Doing::Stream, copy, {{0, 20 + copy}});
        }
    }
    // The slowest tile of a step need not be the critical one.
    run.does(1, Doing::ComputeSet, 7, 0);
    run.does(0, Doing::ComputeSet, 5, 0);
    run.step += 1;
    run.does(0, Doing::Stream, 3, 1);
    run.released(0);
    const auto result = scene.result_of(account);
    CHECK(schema_accepts(result));
    const auto& set = result["compute_sets"][0];
    CHECK(set["executions"] == 3);
    CHECK(set["role"] == "work");
    CHECK(set["cycles"] == 140 + 5);
    CHECK(set["slowest_cycles"] == 140 + 7);
    CHECK(set["bound_cycles"] == 22);
    CHECK(set["worker_issues"] == 24);
    CHECK(set["worker_bundles"] == 26);
    CHECK(set["supervisor_instructions"] == 28);
    CHECK(set["active_tiles"] == 2);
    CHECK(set["slowest_tile"] == 1);
    CHECK(set["critical_tile"] == 1);
    CHECK(set["critical_tiles"] == 2);
    CHECK(set["critical_bound_cycles"] == 0); // what there is was tile 0's, beside the path
    CHECK(set["mean_cycles"].get<double>() == Approx(2 * 111 / 4.0 + 12 / 2.0));
    CHECK(set["tile_cycles"]["min"] == 2);
    CHECK(set["tile_cycles"]["max"] == 147);
    CHECK(set["tile_cycles"]["mean"].get<double>() == Approx((2 * 111 + 12) / 4.0));
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
        CHECK(stream["cycles"] == 2 * (20 + copy) + 3 * copy);
        CHECK(stream["bytes"] == 2 * (320 + copy));
        CHECK(stream["sent_bytes"] == 2 * (640 + copy));
        CHECK(stream["transfer_cycles"] == 2 * (90 + copy));
    }
    CHECK(result["tiles"]["compute_cycles"]["min"] == 2);
    CHECK(result["tiles"]["compute_cycles"]["max"] == 147);
    CHECK(result["phases"]["stream"] == 2 * 41 + 3);
    CHECK(result["explanation"]["stream"]["cycles"].get<double>() == Approx(85));
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

TEST_CASE("a step goes to the part of the explanation that its role says") {
    using program::Role;
    const std::map<Role, std::pair<const char*, const char*>> parts{
        {Role::Work, {"compute", "exchange"}},
        {Role::Bring, {"compute", "exchange"}},
        {Role::Reduce, {"reduction", "reduction"}},
        {Role::Rearrange, {"rearrangement", "rearrangement"}},
        {Role::Stream, {"compute", "exchange"}},
        {Role::Control, {"control", "control"}},
        {Role::Link, {"compute", "exchange"}}};
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
    CHECK(result["explanation"].size() == result::result_columns().explanation.size());
}

TEST_CASE("of what a tile takes longer, unequal workers account for their part") {
    Scene scene;
    const auto parts = [&](Cycles busiest, Cycles mean) {
        listeners::Account account(scene.program, 4);
        test::Told run(4, {&account});
        run.phase(Doing::ComputeSet, 0, {{0, 100}, {1, 40}},
                  {.busiest_worker_cycles = busiest, .mean_worker_cycles = mean, .uneven = {}});
        const auto all = scene.result_of(account)["explanation"];
        return std::pair(all["unequal_workers"]["cycles"].get<double>(),
                         all["uneven_splits"]["cycles"].get<double>());
    };
    // the mean is 70: 30 are waited for; of two tiles the other has no workers
    CHECK(parts(60, 60) == std::pair(0.0, 30.0));
    CHECK(parts(60, 40) == std::pair(20.0 - 10.0, 20.0));
    CHECK(parts(90, 30) == std::pair(60.0 - 30.0, 0.0));
    CHECK(parts(90, 10) == std::pair(30.0, 0.0)); // never more than is waited for
}

TEST_CASE("an exchange among few tiles that is near its bound is neither uneven nor unused") {
    Scene scene;
    listeners::Account account(scene.program, 4);
    test::Told run(4, {&account});
    run.moved({.bound_cycles = 960});
    run.phase(Doing::Exchange, 0, {{1, 1000}, {3, 990}}, {}, {960, 3});
    const auto result = scene.result_of(account);
    CHECK(result["explanation"]["exchange"]["percent"].get<double>() == Approx(96));
    CHECK(result["explanation"]["exchange_overhead"]["percent"].get<double>() == Approx(4));
    CHECK(result["explanation"]["uneven_splits"]["cycles"] == 0.0);
    CHECK(result["explanation"]["unused_tiles"]["cycles"] == 0.0);
    CHECK(result["tiles_busy"] == 2);
    CHECK(result["tiles_busy_by_kind"]["exchange"] == 2);
    CHECK(result["tiles_busy_by_kind"]["compute"] == 0);
    const auto text = result::summary_text(result);
    CHECK(text.find("tiles busy 2 of 4: exchange 2\n") != std::string::npos);
    CHECK(text.find("uneven") == std::string::npos);
}

TEST_CASE("a reduction's exchange and the control program have their parts") {
    Scene scene;
    scene.program.exchanges[0].role = program::Role::Reduce;
    listeners::Account account(scene.program, 4);
    test::Told run(4, {&account});
    run.moved({.bound_cycles = 12});
    run.phase(Doing::Exchange, 0, {{2, 30}}, {}, {5, 12});
    run.all(Doing::Control, 7);
    run.all(Doing::Told, 5);
    const auto result = scene.result_of(account);
    const auto cycles = [&](const char* part) {
        return result["explanation"][part]["cycles"].get<double>();
    };
    CHECK(cycles("reduction") == Approx(12));
    CHECK(cycles("exchange") == Approx(0));
    CHECK(cycles("exchange_overhead") == Approx(30 - 12));
    CHECK(cycles("control") == Approx(7 + 5));
    CHECK(cycles("uneven_splits") == Approx(0));
}

TEST_CASE("tiles are busy that compute, exchange or stream, each counted once") {
    Scene scene;
    scene.program.stream_copies.resize(1);
    scene.program.remote_buffers.resize(1);
    listeners::Account account(scene.program, 4);
    const std::array<TileId, 1> third{3};
    test::Told run(4, {&account});
    // in the background: no step waits for it
    run.begun({.background = true, .begin = 0, .end = 40, .tiles = third});
    run.phase(Doing::ComputeSet, 0, {{0, 10}});
    run.phase(Doing::Exchange, 0, {{0, 10}, {1, 10}});
    run.released(5);
    run.phase(Doing::ComputeSet, 1, {{0, 20}});
    const auto result = scene.result_of(account);
    CHECK(result["tiles_busy_by_kind"]["compute"] == 1);
    CHECK(result["tiles_busy_by_kind"]["exchange"] == 2);
    CHECK(result["tiles_busy_by_kind"]["stream"] == 1);
    CHECK(result["tiles_busy"] == 3);
}

TEST_CASE("a tile that does something for one cycle is busy") {
    Scene scene;
    scene.program.stream_copies.resize(1);
    scene.program.remote_buffers.resize(1);
    listeners::Account account(scene.program, 4);
    test::Told run(4, {&account});
    run.phase(Doing::ComputeSet, 0, {{0, 1}});
    run.phase(Doing::Exchange, 0, {{1, 1}});
    run.phase(Doing::Stream, 0, {{2, 1}});
    const auto result = scene.result_of(account);
    for (const char* kind : {"compute", "exchange", "stream"}) {
        CHECK(result["tiles_busy_by_kind"][kind] == 1);
    }
    CHECK(result["tiles_busy"] == 3);
}

TEST_CASE("a result of several chips has each of them, each way between them, and all energy") {
    using Json = nlohmann::json;
    Scene scene;
    scene.machine.system.chips = 2;
    scene.program.link_exchanges.resize(1);
    scene.program.link_exchanges[0].name = "to the other";
    listeners::Account first(scene.program, 4);
    listeners::Account last(scene.program, 4);
    test::Told run_first(4, {&first});
    run_first.phase(Doing::ComputeSet, 0, {{0, 30}},
                    {.counts = test::counted({{Group::WorkerBundles, 1000}}), .uneven = {}});
    test::Told run_last(4, {&last});
    run_last.phase(Doing::ComputeSet, 0, {{0, 100}},
                   {.counts = test::counted({{Group::WorkerBundles, 5000}}), .uneven = {}});
    run_last.released(7);
    run_last.phase(Doing::Link, 0, {{0, 20}});
    run_last.phase(Doing::Exchange, 0, {{0, 40}});

    CHECK_FALSE(scene.result_of(last).contains("chips"));
    CHECK_FALSE(scene.result_of(last).contains("edges"));
    CHECK_FALSE(scene.result_of(last).contains("link_exchanges"));
    auto facts = scene.facts_of(last);
    facts.chips = {&first, &last};
    facts.edges = {{0, 1, 2, 100, 120, 30, 4}, {1, 0, 3, 5, 8, 1, 0}};
    const auto result = result::make_result(facts);
    CHECK(schema_accepts(result));
    CHECK(result["chips"] == Json::parse(R"([
        {"chip": 0, "cycles": 30, "compute": 30, "exchange": 0, "sync": 0, "stream": 0, "link": 0, "idle": 0},
        {"chip": 1, "cycles": 167, "compute": 100, "exchange": 40, "sync": 7, "stream": 0, "link": 20,
         "idle": 0}])"));
    CHECK(result["edges"] == Json::parse(R"([
        {"from": 0, "to": 1, "links": 2, "bytes": 100, "link_bytes": 120, "busy_cycles": 30, "most_waiting": 4},
        {"from": 1, "to": 0, "links": 3, "bytes": 5, "link_bytes": 8, "busy_cycles": 1, "most_waiting": 0}])"));
    REQUIRE(result["link_exchanges"].size() == 1);
    CHECK(result["link_exchanges"][0]["name"] == "to the other");
    CHECK(result["link_exchanges"][0]["cycles"] == 20);
    CHECK(result["explanation"]["link"]["cycles"] == 20.0);
    CHECK(result["activity"]["instructions"] == 1000 + 5000);
    CHECK(result["activity"]["link_bytes"] == 120 + 8);

    const auto& energy = result["energy"];
    const double total = energy["total_j"].get<double>();
    double kinds = 0;
    for (const auto& joules : energy["by_kind"]) {
        kinds += joules.get<double>();
    }
    CHECK(kinds == Approx(total));
    CHECK(energy["mean_w"].get<double>() == Approx(total / 167e-9));
    CHECK(energy["pj_per_flop"].get<double>() == Approx(1e12 * total / 4000));
    double of_steps = 0;
    std::vector<std::string> steps;
    for (const auto& step : energy["steps"]) {
        of_steps += step["events_j"].get<double>() + step["idle_j"].get<double>();
        steps.push_back(step["kind"].get<std::string>() + " " + step["name"].get<std::string>());
        // what one chip takes anyway in the step's cycles
        const auto& machine = scene.machine;
        const double watts =
            machine.energy.static_w + machine.energy.clock_w_per_ghz * 1e-9 * machine.chip.clock_hz;
        const double cycles = steps.back() == "compute_set multiply"         ? 100
                              : steps.back() == "exchange scatter"           ? 40
                              : steps.back() == "link_exchange to the other" ? 20
                                                                             : 0;
        CHECK(step["idle_j"].get<double>() == Approx(watts * cycles / machine.chip.clock_hz));
        CHECK((step["events_j"].get<double>() > 0) == (cycles == 100));
    }
    CHECK(steps == std::vector<std::string>{"compute_set multiply", "compute_set reduce_sum",
                                            "exchange scatter", "link_exchange to the other"});
    CHECK(energy["outside_steps_j"].get<double>() == Approx(total - of_steps));
    scene.job.flops = 0;
    CHECK_FALSE(result::make_result(facts)["energy"].contains("pj_per_flop"));
}

TEST_CASE("what only some runs have stands in their results alone") {
    using Json = nlohmann::json;
    Scene scene;
    listeners::Account account(scene.program, 4);
    test::Told run(4, {&account});
    run.phase(Doing::ComputeSet, 0, {{0, 100}},
              {.counts = test::counted({{Group::WorkerBundles, 3000}}), .uneven = {}});
    auto facts = scene.facts_of(account);
    const auto plain = result::make_result(facts);
    for (const char* key : {"timing", "rounds", "patterns", "trace"}) {
        CAPTURE(key);
        CHECK((!plain.contains(key) || plain[key].is_null()));
    }
    CHECK(plain["results"] == Json::array());
    CHECK(plain["empty_matrices"] == 0);
    CHECK(plain["host"]["bundles_per_s"] == 0.0); // in no time
    facts.timing = ipu::TimingFacts{100, 30, 2, 5};
    facts.rounds = std::vector<listeners::Round>{{0, 60, {{"a", 50}, {"b", 7}}}, {60, 40, {}}};
    facts.results = {{"y", "output.npy"}, {"z", "output.z.npy"}};
    facts.host = {
        .plan_s = 1, .simulate_s = 2, .check_s = 3, .encode_s = 0.5, .wall_s = 7, .threads = 4};
    facts.check = job::CheckOutcome{};
    facts.check->json = {{"passed", true}};
    facts.trace = traces::TraceSummary{};
    facts.trace->format = "vcd";
    facts.trace->slices = 9;
    facts.trace->tiles = {1, 3};
    facts.trace->truncated = true;
    scene.job.sequences = {{"w", 3, {4, 0}, true}};
    scene.job.empty = 2;
    const auto result = result::make_result(facts);
    CHECK(schema_accepts(result));
    CHECK(result["empty_matrices"] == 2);
    const auto& timing = result["timing"];
    CHECK(timing["phases"] == 100);
    CHECK(timing["phases_run"] == 30);
    CHECK(timing["phases_counted"] == 70);
    CHECK(timing["audited_tiles"] == 2);
    CHECK(timing["unknown_addresses"] == 5);
    CHECK(timing["missing"].size() == 3);
    CHECK(result["rounds"] ==
          Json::parse(R"([{"begin": 0, "cycles": 60, "kernels": {"a": 50, "b": 7}},
                                              {"begin": 60, "cycles": 40, "kernels": {}}])"));
    CHECK(
        result["patterns"] ==
        Json::parse(R"([{"tensor": "w", "patterns": 3, "went": [4, 0], "drawn_instead": true}])"));
    CHECK(result["results"] == Json::parse(R"([{"name": "y", "file": "output.npy"},
                                               {"name": "z", "file": "output.z.npy"}])"));
    CHECK(result["check"] == Json{{"passed", true}});
    CHECK(result["trace"] ==
          Json::parse(R"({"clock": "cycles", "format": "vcd", "slices": 9, "tiles": [1, 3],
                                             "truncated": true})"));
    auto host = result["host"];
    CHECK(host["peak_rss_bytes"].get<double>() > 1 << 20);
    host.erase("peak_rss_bytes");
    CHECK(host ==
          Json::parse(
              R"({"plan_s": 1.0, "simulate_s": 2.0, "check_s": 3.0, "encode_s": 0.5, "wall_s": 7.0,
                                  "threads": 4, "bundles": 3000, "bundles_per_s": 1500.0})"));
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

TEST_CASE("the result of an estimate has cycles, speed, plan and gap, and nothing of a run") {
    Scene scene;
    const auto result = scene.estimated();
    CHECK(schema_accepts(result));
    CHECK(result["mode"] == "estimate");
    CHECK(result["cycles"] == 150 + 40 + 20);
    const auto run = scene.result(); // takes as long
    for (const char* key : {"status", "schema_version", "sentence", "machine", "workload", "cycles",
                            "seconds", "flops", "flops_dense_equivalent", "tflops", "peak_tflops",
                            "fraction_of_peak", "matrix_unit"}) {
        CAPTURE(key);
        REQUIRE(run.contains(key));
        CHECK(result[key] == run[key]);
    }
    CHECK(result["plan"] == scene.estimate.plan);
    CHECK(result["estimate"]["family"] == "spmm");
    for (const char* key : {"phases", "check", "memory", "compute_sets", "timing", "digests"}) {
        CHECK_FALSE(result.contains(key));
    }
    for (const char* key : {"wall_s", "peak_rss_bytes"}) {
        CHECK(result["host"].contains(key));
    }
    auto extra = result;
    extra["phases"] = run["phases"];
    CHECK_FALSE(schema_accepts(extra));
    auto missing = result;
    missing.erase("estimate");
    CHECK_FALSE(schema_accepts(missing));
    auto both = run;
    both["estimate"] = result["estimate"];
    CHECK_FALSE(schema_accepts(both));
}

TEST_CASE("every estimate tells the gap of its family") {
    Scene scene;
    for (const result::EstimateGap& gap : result::kEstimateGaps) {
        CAPTURE(gap.family);
        CHECK(catalog::find(gap.family) != nullptr);
        CHECK(gap.rows >= 20);
        CHECK(gap.least <= gap.mean);
        CHECK(gap.mean <= gap.most);
        scene.estimate.family = gap.family;
        const auto result = scene.estimated();
        CHECK(result["estimate"]["gap"] == nlohmann::json{{"rows", gap.rows},
                                                          {"mean", gap.mean},
                                                          {"least", gap.least},
                                                          {"most", gap.most},
                                                          {"worst", gap.worst()}});
        CHECK(result["cycles"] == 210); // whatever the gap
        CHECK(result::summary_text(result).find(fmt::format(
                  "\nestimate   closed forms of {}; estimate over timing mode of {} "
                  "products: mean {:.2f}, {:.2f} to {:.2f}\n",
                  gap.family, gap.rows, gap.mean, gap.least, gap.most)) != std::string::npos);
    }
    CHECK(result::EstimateGap{"", 2, 1, 0.5, 1.5}.worst() == 0.5);
    CHECK(result::EstimateGap{"", 2, 1, 0.7, 1.5}.worst() == 1.5);
}

TEST_CASE("the checked in schema of results is the one the program writes") {
    std::ifstream file(tessera::test::source_path("configs/schemas/result.schema.json"));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    CHECK(text == result::json_text(result::result_schema()));
}

TEST_CASE("a run of no cycles divides by nothing") {
    Scene scene;
    const listeners::Account account(scene.program, 4);
    const auto result = scene.result_of(account);
    CHECK(schema_accepts(result));
    CHECK(result["tflops"] == 0.0);
    CHECK_FALSE(result::summary_text(result).empty());
}

TEST_CASE("a kernel has the cycles of its steps, each once, and of the barriers before exchanges") {
    using program::Step;
    Scene scene;
    auto& program = scene.program;
    constexpr Cycles kBarrier = 50;
    scene.machine.sync.internal_cycles = kBarrier;
    program.compute_sets.resize(4);
    program.compute_sets[0].owner = "b";
    program.compute_sets[1].owner = "a";
    program.compute_sets[2].owner = "never";
    program.exchanges[0].owner = "a";
    program.exchanges[0].role = program::Role::Rearrange;
    program.remote_buffers = {{"far", program::RemoteBuffer::Place::StreamingMemory, 4, 64}};
    program.stream_copies = {{"load", 0, program::StreamCopy::Direction::Read, 1, {}}};
    program.stream_copies[0].owner = "c";
    const auto step = [](Step::Kind kind, std::uint32_t index) {
        Step made;
        made.kind = kind;
        made.index = index;
        return made;
    };
    program.control.children = {step(Step::Kind::ComputeSet, 0),  step(Step::Kind::Sync, 0),
                                step(Step::Kind::Exchange, 0),    step(Step::Kind::ComputeSet, 1),
                                step(Step::Kind::StreamStart, 0), step(Step::Kind::ComputeSet, 0),
                                step(Step::Kind::ComputeSet, 2),  step(Step::Kind::ComputeSet, 3),
                                step(Step::Kind::StreamWait, 0)};
    const auto run = [&](Cycles control) {
        listeners::Account account(program, 4);
        test::Told told(4, {&account});
        told.phase(Doing::ComputeSet, 0, {{0, 100}});
        told.phase(Doing::ComputeSet, 0, {{0, 60}});
        for (int round = 0; round < 2; ++round) {
            told.released(kBarrier);
            told.moved({});
            told.phase(Doing::Exchange, 0, {{0, 40}});
        }
        told.phase(Doing::ComputeSet, 1, {{0, 30}});
        told.ended({.tiles = {}});
        told.phase(Doing::Stream, 0, {{0, 20}});
        told.phase(Doing::ComputeSet, 3, {{0, 5}});
        told.all(Doing::Control, control);
        return scene.result_of(account);
    };
    const auto kernel = [](const char* name, double whole, Cycles compute, Cycles exchange,
                           Cycles sync, Cycles stream, Cycles rearrange) {
        const Cycles cycles = compute + exchange + sync + stream;
        return nlohmann::json{{"name", name},
                              {"cycles", cycles},
                              {"percent", 100.0 * (static_cast<double>(cycles) / whole)},
                              {"compute", compute},
                              {"exchange", exchange},
                              {"sync", sync},
                              {"stream", stream},
                              {"link", 0},
                              {"rearrange_cycles", rearrange}};
    };
    constexpr double kWhole = 160 + 2 * (kBarrier + 40) + 30 + 20 + 5;
    const auto expected = [&](double whole) {
        return nlohmann::json{kernel("b", whole, 160, 0, 0, 0, 0),
                              kernel("a", whole, 30, 80, 2 * kBarrier, 0, 80 + 2 * kBarrier),
                              kernel("c", whole, 0, 0, 0, 20, 0)};
    };
    auto kernels = run(7)["kernels"];
    REQUIRE(kernels.size() == 4);
    CHECK(kernels[3]["name"] == "control program");
    CHECK(kernels[3]["cycles"] == 5 + 7);
    kernels.erase(3);
    CHECK(kernels == expected(kWhole + 7));

    program.compute_sets[3].owner = "c";
    CHECK(run(0)["kernels"].size() == 3); // all is somebody's
    CHECK(run(0)["kernels"][2]["cycles"] == 20 + 5);
    CHECK(run(1)["kernels"][3]["cycles"] == 1);
}

TEST_CASE("the fullest step is the first in which most is kept, and is called by its name") {
    using program::Step;
    Scene scene;
    auto& program = scene.program;
    const auto step = [](Step::Kind kind, std::uint32_t index) {
        Step made;
        made.kind = kind;
        made.index = index;
        return made;
    };
    program.control.children = {step(Step::Kind::ComputeSet, 0), step(Step::Kind::Exchange, 0),
                                step(Step::Kind::ComputeSet, 1)};
    auto& segments = program.images[1].segments;
    segments.push_back({980, 50, program::SegmentKind::Tensor, "b", nullptr});
    segments.back().lifetime = {1, 2};
    CHECK(scene.result()["memory"]["peak_step"] == "scatter");
    CHECK(scene.result()["memory"]["max_bytes"] == 1030);
    segments.back().lifetime = {2, 2};
    CHECK(scene.result()["memory"]["peak_step"] == "reduce_sum");
    segments.back().lifetime = {0, 0};
    CHECK(scene.result()["memory"]["peak_step"] == "multiply");
    segments.push_back({1100, 50, program::SegmentKind::Tensor, "c", nullptr});
    segments.back().lifetime = {1, 1}; // as much in the next step
    CHECK(scene.result()["memory"]["peak_step"] == "multiply");
    CHECK(scene.result()["memory"]["max_bytes_by_kind"]["tensor"] == 950);
}
