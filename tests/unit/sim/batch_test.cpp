// SPDX-License-Identifier: MIT
// Several runs of one command, each in a process of its own, and the files that they leave.
#include "sim/process/exit_code.h"
#include "sim/run/batch.h"
#include "sim/run/results_csv.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using Catch::Contains;
using Catch::StartsWith;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

int run_here(const cli::RunCommand& command) {
    return run::run_command(command, [](const std::function<void()>& body) { body(); });
}
/// Every run ends so before it has a result.
int run_ended(const cli::RunCommand& command, const std::function<void()>& end) {
    return run::run_command(command, [&](const std::function<void()>&) { end(); });
}

cli::RunCommand quiet(std::vector<std::string> workloads, std::vector<std::string> machines = {}) {
    cli::RunCommand command;
    command.workloads = std::move(workloads);
    command.machines = std::move(machines);
    command.machine = "tiny";
    command.quiet = true;
    return command;
}

/// A product, called by its file.
std::string product(const ScratchFolder& folder, const std::string& name, int size) {
    return folder.write(
        name, json{{"schema_version", 1}, {"kind", "matmul"}, {"m", size}, {"k", size}, {"n", size}}
                  .dump());
}
/// As tiny, with a clock of its own.
std::string machine(const ScratchFolder& folder, const std::string& name, double clock_hz) {
    return folder.write(name, json{{"schema_version", 1},
                                   {"extends", "tiny"},
                                   {"name", "m"},
                                   {"chip", {{"clock_hz", clock_hz}}}}
                                  .dump());
}

json runs_in(const std::string& file) {
    return json::parse(read_text(file)).at("runs");
}

} // namespace

TEST_CASE("each workload runs on each machine, in the order that they are given in") {
    const ScratchFolder folder;
    const std::string small = product(folder, "small.json", 8);
    const std::string large = product(folder, "large.json", 4096);
    const std::string fast = machine(folder, "fast.json", 4e9);
    cli::RunCommand command = quiet({small, large}, {"tiny", fast});
    command.json = folder.path("r.json");
    command.csv = folder.path("r.csv");
    command.report = folder.path("r.html");
    command.out_directory = folder.path("out");
    CHECK(run_here(command) == process::kDoesNotFit); // the worst of all
    const json runs = runs_in(command.json);
    std::vector<std::string> told;
    for (const json& run : runs) {
        told.push_back(run.at("workload").at("name").get<std::string>() + " on " +
                       run.at("machine").at("name").get<std::string>() + " " +
                       run.at("status").get<std::string>());
    }
    CHECK(told == std::vector<std::string>{"small on tiny ok", "small on fast ok",
                                           "large on tiny failed", "large on fast failed"});
    CHECK(runs[0].at("cycles") == runs[1].at("cycles"));
    CHECK(runs[1].at("machine").at("chip").at("clock_hz") == 4e9);
    CHECK(runs[2].at("exit_code") == process::kDoesNotFit);
    CHECK(runs[2].at("message").get<std::string>().find(" does not fit ") != std::string::npos);
    CHECK(read_text(command.csv) == run::results_csv({runs.begin(), runs.end()}));
    CHECK(fs::file_size(command.report) > 0);
    // a folder for each pair, with what its run left
    for (const std::string name : {"tiny", "fast"}) {
        const std::string place = folder.path("out/small/" + name + "/");
        const json kept = json::parse(read_text(place + "result.json"));
        CHECK(kept.at("cycles") == runs[0].at("cycles"));
        CHECK(kept.at("machine").at("chip") ==
              runs[name == "tiny" ? 0 : 1].at("machine").at("chip"));
        CHECK(fs::exists(place + "output.npy"));
        CHECK(fs::exists(place + "trace.pftrace.gz"));
        CHECK_FALSE(fs::exists(folder.path("out/large/" + name + "/result.json")));
    }
}

TEST_CASE("one machine is no part of the names of folders and runs") {
    const ScratchFolder folder;
    cli::RunCommand command = quiet({product(folder, "a.json", 8), product(folder, "b.json", 16)});
    command.json = folder.path("r.json");
    command.out_directory = folder.path("out");
    CHECK(run_here(command) == process::kOk);
    const json runs = runs_in(command.json);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].at("workload").at("m") == 16);
    CHECK(runs[1].at("machine").at("name") == "tiny");
    CHECK(fs::exists(folder.path("out/a/result.json")));
    CHECK(fs::exists(folder.path("out/b/result.json")));
}

