// SPDX-License-Identifier: MIT
#include "sim/calibrate/runner.h"

#include "base/config/paths.h"
#include "sim/child.h"
#include "sim/run.h"

#include <fmt/format.h>

#include <exception>

namespace tessera::sim::calibrate {
namespace {

/// In the child.
ChildOutcome run_one(const Run& run, const Elaborate& elaborate) {
    RunCommand command;
    command.machine = run.machine;
    command.sets = run.machine_sets;
    RunReport report;
    try {
        elaborate([&] {
            report = run_document(command, run.workload, run.workload.at("kind").get<std::string>(),
                                  config::default_config_paths());
        });
    } catch (const ConfigError& error) { // of a workload that stands in no file
        const Diagnostic& first = error.diagnostics().front();
        return {kConfig, fmt::format("{}: {}", first.pointer, first.message)};
    } catch (const std::exception& error) {
        return {kBug, error.what()};
    }
    if (!report.passed) {
        return {kCheckFailed, report.result.at("check").at("sentence").get<std::string>()};
    }
    return {kOk, report.result.dump()};
}

RunOutcome outcome_of(const ChildOutcome& child) {
    if (child.exit_code == kOk) {
        return {nlohmann::json::parse(child.text), {}};
    }
    return {nullptr, child.text.empty() ? "the run ended without a result" : child.text};
}

} // namespace

RunOutcomes run_all(const std::vector<const Measurement*>& measurements, int at_once,
                    const Elaborate& elaborate,
                    const std::function<void(std::size_t, std::size_t)>& ended) {
    std::map<std::string, Run> runs;
    for (const Measurement* measurement : measurements) {
        for (const Run& run : measurement->runs) {
            runs.emplace(run.key(), run);
        }
    }
    std::vector<ChildBody> bodies;
    for (const auto& [key, run] : runs) {
        bodies.push_back([&run = run, &elaborate] { return run_one(run, elaborate); });
    }
    const std::vector<ChildOutcome> children = run_children(
        bodies, at_once, [&](const ChildEnd& end) { ended(end.ended, bodies.size()); });
    RunOutcomes outcomes;
    std::size_t next = 0;
    for (const auto& [key, run] : runs) {
        outcomes.emplace(key, outcome_of(children[next++]));
    }
    return outcomes;
}

} // namespace tessera::sim::calibrate
