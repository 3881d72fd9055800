// SPDX-License-Identifier: MIT
// Which points are good: objectives over the workloads of a set, the front of those that none is
// better than, how much objectives change with what is changed.
#pragma once

#include "sim/sweep/at_hand.h"
#include "sim/sweep/condition.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/reasons.h"
#include "sim/sweep/sweep_file.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

/// A candidate of which the store has something: a machine is judged by all that it must run.
struct Judged {
    const Candidate* candidate = nullptr;
    std::vector<std::size_t> rows; ///< of the table, in the order of the sweep's workloads
    std::vector<double> values;    ///< of each objective; none where a point has no such number
    std::string why_not_whole;     ///< in a few words: "does_not_fit", "has no plan.chunks"
    std::size_t row_not_whole = 0; ///< of which that is said
    std::string broken;            ///< the first constraint that does not hold; empty: all hold

    [[nodiscard]] bool is_whole() const { return !values.empty(); }
    /// What it changes there: settings that only some workloads have are in the rows of these.
    [[nodiscard]] const Cell& setting(const PointTable& table, std::size_t column) const;
    [[nodiscard]] bool keeps_constraints() const { return broken.empty(); }
    /// Whether it may be best.
    [[nodiscard]] bool is_compared() const { return is_whole() && keeps_constraints(); }
};

/// In the order of the candidates, which must outlive them. One without all of its lines is not whole.
[[nodiscard]] std::vector<Judged> judge(PointTable& table, const std::vector<Candidate>& candidates,
                                        const std::vector<Objective>& objectives,
                                        std::vector<Condition>& constraints);

/// The path of a result by which is_comparable() knows runs without a product: a column of the table.
inline constexpr const char* kEmptyMatrices = "empty_matrices";

/// Whether a row's numbers may be held against others: it is ok, and has computed something.
[[nodiscard]] bool is_comparable(const PointTable& table, std::size_t row);

/// Why those that are not compared are not, as far as the table has columns `message` and `note`.
/// Broken constraints count where they do.
[[nodiscard]] Reasons left_out(const PointTable& table, const std::vector<Judged>& judged,
                               bool with_constraints);

/// Whether `one` is better than `other` in `objective`.
[[nodiscard]] bool is_better(const Objective& objective, double one, double other);

/// Numbers of the judged that are whole, keep the constraints, and than which no other such is at
/// least as good in all objectives and better in one.
[[nodiscard]] std::vector<std::size_t> front_of(const std::vector<Judged>& judged,
                                                const std::vector<Objective>& objectives);

/// How an objective changes with a path.
struct Effect {
    std::string path;
    std::size_t objective = 0;
    struct Level {
        std::string value; ///< a number, a word, or, of many numbers, "16..64"
        double mean = 0;   ///< geometric, of all points that have the value
        std::size_t points = 0;
    };
    std::vector<Level> levels;        ///< in the order of values
    double largest_over_smallest = 1; ///< of the means
    std::optional<double>
        elasticity; ///< d ln objective / d ln path, by least squares; numbers only
};

/// Of every path that points change, the objective's largest effects first. Where there is a point
/// that changes nothing, each path by itself: points that change it alone, beside that one, whose
/// values `base` knows. Else the means over all points. Of more than kMostLevels numbers, levels are
/// ranges of about as many points each. Neither seeds nor `derived` are among the paths. Objectives
/// that are not above 0 have no effects.
[[nodiscard]] std::vector<Effect> effects_of(PointTable& table, const std::vector<Judged>& judged,
                                             const std::vector<Objective>& objectives,
                                             const std::map<std::string, double>& base,
                                             const std::vector<Derived>& derived = {});
inline constexpr std::size_t kMostLevels = 12;

/// How far points that differ in their seeds alone lie apart. Seeds are paths that end in `seed`.
struct Spread {
    std::string paths; ///< of the seeds
    std::size_t objective = 0;
    std::size_t groups = 0;           ///< of points with several seeds
    double largest_over_smallest = 1; ///< geometric mean over the groups
};
[[nodiscard]] std::vector<Spread> spread_of(PointTable& table, const std::vector<Judged>& judged,
                                            const std::vector<Objective>& objectives);

} // namespace tessera::sweep
