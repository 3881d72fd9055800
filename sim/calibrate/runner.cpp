// SPDX-License-Identifier: MIT
#include "sim/calibrate/runner.h"

#include "base/config/json_text.h"
#include "base/config/paths.h"
#include "base/error.h"
#include "models/machine_file/load.h"
#include "sim/process/child.h"
#include "sim/run/run.h"
#include "sim/vertex/check.h"
#include "sim/vertex/run.h"

#include <fmt/format.h>

#include <exception>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

constexpr const char* kNotModelled = "not modelled";
constexpr const char* kDoesNotFit = "does not fit";

/// `kind`: of the error, where a reader of outcomes tells it apart.
process::ChildOutcome failed(const std::string& why, const char* kind = "") {
    return {process::kOk, config::text_of_json(json{{"failure", why}, {"kind", kind}})};
}

/// What steps have for each tile is of no use here and much.
void drop_tiles(json& result) {
    for (const char* list : {"compute_sets", "exchanges", "streams"}) {
        for (json& step : result[list]) {
            step.erase("tile_cycles");
        }
    }
}

json workload_result(const Run& run, const run::Elaborate& elaborate) {
    cli::RunCommand command;
    command.machine = run.machine;
    command.sets = run.machine_sets;
    command.mode = run.mode;
    run::RunReport report;
    elaborate([&] {
        report =
            run::run_document(command, run.workload, run.workload.at("kind").get<std::string>(),
                              config::default_config_paths());
    });
    if (!report.passed) {
        throw IoError(report.result.at("check").at("sentence").get<std::string>());
    }
    drop_tiles(report.result);
    return std::move(report.result);
}

/// The first point of a vertex file, as `tessera vertex` runs it.
json vertex_result(const Run& run) {
    const auto paths = config::default_config_paths();
    std::vector<std::string> sets;
    for (const std::string& parameter : run.parameters) {
        sets.push_back("parameters." + parameter);
    }
    const vertex::LoadedVertex loaded =
        vertex::load_vertex(config::find_config(paths, "vertices", "vertex", run.vertex), sets);
    const spec::MachineSpec machine = machine_file::load(run.machine, paths, run.machine_sets).spec;
    const vertex::Bench bench = vertex::lay_out(
        loaded, machine, vertex::points_of(loaded, machine).front(), vertex::BenchOptions{});
    const vertex::PointResult result = vertex::run_bench(machine, bench, {});
    if (!vertex::passed(vertex::check_arrays(bench, result, loaded.spec.tolerance))) {
        throw IoError(fmt::format("{}: the answer is wrong", run.vertex));
    }
    return {{"cycles", result.tile_cycles},
            {"worker_cycles", result.worker_cycles},
            {"machine", {{"chip", {{"clock_hz", machine.chip.clock_hz}}}}}};
}

/// In the child.
process::ChildOutcome run_one(const Run& run, const run::Elaborate& elaborate) {
    try {
        const json result =
            run.vertex.empty() ? workload_result(run, elaborate) : vertex_result(run);
        return {process::kOk, config::text_of_json(json{{"result", result}})};
    } catch (const ConfigError& error) { // of a workload that stands in no file
        const Diagnostic& first = error.diagnostics().front();
        return failed(fmt::format("{}: {}", first.pointer, first.message));
    } catch (const NotModelled& absent) {
        return failed(absent.what(), kNotModelled);
    } catch (const DoesNotFit& error) {
        return failed(error.what(), kDoesNotFit);
    } catch (const std::exception& error) {
        return failed(error.what());
    }
}

RunOutcome outcome_of(const process::ChildOutcome& child) {
    if (child.exit_code != process::kOk || child.text.empty()) {
        return {nullptr, child.text.empty() ? "the run ended without a result" : child.text};
    }
    json told = json::parse(child.text);
    if (told.contains("failure")) {
        const std::string& kind = told["kind"].get_ref<const std::string&>();
        return {.result = nullptr,
                .failure = told["failure"].get<std::string>(),
                .not_modelled = kind == kNotModelled,
                .does_not_fit = kind == kDoesNotFit};
    }
    return {std::move(told["result"]), {}};
}

} // namespace

std::string RunOutcome::status_of(const Run& run) const {
    if (failure.empty() || (does_not_fit && run.may_not_fit)) {
        return "";
    }
    return does_not_fit ? "does_not_fit" : not_modelled ? "not_modelled" : "failed";
}

RunOutcomes run_all(const std::map<std::string, Run>& runs, int at_once,
                    const run::Elaborate& elaborate, KeptRuns* kept,
                    const std::function<void(std::size_t, const std::string&)>& ended) {
    RunOutcomes outcomes;
    std::vector<const Run*> left;
    for (const auto& [key, run] : runs) {
        auto known = kept == nullptr ? std::nullopt : kept->result_of(run);
        if (known) {
            outcomes.emplace(key, RunOutcome{std::move(*known), {}});
        } else {
            left.push_back(&run);
        }
    }
    std::vector<process::ChildBody> bodies;
    bodies.reserve(left.size());
    for (const Run* run : left) {
        bodies.emplace_back([run, &elaborate] { return run_one(*run, elaborate); });
    }
    static_cast<void>(process::run_children(bodies, at_once, [&](const process::ChildEnd& end) {
        const Run& run = *left[end.body];
        RunOutcome outcome = outcome_of(end.outcome);
        if (kept != nullptr && outcome.failure.empty()) {
            kept->keep(run, outcome.result);
        }
        ended(bodies.size(), outcome.status_of(run));
        outcomes.emplace(run.key(), std::move(outcome));
    }));
    return outcomes;
}

} // namespace tessera::calibrate
