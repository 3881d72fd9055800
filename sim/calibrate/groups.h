// SPDX-License-Identifier: MIT
// The groups of figures that are judged together, and what each must reach.
#pragma once

#include "sim/calibrate/statistics.h"

#include <string>
#include <vector>

namespace tessera::sim::calibrate {

struct Group {
    enum class Kind {
        Micro,   ///< one mechanism of the machine
        Kernels, ///< whole products and vertices, by the ratio of times
        Signs,   ///< speed-ups, by which side of 1 they are on
    };
    const char* name;
    Target target;
    Kind kind = Kind::Micro;
    /// Loops or parts were read from rows that are judged: docs/evidence.md#calibrated-rows.
    bool read_from_rows = false;
};

/// In place of a group's name: all of a kind.
inline constexpr const char* kMicroGroups = "micro";
inline constexpr const char* kKernelGroups = "kernels";

/// In the order in which they are told.
[[nodiscard]] const std::vector<Group>& groups();

/// Contract: there is one of that name.
[[nodiscard]] const Group& group_of(const std::string& name);

/// Whether the group is the one that was asked for, or of that kind.
[[nodiscard]] bool is_in(const std::string& group, const std::string& asked);

/// @throws ConfigError with the nearest name
void check_group_name(const std::string& name);

} // namespace tessera::sim::calibrate
