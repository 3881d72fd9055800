// SPDX-License-Identifier: MIT
#include "sim/inquire/inquire.h"

#include "base/config/document.h"
#include "base/config/paths.h"
#include "base/config/report.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/catalog.h"
#include "kernels/catalog/load.h"
#include "kernels/pattern/schedule_file.h"
#include "kernels/vertex/spec.h"
#include "kernels/workload/pattern_file.h"
#include "models/isa/instruction.h"
#include "models/isa/opcode_table_doc.h"
#include "models/machine_file/load.h"
#include "models/spec/load.h"
#include "sim/calibrate/report.h"
#include "sim/compare/report.h"
#include "sim/pattern/buckets_report.h"
#include "sim/pattern/report.h"
#include "sim/result/memory_report.h"
#include "sim/result/result.h"
#include "sim/run/several.h"
#include "sim/sweep/command/check.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/source.h"
#include "sim/sweep/sweep_file.h"
#include "sim/vertex/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

namespace tessera::inquire {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// The file's own sentence about itself.
std::string description_of(const std::filesystem::path& file) {
    try {
        const auto document = config::read_document(file);
        const auto found =
            document.root.is_object() ? document.root.find("description") : document.root.end();
        return found != document.root.end() && found->is_string() ? found->get<std::string>() : "";
    } catch (const std::runtime_error&) { // the rest can still be listed
        return "cannot be read; see `tessera check " + file.string() + "`";
    }
}

Rows config_rows(const std::string& kind, bool paths) {
    Rows rows;
    for (const auto& entry : config::list_configs(config::default_config_paths(), kind)) {
        rows.push_back({entry.name, paths ? entry.file.string() : description_of(entry.file)});
    }
    return rows;
}

/// Paths for --set, each once: several kinds of workloads have the same key.
Rows parameter_rows() {
    Rows rows;
    std::set<std::string> seen;
    for (const auto& list : {config::parameters(spec::machine_shape()),
                             config::parameters(catalog::workload_shape(), catalog::kSetPrefix)}) {
        for (const auto& parameter : list) {
            if (parameter.settable && seen.insert(parameter.path).second) {
                rows.push_back({parameter.path, parameter.sentence});
            }
        }
    }
    return rows;
}

std::string instructions_text(const Layout& layout) {
    Rows rows;
    for (const auto& line : isa::opcode_list()) {
        rows.push_back(
            {line.mnemonic, line.operands, line.lane, std::to_string(line.issues), line.meaning});
    }
    return table(layout, 0, {Align::Left, Align::Left, Align::Left, Align::Right, Align::Left},
                 rows);
}

/// The inputs of a family in lines, none of which is wide if its names are not.
std::vector<std::string> inputs_lines(const family::Family& family) {
    constexpr std::size_t kWidest = 28;
    std::vector<std::string> lines{""};
    for (std::size_t i = 0; i < family.inputs.size(); ++i) {
        const std::string one =
            family.inputs[i] + std::string(i + 1 < family.inputs.size() ? "," : "");
        if (!lines.back().empty() && lines.back().size() + 1 + one.size() > kWidest) {
            lines.emplace_back();
        }
        lines.back() += (lines.back().empty() ? "" : " ") + one;
    }
    return lines;
}

/// Writes a line for each family and, below it, one for each of its options: "partials f16|f32".
std::string families_text(const Layout& layout) {
    Rows rows;
    for (const family::Family* family : catalog::families()) {
        const auto inputs = inputs_lines(*family);
        rows.push_back({std::string(family->name), inputs.front(), family->says});
        for (std::size_t i = 1; i < inputs.size(); ++i) {
            rows.push_back({"", inputs[i], ""});
        }
        for (const family::Option& option : family->options) {
            rows.push_back({"",
                            fmt::format("{}{}{}", option.key, option.words.empty() ? "" : " ",
                                        fmt::join(option.words, "|")),
                            option.says});
        }
    }
    return table(layout, 0, {Align::Left, Align::Left, Align::Left}, rows);
}

Rows family_rows() {
    Rows rows;
    for (const family::Family* family : catalog::families()) {
        rows.push_back({std::string(family->name), family->says});
    }
    return rows;
}

Rows rows_of(const cli::ListCommand& command) {
    if (command.what == "metrics") {
        Rows rows;
        for (auto& [path, sentence] : sweep::described_result_paths()) {
            rows.push_back({std::move(path), std::move(sentence)});
        }
        return rows;
    }
    if (command.what == "parameters") {
        return parameter_rows();
    }
    if (command.what == "families") {
        return family_rows();
    }
    if (command.what != "instructions") {
        return config_rows(command.what, command.paths);
    }
    Rows rows;
    for (const auto mnemonic : isa::mnemonics()) {
        rows.push_back({std::string(mnemonic), std::string(isa::meaning_of(mnemonic))});
    }
    return rows;
}

/// A machine or workload with everything resolved.
struct Resolved {
    std::string name;
    nlohmann::json document;
    config::Origins origins;
    nlohmann::json expanded = {}; ///< of a workload
    std::vector<catalog::SparseWeight> sparse_weights = {};
};

Resolved resolve(bool is_workload, const std::string& name_or_path,
                 const std::vector<std::string>& sets) {
    const auto paths = config::default_config_paths();
    const auto split = catalog::split_overrides(sets);
    if (const auto& others = is_workload ? split.machine : split.workload; !others.empty()) {
        throw ConfigError(Diagnostic{
            "--set",
            0,
            0,
            "",
            fmt::format("got '{}', expected parameters of a {}, which {} "
                        "'{}'",
                        others.front(), is_workload ? "workload" : "machine",
                        is_workload ? "start with" : "do not start with", catalog::kSetPrefix),
            {}});
    }
    if (is_workload) {
        auto loaded = catalog::load_workload(name_or_path, paths, split.workload);
        return {loaded.workload.name, std::move(loaded.resolved), std::move(loaded.origins),
                std::move(loaded.expanded), std::move(loaded.sparse_weights)};
    }
    auto loaded = machine_file::load(name_or_path, paths, split.machine);
    return {loaded.spec.name, std::move(loaded.resolved), std::move(loaded.origins)};
}

/// Only vertex files have sources, and of the others only workloads say what kind they are.
std::string kind_of_file(const std::string& file) {
    const auto document = catalog::read_workload(file);
    const auto has = [&](const char* key) {
        return document.root.is_object() && document.root.contains(key);
    };
    return has("sources")    ? "vertex"
           : has("kind")     ? "workload"
           : has("workload") ? "sweep"
                             : "machine";
}

/// The kind of workloads that is meant, where no workload is called so: its keys alone are told then.
const config::Shape* kind_called(const cli::DescribeCommand& command) {
    const bool is_config =
        config::is_path(command.name) ||
        config::find_name(config::default_config_paths(), "workloads", command.name);
    if (is_config || command.json || command.expanded || !command.sets.empty()) {
        return nullptr;
    }
    for (const config::Alternative& kind : catalog::workload_shape().alternatives) {
        if (kind.name == command.name) {
            return kind.shape.get();
        }
    }
    return nullptr;
}

/// Lines that say how much of each weight a model's `sparsity` keeps; without a last end of line.
std::string sparse_text(const std::vector<catalog::SparseWeight>& weights) {
    if (weights.empty()) {
        return "";
    }
    Rows rows{{"", "size", "block", "level", "kept blocks", ""}};
    for (const catalog::SparseWeight& weight : weights) {
        rows.push_back(
            {weight.name, fmt::format("{}", fmt::join(weight.shape, " x ")),
             std::to_string(weight.block), fmt::format("{}", weight.level),
             fmt::format("{} of {}", grouped(weight.kept_blocks), grouped(weight.blocks)),
             weight.is_dynamic ? "dynamic" : "static"});
    }
    std::string text = table(
        {}, 2, {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left},
        rows);
    text.pop_back();
    return fmt::format(", {}\n{}", counted(weights.size(), "sparse weight"), text);
}

/// What there is to know of a file without mistakes: its name, for a sweep or sparse weights more.
std::string checked_text(const std::string& kind, const std::string& path) {
    if (kind == "sweep") {
        const config::ConfigPaths paths = config::default_config_paths();
        const sweep::Source source = sweep::read_source({path, {}, {}, {}}, paths);
        std::string text = source.name;
        for (const std::string& note : sweep::check_sweep(source, paths)) {
            text += "; " + note;
        }
        return text;
    }
    if (kind == "vertex") {
        return vertex::load_vertex(path).spec.name;
    }
    if (config::is_matrix_file(path)) {
        const workload::CoordinateMatrix matrix =
            workload::read_pattern_file(workload::matrix_place(path));
        return fmt::format("{}; {} x {}, {} entries", resolve(true, path, {}).name, matrix.rows,
                           matrix.columns, matrix.entries.size());
    }
    const Resolved resolved = resolve(kind == "workload", path, {});
    return resolved.name + sparse_text(resolved.sparse_weights);
}

} // namespace

