// SPDX-License-Identifier: MIT
// What follows from a point: parameters that a sweep derives, and points that its conditions leave out.
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

/// Words that some parameter of a machine or a workload may be.
[[nodiscard]] const std::set<std::string>& parameter_words();

/// What a point says counts more than what is said of all.
void set(Changes& changes, const Change& change);

class Formulas {
public:
    /// Both outlive the object.
    Formulas(const SweepSpec& sweep, const config::Document& document);

    [[nodiscard]] bool empty() const { return derived_.empty() && exclude_.empty(); }
    /// Adds what follows to `changes` of a machine and a workload, but for paths that `is_of_others`;
    /// whether a condition leaves the point out. `work`: what the expressions may take together.
    /// @throws ConfigError
    [[nodiscard]] bool settle(Changes& changes, nlohmann::json machine, nlohmann::json workload,
                              const std::function<bool(const std::string&)>& is_of_others,
                              const std::shared_ptr<expression::Work>& work) const;

private:
    /// An expression with the names that it has.
    struct Formula {
        std::string pointer; ///< in the sweep's document
        std::string path;    ///< of what follows
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
