// SPDX-License-Identifier: MIT
// Cycles and figures out of a result (result.json).
#pragma once

#include "models/program/role.h"
#include "sim/calibrate/reference.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::calibrate {

/// Steps of a result that are alike.
struct StepsOf {
    const char* called = ""; ///< in reports only
    const char* list = "";   ///< result.json's `compute_sets`, `exchanges` or `streams`
    program::Role role = program::Role::Work;
    /// Where a round of the program has several of them: the `turn`-th of `turns`, from 0.
    std::size_t turn = 0;
    std::size_t turns = 1;

    [[nodiscard]] std::string text() const;
};

/// Which of a run's cycles a figure is about.
struct Timed {
    /// Words of result.json's `phases`; "all" is the whole run.
    std::vector<std::string> phases;
    /// Their cycles count too.
    std::vector<StepsOf> steps;
    /// Added: what the measuring program does around it.
    double fixed_cycles = 0;
    /// Without exchange.prologue_cycles: the exchange row alone.
    bool row_only = false;

    [[nodiscard]] std::string text() const;
};

/// @throws IoError if the result has no such phase, or none of the steps
[[nodiscard]] double cycles_of(const nlohmann::json& result, const Timed& timed);

/// Cycles a second of the run's machine.
[[nodiscard]] double clock_of(const nlohmann::json& result);

/// One of the row's unit (its column `unit`) in `base`s ("s", "cycles", "B/s", "B", "1").
/// @throws ConfigError if it is no unit of that kind
[[nodiscard]] double unit_in(const ReferenceRow& row, const std::string& base);

/// A time in the row's unit, which may be cycles.
[[nodiscard]] double time_in_unit(const ReferenceRow& row, double cycles, double clock_hz);

} // namespace tessera::calibrate
