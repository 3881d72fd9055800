// SPDX-License-Identifier: MIT
// What came out for each reference row, and for each group of them.
#pragma once

#include "sim/calibrate/groups.h"
#include "sim/calibrate/measurement.h"
#include "sim/calibrate/reference.h"
#include "sim/calibrate/run_facts.h"
#include "sim/calibrate/statistics.h"
#include "sim/calibrate/unexplained.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::calibrate {

struct RowOutcome {
    ReferenceRow row;
    Mapped mapped;
    std::optional<double>
        simulated;             ///< in the row's unit; nothing where a run failed or none was made
    std::string failure;       ///< why a run failed
    bool not_modelled = false; ///< a run failed because it needs what is not modelled
    std::optional<double> ours = {}; ///< as simulated, by our own plans
    std::string ours_failure = {};   ///< why one of their runs failed
    /// As simulated, of each seed's pattern, the first seed's first; empty where no pattern is drawn
    /// or one alone. `simulated` is their geometric mean.
    std::vector<double> of_seeds = {};
    std::vector<RunFacts> facts = {}; ///< of each of the measurement's runs that fits
    /// What the runs are called that the figure is of, where it is not of all.
    std::vector<std::string> best = {};

    [[nodiscard]] const Measurement* measurement() const {
        return std::get_if<Measurement>(&mapped);
    }
    /// The group to which it belongs or would belong; empty: no rule knows the row.
    [[nodiscard]] const std::string& group() const;
    /// Simulated over measured, of the times where the measurement says so; nothing where nothing
    /// was simulated.
    [[nodiscard]] std::optional<double> ratio() const;
    /// The same by our own plans.
    [[nodiscard]] std::optional<double> ours_ratio() const;
    /// The largest of its seeds' figures over the least; nothing where it has none.
    [[nodiscard]] std::optional<double> spread() const;
    /// The same without the barriers' cycles: of a kernel row with one run.
    [[nodiscard]] std::optional<double> no_sync_ratio() const;
    /// The gap of a judged kernel row with one run.
    [[nodiscard]] std::optional<Gap> gap() const;
    /// "judged", "open" (its group has no target), "calibrated" (column `calibrates` says what was
    /// taken from it), "failed", "not modelled" or "not covered".
    [[nodiscard]] std::string use() const;
    /// Why it failed or is not covered, what was assumed, or what was taken from it.
    [[nodiscard]] std::string note() const;
};

struct GroupOutcome {
    Group group;
    Nearness nearness;            ///< of the judged rows
    std::size_t failed = 0;       ///< rows whose runs failed
    std::size_t not_modelled = 0; ///< rows whose runs need what is not modelled; not judged
    Signs signs = {};             ///< of a group that is judged by them
    Signs ours_signs = {};
    Nearness no_sync = {}; ///< of those judged rows that have such a ratio
    Nearness ours = {};    ///< the same by our plans; where none is judged, of those not modelled
    std::optional<double> spread = {}; ///< geometric mean of the rows' spreads, where they have one
    Unexplained unexplained = {};
    std::vector<const RowOutcome*> worst = {}; ///< of kernels: farthest from 1 first

    /// False also where no row was judged.
    [[nodiscard]] bool reached() const {
        return failed == 0 && nearness.rows > 0 && meets(nearness, group.target, signs);
    }
};

struct Calibration {
    std::vector<RowOutcome> rows; ///< in the reference's order
    std::vector<OtherFile> other_files;
};

/// Groups that have rows, in order. They point into `calibration`.
[[nodiscard]] std::vector<GroupOutcome> group_outcomes(const Calibration& calibration);

} // namespace tessera::calibrate
