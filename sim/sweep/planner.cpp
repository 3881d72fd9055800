// SPDX-License-Identifier: MIT
#include "sim/sweep/planner.h"

#include "base/activity.h"
#include "base/config/read.h"
#include "base/config/shape.h"
#include "base/error.h"
#include "base/expression/expression.h"
#include "base/text.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "sim/sweep/condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSetPrefixLength = std::string_view(catalog::kSetPrefix).size();

/// Words that some parameter of a machine or a workload may be.
std::set<std::string> choices() {
    std::set<std::string> words;
    for (const config::Shape* shape : {&spec::machine_shape(), &catalog::workload_shape()}) {
        for (const config::Parameter& parameter : config::parameters(*shape)) {
            for (std::size_t begin = 0;
                 parameter.type == "text" && begin < parameter.range.size();) {
                const std::size_t end =
                    std::min(parameter.range.find('|', begin), parameter.range.size());
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
                add(fmt::format("{}{}{}", path, path.empty() ? "" : ".", key), inner);
            }
        } else if (value.is_number()) {
            scope_.numbers[path] = value.get<double>();
        } else if (value.is_boolean()) {
            scope_.numbers[path] = value.get<bool>() ? 1 : 0;
        } else if (value.is_string()) {
            const auto number = static_cast<double>(words_.size());
            scope_.numbers[path] =
                words_.try_emplace(value.get<std::string>(), number).first->second;
        }
    }

    expression::Scope scope_;
    std::map<std::string, double> words_;
};

/// What points have in common is not made again for each: kept until there is too much of it.
template <class Value> class Kept {
public:
    template <class Make>
    const std::shared_ptr<const Value>& get(const std::string& key, const Make& make) {
        const auto found = values_.find(key);
        if (found != values_.end()) {
            return found->second;
        }
        constexpr std::size_t kMost = 256;
        if (values_.size() == kMost) {
            values_.clear();
        }
        return values_.emplace(key, std::make_shared<const Value>(make())).first->second;
    }

private:
    std::unordered_map<std::string, std::shared_ptr<const Value>> values_;
};

template <class Config> struct Part {
    Config loaded;
    std::string text; ///< in keys
};

struct Loaded {
    std::shared_ptr<const Part<spec::LoadedMachine>> machine;
    std::shared_ptr<const Part<catalog::LoadedWorkload>> workload;
};

/// An expression with the names that it has.
struct Formula {
    std::string pointer; ///< in the sweep's document
    std::string path;    ///< of what follows
    std::string text;
    std::vector<std::string> names;
};

/// The number or truth at a path, if there is one.
const Json* plain_value(const Json& root, std::string_view path) {
    const Json* at = &root;
    while (!path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const auto found = at->is_object() ? at->find(path.substr(0, dot)) : at->end();
        if (!at->is_object() || found == at->end()) {
            return nullptr;
        }
        at = &*found;
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return at->is_number() || at->is_boolean() ? at : nullptr;
}

} // namespace

class Planner::Impl {
public:
    Impl(const SweepSpec& sweep, const config::Document& document, const config::ConfigPaths& paths,
         PointKeys& keys)
        : sweep_(sweep), document_(document), paths_(paths), keys_(keys),
          space_(space_of(sweep, document)),
          // points of their own stand alone where nothing else is said
          in_space_(!sweep.points.empty() && sweep.axes.empty() ? 0 : space_.size()) {
        for (const Derived& derived : sweep.derived) {
            derived_.push_back({config::child_pointer("/derive", derived.path), derived.path,
                                derived.expression, expression::names_in(derived.expression)});
        }
        for (std::size_t i = 0; i < sweep.exclude.size(); ++i) {
            exclude_.push_back({fmt::format("/exclude/{}", i), "", sweep.exclude[i],
                                expression::names_in(sweep.exclude[i])});
        }
    }

    [[nodiscard]] std::int64_t size() const {
        return in_space_ + static_cast<std::int64_t>(sweep_.points.size());
    }

    PlannedPoint at(std::int64_t number) { return made_of(changes_of(number)); }

    PlannedLine line(std::int64_t number) {
        PlannedLine line = called(changes_of(number));
        settle(line);
        return line;
    }

