// SPDX-License-Identifier: MIT
// Maps a reference row to runs of workloads, and to a function that reads the row's figure from
// their results.
#pragma once

#include "sim/calibrate/reference.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace tessera::calibrate {

/// One workload on one machine. Equal ones are run once.
struct Run {
    std::string machine;                      ///< name
    std::vector<std::string> machine_sets;    ///< path=value
    nlohmann::json workload;                  ///< as a workload file holds it; null: a vertex
    std::string mode = {};                    ///< of a workload's run; empty: functional
    std::string vertex = {};                  ///< name of a vertex file: one tile runs it
    std::vector<std::string> parameters = {}; ///< of the vertex: name=value
    std::string called = {}; ///< label in reports, where a row has several runs; no part of key
    /// Where it does not fit on the machine, the row goes without it: its result is null. For the best
    /// of several sizes. No part of the key.
    bool may_not_fit = false;

    [[nodiscard]] std::string key() const;
    /// Whether its workload draws a sparse pattern, which a seed decides.
    [[nodiscard]] bool draws() const;
    /// The same run with a pattern of this seed. Contract: it draws one.
    [[nodiscard]] Run with_seed(int seed) const;
};

struct Measurement {
    std::string group;
    std::vector<Run> runs;
    /// The simulated figure in the row's unit, from the results (result.json) of `runs`.
    /// @throws IoError where none of several fits
    std::function<double(const std::vector<nlohmann::json>&)> read;
    /// Of several runs those that the figure is of, for people; empty: it is of all.
    std::function<std::vector<std::size_t>(const std::vector<nlohmann::json>&)> decides = {};
    /// The same runs by our own plans, for comparison with the published ones; empty: none.
    std::vector<Run> ours = {};
    /// For a rate: the ratio of times counts, which is above 1 where we are slower than measured.
    bool ratio_of_times = false;
    /// Differences from the row's figure, in its unit, up to this one are chance: such a row has no error.
    double allowed = 0;
    std::string timed;   ///< what is timed, for people
    std::string assumed; ///< what we chose because the row does not say it; empty: nothing
};

/// Why no run stands for a row.
struct NotCovered {
    std::string reason;
    std::string group = {}; ///< to which it would belong, where its rule is known
};

using Mapped = std::variant<Measurement, NotCovered>;

/// Contract: a row is known by its columns, never by its id.
/// @throws ConfigError for a cell that the row's rule needs and that is missing or wrong
[[nodiscard]] Mapped measurement_of(const ReferenceRow& row,
                                    const std::vector<std::string>& machines);

} // namespace tessera::calibrate