std::string list_text(const cli::ListCommand& command, const Layout& layout) {
    const std::vector<Align> columns{Align::Left, Align::Left};
    if (command.names) {
        std::string text;
        for (const auto& row : rows_of(command)) {
            text += row.front() + "\n";
        }
        return text;
    }
    if (command.what == "instructions") {
        return instructions_text(layout);
    }
    if (command.what == "families") {
        return families_text(layout);
    }
    if (!command.what.empty()) {
        return table(layout, 0, columns, rows_of(command));
    }
    std::string text;
    for (const char* kind : {"machines", "workloads", "vertices", "sweeps"}) {
        text += painted(layout, Paint::Head, kind) + "\n" +
                table(layout, 2, columns, config_rows(kind, command.paths)) + "\n";
    }
    text += painted(layout, Paint::Head, "families") + "\n" +
            table(layout, 2, columns, family_rows()) + "\n";
    return text + painted(layout, Paint::Head, "instructions") + "\n" +
           wrapped(layout, 2,
                   fmt::format("{} mnemonics; see `tessera list instructions`",
                               isa::mnemonics().size())) +
           "\n" + painted(layout, Paint::Head, "parameters") + "\n" +
           wrapped(layout, 2,
                   fmt::format("{} of machines and workloads; see `tessera list parameters`",
                               parameter_rows().size()));
}