    Contents contents_of(const PlannedLine& line) {
        Contents contents{{kMachinePath, content_of(kMachinePath, line.machine)},
                          {kWorkloadPath, content_of(kWorkloadPath, line.workload)}};
        for (const Change& change : line.changes) {
            if (names_file(change.path, change.value)) {
                contents[change.path] = content_of(change.path, change.value.get<std::string>());
            }
        }
        return contents;
    }

    [[nodiscard]] std::string content_of(const std::string& path, const std::string& written) {
        return *contents_.get(path + '\n' + written, [&] {
            const Places::Place* const place = sweep_.places.find(path, written);
            if (place != nullptr && !place->content.empty()) {
                return place->content;
            }
            const std::string file = sweep_.places.file_of(path, written, paths_);
            return path == kMachinePath    ? PointKeys::content_of(*machine_files(file))
                   : path == kWorkloadPath ? workload_content(file)
                                           : keys_.content_of(file);
        });
    }

    [[nodiscard]] std::optional<std::int64_t> sample_of(std::int64_t number) const {
        return number < in_space_ ? std::optional(space_.sample_of(number)) : std::nullopt;
    }

    [[nodiscard]] std::string workload_of(std::int64_t number) const {
        return called(changes_of(number)).workload;
    }

    PlannedPoint made_of(const Changes& changes) {
        PlannedPoint point;
        static_cast<PlannedLine&>(point) = called(changes);
        try {
            settle(point);
            if (!point.is_excluded) {
                prepare(point);
            }
        } catch (const ConfigError& error) {
            point.mistakes = error.diagnostics();
        }
        return point;
    }

private:
    [[nodiscard]] Changes changes_of(std::int64_t number) const {
        return number < in_space_ ? space_.at(number)
                                  : sweep_.points[static_cast<std::size_t>(number - in_space_)];
    }

    /// The line of a point's changes, before what follows from them.
    [[nodiscard]] PlannedLine called(const Changes& changes) const {
        PlannedLine line{sweep_.machines.front(), sweep_.workloads.front(), sweep_.set, false};
        for (const Change& change : changes) {
            if (change.path == kMachinePath || change.path == kWorkloadPath) {
                (change.path == kMachinePath ? line.machine : line.workload) =
                    change.value.get<std::string>();
            } else {
                set(line.changes, change);
            }
        }
        return line;
    }

    /// What a point says counts more than what is said of all.
    static void set(Changes& changes, const Change& change) {
        const auto known = std::find_if(changes.begin(), changes.end(),
                                        [&](const Change& one) { return one.path == change.path; });
        if (known == changes.end()) {
            changes.push_back(change);
        } else {
            known->value = change.value;
        }
    }

    [[nodiscard]] std::string file_of(const char* kind, const std::string& name) const {
        return sweep_.places.file_of(kind, name, paths_);
    }

    /// The run of a line: its files, its key.
    void prepare(PlannedPoint& point) {
        point.machine_file = file_of(kMachinePath, point.machine);
        point.workload_file = file_of(kWorkloadPath, point.workload);
        Changes placed = point.changes;
        for (Change& change : placed) {
            if (names_file(change.path, change.value)) {
                change.value =
                    sweep_.places.file_of(change.path, change.value.get<std::string>(), paths_);
            }
        }
        point.sets = sets_of(placed);
        const Loaded loaded = load(point);
        point.key = keys_.of(loaded.machine->text, loaded.workload->text, sweep_.mode);
        point.contents = contents_of(point);
    }

    [[nodiscard]] std::string workload_content(const std::string& name) {
        const auto document = workload_document(name);
        try {
            return keys_.content_of(*document, catalog::load_workload(name, paths_).inputs);
        } catch (const std::runtime_error&) { // only settings make it right
            return keys_.content_of(*document, {});
        }
    }

    [[nodiscard]] const std::shared_ptr<const spec::MachineFiles>&
    machine_files(const std::string& file) {
        return machine_files_.get(file, [&] { return spec::read_machine(file, paths_); });
    }

    [[nodiscard]] const std::shared_ptr<const config::Document>&
    workload_document(const std::string& name) {
        return workload_files_.get(name, [&] {
            return catalog::read_workload(
                config::find_config(paths_, "workloads", "workload", name));
        });
    }

