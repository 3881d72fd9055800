// SPDX-License-Identifier: MIT
#include "sim/calibrate/calibrate_command.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "sim/calibrate/report.h"
#include "sim/calibrate/runner.h"
#include "sim/exit_code.h"
#include "sim/output.h"
#include "sim/progress_line.h"
#include "sim/result.h"
#include "sim/screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;
using namespace calibrate;

/// The folder of --reference, or configs/reference/measured of the first root that has it.
fs::path reference_directory(const std::string& given, const config::ConfigPaths& paths) {
    if (!given.empty()) {
        return given;
    }
    const fs::path own = fs::path("reference") / "measured";
    for (const auto& root : paths.roots) {
        std::error_code ignored;
        if (fs::is_directory(root / own, ignored)) {
            return root / own;
        }
    }
    throw IoError(fmt::format("calibrate: no configs folder has {}", own.string()));
}

/// The rows with what stands for each. All mistakes are told before anything runs.
Calibration mapped_rows(Reference reference, const config::ConfigPaths& paths) {
    std::vector<std::string> machines;
    for (const auto& entry : config::list_configs(paths, "machines")) {
        machines.push_back(entry.name);
    }
    Calibration calibration{.rows = {}, .other_files = std::move(reference.other_files)};
    std::vector<Diagnostic> mistakes;
    for (ReferenceRow& row : reference.rows) {
        try {
            Mapped mapped = measurement_of(row, machines);
            calibration.rows.push_back({std::move(row), std::move(mapped), {}, {}});
        } catch (const ConfigError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (!mistakes.empty()) {
        throw ConfigError(std::move(mistakes));
    }
    return calibration;
}

void keep_group(Calibration& calibration, const std::string& asked) {
    std::erase_if(calibration.rows, [&](const RowOutcome& row) {
        return row.group().empty() || !is_in(row.group(), asked);
    });
    calibration.other_files.clear();
}

/// The results of runs; nothing and the reason where one failed.
struct Results {
    std::vector<nlohmann::json> of_runs;
    std::string failure;
    bool not_modelled = false;
};

Results results_of(const std::vector<Run>& runs, const RunOutcomes& outcomes) {
    Results results;
    for (const Run& run : runs) {
        const RunOutcome& outcome = outcomes.at(run.key());
        if (!outcome.failure.empty()) {
            return {{}, outcome.failure, outcome.not_modelled};
        }
        results.of_runs.push_back(outcome.result);
    }
    return results;
}

/// What the measurement reads; nothing and the reason where it cannot.
std::optional<double> figure_of(const Measurement& measurement, const Results& results,
                                std::string& failure) {
    failure = results.failure;
    if (!failure.empty()) {
        return std::nullopt;
    }
    try {
        return measurement.read(results.of_runs);
    } catch (const IoError& error) {
        failure = error.what();
        return std::nullopt;
    }
}

void read_results(RowOutcome& row, const RunOutcomes& outcomes) {
    const Measurement* measurement = row.measurement();
    if (measurement == nullptr) {
        return;
    }
    const Results results = results_of(measurement->runs, outcomes);
    row.simulated = figure_of(*measurement, results, row.failure);
    row.not_modelled = results.not_modelled;
    if (row.simulated && group_of(measurement->group).kind != Group::Kind::Micro) {
        for (const auto& result : results.of_runs) {
            row.facts.push_back(facts_of(result));
        }
    }
    if (!measurement->ours.empty()) {
        row.ours =
            figure_of(*measurement, results_of(measurement->ours, outcomes), row.ours_failure);
    }
}

void run_rows(Calibration& calibration, const CalibrateCommand& command,
              const Elaborate& elaborate) {
    std::vector<const Measurement*> measurements;
    for (const RowOutcome& row : calibration.rows) {
        if (row.measurement() != nullptr) {
            measurements.push_back(row.measurement());
        }
    }
    ProgressLine progress;
    const RunOutcomes outcomes =
        run_all(measurements, command.threads, elaborate, [&](std::size_t ended, std::size_t all) {
            progress.show(fmt::format("{} of {} workloads", ended, all));
        });
    progress.clear();
    for (RowOutcome& row : calibration.rows) {
        read_results(row, outcomes);
    }
}

/// Whether --check is content; where no target was missed and yet it is not, stderr says why.
bool is_checked(const Calibration& calibration) {
    const auto outcomes = group_outcomes(calibration);
    const bool missed = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return outcome.nearness.rows + outcome.failed > 0 && !outcome.reached();
    });
    const bool judged = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return outcome.nearness.rows > 0 && outcome.group.target.asks();
    });
    if (!missed && !judged) {
        std::fputs("--check: no row was judged by a target\n", stderr);
    }
    return !missed && judged;
}

} // namespace

int calibrate_command(const CalibrateCommand& command, const Elaborate& elaborate) {
    if (!command.group.empty()) {
        check_group_name(command.group);
    }
    const auto paths = config::default_config_paths();
    Calibration calibration =
        mapped_rows(read_reference(reference_directory(command.reference, paths)), paths);
    if (!command.group.empty()) {
        keep_group(calibration, command.group);
    }
    const bool on_stdout =
        check_outputs("calibrate", {{"--json", command.json}, {"--csv", command.csv}});
    const auto json_file = open_output(command.json);
    const auto csv_file = open_output(command.csv);
    run_rows(calibration, command, elaborate);

    if (!command.quiet) {
        std::FILE* const people = on_stdout ? stderr : stdout;
        std::fputs(calibration_text(calibration, layout_of(people)).c_str(), people);
        if (command.unexplained) {
            std::fputs(unexplained_text(calibration, layout_of(people)).c_str(), people);
        }
    }
    if (json_file != nullptr) {
        json_file->write(json_text(calibration_json(calibration)));
    }
    if (csv_file != nullptr) {
        csv_file->write(calibration_csv(calibration));
    }
    return command.check && !is_checked(calibration) ? kCheckFailed : kOk;
}

} // namespace tessera::sim
