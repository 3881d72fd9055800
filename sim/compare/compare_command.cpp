// SPDX-License-Identifier: MIT
#include "sim/compare/compare_command.h"

#include "base/config/json_text.h"
#include "base/config/paths.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/load.h"
#include "models/machine_file/load.h"
#include "sim/compare/comparison.h"
#include "sim/compare/page.h"
#include "sim/compare/report.h"
#include "sim/cost/activity.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/process/screen.h"
#include "sim/result/cost_tables.h"
#include "sim/result/result.h"
#include "sim/result/result_file.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/keyed_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera::compare {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The line of the point whose key begins so. @throws UsageError where there is none, or several
Json line_of(const std::string& store, const std::string& key) {
    auto found = sweep::keyed_line({store}, key);
    if (!found) {
        throw cli::UsageError(fmt::format("no key of '{}' begins with {}", store, in_quotes(key)));
    }
    if (!found->is_only) {
        throw cli::UsageError(
            fmt::format("several keys of '{}' begin with {}", store, in_quotes(key)));
    }
    return std::move(found->line);
}

/// Adds energy and area to the result of a point, with the coefficients of its machine.
void add_costs(Json& result, const spec::MachineSpec& machine) {
    result["area"] = result::area_values(machine);
    cost::Activity activity;
    for (const cost::Amount& amount : cost::kAmounts) {
        const Json::json_pointer at(std::string("/activity/") + amount.key);
        if (!result.contains(at)) { // an estimate's, or of a version that did not tell
            return;
        }
        activity.*amount.value =
            static_cast<std::int64_t>(result::number_at(result, at.to_string()));
    }
    const double flops = result::number_at(result, "/flops"); // 0: it has none
    result["energy"] =
        result::energy_values(activity, result::number_at(result, "/seconds"),
                              flops > 0 ? std::optional(flops) : std::nullopt, machine);
}

/// Adds to `result` the machine and the workload of a line, with its settings, and what follows from
/// the machine: from what the store has frozen.
void add_config(const fs::path& store, const Json& line, bool is_machine, Json& result) {
    const char* const kind = is_machine ? sweep::kMachinePath : sweep::kWorkloadPath;
    const std::string name = line.value(kind, "");
    const std::string content = line.value("contents", Json::object()).value(kind, "");
    std::vector<std::string> sets;
    const Json changes = line.value("changes", Json::object());
    for (const auto& [path, value] : changes.items()) {
        sets.push_back(path + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
    }
    const auto split = catalog::split_overrides(sets);
    const auto paths = config::default_config_paths();
    const auto file = sweep::FrozenNames(store).find(kind, name, content);
    Json& config = result[kind];
    if (file && is_machine) {
        const spec::LoadedMachine loaded = machine_file::load(*file, paths, split.machine);
        config = loaded.resolved;
        add_costs(result, loaded.spec);
    } else if (file) {
        config = catalog::load_workload(*file, paths, split.workload).resolved;
    }
    result[kind]["name"] = fs::path(name).stem().string();
}

/// A result as a run writes it, as far as the line of a point has it.
Json result_of_point(const fs::path& store, const std::string& key) {
    const Json line = line_of(store.string(), key);
    if (!line.contains("result")) {
        throw cli::UsageError(fmt::format("the point {} of '{}' has no result: {}", in_quotes(key),
                                          store.string(), line.value("status", "")));
    }
    Json result = line["result"];
    const Json lists = line.value("lists", Json::object());
    for (const auto& [path, list] : lists.items()) {
        result[path] = list;
    }
    add_config(store, line, true, result);
    add_config(store, line, false, result);
    return result;
}

} // namespace

Operand operand_of(const std::string& operand) {
    const std::size_t colon = operand.rfind(':');
    if (!fs::exists(operand) && colon != std::string::npos &&
        fs::is_directory(operand.substr(0, colon))) {
        return {result_of_point(operand.substr(0, colon), operand.substr(colon + 1)), operand};
    }
    const fs::path file =
        fs::is_directory(operand) ? fs::path(operand) / result::kResultFile : fs::path(operand);
    if (fs::is_directory(operand) && !fs::exists(file)) {
        throw cli::UsageError(fmt::format("{} has no result.json; of a store's points say "
                                          "STORE:KEY",
                                          in_quotes(operand)));
    }
    return {result::read_result(file), file};
}

Json result_of(const std::string& operand) {
    return operand_of(operand).result;
}

int diff_command(const cli::DiffCommand& command) {
    const std::vector<process::NamedOutput> outputs{{"--json", command.json},
                                                    {"--report", command.report}};
    result::keep_inputs("diff", outputs, {command.a, command.b});
    const bool to_stdout = process::check_outputs("diff", outputs);
    Operand a = operand_of(command.a);
    Operand b = operand_of(command.b);
    const Comparison comparison = compare(a.result, b.result);
    if (const auto file = process::open_output(command.json)) {
        file->write(result::json_text(comparison_json(comparison)));
    }
    if (const auto file = process::open_output(command.report)) {
        file->write(page_of(comparison, std::move(a), std::move(b)));
    }
    std::FILE* const people = to_stdout ? stderr : stdout;
    if (!command.quiet) {
        std::fputs(comparison_text(comparison, process::layout_of(people)).c_str(), people);
    }
    return process::kOk;
}

} // namespace tessera::compare
