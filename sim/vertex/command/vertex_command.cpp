// SPDX-License-Identifier: MIT
#include "sim/vertex/command/vertex_command.h"

#include "base/activity.h"
#include "base/config/paths.h"
#include "base/config/suggest.h"
#include "base/error.h"
#include "kernels/workload/npy.h"
#include "models/machine_file/load.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/process/progress_line.h"
#include "sim/process/screen.h"
#include "sim/result/result.h"
#include "sim/run/unused_parameters.h"
#include "sim/vertex/report.h"
#include "sim/vertex/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace tessera::vertex {
namespace {

namespace fs = std::filesystem;

/// The file and machine of a command, and the points to run.
class Setup {
public:
    explicit Setup(const cli::VertexCommand& command) {
        const auto paths = config::default_config_paths();
        std::vector<std::string> of_file;
        std::vector<std::string> of_machine;
        for (const auto& option : command.sets) {
            (option.rfind("parameters.", 0) == 0 ? of_file : of_machine).push_back(option);
        }
        loaded =
            load_vertex(config::find_config(paths, "vertices", "vertex", command.vertex), of_file);
        const auto found = machine_file::load(
            command.machine.empty() ? loaded.spec.machine : command.machine, paths, of_machine);
        machine = found.spec;
        if (found.origins.count("/tile/phase_limit_cycles") == 0) {
            machine.tile.phase_limit_cycles = kPhaseLimitCycles;
        }
        points = points_of(loaded, machine);
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
            check_formula(command.fit, points);
        }
        const bool traced = !command.trace.empty() || !command.konata.empty();
        if (points.size() > 1 && (traced || !command.dumps.empty())) {
            throw cli::UsageError(
                fmt::format("vertex: --trace, --konata and --dump: got {} points, "
                            "expected one; give its parameters with --set",
                            points.size()));
        }
        for (const auto& point : points) {
            benches.push_back(lay_out(loaded, machine, point, options));
        }
        unused = run::unused_parameters(found, run::parts_of(benches.front().codelets.front()));
    }

    void check_array(const std::string& option, const std::string& name) const {
        std::vector<std::string> known;
        for (const auto& array : loaded.arrays) {
            known.push_back(array.name);
        }
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            const std::string hint = config::did_you_mean(name, known);
            throw cli::UsageError(fmt::format("vertex: --{}: unknown array '{}'{}{}", option, name,
                                              hint.empty() ? "" : "; ", hint));
        }
    }

    LoadedVertex loaded;
    spec::MachineSpec machine;
    Json unused; ///< machine parameters that were set in vain
    BenchOptions options;
    std::vector<Point> points;
    std::vector<Bench> benches;
};

/// All files of a command. Those that it names are opened before the first run, the arrays of
/// `--out` before their point's.
class Outputs {
public:
    Outputs(const cli::VertexCommand& command, const Setup& setup)
        : setup_(setup), several_(setup.points.size() > 1) {
        std::vector<process::NamedOutput> named{
            {"--json", command.json}, {"--trace", command.trace}, {"--konata", command.konata}};
        for (const auto& text : command.dumps) {
            const auto equals = text.find('=');
            setup.check_array("dump", text.substr(0, equals));
            named.push_back({"--dump", text.substr(equals + 1)});
        }
        if (!command.out_directory.empty()) {
            add_folder(command.out_directory, named);
        }
        to_stdout_ = process::check_outputs("vertex", named);
        json_.push_back(process::open_output(command.json));
        trace_ = open_trace(command.trace);
        konata_ = open_trace(command.konata);
        for (const auto& text : command.dumps) {
            const auto equals = text.find('=');
            dumps_.push_back(
                {text.substr(0, equals), process::open_output(text.substr(equals + 1))});
        }
        if (!command.out_directory.empty()) {
            folder_.emplace(command.out_directory);
            json_.push_back(process::open_output(folder_->file("result.json")));
            begin_point(0); // the last that can be found before the runs
        }
    }

