// SPDX-License-Identifier: MIT
#include "sim/calibrate/calibrate_command.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/calibrate/report.h"
#include "sim/calibrate/runner.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/process/screen.h"
#include "sim/process/work_progress.h"
#include "sim/result/result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::calibrate {
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

/// @throws ConfigError where no row is of the group, with what the rows are of
void keep_group(Calibration& calibration, const std::string& asked) {
    std::map<std::string, std::size_t> others;
    std::erase_if(calibration.rows, [&](const RowOutcome& row) {
        const bool is_other = row.group().empty() || !is_in(row.group(), asked);
        if (is_other) {
            ++others[row.group().empty() ? "no group" : in_quotes(row.group())];
        }
        return is_other;
    });
    calibration.other_files.clear();
    if (calibration.rows.empty()) {
        std::vector<std::string> counts;
        for (const auto& [group, rows] : others) {
            counts.push_back(fmt::format("{} of {}", rows, group));
        }
        throw ConfigError(Diagnostic{
            .file = "--group",
            .line = 0,
            .column = 0,
            .pointer = {},
            .message = fmt::format("no row is of group '{}'", asked),
            .hint = counts.empty() ? "" : fmt::format("rows: {}", fmt::join(counts, ", "))});
    }
}

/// The results of runs; nothing and the reason where one failed.
struct Results {
    std::vector<nlohmann::json> of_runs; ///< null for a run that may not fit and does not
    std::string failure;
    bool not_modelled = false;
};

Results results_of(const std::vector<Run>& runs, const RunOutcomes& outcomes) {
    Results results;
    for (const Run& run : runs) {
        const RunOutcome& outcome = outcomes.at(run.key());
        if (!outcome.failure.empty() && !(run.may_not_fit && outcome.does_not_fit)) {
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

/// The runs of a row with patterns of this seed; they are the row's own for the first seed.
std::vector<Run> with_seed(const std::vector<Run>& runs, int seed) {
    std::vector<Run> others = runs;
    for (Run& run : others) {
        run = run.draws() ? run.with_seed(seed) : run;
    }
    return others;
}

bool draws(const Measurement& measurement) {
    return std::any_of(measurement.runs.begin(), measurement.runs.end(),
                       [](const Run& run) { return run.draws(); });
}

/// Patterns of several seeds are one row, whose figure is their geometric mean. The first pattern that
/// fails fails the row.
void read_seeds(RowOutcome& row, int seeds, const RunOutcomes& outcomes) {
    const Measurement& measurement = *row.measurement();
    double sum = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        const Results results = results_of(with_seed(measurement.runs, seed), outcomes);
        const auto figure = figure_of(measurement, results, row.failure);
        if (!figure) {
            row.failure = fmt::format("seed {}: {}", seed, row.failure);
            row.not_modelled = results.not_modelled;
            row.simulated.reset();
            row.of_seeds.clear();
            return;
        }
        row.of_seeds.push_back(*figure);
        sum += std::log(*figure);
    }
    row.simulated = std::exp(sum / seeds);
}

void read_results(RowOutcome& row, int seeds, const RunOutcomes& outcomes) {
    const Measurement* measurement = row.measurement();
    if (measurement == nullptr) {
        return;
    }
    const Results results = results_of(measurement->runs, outcomes);
    row.simulated = figure_of(*measurement, results, row.failure);
    row.not_modelled = results.not_modelled;
    if (row.simulated && group_of(measurement->group).kind != Group::Kind::Micro) {
        for (std::size_t i = 0; i < results.of_runs.size(); ++i) {
            if (!results.of_runs[i].is_null()) {
                row.facts.push_back(facts_of(results.of_runs[i]));
                row.facts.back().called = measurement->runs[i].called;
            }
        }
    }
    if (row.simulated && measurement->decides) {
        for (const std::size_t run : measurement->decides(results.of_runs)) {
            row.best.push_back(measurement->runs[run].called);
        }
    }
    if (row.simulated && seeds > 1 && draws(*measurement)) {
        read_seeds(row, seeds, outcomes);
    }
    if (!measurement->ours.empty()) {
        row.ours =
            figure_of(*measurement, results_of(measurement->ours, outcomes), row.ours_failure);
    }
}

/// By their keys: equal runs are run once.
std::map<std::string, Run> runs_of(const Calibration& calibration, int seeds) {
    std::map<std::string, Run> all;
    const auto add = [&](const std::vector<Run>& runs) {
        for (const Run& run : runs) {
            all.emplace(run.key(), run);
        }
    };
    for (const RowOutcome& row : calibration.rows) {
        if (const Measurement* measurement = row.measurement()) {
            add(measurement->ours);
            for (int seed = 1; seed <= (draws(*measurement) ? seeds : 1); ++seed) {
                add(with_seed(measurement->runs, seed));
            }
        }
    }
    return all;
}

void run_rows(Calibration& calibration, const cli::CalibrateCommand& command,
              const run::Elaborate& elaborate) {
    std::optional<KeptRuns> kept;
    if (!command.store.empty()) {
        kept.emplace(command.store, result::kModelVersion);
    }
    std::optional<process::ProgressShow> progress;
    const auto ended = [&](std::size_t all, const std::string& status) {
        if (!progress) {
            progress.emplace("workload", all, command.quiet);
        }
        progress->ended(status);
    };
    const RunOutcomes outcomes = run_all(runs_of(calibration, command.seeds), command.threads,
                                         elaborate, kept ? &*kept : nullptr, ended);
    progress.reset();
    for (RowOutcome& row : calibration.rows) {
        read_results(row, command.seeds, outcomes);
    }
}

/// Whether --check is content; where no target was missed and yet it is not, stderr says why.
bool is_checked(const Calibration& calibration, bool quiet) {
    const auto outcomes = group_outcomes(calibration);
    const bool missed = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return outcome.nearness.rows + outcome.failed > 0 && !outcome.reached();
    });
    const bool judged = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& outcome) {
        return outcome.nearness.rows > 0 && outcome.group.target.asks();
    });
    if (!missed && !judged) {
        process::tell("--check: no row was judged by a target\n");
    } else if (missed && quiet) {
        process::tell_failure("--check: a group misses its target: see the table without --quiet");
    }
    return !missed && judged;
}

} // namespace

int calibrate_command(const cli::CalibrateCommand& command, const run::Elaborate& elaborate) {
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
        process::check_outputs("calibrate", {{"--json", command.json}, {"--csv", command.csv}});
    const auto json_file = process::open_output(command.json);
    const auto csv_file = process::open_output(command.csv);
    run_rows(calibration, command, elaborate);

    if (!command.quiet) {
        std::FILE* const people = on_stdout ? stderr : stdout;
        std::fputs(calibration_text(calibration, process::layout_of(people)).c_str(), people);
        if (command.unexplained) {
            std::fputs(unexplained_text(calibration, process::layout_of(people)).c_str(), people);
        }
    }
    if (json_file != nullptr) {
        json_file->write(result::json_text(calibration_json(calibration)));
    }
    if (csv_file != nullptr) {
        csv_file->write(calibration_csv(calibration));
    }
    return command.check && !is_checked(calibration, command.quiet) ? process::kCheckFailed
                                                                    : process::kOk;
}

} // namespace tessera::calibrate
