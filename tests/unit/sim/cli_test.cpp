// SPDX-License-Identifier: MIT
#include "sim/cli.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera::sim;

namespace {

template <class Wanted> Wanted parsed(const std::vector<std::string>& arguments) {
    return std::get<Wanted>(parse_command_line(arguments));
}

std::string refusal(const std::vector<std::string>& arguments) {
    try {
        static_cast<void>(parse_command_line(arguments));
    } catch (const UsageError& error) {
        return error.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("run takes workloads and options in any order") {
    const auto run = parsed<RunCommand>({"run", "--set", "tile.workers=4", "one", "--json", "-",
                                         "--set=workload.n=-1", "--threads=3", "--machine", "tiny",
                                         "two", "--no-check"});
    CHECK(run.workloads == std::vector<std::string>{"one", "two"});
    CHECK(run.sets == std::vector<std::string>{"tile.workers=4", "workload.n=-1"});
    CHECK(run.json == "-");
    CHECK(run.threads == 3);
    CHECK(run.machine == "tiny");
    CHECK_FALSE(run.check);
}

TEST_CASE("run has defaults for all but the workload") {
    const auto run = parsed<RunCommand>({"run", "cora"});
    CHECK(run.machine == "bow");
    CHECK(run.threads >= 1);
    CHECK(run.check);
    CHECK(run.json.empty());
    CHECK(run.trace.empty());
}

TEST_CASE("trace options belong to a trace of one workload") {
    const auto run = parsed<RunCommand>(
        {"run", "cora", "--trace", "t.gz", "--trace-tiles", "0-3", "--trace-level", "worker"});
    CHECK(run.trace == "t.gz");
    CHECK(run.trace_tiles == "0-3");
    CHECK(run.trace_level == "worker");
    CHECK(refusal({"run", "cora", "--trace-tiles", "0-3"}).find("there is no --trace") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "cora_dense", "--trace", "t"}).find("several workloads") !=
          std::string::npos);
}

TEST_CASE("unknown commands and options name the nearest") {
    CHECK(refusal({"rum"}) == "unknown command 'rum'; did you mean 'run'?");
    CHECK(refusal({"xyzzy"}) == "unknown command 'xyzzy'; see `tessera help`");
    CHECK(refusal({"--versoin"}) == "unknown option '--versoin'; did you mean '--version'?");
    CHECK(refusal({"run", "cora", "--treads", "2"}) ==
          "run: unknown option '--treads'; did you mean '--threads'?");
    CHECK(refusal({"list", "machnes"}).find("did you mean 'machines'?") != std::string::npos);
}

TEST_CASE("options are not guessed from their beginnings") {
    CHECK(refusal({"run", "cora", "--thread", "2"}).find("unknown option '--thread'") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "--mach", "tiny"}).find("unknown option '--mach'") !=
          std::string::npos);
}

TEST_CASE("values that make no sense are refused") {
    CHECK(refusal({"run", "cora", "--threads", "0"}).find("expected 1..1024 threads") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "--threads", "two"}) != "accepted");
    CHECK(refusal({"run", "cora", "--json"}) != "accepted");
    CHECK(refusal({"run", "cora", "--json", ""}) != "accepted");
    CHECK(refusal({"run"}) != "accepted");
    CHECK(refusal({}) != "accepted");
    CHECK(refusal({"check"}) != "accepted");
    CHECK(refusal({"schema"}) != "accepted");
    CHECK(refusal({"schema", "sweep"}) != "accepted");
    CHECK(refusal({"describe", "tile", "bow"}) != "accepted");
    CHECK(refusal({"list", "machines", "workloads"}) != "accepted");
}

TEST_CASE("every command has help and a version is told") {
    CHECK(std::holds_alternative<VersionCommand>(parse_command_line({"--version"})));
    CHECK(parsed<HelpCommand>({"--help"}).topic.empty());
    CHECK(parsed<HelpCommand>({"run", "--help"}).topic == "run");
    for (const std::string command :
         {"run", "vertex", "list", "describe", "check", "schema", "help"}) {
        CHECK(help_text("").find("tessera " + command) != std::string::npos);
        CHECK(help_text(command).find("tessera " + command) == 0);
    }
    CHECK_THROWS_AS(help_text("rum"), UsageError);
}