    [[nodiscard]] Loaded load(const PlannedPoint& point) {
        const auto sets = catalog::split_overrides(point.sets);
        const auto key_of = [](std::string key, const std::vector<std::string>& given) {
            for (const std::string& one : given) {
                key += '\n' + one;
            }
            return key;
        };
        return {
            machines_.get(key_of(point.machine_file, sets.machine),
                          [&] {
                              auto loaded = spec::load_machine(*machine_files(point.machine_file),
                                                               sets.machine);
                              std::string text = PointKeys::part_of(loaded);
                              return Part<spec::LoadedMachine>{std::move(loaded), std::move(text)};
                          }),
            workloads_.get(key_of(point.workload_file, sets.workload), [&] {
                const auto file =
                    config::find_config(paths_, "workloads", "workload", point.workload_file);
                auto loaded = catalog::load_workload(*workload_document(point.workload_file), file,
                                                     paths_, sets.workload);
                std::string text = keys_.part_of(loaded);
                return Part<catalog::LoadedWorkload>{std::move(loaded), std::move(text)};
            })};
    }

    /// Whether a path is of workloads of another kind in the sweep, and not of this one's.
    [[nodiscard]] bool is_of_others(const std::string& path, const std::string& workload) {
        if (sweep_.workloads.size() < 2 || path.rfind(catalog::kSetPrefix, 0) != 0) {
            return false;
        }
        const std::string key =
            path.substr(kSetPrefixLength, path.find('.', kSetPrefixLength) - kSetPrefixLength);
        const Json& own = base_workload(workload);
        return !own.contains(key) && std::any_of(sweep_.workloads.begin(), sweep_.workloads.end(),
                                                 [&](const std::string& name) {
                                                     const Json& other = base_workload(name);
                                                     return other.contains(key) &&
                                                            other["kind"] != own["kind"];
                                                 });
    }

    /// What follows, and whether a condition leaves it out.
    void settle(PlannedLine& point) {
        std::erase_if(point.changes, [&](const Change& change) {
            return is_of_others(change.path, point.workload);
        });
        if (!derived_.empty() || !exclude_.empty()) {
            // What follows comes before anything is checked: only together may it be right.
            Json machine = base_machine(point.machine);
            Json workload = base_workload(point.workload);
            const auto overlay = [&](const Change& change) {
                const bool of_workload = change.path.rfind(catalog::kSetPrefix, 0) == 0;
                const std::size_t skip = of_workload ? kSetPrefixLength : 0;
                std::string pointer = "/" + change.path.substr(skip);
                std::replace(pointer.begin(), pointer.end(), '.', '/');
                Json& config = of_workload ? workload : machine;
                try {
                    config[Json::json_pointer(pointer)] = change.value;
                } catch (const Json::exception&) { // told when it is loaded
                }
            };
            for (const Change& change : point.changes) {
                overlay(change);
            }
            const auto work = std::make_shared<expression::Work>(work_of_point(size()));
            for (const Formula& derived : derived_) {
                if (is_of_others(derived.path, point.workload)) {
                    continue;
                }
                const double value = value_of(derived, machine, workload, work);
                constexpr double kWhole = 0x1p53;
                const bool whole = std::floor(value) == value && std::fabs(value) < kWhole;
                const Change change{derived.path,
                                    whole ? Json(static_cast<std::int64_t>(value)) : Json(value)};
                set(point.changes, change);
                overlay(change);
            }
            for (const Formula& exclude : exclude_) {
                point.is_excluded = value_of(exclude, machine, workload, work) != 0;
                if (point.is_excluded) {
                    return;
                }
            }
        }
    }

    [[nodiscard]] const Json& base_machine(const std::string& name) {
        return *machine_bases_.get(
            name, [&] { return spec::load_machine(file_of(kMachinePath, name), paths_).resolved; });
    }
    [[nodiscard]] const Json& base_workload(const std::string& name) {
        return *workload_bases_.get(name, [&] {
            return catalog::load_workload(file_of(kWorkloadPath, name), paths_).resolved;
        });
    }

