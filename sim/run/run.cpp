// SPDX-License-Identifier: MIT
#include "sim/run/run.h"

#include "base/activity.h"
#include "base/config/json_text.h"
#include "base/config/read.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/host_memory.h"
#include "base/host_threads.h"
#include "base/stopwatch.h"
#include "kernels/catalog/load.h"
#include "kernels/catalog/machine_check.h"
#include "kernels/job/job.h"
#include "kernels/workload/npy.h"
#include "models/machine_file/load.h"
#include "models/program/held_spans.h"
#include "models/simulation/simulation.h"
#include "models/spec/load.h"
#include "sim/process/output.h"
#include "sim/result/digest.h"
#include "sim/result/estimate_gap.h"
#include "sim/result/memory_report.h"
#include "sim/result/result.h"
#include "sim/run/observers.h"
#include "sim/run/unused_parameters.h"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace tessera::run {

struct Configuration {
    spec::LoadedMachine machine;
    catalog::LoadedWorkload workload;
};

struct PlannedJob {
    std::shared_ptr<job::Job> job;                 ///< null: not yet made
    const program::Program* program = nullptr;     ///< the job's; null: not yet planned
    std::shared_ptr<const job::Estimate> estimate; ///< instead of it, in mode estimate
};

namespace {

constexpr int kAuditedTiles = 2; ///< of timing mode, if --audit does not say it

using LoadWorkload =
    std::function<catalog::LoadedWorkload(const std::vector<std::string>& set_overrides)>;

/// For a --set of a workload's key without the word that says so.
void suggest_workload_path(Diagnostic& mistake) {
    const std::string path = std::string(catalog::kSetPrefix) + mistake.pointer;
    if (mistake.file == "--set" && mistake.hint.empty() &&
        config::is_set_path(catalog::workload_shape(), path, catalog::kSetPrefix)) {
        mistake.hint = "did you mean '" + path + "'?";
    }
}

/// Reads machine and workload, so that the mistakes of both are told at once.
Configuration read_configuration(const cli::RunCommand& command, const config::ConfigPaths& paths,
                                 const LoadWorkload& load_workload) {
    const auto sets = catalog::split_overrides(command.sets);
    Configuration read;
    std::vector<Diagnostic> mistakes;
    const auto collect = [&](const auto& load) {
        try {
            load();
        } catch (const ConfigError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    };
    collect([&] { read.machine = machine_file::load(command.machine, paths, sets.machine); });
    collect([&] { read.workload = load_workload(sets.workload); });
    if (!mistakes.empty()) {
        std::for_each(mistakes.begin(), mistakes.end(), suggest_workload_path);
        throw ConfigError(std::move(mistakes));
    }
    config::throw_if_any(catalog::mistakes_on(read.machine, read.workload));
    return read;
}

Configuration read_configuration(const cli::RunCommand& command, const std::string& workload,
                                 const config::ConfigPaths& paths) {
    return read_configuration(command, paths, [&](const std::vector<std::string>& sets) {
        return catalog::load_workload(workload, paths, sets);
    });
}

std::string npy_bytes(const job::Result& result, std::span<const std::byte> values) {
    return workload::npy_bytes(npy_of(result.type), result.shape,
                               {reinterpret_cast<const char*>(values.data()), values.size()});
}

} // namespace

void check_configuration(const cli::RunCommand& command, const config::ConfigPaths& paths) {
    for (const auto& workload : command.workloads) {
        static_cast<void>(read_configuration(command, workload, paths));
    }
}

namespace {

bool is_operand(const job::Job& job, program::ArrayId tensor) {
    const auto operands = job.operands();
    return std::any_of(operands.begin(), operands.end(),
                       [&](const job::HostArray& operand) { return operand.array == tensor; });
}

/// An operand that a step has written over may be one.
bool is_result(const job::Job& job, program::ArrayId tensor) {
    const auto results = job.results();
    return std::any_of(results.begin(), results.end(),
                       [&](const job::Result& result) { return result.array == tensor; });
}

/// What `--out` keeps, the answer where several results have files of their own too.
std::vector<ResultFile> result_files(const job::Job& job, const job::ReadArray& read) {
    std::vector<ResultFile> files;
    const auto results = job.results();
    for (const job::Result& result : results) {
        const std::string bytes = npy_bytes(result, read(result.array));
        if (files.empty()) {
            files.push_back({process::kAnswerFile, bytes});
        }
        if (results.size() > 1) {
            files.push_back({process::result_file(result.name), bytes});
        }
    }
    return files;
}

std::vector<result::ResultRecord> result_records(const job::Job& job) {
    std::vector<result::ResultRecord> records;
    const auto results = job.results();
    for (const job::Result& result : results) {
        records.push_back({result.name, results.size() > 1 ? process::result_file(result.name)
                                                           : std::string(process::kAnswerFile)});
    }
    return records;
}

/// Of the names and bytes of all tensors that the run makes and keeps, and of results outside the
/// tiles.
std::string output_digest(const job::Job& job, const program::Program& program,
                          const simulation::Simulation& simulation) {
    result::Digest output;
    const auto read = [&](program::ArrayId array) { return simulation.read(array); };
    if (const program::SystemProgram* const system = job.system()) {
        for (std::size_t chip = 0; chip < system->chips(); ++chip) {
            const auto& tensors = system->of_chip(chip).tensors;
            for (std::size_t i = 0; i < tensors.size(); ++i) {
                if (tensors[i].kept) {
                    output.add(tensors[i].name);
                    output.add(simulation.read(program::tensor(i), chip));
                }
            }
        }
        return output.text();
    }
    for (std::size_t i = 0; i < program.tensors.size(); ++i) {
        const program::ArrayId tensor = program::tensor(i);
        if (program.tensors[i].kept && (!is_operand(job, tensor) || is_result(job, tensor))) {
            output.add(program.tensors[i].name);
            output.add(read(program::tensor(i)));
        }
    }
    for (const job::Result& result : job.results()) {
        if (result.array.kind == program::ArrayId::Kind::RemoteBuffer) {
            output.add(result.name);
            output.add(read(result.array));
        }
    }
    return output.text();
}

/// What went over each edge by time, a line for each interval in which something did.
std::string edges_csv(const std::vector<simulation::EdgePart>& parts) {
    std::string text = "from,to,begin_cycle,end_cycle,payload_bytes,bytes\r\n";
    for (const simulation::EdgePart& part : parts) {
        if (part.bytes > 0) {
            fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{}\r\n", part.from, part.to,
                           part.begin, part.end, part.payload_bytes, part.bytes);
        }
    }
    return text;
}

/// The chip whose program ends last, the lowest number of equals.
std::size_t last_to_end(const simulation::Simulation& simulation) {
    std::size_t last = 0;
    for (std::size_t chip = 1; chip < simulation.chips(); ++chip) {
        if (simulation.account(chip).cycles() > simulation.account(last).cycles()) {
            last = chip;
        }
    }
    return last;
}

/// `system`: null of a machine of one chip, which runs `program`.
std::vector<const program::Program*> programs_of(const program::Program& program,
                                                 const program::SystemProgram* system,
                                                 std::size_t chips) {
    std::vector<const program::Program*> programs(chips, &program);
    for (std::size_t chip = 0; system != nullptr && chip < chips; ++chip) {
        programs[chip] = &system->of_chip(chip);
    }
    return programs;
}

std::vector<const listeners::Account*> accounts_of(const simulation::Simulation& simulation) {
    std::vector<const listeners::Account*> accounts;
    for (std::size_t chip = 0; chip < simulation.chips(); ++chip) {
        accounts.push_back(&simulation.account(chip));
    }
    return accounts;
}

/// Of all chips together.
std::optional<ipu::TimingFacts> timing_of(const simulation::Simulation& simulation) {
    std::optional<ipu::TimingFacts> all = simulation.timing();
    for (std::size_t chip = 1; all && chip < simulation.chips(); ++chip) {
        const ipu::TimingFacts one = *simulation.timing(chip);
        all->phases += one.phases;
        all->phases_run += one.phases_run;
        all->audited_tiles += one.audited_tiles;
        all->unknown_addresses += one.unknown_addresses;
    }
    return all;
}

bool has_data(const cli::RunCommand& command) {
    return command.mode.empty() || command.mode == "functional";
}

bool only_estimates(const cli::RunCommand& command) {
    return command.mode == "estimate";
}

/// @throws NotModelled where there are no closed forms
std::shared_ptr<const job::Estimate> estimate_of(job::Job& job,
                                                 const Configuration& configuration) {
    if (auto estimate = job.estimate(configuration.machine.spec)) {
        return std::make_shared<const job::Estimate>(std::move(*estimate));
    }
    throw NotModelled(fmt::format(
        "{}: not modelled: an estimate of kind {}; there are closed forms of kinds {}, see "
        "docs/timing_mode.md#estimates",
        configuration.workload.workload.name,
        configuration.workload.resolved["kind"].get<std::string>(),
        result::kinds_with_estimates()));
}

/// Calls `body`. What shows of a workload only when its operands are read is told at its value.
template <class Body> void at_the_workload(const Configuration& configuration, const Body& body) {
    try {
        body();
    } catch (const ConfigError& error) {
        const config::Document document{
            .root = {}, .origins = configuration.workload.origins, .duplicates = {}};
        std::vector<Diagnostic> mistakes = error.diagnostics();
        for (Diagnostic& mistake : mistakes) {
            if (mistake.line == 0 && mistake.pointer.rfind('/', 0) == 0) {
                mistake = document.at_value(mistake.pointer, mistake.message, mistake.hint);
            }
        }
        throw ConfigError(std::move(mistakes));
    }
}

/// Reads the workload's operands and plans or estimates, as far as that is not done.
void complete(PlannedJob& planned, const cli::RunCommand& command,
              const Configuration& configuration) {
    at_the_workload(configuration, [&] {
        if (planned.job == nullptr) {
            planned.job = job::make_job(configuration.workload.workload);
        }
        if (only_estimates(command)) {
            if (planned.estimate == nullptr) {
                planned.estimate = estimate_of(*planned.job, configuration);
            }
        } else if (planned.program == nullptr) {
            const Activity planning("planning");
            planned.program =
                &planned.job->plan(configuration.machine.spec,
                                   has_data(command) ? job::Operands::Made : job::Operands::Known);
        }
    });
}

RunReport estimated(const cli::RunCommand& command, const Configuration& configuration,
                    Stopwatch whole, PlannedJob planned) {
    Stopwatch watch = whole;
    complete(planned, command, configuration);
    result::HostFacts host{.threads = command.threads};
    host.plan_s = watch.lap();
    host.wall_s = whole.lap();
    const job::Estimate& estimate = *planned.estimate;
    RunReport report;
    report.result = result::make_result(result::EstimateFacts{
        .machine = configuration.machine.spec,
        .machine_resolved = configuration.machine.resolved,
        .unused_parameters = unused_parameters(configuration.machine, parts_of(estimate)),
        .workload_name = configuration.workload.workload.name,
        .workload_resolved = configuration.workload.resolved,
        .job = *planned.job,
        .estimate = estimate,
        .host = host});
    return report;
}

/// Holds a run's job and its simulation. A process simulates once and ends soon behind it: its end gives all
/// memory back at once, where destructors give back each vector of 1,472 tiles.
struct KeptRun {
    PlannedJob planned;
    std::optional<simulation::Simulation> simulation;
};

/// Returns the one of this process, which is never destroyed.
KeptRun& kept_run() {
    static auto* const one = new KeptRun;
    return *one;
}

/// `whole` was started before the configuration was read.
RunReport run_configured(cli::RunCommand command, const Configuration& configuration,
                         Stopwatch whole, PlannedJob planned = {}) {
    Stopwatch watch = whole;
    command.threads = startable_threads(command.threads);
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(command.threads));
    if (only_estimates(command)) {
        return estimated(command, configuration, whole, std::move(planned));
    }
    const spec::MachineSpec& machine = configuration.machine.spec;
    Observers observers(command, machine, configuration.workload.workload.name);
    const bool with_data = has_data(command);
    complete(planned, command, configuration);
    KeptRun& kept = kept_run();
    TESSERA_ASSERT(!kept.simulation); // SystemC elaborates once
    kept.planned = std::move(planned);
    job::Job* const job = kept.planned.job.get();
    const program::Program& program = *kept.planned.program;
    constexpr double kAll = std::numeric_limits<double>::infinity();
    need_host_memory(program::kHeldSpanBytes *
                         program::most_held_spans(program, machine.chip.tiles,
                                                  with_data ? kAll : program::kRoundsInTimingMode),
                     job->sentence() + ": what tiles do from one barrier to the next");
    give_back_holes();
    result::HostFacts host{.threads = command.threads};
    host.plan_s = watch.lap();

