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

struct RowOutcome {
    ReferenceRow row;
    Mapped mapped;
    std::optional<double>
        simulated;       ///< in the row's unit; nothing where a run failed or none was made
    std::string failure; ///< why a run failed

    [[nodiscard]] const Measurement* measurement() const {
        return std::get_if<Measurement>(&mapped);
    }
    /// Simulated over measured; nothing where nothing was simulated.
    [[nodiscard]] std::optional<double> ratio() const;
    /// "judged", "calibrated" (a machine parameter was taken from it), "failed" or "not covered".
    [[nodiscard]] std::string use() const;
    /// Why it failed or is not covered, what was assumed, or which parameter was taken from it.
    [[nodiscard]] std::string note() const;
};

struct GroupOutcome {
    Group group;
    Nearness nearness;      ///< of the judged rows
    std::size_t failed = 0; ///< rows whose runs failed
    /// False also where no row was judged.
    [[nodiscard]] bool reached() const {
        return failed == 0 && nearness.rows > 0 && meets(nearness, group.target);
    }
};

struct Calibration {
    std::vector<RowOutcome> rows; ///< in the reference's order
    std::vector<OtherFile> other_files;
};

/// Groups that have rows, in order.
[[nodiscard]] std::vector<GroupOutcome> group_outcomes(const Calibration& calibration);

} // namespace tessera::sim::calibrate