    /// What people read does not go to stdout: something else does.
    [[nodiscard]] bool to_stdout() const { return to_stdout_; }

    /// Opens the arrays of the point in the folder.
    void begin_point(std::size_t point) {
        if (!folder_ || (point == 0 && !arrays_.empty())) {
            return;
        }
        arrays_.clear();
        const fs::path directory = folder_->path() / point_folder(point);
        std::error_code failed;
        fs::create_directories(directory, failed);
        if (failed) {
            throw IoError(fmt::format("{}: the folder cannot be made: {}", directory.string(),
                                      failed.message()));
        }
        for (const auto& array : setup_.loaded.arrays) {
            arrays_.push_back(
                {array.name, process::open_output((directory / (array.name + ".npy")).string())});
        }
    }

    void write_point(const Bench& bench, const PointResult& result) {
        for (auto* outputs : {&dumps_, &arrays_}) {
            for (auto& [name, output] : *outputs) {
                write_array(name, *output, bench, result);
            }
        }
        if (trace_ != nullptr) {
            write_trace(std::move(trace_), setup_.machine, bench, result,
                        setup_.loaded.file.stem().string());
        }
        if (konata_ != nullptr) {
            write_konata(*konata_, setup_.machine, bench, result);
        }
    }

    void write_json(const std::string& text) {
        for (const auto& output : json_) {
            if (output != nullptr) {
                output->write(text);
            }
        }
        if (folder_) {
            remove_older();
        }
    }

private:
    struct ArrayOutput {
        std::string array;
        std::unique_ptr<process::Output> output;
    };