    const bool checks = command.check && with_data;
    ipu::RunOptions options{.threads = command.threads,
                            .listeners = observers.hear(*job, program, checks)};
    options.shuffle = command.shuffle;
    const simulation::Simulation* running = nullptr;
    options.ask_host = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> rows) {
        job->asked(copy, row, rows, [&](program::ArrayId array) { return running->read(array); });
    };
    if (!with_data) {
        options.timing = ipu::TimingOptions{command.audit.value_or(kAuditedTiles)};
    }
    const program::SystemProgram* const system = job->system();
    if (system != nullptr) {
        kept.simulation.emplace(machine, *system,
                                observers.options_of_chips(*system, std::move(options)));
    } else {
        kept.simulation.emplace(machine, program, std::move(options));
    }
    simulation::Simulation& simulation = *kept.simulation;
    running = &simulation;
    if (system != nullptr && (!command.trace.empty() || !command.edges.empty())) {
        simulation.watch_links(observers.hear_links(*system));
    }
    observers.read_from(simulation);
    for (const auto& operand : job->operands()) {
        simulation.write(operand.array, operand.bytes, operand.chip);
    }
    observers.begin();
    at_the_workload(configuration,
                    [&] { simulation.run(command.max_cycles); }); // steps are checked as they end
    host.check_s = observers.seconds();
    host.simulate_s = watch.lap() - host.check_s;
    observers.end(simulation);

    const auto read = [&](program::ArrayId array) { return simulation.read(array); };
    std::optional<job::CheckOutcome> check;
    if (checks) {
        const Activity checking("checking");
        const auto read_chip = [&](std::size_t chip, program::ArrayId array) {
            return simulation.read(array, chip);
        };
        check = system != nullptr ? job->check_chips(read_chip, command.threads)
                                  : job->check(read, command.threads);
    }
    host.check_s += watch.lap();

    RunReport report;
    std::string digest;
    if (with_data) {
        digest = output_digest(*job, program, simulation);
    }
    if (with_data && !command.out_directory.empty()) {
        report.outputs = result_files(*job, read);
    }
    std::optional<traces::TraceSummary> traced = observers.finish(report.warnings);
    const std::size_t last = last_to_end(simulation);
    report.recording =
        observers.write_recording(simulation, programs_of(program, system, simulation.chips()),
                                  last, configuration.workload.workload.name);
    if (!command.memory.empty() || !command.report.empty()) {
        report.memory =
            result::make_memory_report(machine, configuration.workload.workload.name, program);
    }
    if (!command.edges.empty()) {
        report.edges = edges_csv(simulation.edges_by_time());
    }
    host.wall_s = whole.lap();
    host.encode_s = job->encode_s();
    report.passed = !check || check->passed;
    if (check && !check->warning.empty()) {
        report.warnings.push_back(configuration.workload.workload.name + ": " + check->warning);
    }
    report.result = result::make_result(result::RunFacts{
        .machine = machine,
        .machine_resolved = configuration.machine.resolved,
        .unused_parameters = unused_parameters(configuration.machine, parts_of(program)),
        .workload_name = configuration.workload.workload.name,
        .workload_resolved = configuration.workload.resolved,
        .job = *job,
        .program = system != nullptr ? system->of_chip(last) : program,
        .account = simulation.account(last),
        .check = std::move(check),
        .trace = std::move(traced),
        .timing = timing_of(simulation),
        .rounds = observers.rounds(),
        .output_digest = digest,
        .results = with_data ? result_records(*job) : std::vector<result::ResultRecord>{},
        .system = system,
        .chips =
            system != nullptr ? accounts_of(simulation) : std::vector<const listeners::Account*>{},
        .edges = simulation.edges(),
        .host = host});
    return report;
}

} // namespace