std::string describe_text(const cli::DescribeCommand& command, const Layout& layout) {
    const bool is_workload = command.what == "workload";
    const auto& shape = is_workload ? catalog::workload_shape() : spec::machine_shape();
    const std::string prefix = is_workload ? catalog::kSetPrefix : "";
    if (command.expanded && (!is_workload || command.name.empty())) {
        throw cli::UsageError("describe: --expanded needs the name of a workload");
    }
    if (command.name.empty()) {
        if (command.json || !command.sets.empty()) {
            throw cli::UsageError("describe: --json and --set need the name of a " + command.what);
        }
        return config::parameters_text(config::parameters(shape, prefix), layout);
    }
    if (const config::Shape* kind = is_workload ? kind_called(command) : nullptr) {
        return config::parameters_text(config::parameters(*kind, prefix), layout);
    }
    const Resolved resolved = resolve(is_workload, command.name, command.sets);
    if (command.expanded) {
        return result::json_text(resolved.expanded);
    }
    return command.json
               ? result::json_text(resolved.document)
               : config::resolved_text(shape, prefix, resolved.document, resolved.origins, layout);
}

std::string check_text(const cli::CheckCommand& command) {
    std::string text;
    std::vector<Diagnostic> mistakes;
    for (const auto& file : command.files) {
        // A bare name is a file here, not a name to be looked up.
        const std::string path = config::is_path(file) ? file : "./" + file;
        try {
            const std::string kind = kind_of_file(path);
            text += fmt::format("{}: ok, {} {}\n", file, kind, checked_text(kind, path));
        } catch (const ConfigError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (!mistakes.empty()) {
        throw ConfigError(std::move(mistakes));
    }
    return text;
}

std::string schema_text(const cli::SchemaCommand& command) {
    return result::json_text(command.what == "machine"         ? spec::machine_schema()
                             : command.what == "workload"      ? catalog::workload_schema()
                             : command.what == "results"       ? run::several_schema()
                             : command.what == "memory"        ? result::memory_report_schema()
                             : command.what == "vertex"        ? vertex::vertex_schema()
                             : command.what == "vertex_result" ? vertex::vertex_result_schema()
                             : command.what == "calibration"   ? calibrate::calibration_schema()
                             : command.what == "sweep"         ? sweep::sweep_schema()
                             : command.what == "schedule"      ? pattern::schedule_schema()
                             : command.what == "pattern"       ? pattern::summary_schema()
                             : command.what == "buckets"       ? pattern::buckets_schema()
                             : command.what == "diff"          ? compare::comparison_schema()
                                                               : result::result_schema());
}

std::string version_text() {
    return fmt::format("tessera {}\nmodel {}\nresult schema {}\ncompiler {}\n", TESSERA_VERSION,
                       result::kModelVersion, result::kResultSchemaVersion, __VERSION__);
}

} // namespace tessera::inquire
