// SPDX-License-Identifier: MIT
#include "sim/sweep/planned_point.h"

#include "base/activity.h"
#include "base/config/read.h"
#include "base/config/shape.h"
#include "base/error.h"
#include "base/expression/expression.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

/// Words that some parameter of a machine or a workload may be.
std::set<std::string> choices() {
    std::set<std::string> words;
    for (const config::Shape* shape : {&spec::machine_shape(), &catalog::workload_shape()}) {
        for (const config::Parameter& parameter : config::parameters(*shape)) {
            for (std::size_t begin = 0; parameter.type == "text" && begin < parameter.range.size();) {
                const std::size_t end = std::min(parameter.range.find('|', begin),
                                                 parameter.range.size());
                words.insert(parameter.range.substr(begin, end - begin));
                begin = end + 1;
            }
        }
    }
    return words;
}

/// What expressions may name of a point: every number of machine and workload by its path, true and
/// false as 1 and 0, and words, which are equal or not.
class Names {
public:
    Names(const Json& machine, const Json& workload) {
        static const std::set<std::string> all_choices = choices();
        for (const std::string& word : all_choices) {
            words_.emplace(word, static_cast<double>(words_.size()));
        }
        add("", machine);
        add("workload", workload);
        for (const auto& [word, number] : words_) {
            scope_.numbers.try_emplace(word, number);
        }
    }
    [[nodiscard]] const expression::Scope& scope() const { return scope_; }

private:
    void add(const std::string& path, const Json& value) {
        if (value.is_object()) {
            for (const auto& [key, inner] : value.items()) {
                add(path.empty() ? key : path + "." + key, inner);
            }
        } else if (value.is_number()) {
            scope_.numbers[path] = value.get<double>();
        } else if (value.is_boolean()) {
            scope_.numbers[path] = value.get<bool>() ? 1 : 0;
        } else if (value.is_string()) {
            const auto number = static_cast<double>(words_.size());
            scope_.numbers[path] = words_.try_emplace(value.get<std::string>(), number).first->second;
        }
    }

    expression::Scope scope_;
    std::map<std::string, double> words_;
};

struct Loaded {
    spec::LoadedMachine machine;
    catalog::LoadedWorkload workload;
};

class Planner {
public:
    Planner(const SweepSpec& sweep, const config::Document& document,
            const config::ConfigPaths& paths, PointKeys& keys)
        : sweep_(sweep), document_(document), paths_(paths), keys_(keys) {
        for (const Axis& axis : sweep.axes) {
            if (!axis.stretch) {
                chosen_.insert(axis.paths.begin(), axis.paths.end());
            }
        }
    }

    std::vector<PlannedPoint> run() {
        const Space space = space_of(sweep_, document_);
        // points of their own stand alone where nothing else is said
        const bool only_own = !sweep_.points.empty() && sweep_.axes.empty();
        const Activity planning("points", space.size());
        for (std::int64_t number = 0; number < (only_own ? 0 : space.size()); ++number) {
            plan(space.at(number));
            planning.step();
        }
        for (const Changes& own : sweep_.points) {
            plan(own);
        }
        refuse_what_is_never_right();
        return std::move(points_);
    }

private:
    void plan(const Changes& changes) {
        PlannedPoint point{sweep_.machines.front(), sweep_.workloads.front(), sweep_.set, {}, false,
                           {}};
        for (const Change& change : changes) {
            if (change.path == "machine") {
                point.machine = change.value.get<std::string>();
            } else if (change.path == "workload") {
                point.workload = change.value.get<std::string>();
            } else {
                point.changes.push_back(change);
            }
        }
        try {
            complete(point);
        } catch (const ConfigError& error) {
            point.mistakes = error.diagnostics();
        }
        note(point);
        if (point.is_excluded || (!point.key.empty() && !seen_.insert(point.key).second)) {
            return;
        }
        points_.push_back(std::move(point));
    }

    [[nodiscard]] Loaded load(const PlannedPoint& point) const {
        const auto sets = catalog::split_overrides(sets_of(point.changes));
        return {spec::load_machine(point.machine, paths_, sets.machine),
                catalog::load_workload(point.workload, paths_, sets.workload)};
    }

    void complete(PlannedPoint& point) {
        Loaded loaded = load(point);
        for (const Derived& derived : sweep_.derived) {
            const double value = value_of(config::child_pointer("/derive", derived.path),
                                          derived.expression, loaded);
            constexpr double kWhole = 0x1p53;
            const bool whole = std::floor(value) == value && std::fabs(value) < kWhole;
            point.changes.push_back({derived.path, whole ? Json(static_cast<std::int64_t>(value))
                                                         : Json(value)});
            loaded = load(point);
        }
        for (std::size_t i = 0; i < sweep_.exclude.size() && !point.is_excluded; ++i) {
            point.is_excluded =
                value_of(fmt::format("/exclude/{}", i), sweep_.exclude[i], loaded) != 0;
        }
        point.key = keys_.of(loaded.machine, loaded.workload, sweep_.mode);
    }

    [[nodiscard]] double value_of(const std::string& pointer, const std::string& text,
                                  const Loaded& loaded) const {
        try {
            const Names names(loaded.machine.resolved, loaded.workload.resolved);
            return expression::evaluate(text, names.scope());
        } catch (const expression::Error& error) {
            throw ConfigError(document_.at_value(
                pointer, fmt::format("character {}: {}", error.column(), error.what()),
                error.hint()));
        }
    }

    /// Which values have been right in some point, and the first mistakes of those that have not.
    /// Of what has another value in every point, which paths.
    void note(const PlannedPoint& point) {
        for (const Change& change : point.changes) {
            const bool is_chosen = chosen_.contains(change.path);
            std::string what = change.path + (is_chosen ? "=" + change.value.dump() : "");
            if (point.mistakes.empty()) {
                right_.insert(std::move(what));
            } else {
                first_mistakes_.try_emplace(std::move(what), point.mistakes);
            }
        }
        any_right_ = any_right_ || point.mistakes.empty();
        if (first_.empty()) {
            first_ = point.mistakes;
        }
    }

    void refuse_what_is_never_right() const {
        std::vector<Diagnostic> mistakes;
        for (const auto& [what, found] : first_mistakes_) {
            if (!right_.contains(what)) {
                mistakes.insert(mistakes.end(), found.begin(), found.end());
            }
        }
        if (mistakes.empty() && !any_right_) {
            mistakes = first_;
        }
        config::throw_if_any(std::move(mistakes));
    }

    const SweepSpec& sweep_;
    const config::Document& document_;
    const config::ConfigPaths& paths_;
    PointKeys& keys_;
    std::vector<PlannedPoint> points_;
    std::set<std::string> seen_;
    std::set<std::string> chosen_; ///< paths of axes with a list of values
    std::set<std::string> right_;
    std::map<std::string, std::vector<Diagnostic>> first_mistakes_;
    std::vector<Diagnostic> first_;
    bool any_right_ = false;
};

} // namespace

std::vector<std::string> sets_of(const Changes& changes) {
    std::vector<std::string> sets;
    for (const Change& change : changes) {
        sets.push_back(change.path + "=" + change.value.dump());
    }
    return sets;
}

std::vector<PlannedPoint> plan_points(const SweepSpec& sweep, const config::Document& document,
                                      const config::ConfigPaths& paths, PointKeys& keys) {
    return Planner(sweep, document, paths, keys).run();
}

} // namespace tessera::sweep
