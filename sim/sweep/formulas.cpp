// SPDX-License-Identifier: MIT
#include "sim/sweep/formulas.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSetPrefixLength = std::string_view(catalog::kSetPrefix).size();

/// What expressions may name of a point: every number of machine and workload by its path, true and
/// false as 1 and 0, and words, which are equal or not.
class Names {
public:
    Names(const Json& machine, const Json& workload) {
        for (const std::string& word : parameter_words()) {
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

/// The number or truth at a path, if there is one.
const Json* plain_value(const Json& root, std::string_view path) {
    const Json* at = &root;
    while (!path.empty()) {
        const std::size_t dot = std::min(path.find('.'), path.size());
        const auto found = at->find(path.substr(0, dot)); // what is no object gives its end
        if (found == at->end()) {
            return nullptr;
        }
        at = &*found;
        path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return at->is_number() || at->is_boolean() ? at : nullptr;
}

} // namespace

const std::set<std::string>& parameter_words() {
    static const std::set<std::string> words = [] {
        std::set<std::string> all;
        for (const config::Shape* shape : {&spec::machine_shape(), &catalog::workload_shape()}) {
            for (const config::Parameter& parameter : config::parameters(*shape)) {
                for (std::size_t begin = 0;
                     parameter.type == "text" && begin < parameter.range.size();) {
                    const std::size_t end =
                        std::min(parameter.range.find('|', begin), parameter.range.size());
                    all.insert(parameter.range.substr(begin, end - begin));
                    begin = end + 1;
                }
            }
        }
        return all;
    }();
    return words;
}

void set(Changes& changes, const Change& change) {
    const auto known = std::find_if(changes.begin(), changes.end(),
                                    [&](const Change& one) { return one.path == change.path; });
    if (known == changes.end()) {
        changes.push_back(change);
    } else {
        known->value = change.value;
    }
}

Formulas::Formulas(const SweepSpec& sweep, const config::Document& document) : document_(document) {
    for (const Derived& derived : sweep.derived) {
        derived_.push_back({config::child_pointer("/derive", derived.path), derived.path,
                            derived.expression, expression::names_in(derived.expression)});
    }
    for (std::size_t i = 0; i < sweep.exclude.size(); ++i) {
        exclude_.push_back({fmt::format("/exclude/{}", i), "", sweep.exclude[i],
                            expression::names_in(sweep.exclude[i])});
    }
}

bool Formulas::settle(Changes& changes, nlohmann::json machine, nlohmann::json workload,
                      const std::function<bool(const std::string&)>& is_of_others,
                      const std::shared_ptr<expression::Work>& work) const {
    // What follows comes before anything is checked: only together may it be right.
    const auto overlay = [&](const Change& change) {
        const bool of_workload = change.path.starts_with(catalog::kSetPrefix);
        const std::size_t skip = of_workload ? kSetPrefixLength : 0;
        std::string pointer = "/" + change.path.substr(skip);
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        Json& config = of_workload ? workload : machine;
        try {
            config[Json::json_pointer(pointer)] = change.value;
        } catch (const Json::exception&) { // told when it is loaded
        }
    };
    for (const Change& change : changes) {
        overlay(change);
    }
    for (const Formula& derived : derived_) {
        if (is_of_others(derived.path)) {
            continue;
        }
        const double value = value_of(derived, machine, workload, work);
        constexpr double kWhole = 0x1p53;
        const bool whole = std::floor(value) == value && std::fabs(value) < kWhole;
        const Change change{derived.path,
                            whole ? Json(static_cast<std::int64_t>(value)) : Json(value)};
        set(changes, change);
        overlay(change);
    }
    for (const Formula& exclude : exclude_) {
        if (value_of(exclude, machine, workload, work) != 0) {
            return true;
        }
    }
    return false;
}

double Formulas::value_of(const Formula& formula, const Json& machine, const Json& workload,
                          const std::shared_ptr<expression::Work>& work) const {
    expression::Scope scope;
    bool numbers_do = true;
    for (const std::string& name : formula.names) {
        const bool of_workload = name.starts_with(catalog::kSetPrefix);
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
        throw ConfigError(document_.at_value(
            formula.pointer,
            fmt::format("{}, character {}: {}", in_quotes(formula.text, expression::kLongestShown),
                        error.column(), error.what()),
            error.hint()));
    }
}

} // namespace tessera::sweep
