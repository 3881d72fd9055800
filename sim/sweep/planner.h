// SPDX-License-Identifier: MIT
// Turns a sweep's points into runs: machine, workload, every value that a point changes (derived values
// too), and its key.
#pragma once

#include "base/config/paths.h"
#include "sim/sweep/line_name.h"
#include "sim/sweep/point_key.h"
#include "sim/sweep/sweep_file.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace tessera::sweep {

/// Digests of what a line's names lead to, by what names it: kMachinePath, kWorkloadPath, and paths
/// of settings that name files.
using Contents = std::map<std::string, std::string>;

/// A line of a sweep: what it calls its machine and workload, and its settings.
struct PlannedLine {
    std::string machine;  ///< as the sweep names it
    std::string workload; ///< the same
    Changes changes; ///< from the machine and the workload as they are; what follows comes last
    bool is_excluded = false;
};

/// A line as a run.
struct PlannedPoint : PlannedLine {
    Contents contents;
    std::string machine_file;         ///< or name, as a run has it
    std::string workload_file;        ///< the same
    std::vector<std::string> sets;    ///< `path=value`, as a run has them
    PointKey key;                     ///< none where it is excluded or has mistakes
    std::vector<Diagnostic> mistakes; ///< why it cannot run: values that no machine may have
};

[[nodiscard]] LineName name_of(const PlannedLine& line, const std::string& mode);

/// `path=value`, as --set has it.
[[nodiscard]] std::vector<std::string> sets_of(const Changes& changes);

/// Every n-th point, of those that n processes share.
struct Shard {
    std::int64_t number = 0; ///< from 0
    std::int64_t of = 1;
};

/// Makes points by number. Files are read once, and what points have in common is kept for a while.
class Planner {
public:
    /// What is given must outlive it.
    Planner(const SweepSpec& sweep, const config::Document& document,
            const config::ConfigPaths& paths, PointKeys& keys);
    ~Planner();
    Planner(const Planner&) = delete;
    Planner& operator=(const Planner&) = delete;

    /// Points of the axes, then those of the sweep's own.
    [[nodiscard]] std::int64_t size() const;
    /// Point `number`; for the first few of a sweep, and for who asks one by one.
    /// @throws IoError, or ConfigError where the sweep is wrong and not only the point
    [[nodiscard]] PlannedPoint at(std::int64_t number);
    /// The same without its run: files of settings are not read, and values are not checked.
    [[nodiscard]] PlannedLine line(std::int64_t number);
    /// What a line's names lead to. @throws as at()
    [[nodiscard]] Contents contents_of(const PlannedLine& line);
    /// What one name leads to, by the path that names it.
    [[nodiscard]] std::string content_of(const std::string& path, const std::string& written);
    /// Equal for lines that differ in machine and workload alone; nothing for the sweep's own
    /// points.
    [[nodiscard]] std::optional<std::int64_t> sample_of(std::int64_t number) const;
    /// The workload's name of a point, without planning it.
    [[nodiscard]] std::string workload_of(std::int64_t number) const;
    /// A point of its own: changes besides the sweep's `set`.
    [[nodiscard]] PlannedPoint made_of(const Changes& changes);

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// A sweep's points, each content once, without what they are: 56 bytes a point.
struct Plan {
    struct Point {
        std::int64_t number = 0;
        PointKey key;
        LineName name = 0;
    };
    std::vector<Point> points;
    std::vector<Point> equal; ///< lines of other names with the content of a point
    std::int64_t excluded = 0;
    std::int64_t invalid = 0;                 ///< points with mistakes
    std::vector<Diagnostic> invalid_examples; ///< the first mistake of a few of them
};

/// All points of a shard, on all cores where they are many. The caller's thread is the only one that
/// is left.
/// @throws ConfigError where an axis, a value for all or what follows is never right, whatever else
/// a point changes: a path that nothing has, for example; of a whole sweep, not of a part
[[nodiscard]] Plan plan_points(const SweepSpec& sweep, const config::Document& document,
                               const config::ConfigPaths& paths, const PointKeys& keys,
                               const Shard& shard = {});

} // namespace tessera::sweep
