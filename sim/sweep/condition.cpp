// SPDX-License-Identifier: MIT
#include "sim/sweep/condition.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tessera::sweep {

expression::Work work_of_point(std::int64_t points) {
    constexpr std::int64_t kLeast = 10'000; // less than what planning a point takes
    const std::int64_t share = kMostStepsOfPoints / std::max<std::int64_t>(points, 1);
    return {std::max(kLeast, share), "a point"};
}

PointFormula::PointFormula(std::string text, Diagnostic place)
    : text_(std::move(text)), place_(std::move(place)), names_(expression::names_in(text_)) {}

std::optional<double> PointFormula::value(PointTable& table, std::size_t row) {
    // words are numbers that no count or size is
    constexpr double kWords = -1e300;
    constexpr double kApart = 1e290;
    expression::Scope scope;
    for (const std::string& name : names_) {
        const auto column = table.column(name);
        const PointTable::Cell cell = column ? table.value(row, *column) : PointTable::Cell{};
        if (cell.is_number()) {
            scope.numbers[name] = cell.number;
        } else if (column && cell.kind == PointTable::Cell::Kind::Nothing) {
            return std::nullopt;
        } else { // a word, of the table or of the condition
            const std::uint32_t word = column ? table.word_among(names_, cell) : table.word(name);
            scope.numbers[name] = kWords + kApart * word;
        }
    }
    scope.work =
        std::make_shared<expression::Work>(work_of_point(static_cast<std::int64_t>(table.rows())));
    try {
        const double value = expression::evaluate(text_, scope);
        if (std::isfinite(value)) {
            return value;
        }
        if (failures_++ == 0) {
            place_.message = in_quotes(text_, expression::kLongestShown) + ": it is not finite";
        }
        return std::nullopt;
    } catch (const expression::Error& error) {
        if (failures_++ == 0) {
            place_.message =
                fmt::format("{}, character {}: {}", in_quotes(text_, expression::kLongestShown),
                            error.column(), error.what());
            place_.hint = error.hint();
        }
        return std::nullopt;
    }
}

std::string PointFormula::failure(const std::string& consequence) const {
    return failures_ == 0
               ? ""
               : fmt::format("{}; {} {}", place_.text(), consequence, counted(failures_, "point"));
}

std::vector<Condition> constraints_of(const SweepSpec& sweep, const config::Document& document) {
    std::vector<Condition> constraints;
    for (std::size_t i = 0; i < sweep.constraints.size(); ++i) {
        constraints.emplace_back(sweep.constraints[i],
                                 document.at_value(fmt::format("/constraints/{}", i), ""));
    }
    return constraints;
}

bool all_hold(std::vector<Condition>& conditions, PointTable& table, std::size_t row) {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](Condition& condition) { return condition.holds(table, row); });
}

} // namespace tessera::sweep