    [[nodiscard]] double value_of(const Formula& formula, const Json& machine, const Json& workload,
                                  const std::shared_ptr<expression::Work>& work) const {
        expression::Scope scope;
        bool numbers_do = true;
        for (const std::string& name : formula.names) {
            const bool of_workload = name.rfind(catalog::kSetPrefix, 0) == 0;
            const std::size_t skip = of_workload ? kSetPrefixLength : 0;
            const Json* const value =
                plain_value(of_workload ? workload : machine, std::string_view(name).substr(skip));
            numbers_do = numbers_do && value != nullptr;
            if (value != nullptr) {
                scope.numbers[name] =
                    value->is_boolean() ? (value->get<bool>() ? 1 : 0) : value->get<double>();
            }
        }
        if (!numbers_do) {
            scope = Names(machine, workload).scope();
        }
        scope.work = work;
        try {
            return expression::evaluate(formula.text, scope);
        } catch (const expression::Error& error) {
            throw ConfigError(
                document_.at_value(formula.pointer,
                                   fmt::format("{}, character {}: {}",
                                               in_quotes(formula.text, expression::kLongestShown),
                                               error.column(), error.what()),
                                   error.hint()));
        }
    }

    const SweepSpec& sweep_;
    const config::Document& document_;
    const config::ConfigPaths& paths_;
    PointKeys& keys_;
    Space space_;
    std::int64_t in_space_;
    std::vector<Formula> derived_;
    std::vector<Formula> exclude_;
    Kept<spec::MachineFiles> machine_files_;
    Kept<config::Document> workload_files_;
    Kept<Json> machine_bases_; ///< as they are
    Kept<Json> workload_bases_;
    Kept<std::string> contents_;
    Kept<Part<spec::LoadedMachine>> machines_;
    Kept<Part<catalog::LoadedWorkload>> workloads_;
};

Planner::Planner(const SweepSpec& sweep, const config::Document& document,
                 const config::ConfigPaths& paths, PointKeys& keys)
    : impl_(std::make_unique<Impl>(sweep, document, paths, keys)) {}
Planner::~Planner() = default;

std::int64_t Planner::size() const {
    return impl_->size();
}

PlannedPoint Planner::at(std::int64_t number) {
    return impl_->at(number);
}

PlannedLine Planner::line(std::int64_t number) {
    return impl_->line(number);
}

Contents Planner::contents_of(const PlannedLine& line) {
    return impl_->contents_of(line);
}

std::string Planner::content_of(const std::string& path, const std::string& written) {
    return impl_->content_of(path, written);
}

std::optional<std::int64_t> Planner::sample_of(std::int64_t number) const {
    return impl_->sample_of(number);
}

std::string Planner::workload_of(std::int64_t number) const {
    return impl_->workload_of(number);
}

PlannedPoint Planner::made_of(const Changes& changes) {
    return impl_->made_of(changes);
}

namespace {

/// Which values have been right in some point, and the first mistakes of those that have not. Of
/// what has another value in every point, which paths.
class Mistakes {
public:
    explicit Mistakes(const SweepSpec& sweep) {
        for (const Axis& axis : sweep.axes) {
            if (!axis.stretch) {
                chosen_.insert(axis.paths.begin(), axis.paths.end());
            }
        }
    }

    void note(const PlannedPoint& point) {
        note("machine=" + point.machine, point);
        note("workload=" + point.workload, point);
        for (const Change& change : point.changes) {
            note(change.path + (chosen_.contains(change.path) ? "=" + change.value.dump() : ""),
                 point);
        }
    }

    void add(Mistakes&& other) {
        right_.merge(other.right_);
        first_mistakes_.merge(other.first_mistakes_);
    }

    void refuse_what_is_never_right() const {
        std::vector<Diagnostic> mistakes;
        for (const auto& [what, found] : first_mistakes_) {
            if (!right_.contains(what)) {
                mistakes.insert(mistakes.end(), found.begin(), found.end());
            }
        }
        std::sort(mistakes.begin(), mistakes.end(),
                  [](const auto& one, const auto& other) { return one.text() < other.text(); });
        const auto same = [](const auto& one, const auto& other) {
            return one.text() == other.text();
        };
        mistakes.erase(std::unique(mistakes.begin(), mistakes.end(), same), mistakes.end());
        config::throw_if_any(std::move(mistakes));
    }

private:
    void note(std::string what, const PlannedPoint& point) {
        if (!point.mistakes.empty()) {
            first_mistakes_.try_emplace(std::move(what), point.mistakes);
        } else if (!right_.contains(what)) {
            right_.insert(std::move(what));
        }
    }

