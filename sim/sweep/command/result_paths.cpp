// SPDX-License-Identifier: MIT
#include "sim/sweep/command/result_paths.h"

#include "base/config/document.h"
#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/error.h"
#include "base/expression/expression.h"
#include "base/text.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "sim/result/result.h"
#include "sim/sweep/condition.h"
#include "sim/sweep/formulas.h"
#include "sim/sweep/point_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

/// What a point says by itself, and what lines of a store have besides results.
const std::set<std::string> kOfLines{"machine", "workload",    "mode",
                                     "status",  "host.wall_s", "host.peak_rss_bytes"};

using Described = std::vector<std::pair<std::string, std::string>>;

void add_paths(const std::string& path, const Json& schema, Described& out) {
    if (const auto forms = schema.find("oneOf"); forms != schema.end()) {
        for (const Json& form : *forms) {
            add_paths(path, form, out);
        }
        return;
    }
    const auto properties = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    if (properties != schema.end()) {
        for (const auto& [key, inner] : properties->items()) {
            add_paths(path.empty() ? key : path + "." + key, inner, out);
        }
    }
    if (others != schema.end() && others->is_object()) {
        add_paths(path + ".NAME", *others, out);
    } else if (properties == schema.end()) {
        const Json type = schema.value("type", Json());
        const bool is_object = type == "object" || (type.is_array() && type.front() == "object");
        if (type != "array") {
            out.emplace_back(is_object ? path + ".NAME" : path, schema.value("description", ""));
        }
    }
}

/// What is wrong with an expression that takes too much work whatever its names are: limits of sums
/// are numbers, mostly.
std::optional<std::string> endless(const std::string& text, std::int64_t points) {
    expression::Scope scope;
    for (const std::string& name : expression::names_in(text)) {
        scope.numbers[name] = 1;
    }
    scope.work = std::make_shared<expression::Work>(work_of_point(points));
    try {
        static_cast<void>(expression::evaluate(text, scope));
    } catch (const expression::TooMuchWork& error) {
        return fmt::format("{}, character {}: {}", in_quotes(text, expression::kLongestShown),
                           error.column(), error.what());
    } catch (const expression::Error&) { // of these numbers alone
    }
    return std::nullopt;
}

} // namespace

bool is_parameter(const std::string& path) {
    return config::is_set_path(spec::machine_shape(), path, "") ||
           config::is_set_path(catalog::workload_shape(), path, catalog::kSetPrefix);
}

bool is_choice(const std::string& word) {
    constexpr std::string_view kOfPoints[] = {"ok", "timing", "functional", "estimate"};
    return parameter_words().contains(word) ||
           std::ranges::find(kOfPoints, word) != std::end(kOfPoints);
}

Described described_result_paths() {
    Described all;
    add_paths("", result::result_schema(), all);
    std::erase_if(all, [](const auto& one) {
        const std::string& path = one.first;
        return path.starts_with("host.") || path.starts_with("machine.") ||
               path.starts_with("workload.") || path == "schema_version" || path == "status" ||
               path == "energy.outside_steps_j"; // stores have no steps
    });
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& one, const auto& other) { return one.first < other.first; });
    all.erase(
        std::unique(all.begin(), all.end(),
                    [](const auto& one, const auto& other) { return one.first == other.first; }),
        all.end());
    return all;
}

const std::vector<std::string>& result_paths() {
    static const std::vector<std::string> paths = [] {
        std::vector<std::string> all;
        for (auto& [path, sentence] : described_result_paths()) {
            all.push_back(std::move(path));
        }
        return all;
    }();
    return paths;
}

bool is_result_path(const std::string& path) {
    return kOfLines.contains(path) ||
           std::any_of(result_paths().begin(), result_paths().end(), [&](const std::string& known) {
               constexpr std::string_view kName = ".NAME";
               return known == path ||
                      (known.ends_with(kName) &&
                       path.starts_with(known.substr(0, known.size() - kName.size() + 1)));
           });
}

std::string hint_for(const std::string& path, const SweepSpec& sweep) {
    std::vector<std::string> names = result_paths();
    names.insert(names.end(), kOfLines.begin(), kOfLines.end());
    for (const Metric& metric : sweep.metrics) {
        names.push_back(metric.name);
    }
    return config::did_you_mean(path, names);
}

bool is_column(const std::string& path, const SweepSpec& sweep) {
    return is_result_path(path) || is_parameter(path) ||
           std::any_of(sweep.metrics.begin(), sweep.metrics.end(),
                       [&](const Metric& metric) { return metric.name == path; });
}

void check_result_paths(const SweepSpec& sweep, const config::Document& document) {
    std::vector<Diagnostic> mistakes;
    const std::int64_t points =
        space_of(sweep, document).size() + static_cast<std::int64_t>(sweep.points.size());
    std::set<std::string> names; // of what it runs
    for (const auto* given : {&sweep.machines, &sweep.workloads}) {
        for (const std::string& name : *given) {
            names.insert(short_name(name));
        }
    }
    for (const Axis& axis : sweep.axes) { // elements of lists have paths of their own
        names.insert(axis.paths.begin(), axis.paths.end());
    }
    for (const Metric& metric : sweep.metrics) {
        const bool is_taken = !names.insert(metric.name).second; // by a machine or a workload
        if (is_taken || is_result_path(metric.name) || is_parameter(metric.name) ||
            is_choice(metric.name)) {
            mistakes.push_back(
                document.at_value(config::child_pointer("/metrics", metric.name),
                                  in_quotes(metric.name) + " means something else already"));
        }
    }
    const auto check = [&](const std::string& pointer, const std::string& text) {
        if (const auto error = endless(text, points)) {
            mistakes.push_back(document.at_value(pointer, *error));
        }
        for (const std::string& name : expression::names_in(text)) {
            if (!is_result_path(name) && !is_parameter(name) && !is_choice(name) &&
                !names.contains(name)) {
                mistakes.push_back(document.at_value(pointer, "no result has " + in_quotes(name),
                                                     hint_for(name, sweep)));
            }
        }
    };
    for (const Metric& metric : sweep.metrics) {
        check(config::child_pointer("/metrics", metric.name), metric.expression);
    }
    for (std::size_t i = 0; i < sweep.constraints.size(); ++i) {
        check(fmt::format("/constraints/{}", i), sweep.constraints[i]);
    }
    for (std::size_t i = 0; i < sweep.objectives.size(); ++i) {
        const std::string& path = sweep.objectives[i].path;
        if (!is_column(path, sweep)) {
            mistakes.push_back(document.at_value(fmt::format("/objectives/{}/path", i),
                                                 "no result has " + in_quotes(path),
                                                 hint_for(path, sweep)));
        }
    }
    config::throw_if_any(std::move(mistakes));
}

} // namespace tessera::sweep
