// SPDX-License-Identifier: MIT
// The groups of figures that are judged together, and what each must reach.
#pragma once

#include "sim/calibrate/statistics.h"

#include <string>
#include <vector>

namespace tessera::calibrate {

struct Group {
    enum class Kind {
        Micro,   ///< one mechanism of the machine
        Kernels, ///< whole products and vertices, by the ratio of times
        Signs,   ///< speed-ups, by which side of 1 they are on
        /// The best rate over a number of columns that is not known: a ceiling for each that was
        /// measured. Only runs that are faster than it count as errors.
        Ceilings,
        Models, ///< several kernels and the transfers between them, by the ratio of times
    };
    const char* name;
    Target target;
    Kind kind = Kind::Micro;
    /// Why the figures of the group test less than they seem to: docs/evidence.md#calibrated-rows.
    struct Marks {
        bool read = false;     ///< loops or parts of the workload were read from its rows
        bool chosen = false;   ///< which steps are timed was chosen after seeing its rows
        bool constant = false; ///< most of its figures is one constant
    } marks = {};
};

/// In place of a group's name: all of a kind.
inline constexpr const char* kMicroGroups = "micro";
inline constexpr const char* kKernelGroups = "kernels";
inline constexpr const char* kModelGroups = "models";
/// All groups of traffic between chips, which are Micro.
inline constexpr const char* kLinkGroups = "links";

/// In the order in which they are told.
[[nodiscard]] const std::vector<Group>& groups();

/// Contract: there is one of that name.
[[nodiscard]] const Group& group_of(const std::string& name);

/// Whether the group is the one that was asked for, or of that kind.
[[nodiscard]] bool is_in(const std::string& group, const std::string& asked);

/// @throws ConfigError with the nearest name
void check_group_name(const std::string& name);

} // namespace tessera::calibrate
