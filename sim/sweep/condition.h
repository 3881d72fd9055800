// SPDX-License-Identifier: MIT
// Formulas over the columns of a table: metrics and constraints of sweeps, filters of listings.
#pragma once

#include "base/error.h"
#include "base/expression/expression.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/sweep_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

/// Steps (base/expression) that the expressions of all points may take: a moment of the host.
inline constexpr std::int64_t kMostStepsOfPoints = 40'000'000;

/// What those of one of so many points may take.
[[nodiscard]] expression::Work work_of_point(std::int64_t points);

/// An expression over the columns of a table.
class PointFormula {
public:
    /// `place` is where it was written, without a message. @throws expression::Error
    explicit PointFormula(std::string text, Diagnostic place = {});

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Nothing where a name is nothing there; words are equal or not. Where the expression has no
    /// value, failure() tells.
    [[nodiscard]] std::optional<double> value(PointTable& table, std::size_t row);

    /// Why it had no value for some points that were asked for: of the first, and how many there
    /// are, with what follows from that. Empty where it had one for all.
    [[nodiscard]] std::string failure(const std::string& consequence) const;

private:
    std::string text_;
    Diagnostic place_;
    std::vector<std::string> names_;
    std::size_t failures_ = 0;
};

/// One that holds where its value is not 0.
class Condition : public PointFormula {
public:
    using PointFormula::PointFormula;

    [[nodiscard]] bool holds(PointTable& table, std::size_t row) {
        return value(table, row).value_or(0) != 0;
    }
    [[nodiscard]] std::string failure() const {
        return PointFormula::failure("so it does not hold for");
    }
};

/// A sweep's constraints, each with its place in the sweep's document.
[[nodiscard]] std::vector<Condition> constraints_of(const SweepSpec& sweep,
                                                    const config::Document& document);

/// Whether all conditions hold.
[[nodiscard]] bool all_hold(std::vector<Condition>& conditions, PointTable& table, std::size_t row);

} // namespace tessera::sweep