    static std::unique_ptr<traces::OutputFile> open_trace(const std::string& path) {
        return path.empty() ? nullptr : std::make_unique<traces::OutputFile>(path);
    }
    [[nodiscard]] std::string point_folder(std::size_t point) const {
        return several_ ? fmt::format("point_{}", point) : std::string{};
    }
    void add_folder(const fs::path& folder, std::vector<process::NamedOutput>& named) const {
        named.push_back({"--out", (folder / "result.json").string()});
        for (std::size_t i = 0; i < setup_.points.size(); ++i) {
            for (const auto& array : setup_.loaded.arrays) {
                named.push_back(
                    {"--out", (folder / point_folder(i) / (array.name + ".npy")).string()});
            }
        }
    }
    /// What `.npy` has: FP8 numbers, which it does not know, as FP32.
    static std::pair<ElementType, std::vector<std::byte>>
    stored(const ValueType& type, const std::vector<std::byte>& bytes) {
        if (type.fraction_bits == 0) {
            return {type.type, bytes};
        }
        std::vector<std::byte> singles;
        for (const double value : element_values(type, bytes)) {
            static_cast<void>(append_element(*find_value_type("f32"), value, singles));
        }
        return {ElementType::F32, singles};
    }
    static void write_array(const std::string& name, process::Output& output, const Bench& bench,
                            const PointResult& result) {
        for (std::size_t a = 0; a < bench.arrays.size(); ++a) {
            const auto& array = bench.arrays[a];
            if (array.name == name) {
                const auto [type, bytes] = stored(*array.type, result.arrays[a]);
                output.write(workload::npy_bytes(
                    npy_of(type), array.shape,
                    {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
            }
        }
    }

    /// The arrays of an older run with more points, with one or with several.
    void remove_older() const {
        if (several_) {
            remove_arrays({});
        }
        for (std::size_t i = several_ ? setup_.points.size() : 0;; ++i) {
            const std::string point = fmt::format("point_{}", i);
            if (!fs::exists(folder_->path() / point)) {
                return;
            }
            remove_arrays(point);
            std::error_code holds_more;
            fs::remove(folder_->path() / point, holds_more);
        }
    }
    void remove_arrays(const fs::path& below) const {
        for (const auto& array : setup_.loaded.arrays) {
            folder_->remove((below / (array.name + ".npy")).string());
        }
    }

    const Setup& setup_;
    bool several_;
    bool to_stdout_ = false;
    std::optional<process::OutFolder> folder_;
    std::vector<std::unique_ptr<process::Output>> json_;
    std::vector<ArrayOutput> dumps_;
    std::vector<ArrayOutput> arrays_; ///< of the point at hand
    std::unique_ptr<traces::OutputFile> trace_;
    std::unique_ptr<traces::OutputFile> konata_;
};

/// Racing accesses and conflicts of all phases.
std::int64_t troubles(const PointResult& result) {
    std::int64_t total = 0;
    for (const auto& phase : result.phases) {
        total += phase.racing_accesses + phase.conflicts_found;
    }
    return total;
}

/// The arrays of each point that are not as expected.
void tell_wrong_arrays(const Json& result) {
    for (const Json& point : result["points"]) {
        const Json arrays = point["check"].is_object() ? point["check"]["arrays"] : Json::array();
        for (const Json& array : arrays) {
            if (array["wrong"] > 0) {
                process::tell_failure(fmt::format(
                    "{}: WRONG: {} of {} elements of {}", result["name"].get<std::string>(),
                    array["wrong"].get<std::int64_t>(), array["elements"].get<std::int64_t>(),
                    array["array"].get<std::string>()));
            }
        }
    }
}

int run_points(const cli::VertexCommand& command, const Setup& setup, Outputs& outputs) {
    RunSettings settings;
    settings.lockstep_only = command.lockstep;
    settings.keep_log = !command.trace.empty() || !command.konata.empty();
    settings.lockstep_limit_cycles = command.lockstep_limit.value_or(kLockstepLimitCycles);
    Json points = Json::array();
    std::vector<double> measured;
    bool right = true;
    std::int64_t found = 0;
    std::vector<std::string> warnings = setup.benches.front().warnings;
    std::optional<process::ActivityWatch> watch(std::in_place, setup.loaded.spec.name,
                                                !command.quiet);
    const tessera::Activity running("point", static_cast<std::int64_t>(setup.points.size()));
    for (std::size_t i = 0; i < setup.points.size(); ++i) {
        running.step();
        const auto& bench = setup.benches[i];
        outputs.begin_point(i);
        const auto result = run_bench(setup.machine, bench, settings);
        const auto checks = check_arrays(bench, result, setup.loaded.spec.tolerance);
        right = right && passed(checks);
        found += troubles(result);
        for (const auto& warning : result.warnings) {
            if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
                warnings.push_back(warning);
            }
        }
        measured.push_back(static_cast<double>(
            command.fit_of == "tile_cycles" ? result.tile_cycles : result.worker_cycles));
        points.push_back(point_json(setup.machine, bench, result, checks, command.arrays));
        outputs.write_point(bench, result);
    }
    watch.reset();
    Json fit = nullptr;
    if (!command.fit.empty()) {
        fit = fit_json(vertex::fit(command.fit, setup.points, measured), command.fit_of);
    }
    const Json result = result_json(setup.loaded.spec.name, setup.machine.name, setup.unused,
                                    std::move(points), std::move(fit));
    outputs.write_json(result::json_text(result));
    if (!command.quiet) {
        std::FILE* const people = outputs.to_stdout() ? stderr : stdout;
        std::fputs(report_text(result, process::layout_of(people)).c_str(), people);
    } else {
        tell_wrong_arrays(result);
    }
    for (const auto& warning : warnings) {
        process::tell_warning(warning);
    }
    return command.lockstep && found > 0 ? process::kProgramFault
           : right                       ? process::kOk
                                         : process::kCheckFailed;
}

} // namespace

int vertex_command(const cli::VertexCommand& command) {
    try {
        const Setup setup(command);
        Outputs outputs(command, setup);
        return run_points(command, setup, outputs);
    } catch (const FitError& error) {
        throw cli::UsageError(std::string("vertex: ") + error.what());
    }
}

} // namespace tessera::vertex
