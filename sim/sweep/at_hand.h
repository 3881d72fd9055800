// SPDX-License-Identifier: MIT
// The lines of one sweep, and which rows of a store's table they are: what is judged, whatever else
// the store holds.
#pragma once

#include "sim/sweep/planner.h"
#include "sim/sweep/point_table.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

/// A machine with one choice of settings: what is better or worse than others.
struct Candidate {
    /// It with one of the workloads that it must run.
    struct Line {
        std::size_t workload = 0;           ///< its number in the sweep's own list
        std::optional<std::int64_t> number; ///< of the point; nothing: the sweep has no such line
        std::optional<std::size_t> row;     ///< of the table; nothing: the store has no such line
        bool is_excluded = false;           ///< by a condition of the sweep
    };
    std::vector<Line> lines; ///< one a workload, in the sweep's own order
};

/// The candidates of a sweep, in the order of its points. Where a name has stood for several
/// contents, a line's row is the one of the sweep's own content.
[[nodiscard]] std::vector<Candidate> candidates_of(Planner& planner, const SweepSpec& sweep,
                                                   const PointTable& table);

/// The same of a table all of whose lines are of versions that do not say what names led to: `rows`
/// are the sweep's, and workloads are known by their short names. @throws IoError where these do not
/// tell the sweep's workloads apart
[[nodiscard]] std::vector<Candidate> candidates_of_older(const SweepSpec& sweep,
                                                         const PointTable& table,
                                                         const std::vector<std::size_t>& rows);

/// The same where no sweep says which lines there are: `rows` that agree in all but their workload.
/// Workloads that are written as one of `workloads` have its number, others come behind, as they
/// are found.
[[nodiscard]] std::vector<Candidate> candidates_in(const PointTable& table,
                                                   const std::vector<std::size_t>& rows,
                                                   const std::vector<std::string>& workloads = {});

/// Candidates with what some rows say of them alone. A workload of which none of the rows is, is not
/// wanted of any candidate.
[[nodiscard]] std::vector<Candidate> among(std::vector<Candidate> candidates,
                                           const std::vector<std::size_t>& rows);

} // namespace tessera::sweep
