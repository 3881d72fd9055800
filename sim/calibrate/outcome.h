// SPDX-License-Identifier: MIT
// What came out for each reference row, and for each group of them.
#pragma once

#include "sim/calibrate/groups.h"
#include "sim/calibrate/measurement.h"
#include "sim/calibrate/reference.h"
#include "sim/calibrate/statistics.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::sim::calibrate {

/// A kernel's run: what it did, and how long.
struct KernelRun {
    struct Step {
        std::string name;
        double cycles = 0;
    };
    std::vector<Step> steps; ///< the longest first
    double cycles = 0;       ///< simulated
    double measured = 0;     ///< cycles that the row's figure stands for
    double words = 0;        ///< received in exchanges
    double supersteps = 0;   ///< exchanges and compute sets that were run
};

/// Of the result (result.json) of a run that took `cycles`.
[[nodiscard]] KernelRun kernel_run(const nlohmann::json& result, double cycles, double measured);

struct RowOutcome {
    ReferenceRow row;
    Mapped mapped;
    /// In the row's unit; nothing where a run failed or none was made.
    std::optional<double> simulated = {};
    std::string failure;                     ///< why a run failed
    bool is_not_modelled = false;            ///< it failed because it needs what is not modelled
    std::optional<double> ours = {};         ///< the figure of our own plan
    std::optional<double> without_sync = {}; ///< the figure without barriers
    std::optional<KernelRun> kernel = {};    ///< of kernels that are one run

    [[nodiscard]] const Measurement* measurement() const {
        return std::get_if<Measurement>(&mapped);
    }
    /// Simulated over measured; nothing where nothing was simulated.
    [[nodiscard]] std::optional<double> ratio() const;
    /// "judged", "calibrated" (a parameter was taken from it), "failed", "not modelled" or "not
    /// covered".
    [[nodiscard]] std::string use() const;
    /// Why it failed or is not covered, what was assumed, or which parameter was taken from it.
    [[nodiscard]] std::string note() const;
};

struct GroupOutcome {
    Group group;
    Nearness nearness;                       ///< of the judged rows
    std::size_t failed = 0;                  ///< rows whose runs failed
    std::size_t not_modelled = 0;            ///< of others
    std::optional<double> ours = {};         ///< geometric mean of our own plans' ratios
    std::optional<double> without_sync = {}; ///< of the ratios without barriers
    std::optional<Signs> signs = {};         ///< where the group's target is about them
    /// False also where no row was judged.
    [[nodiscard]] bool reached() const;
};

struct Calibration {
    std::vector<RowOutcome> rows; ///< in the reference's order
    std::vector<OtherFile> other_files;
};

/// Groups that have rows, in order.
[[nodiscard]] std::vector<GroupOutcome> group_outcomes(const Calibration& calibration);

/// The judged kernels of a group, the worst first.
[[nodiscard]] std::vector<const RowOutcome*> worst_kernels(const Calibration& calibration,
                                                           const Group& group);

} // namespace tessera::sim::calibrate
