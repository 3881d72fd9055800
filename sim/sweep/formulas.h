// SPDX-License-Identifier: MIT
// The formulas of a sweep file. `derive` computes parameters of a point from its other parameters;
// `exclude` leaves out the points that meet a condition.
#pragma once

#include "base/config/read.h"
#include "base/expression/expression.h"
#include "sim/sweep/sweep_file.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tessera::sweep {

/// Returns all words that a parameter of a machine or a workload may have as its value, such as
/// `mesh`.
[[nodiscard]] const std::set<std::string>& parameter_words();

/// Adds `change` to `changes`. If these have a value for its path already, the new value replaces
/// it: the values of a point win over those that the sweep sets for all points.
void set(Changes& changes, const Change& change);

class Formulas {
public:
    /// Both arguments must outlive the object.
    Formulas(const SweepSpec& sweep, const config::Document& document);

    [[nodiscard]] bool empty() const { return derived_.empty() && exclude_.empty(); }
    /// Adds the derived parameters to `changes`, which are the changes that the point makes to
    /// `machine` and `workload`. Skips each derived path for which `is_of_others` returns true: it
    /// belongs to workloads of another kind. `work` limits the steps of all expressions together.
    /// Returns whether a condition leaves the point out.
    /// @throws ConfigError
    [[nodiscard]] bool settle(Changes& changes, nlohmann::json machine, nlohmann::json workload,
                              const std::function<bool(const std::string&)>& is_of_others,
                              const std::shared_ptr<expression::Work>& work) const;

private:
    /// An expression and the names that it uses.
    struct Formula {
        std::string pointer; ///< JSON pointer to the expression in the sweep's document
        std::string path;    ///< the derived parameter; empty for a condition
        std::string text;
        std::vector<std::string> names;
    };
    [[nodiscard]] double value_of(const Formula& formula, const nlohmann::json& machine,
                                  const nlohmann::json& workload,
                                  const std::shared_ptr<expression::Work>& work) const;

    const config::Document& document_;
    std::vector<Formula> derived_;
    std::vector<Formula> exclude_;
};

} // namespace tessera::sweep
