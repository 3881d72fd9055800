// SPDX-License-Identifier: MIT
// `tessera explain`: a result in sentences. What ran, what its cycles are of, what a change of the
// machine or of the split would be worth at most, and one step as its tiles saw it.
#pragma once

#include "base/layout.h"
#include "sim/cli/cli.h"
#include "sim/recording/read.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tessera::explain {

/// Something that could be otherwise, and the cycles that a run would take less then.
struct Gain {
    std::string change;  ///< "without the uneven split of work over tiles"
    std::string setting; ///< of --set, where it is one: "exchange.lane_bytes=8"
    double cycles = 0;
    bool is_exact = false; ///< else it is the most that the change is worth with this plan
};

/// The gains of a result that are worth a thousandth of the run or more, the largest first.
/// Bounds: docs/explain.md.
[[nodiscard]] std::vector<Gain> gains_of(const nlohmann::json& document);

/// The run; `columns` of text.
[[nodiscard]] std::string run_text(const nlohmann::json& document, const Layout& layout = {});

/// The steps whose names begin with `name`, the slowest first. `recording`: null where there is none.
/// @throws UsageError where there is none, with the nearest name
[[nodiscard]] std::string step_text(const nlohmann::json& document, const std::string& name,
                                    const recording::Recording* recording,
                                    const Layout& layout = {});

/// @throws as compare::result_of
[[nodiscard]] std::string explain_text(const cli::ExplainCommand& command,
                                       const Layout& layout = {});

} // namespace tessera::explain
