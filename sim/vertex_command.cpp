// SPDX-License-Identifier: MIT
#include "sim/vertex_command.h"

#include "base/activity.h"
#include "base/config/paths.h"
#include "base/config/suggest.h"
#include "base/error.h"
#include "kernels/workload/npy.h"
#include "models/spec/load.h"
#include "sim/exit_code.h"
#include "sim/output.h"
#include "sim/progress_line.h"
#include "sim/result.h"
#include "sim/screen.h"
#include "sim/vertex/report.h"
#include "sim/vertex/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;
using vertex::Json;

struct ArrayOutput {
    std::string array;
    std::size_t point = 0;
    std::unique_ptr<Output> output;
};

/// The file and machine of a command, and the points to run.
class Setup {
public:
    explicit Setup(const VertexCommand& command) {
        const auto paths = config::default_config_paths();
        std::vector<std::string> of_file;
        std::vector<std::string> of_machine;
        for (const auto& option : command.sets) {
            (option.rfind("parameters.", 0) == 0 ? of_file : of_machine).push_back(option);
        }
        loaded = vertex::load_vertex(
            config::find_config(paths, "vertices", "vertex", command.vertex), of_file);
        const auto found = spec::load_machine(
            command.machine.empty() ? loaded.spec.machine : command.machine, paths, of_machine);
        machine = found.spec;
        if (found.origins.count("/tile/phase_limit_cycles") == 0) {
            machine.tile.phase_limit_cycles = vertex::kPhaseLimitCycles;
        }
        points = vertex::points_of(loaded);
        options.include_directories = command.include_directories;
        options.defines = command.defines;
        for (const auto& text : command.expects) {
            const auto equals = text.find('=');
            const std::string file = equals == std::string::npos ? text : text.substr(equals + 1);
            const std::string array = equals == std::string::npos ? fs::path(file).stem().string()
                                                                  : text.substr(0, equals);
            check_array("expect", array);
            options.expect[array] = file;
        }
        if (!command.fit.empty()) {
            vertex::check_formula(command.fit, points);
        }
        const bool traced = !command.trace.empty() || !command.konata.empty();
        if (points.size() > 1 && (traced || !command.dumps.empty())) {
            throw UsageError(fmt::format("vertex: --trace, --konata and --dump: got {} points, "
                                         "expected one; give its parameters with --set",
                                         points.size()));
        }
        for (const auto& point : points) {
            benches.push_back(vertex::lay_out(loaded, machine, point, options));
        }
    }

    void check_array(const std::string& option, const std::string& name) const {
        std::vector<std::string> known;
        for (const auto& array : loaded.arrays) {
            known.push_back(array.name);
        }
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            const std::string hint = config::did_you_mean(name, known);
            throw UsageError(fmt::format("vertex: --{}: unknown array '{}'{}{}", option, name,
                                         hint.empty() ? "" : "; ", hint));
        }
    }

    vertex::LoadedVertex loaded;
    spec::MachineSpec machine;
    vertex::BenchOptions options;
    std::vector<vertex::Point> points;
    std::vector<vertex::Bench> benches;
};

/// All files of a command, opened before the first run.
class Outputs {
public:
    Outputs(const VertexCommand& command, const Setup& setup) {
        if (!command.json.empty() && command.json != "-") {
            json_.push_back(std::make_unique<Output>(command.json));
        }
        for (const auto& text : command.dumps) {
            const auto equals = text.find('=');
            setup.check_array("dump", text.substr(0, equals));
            arrays_.push_back(
                {text.substr(0, equals), 0, std::make_unique<Output>(text.substr(equals + 1))});
        }
        if (command.out_directory.empty()) {
            return;
        }
        const bool several = setup.points.size() > 1;
        for (std::size_t i = 0; i < setup.points.size(); ++i) {
            fs::path directory = command.out_directory;
            directory /= several ? fmt::format("point_{}", i) : std::string{};
            make(directory);
            for (const auto& array : setup.loaded.arrays) {
                arrays_.push_back(
                    {array.name, i,
                     std::make_unique<Output>((directory / (array.name + ".npy")).string())});
            }
        }
        json_.push_back(
            std::make_unique<Output>((fs::path(command.out_directory) / "result.json").string()));
    }