RunReport run_workload(const cli::RunCommand& command, const std::string& workload,
                       const config::ConfigPaths& paths) {
    const Stopwatch whole;
    return run_configured(command, read_configuration(command, workload, paths), whole);
}

RunReport run_document(const cli::RunCommand& command, const nlohmann::json& workload,
                       const std::string& name, const config::ConfigPaths& paths) {
    const Stopwatch whole;
    const auto load = [&](const std::vector<std::string>& sets) {
        return catalog::load_workload(config::parse_document(workload.dump(), name), name, paths,
                                      sets);
    };
    return run_configured(command, read_configuration(command, paths, load), whole);
}

struct PreparedRun::Implementation {
    cli::RunCommand command;
    Configuration configuration;
    PlannedJob planned;
};

PreparedRun::PreparedRun(cli::RunCommand command, const std::string& workload,
                         const config::ConfigPaths& paths)
    : implementation_(std::make_unique<Implementation>()) {
    implementation_->configuration = read_configuration(command, workload, paths);
    implementation_->command = std::move(command);
}
PreparedRun::~PreparedRun() = default;
PreparedRun::PreparedRun(PreparedRun&&) noexcept = default;
PreparedRun& PreparedRun::operator=(PreparedRun&&) noexcept = default;

std::string PreparedRun::operands_key() const {
    const auto& [command, configuration, planned] = *implementation_;
    return config::text_of_json(configuration.workload.resolved) +
           (has_data(command) ? " data" : "");
}

