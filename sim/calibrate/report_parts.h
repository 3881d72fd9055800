// SPDX-License-Identifier: MIT
// Words and columns that the tables of calibrations have in common.
#pragma once

#include "base/layout.h"
#include "sim/calibrate/outcome.h"

#include <string>
#include <vector>

namespace tessera::calibrate {

[[nodiscard]] std::string percent_text(double fraction);

/// What was asked of a group and whether it was reached.
[[nodiscard]] std::string verdict(const GroupOutcome& outcome, const Layout& layout);

/// The group's name with a sign for each of its marks.
[[nodiscard]] std::string marked_name(const Group& group);
/// What the signs mean that stand in a table of these groups; empty where there are none.
[[nodiscard]] std::string marks_text(const std::vector<GroupOutcome>& outcomes,
                                     const Layout& layout);

/// Lines of rows: micro rows and kernel rows have other columns.
class RowLines {
public:
    RowLines(const Calibration& calibration, const Layout& layout, bool of_kernels);

    [[nodiscard]] std::string heading() const;
    [[nodiscard]] std::string row(const RowOutcome& row) const;

private:
    [[nodiscard]] std::string line(const std::string& id, const std::string& unit,
                                   const std::string& measured, const std::string& simulated,
                                   const std::string& ratio, const std::string& no_sync,
                                   const std::string& ours) const;

    const Layout& layout_;
    bool of_kernels_;
    std::size_t id_width_ = 0;
    std::size_t unit_width_ = 0;
};

/// Of the groups of the kinds, a table of rows each below one heading; empty if there are none.
[[nodiscard]] std::string rows_text(const Calibration& calibration, const Layout& layout,
                                    bool of_kernels);

} // namespace tessera::calibrate
