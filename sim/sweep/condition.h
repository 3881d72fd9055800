// SPDX-License-Identifier: MIT
// Conditions on points: constraints of sweeps and filters of listings.
#pragma once

#include "base/error.h"
#include "base/expression/expression.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/sweep_file.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sweep {

/// Steps (base/expression) that the expressions of all points may take: a moment of the host.
inline constexpr std::int64_t kMostStepsOfPoints = 40'000'000;

/// What those of one of so many points may take.
[[nodiscard]] expression::Work work_of_point(std::int64_t points);

/// A condition over the columns of a table.
class Condition {
public:
    /// `place` is where it was written, without a message. @throws expression::Error
    explicit Condition(std::string text, Diagnostic place = {});

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// False where a name is nothing there; words are equal or not. Where it has no value it does
    /// not hold, and failure() tells.
    [[nodiscard]] bool holds(PointTable& table, std::size_t row);

    /// Why it had no value for some points that were asked for: of the first, and how many there
    /// are. Empty where it had one for all.
    [[nodiscard]] std::string failure() const;

private:
    std::string text_;
    Diagnostic place_;
    std::vector<std::string> names_;
    std::size_t failures_ = 0;
};

/// A sweep's constraints, each with its place in the sweep's document.
[[nodiscard]] std::vector<Condition> constraints_of(const SweepSpec& sweep,
                                                    const config::Document& document);

/// Whether all conditions hold.
[[nodiscard]] bool all_hold(std::vector<Condition>& conditions, PointTable& table, std::size_t row);

} // namespace tessera::sweep
