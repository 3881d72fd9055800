// SPDX-License-Identifier: MIT
#include "sim/process/exit_code.h"
#include "sim/result/result.h"
#include "sim/sweep/command/record.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;
using Json = nlohmann::json;

namespace {

sweep::PlannedPoint a_point() {
    sweep::PlannedPoint point;
    point.machine = "./m.json";
    point.workload = "dense";
    point.changes = {{"tile.workers", 4}, {"exchange.fabric", "mesh"}};
    point.contents = {{"machine", "1111"}, {"workload", "2222"}};
    point.machine_file = "in/m.json";
    point.workload_file = "in/dense.json";
    point.sets = {"tile.workers=4", "exchange.fabric=\"mesh\""};
    point.key = sweep::sha256("a");
    return point;
}

/// What every line of it has.
Json line_with(const std::string& status, const Json& also = Json::object()) {
    Json line{{"key", sweep::sha256("a").text()},
              {"status", status},
              {"mode", "timing"},
              {"model", result::kModelVersion},
              {"machine", "./m.json"},
              {"workload", "dense"},
              {"changes", {{"tile.workers", 4}, {"exchange.fabric", "mesh"}}},
              {"contents", {{"machine", "1111"}, {"workload", "2222"}}}};
    line.update(also);
    return line;
}

} // namespace

TEST_CASE("how a child ended has a word", "[unit][sweep]") {
    const auto ended = [](int exit_code, int signal = 0, bool was_late = false) {
        return sweep::status_of({exit_code, "", signal, was_late});
    };
    CHECK(ended(process::kOk) == "ok");
    CHECK(ended(process::kCheckFailed) == "check_failed");
    CHECK(ended(process::kConfig) == "invalid");
    CHECK(ended(process::kDoesNotFit) == "does_not_fit");
    CHECK(ended(process::kProgramFault) == "fault");
    CHECK(ended(process::kHostMemory) == "memory_limit");
    for (const int other : {int{process::kUsage}, int{process::kIo}, int{process::kBug}, 99}) {
        CHECK(ended(other) == "error");
    }
    // a signal says more than the code that came of it, and a time limit more than its signal
    for (const int code : {int{process::kOk}, int{process::kBug}, int{process::kProgramFault}}) {
        CHECK(ended(code, 11) == "crash");
        CHECK(ended(code, 1) == "crash");
    }
    CHECK(ended(process::kHostMemory, 9) == "killed");
    for (const int code : {int{process::kOk}, int{process::kHostMemory}}) {
        CHECK(ended(code, 9, true) == "time_limit");
        CHECK(ended(code, 0, true) == "time_limit");
    }
}

TEST_CASE("a point runs by its files, as quietly as can be", "[unit][sweep]") {
    const cli::RunCommand run = sweep::run_of(a_point(), "functional", 3);
    CHECK(run.workloads == std::vector<std::string>{"in/dense.json"});
    CHECK(run.machine == "in/m.json");
    CHECK(run.sets == a_point().sets);
    CHECK(run.mode == "functional");
    CHECK(run.threads == 3);
    CHECK(run.quiet);
}

TEST_CASE("the line of a point has its result without what the host felt and without lists",
          "[unit][sweep]") {
    const Json result{{"status", "ok"},
                      {"schema_version", 1},
                      {"machine", {{"name", "m"}}},
                      {"workload", {{"name", "dense"}}},
                      {"host", {{"wall_s", 2.5}, {"peak_rss_bytes", 7}, {"plan_s", 1}}},
                      {"cycles", 100},
                      {"none", nullptr},
                      {"empty", Json::object()},
                      {"notes", {"first", "second"}},
                      {"deep",
                       {{"number", 3},
                        {"list", {1, 2}},
                        {"only_lists", {{"a", {4}}, {"b", Json::array()}}},
                        {"nothing", {{"none", nullptr}}}}}};
    const Json kept = line_with("ok", {{"host", {{"wall_s", 2.5}, {"peak_rss_bytes", 7}}},
                                       {"note", "first; second"},
                                       {"result", {{"cycles", 100}, {"deep", {{"number", 3}}}}}});
    const process::ChildOutcome outcome{process::kOk, result.dump(), 0, false};
    CHECK(sweep::record_of(a_point(), "timing", outcome, false) == kept);
    Json with_lists = kept;
    with_lists["lists"] = {{"notes", {"first", "second"}},
                           {"deep.list", {1, 2}},
                           {"deep.only_lists.a", {4}},
                           {"deep.only_lists.b", Json::array()}};
    CHECK(sweep::record_of(a_point(), "timing", outcome, true) == with_lists);
    Json quiet = result;
    quiet.erase("notes");
    const Json line =
        sweep::record_of(a_point(), "timing", {process::kOk, quiet.dump(), 0, false}, false);
    CHECK_FALSE(line.contains("note"));
}

TEST_CASE("the line of a point that did not run says why as far as is known", "[unit][sweep]") {
    const auto line = [](int exit_code, const std::string& text, int signal = 0) {
        return sweep::record_of(a_point(), "timing", {exit_code, text, signal, false}, true);
    };
    CHECK(line(process::kBug, "", 11) == line_with("crash"));
    CHECK(line(process::kBug, "{\"cycles\": ", 11) == line_with("crash"));
    CHECK(line(process::kBug, "[1]") == line_with("error"));
    const std::string no_room = R"({"message": "tile 3", "not_modelled": false})";
    CHECK(line(process::kDoesNotFit, no_room) ==
          line_with("does_not_fit", {{"message", "tile 3"}}));
    const std::string absent = R"({"message": "no mesh", "not_modelled": true})";
    CHECK(line(process::kProgramFault, absent) ==
          line_with("not_modelled", {{"message", "no mesh"}}));
}