    void write_arrays(std::size_t point, const vertex::Bench& bench,
                      const vertex::PointResult& result) {
        for (auto& dump : arrays_) {
            for (std::size_t a = 0; a < bench.arrays.size(); ++a) {
                const auto& array = bench.arrays[a];
                if (dump.point == point && dump.array == array.name) {
                    const auto& bytes = result.arrays[a];
                    dump.output->write(workload::npy_bytes(
                        array.type->npy, array.shape,
                        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
                }
            }
        }
    }
    void write_json(const std::string& text) {
        for (auto& output : json_) {
            output->write(text);
        }
    }

private:
    static void make(const fs::path& directory) {
        std::error_code failed;
        fs::create_directories(directory, failed);
        if (failed) {
            throw IoError(fmt::format("{}: the directory cannot be made: {}", directory.string(),
                                      failed.message()));
        }
    }

    std::vector<std::unique_ptr<Output>> json_;
    std::vector<ArrayOutput> arrays_;
};

void write_traces(const VertexCommand& command, const Setup& setup,
                  const vertex::PointResult& result) {
    if (!command.trace.empty()) {
        vertex::write_perfetto(command.trace, setup.machine, setup.benches.front(), result);
    }
    if (!command.konata.empty()) {
        vertex::write_konata(command.konata, setup.machine, setup.benches.front(), result);
    }
}

/// Racing accesses and conflicts of all phases.
std::int64_t troubles(const vertex::PointResult& result) {
    std::int64_t total = 0;
    for (const auto& phase : result.phases) {
        total += phase.racing_accesses + phase.conflicts_found;
    }
    return total;
}

int run_points(const VertexCommand& command, const Setup& setup, Outputs& outputs) {
    vertex::RunSettings settings;
    settings.lockstep_only = command.lockstep;
    settings.keep_log = !command.trace.empty() || !command.konata.empty();
    Json points = Json::array();
    std::vector<double> measured;
    bool right = true;
    std::int64_t found = 0;
    std::vector<std::string> warnings = setup.benches.front().warnings;
    std::optional<ActivityWatch> watch(std::in_place, setup.loaded.spec.name, !command.quiet);
    const Activity running("point", static_cast<std::int64_t>(setup.points.size()));
    for (std::size_t i = 0; i < setup.points.size(); ++i) {
        running.step();
        const auto& bench = setup.benches[i];
        const auto result = vertex::run_bench(setup.machine, bench, settings);
        const auto checks = vertex::check_arrays(bench, result, setup.loaded.spec.tolerance);
        right = right && vertex::passed(checks);
        found += troubles(result);
        for (const auto& warning : result.warnings) {
            if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
                warnings.push_back(warning);
            }
        }
        measured.push_back(static_cast<double>(
            command.fit_of == "tile_cycles" ? result.tile_cycles : result.worker_cycles));
        points.push_back(vertex::point_json(setup.machine, bench, result, checks, command.arrays));
        outputs.write_arrays(i, bench, result);
        write_traces(command, setup, result);
    }
    watch.reset();
    Json fit = nullptr;
    if (!command.fit.empty()) {
        fit = vertex::fit_json(vertex::fit(command.fit, setup.points, measured), command.fit_of);
    }
    const Json result = vertex::result_json(setup.loaded.spec.name, setup.machine.name,
                                            std::move(points), std::move(fit));
    const std::string text = json_text(result);
    outputs.write_json(text);
    const bool to_stdout = command.json == "-";
    if (!command.quiet) {
        std::FILE* const people = to_stdout ? stderr : stdout;
        std::fputs(vertex::report_text(result, layout_of(people)).c_str(), people);
    }
    if (to_stdout) {
        std::fputs(text.c_str(), stdout);
    }
    for (const auto& warning : warnings) {
        tell_warning(warning);
    }
    if (found > 0 && !command.lockstep) {
        tell_warning("contexts race, so the result depends on their order; --lockstep makes that "
                     "an error");
    }
    return command.lockstep && found > 0 ? kProgramFault : right ? kOk : kCheckFailed;
}

} // namespace

int vertex_command(const VertexCommand& command) {
    try {
        const Setup setup(command);
        Outputs outputs(command, setup);
        return run_points(command, setup, outputs);
    } catch (const vertex::FitError& error) {
        throw UsageError(std::string("vertex: ") + error.what());
    }
}

} // namespace tessera::sim