    std::unordered_set<std::string> chosen_; ///< paths of axes with a list of values
    std::unordered_set<std::string> right_;
    std::map<std::string, std::vector<Diagnostic>> first_mistakes_;
};

/// A part of a plan: points that may come twice.
struct PlanPart {
    explicit PlanPart(const SweepSpec& sweep) : mode(sweep.mode), mistakes(sweep) {}

    void add(std::int64_t number, PlannedPoint point) {
        mistakes.note(point);
        if (!point.mistakes.empty()) {
            if (plan.invalid_examples.size() < kExamples) {
                plan.invalid_examples.push_back(std::move(point.mistakes.front()));
            }
            ++plan.invalid;
        } else if (point.is_excluded) {
            ++plan.excluded;
        } else {
            plan.points.push_back({number, point.key, name_of(point, mode)});
        }
    }

    static constexpr std::size_t kExamples = 3;
    std::string mode;
    Plan plan;
    Mistakes mistakes;
    std::exception_ptr failure;
};

} // namespace

Plan plan_points(const SweepSpec& sweep, const config::Document& document,
                 const config::ConfigPaths& paths, const PointKeys& keys, const Shard& shard) {
    PointKeys first_keys = keys;
    const std::int64_t size = Planner(sweep, document, paths, first_keys).size();
    const std::int64_t count =
        std::max<std::int64_t>(0, (size - shard.number + shard.of - 1) / shard.of);
    const Activity planning("planning points", count);
    constexpr std::int64_t kFewest = 1000; // that are worth a thread
    constexpr std::int64_t kMostThreads = 16;
    const auto threads = std::clamp<std::int64_t>(
        std::min<std::int64_t>(std::thread::hardware_concurrency(), count / kFewest), 1,
        kMostThreads);
    std::vector<PlanPart> parts(static_cast<std::size_t>(threads), PlanPart(sweep));
    const auto plan_part = [&](std::int64_t which) {
        PlanPart& part = parts[static_cast<std::size_t>(which)];
        try {
            PointKeys own_keys = keys;
            Planner planner(sweep, document, paths, own_keys);
            for (std::int64_t i = count * which / threads; i < count * (which + 1) / threads; ++i) {
                const std::int64_t number = shard.number + i * shard.of;
                part.add(number, planner.at(number));
                planning.step();
            }
        } catch (...) {
            part.failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (std::int64_t which = 1; which < threads; ++which) {
        others.emplace_back(plan_part, which);
    }
    plan_part(0);
    for (std::thread& other : others) {
        other.join();
    }
    Plan plan;
    Mistakes mistakes(sweep);
    std::unordered_map<PointKey, LineName, PointKey::Hash> seen;
    std::unordered_set<LineId, LineId::Hash> equal;
    for (PlanPart& part : parts) {
        if (part.failure != nullptr) {
            std::rethrow_exception(part.failure);
        }
        mistakes.add(std::move(part.mistakes));
        plan.excluded += part.plan.excluded;
        plan.invalid += part.plan.invalid;
        for (Diagnostic& example : part.plan.invalid_examples) {
            if (plan.invalid_examples.size() < PlanPart::kExamples) {
                plan.invalid_examples.push_back(std::move(example));
            }
        }
        for (const Plan::Point& point : part.plan.points) {
            const auto [known, is_new] = seen.try_emplace(point.key, point.name);
            if (is_new) {
                plan.points.push_back(point);
            } else if (known->second != point.name &&
                       equal.insert({point.key, point.name}).second) {
                plan.equal.push_back(point);
            }
        }
        part.plan.points = {};
    }
    if (shard.of == 1) {
        mistakes.refuse_what_is_never_right();
    }
    return plan;
}

LineName name_of(const PlannedLine& line, const std::string& mode) {
    Settings settings;
    for (const Change& change : line.changes) {
        settings.emplace_back(change.path, value_of(change.value));
    }
    return line_name(line.machine, line.workload, mode, std::move(settings));
}

std::vector<std::string> sets_of(const Changes& changes) {
    std::vector<std::string> sets;
    sets.reserve(changes.size());
    for (const Change& change : changes) {
        sets.push_back(change.path + "=" + change.value.dump());
    }
    return sets;
}

} // namespace tessera::sweep
