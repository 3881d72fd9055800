// SPDX-License-Identifier: MIT
// Runs of one workload on many machines, as children of one warm worker (sim/run/warm_worker.h).
//
// usage: bench_warm_worker AT_ONCE MODE WORKLOAD PATH=VALUE[,VALUE...]...
//
// All combinations of the values. Prints `{"runs", "seconds", "results": [{"set", "cycles",
// "tile_cycles"}]}`; a run that failed has "message" instead.
#include "sim/run/warm_worker.h"

#include "base/stopwatch.h"

#include <nlohmann/json.hpp>
#include <systemc>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace tessera;

const std::function<void()>* body_of_sc_main = nullptr;
std::exception_ptr failure;

void elaborate(const std::function<void()>& body) {
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    body_of_sc_main = &body;
    std::string name = "bench";
    std::vector<char*> arguments{name.data(), nullptr};
    sc_core::sc_elab_and_sim(1, arguments.data());
    if (failure != nullptr) {
        std::rethrow_exception(failure);
    }
}

/// One more axis: each of `commands` with each of the values of "path=value,value".
std::vector<cli::RunCommand> with_axis(const std::vector<cli::RunCommand>& commands,
                                       const std::string& axis) {
    const std::size_t equals = axis.find('=');
    std::vector<cli::RunCommand> all;
    for (const auto& command : commands) {
        for (std::size_t at = equals + 1; at <= axis.size();) {
            const std::size_t end = std::min(axis.find(',', at), axis.size());
            all.push_back(command);
            all.back().sets.push_back(axis.substr(0, equals + 1) + axis.substr(at, end - at));
            at = end + 1;
        }
    }
    return all;
}

} // namespace

int sc_main(int /*argc*/, char* /*argv*/[]) {
    try {
        (*body_of_sc_main)();
    } catch (...) {
        failure = std::current_exception();
    }
    return 0;
}

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("usage: bench_warm_worker AT_ONCE MODE WORKLOAD PATH=VALUE[,VALUE...]...\n",
                   stderr);
        return 2;
    }
    cli::RunCommand base;
    base.mode = argv[2];
    base.workloads = {argv[3]};
    base.check = false;
    base.quiet = true;
    std::vector<cli::RunCommand> commands{base};
    for (int i = 4; i < argc; ++i) {
        commands = with_axis(commands, argv[i]);
    }
    Stopwatch watch;
    const auto outcomes = run::run_warm(commands, std::atoi(argv[1]), elaborate);
    nlohmann::json document{{"runs", commands.size()}, {"seconds", watch.lap()}};
    for (std::size_t i = 0; i < commands.size(); ++i) {
        nlohmann::json entry{{"set", commands[i].sets}};
        const auto result = nlohmann::json::parse(outcomes[i].text, nullptr, false);
        if (result.is_object() && result.contains("cycles")) {
            entry["cycles"] = result["cycles"];
            entry["tile_cycles"] = result.contains("digests") // estimates have none
                                       ? result["digests"]["tile_cycles"]
                                       : nlohmann::json(nullptr);
        } else {
            entry["message"] = result.is_object() ? result["message"] : nlohmann::json("no result");
        }
        document["results"].push_back(entry);
    }
    std::puts(document.dump(1).c_str());
    return 0;
}