TEST_CASE("files of one name are told apart by their folders, but for --out, which needs names") {
    const ScratchFolder folder;
    const std::string a = machine(folder, "a/m.json", 1e9);
    const std::string b = machine(folder, "b/m.json", 2e9);
    cli::RunCommand command = quiet({product(folder, "w.json", 8)}, {a, b});
    command.json = folder.path("r.json");
    CHECK(run_here(command) == process::kOk);
    const json runs = runs_in(command.json);
    CHECK(runs.at(0).at("machine").at("name") == "a/m");
    CHECK(runs.at(1).at("machine").at("name") == "b/m");
    command.out_directory = folder.path("out");
    CHECK_THROWS_WITH(run_here(command),
                      "run: --out: got machine 'm' twice, expected different names");
    command.workloads.push_back(product(folder, "other/w.json", 16));
    CHECK_THROWS_WITH(run_here(command),
                      "run: --out: got workload 'w' twice, expected different names");
    CHECK_FALSE(fs::exists(command.out_directory));
}

TEST_CASE("a mistake of any pair is told before the first run, with its machine") {
    const ScratchFolder folder;
    cli::RunCommand command = quiet({product(folder, "w.json", 8)}, {"tiny", "gc2"});
    command.sets = {"streaming.latency_us=1"};
    command.json = folder.path("r.json");
    CHECK_THROWS_WITH(run_here(command),
                      StartsWith("--set: ") && Contains("on gc2: ") && !Contains("on tiny: "));
    CHECK_FALSE(fs::exists(command.json));
    command.machines = {"gc2"};
    CHECK_THROWS_WITH(run_here(command), !Contains("on gc2: "));
}

TEST_CASE("a run that fails leaves none of an older one's files, others of the folder stay") {
    const ScratchFolder folder;
    const std::string file = product(folder, "w.json", 4096);
    for (const std::string name : {"result.json", "output.npy", "output.y.npy", "trace.pftrace.gz",
                                   "recording.bin.gz", "memory.json", "mine.txt"}) {
        static_cast<void>(folder.write("out/" + name, "old"));
    }
    cli::RunCommand command = quiet({file});
    command.out_directory = folder.path("out");
    CHECK_THROWS_WITH(run_here(command), Contains(" does not fit "));
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(command.out_directory)) {
        left.push_back(entry.path().filename().string());
    }
    CHECK(left == std::vector<std::string>{"mine.txt"});
}

TEST_CASE("a run whose process ends by itself has failed with why") {
    const ScratchFolder folder;
    cli::RunCommand command = quiet({product(folder, "a.json", 8), product(folder, "b.json", 16)});
    command.json = folder.path("r.json");
    struct Case {
        std::function<void()> end;
        int exit_code;
        std::string alone; ///< how a run in timing mode ended
        std::string among; ///< how one of several ended
    };
    const std::vector<Case> cases{
        {[] { std::raise(SIGKILL); }, process::kHostMemory, "Killed",
         "by signal 9, as the system does where memory runs out"},
        {[] { std::raise(SIGUSR1); }, process::kBug, "User defined signal 1",
         "by signal 10, User defined signal 1"},
        {[] { std::_Exit(process::kIo); }, process::kIo, "without a result", "without a result"}};
    for (const Case& one : cases) {
        CAPTURE(one.among);
        CHECK(run_ended(command, one.end) == one.exit_code);
        const json runs = runs_in(command.json);
        CHECK(runs.at(1).at("status") == "failed");
        CHECK(runs.at(1).at("message") == "b: the run ended " + one.among);
        CHECK(runs.at(1).at("exit_code") == one.exit_code);
        cli::RunCommand alone = quiet({command.workloads.front()});
        alone.mode = "auto";
        CHECK_THROWS_WITH(run_ended(alone, one.end), "tessera: " + alone.workloads.front() +
                                                         ": the run in timing mode ended " +
                                                         one.alone);
    }
}