std::string PreparedRun::plan_key() const {
    nlohmann::json machine = implementation_->configuration.machine.resolved;
    machine.erase("name");
    machine["chip"].erase("clock_hz"); // plans count cycles
    return operands_key() + config::text_of_json(machine) +
           (only_estimates(implementation_->command) ? " estimate" : "");
}

std::string PreparedRun::schedule_key() const {
    const nlohmann::json& machine = implementation_->configuration.machine.resolved;
    return machine["chip"].dump() + machine["exchange"].dump();
}

void PreparedRun::make_operands() {
    auto& [command, configuration, planned] = *implementation_;
    at_the_workload(configuration, [&] {
        planned.job = job::make_job(configuration.workload.workload);
        planned.job->share(has_data(command) ? job::Operands::Made : job::Operands::Known);
    });
}

void PreparedRun::make_plan() {
    complete(implementation_->planned, implementation_->command, implementation_->configuration);
}

void PreparedRun::share_operands(const PreparedRun& other) {
    TESSERA_ASSERT(operands_key() == other.operands_key());
    implementation_->planned = {other.implementation_->planned.job, nullptr, nullptr};
}

void PreparedRun::share_plan(const PreparedRun& other) {
    TESSERA_ASSERT(plan_key() == other.plan_key());
    implementation_->planned = other.implementation_->planned;
}

RunReport PreparedRun::run() {
    return run_configured(implementation_->command, implementation_->configuration, Stopwatch(),
                          implementation_->planned);
}

} // namespace tessera::run
