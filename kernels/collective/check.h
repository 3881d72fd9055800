// SPDX-License-Identifier: MIT
// Runs a schedule on symbols: a fragment of a member is the set of members whose values are in it.
#pragma once

#include "kernels/collective/schedule.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::collective {

/// The first thing that is wrong with a schedule, as a sentence without a full stop; nothing if it does
/// what its kind says:
///   - all-reduce: each member ends with every fragment, the sum of all members' values of it;
///   - reduce-scatter: member m ends with that sum in fragment m;
///   - all-gather: member m begins with fragment m, and each ends with every one;
///   - no value is added twice, nothing is sent or added to that is not there, and no fragment of a member
///     has two writers, or a writer and a reader, in one step.
[[nodiscard]] std::optional<std::string> mistake_of(const Schedule& schedule);

/// Numbers of the edges from one chip to another.
using Route = std::function<std::span<const std::int32_t>(std::int32_t from, std::int32_t to)>;

struct EdgeLoad {
    std::int32_t edge = -1; ///< the busiest one, the lowest number of equals; -1: there is no send
    std::int64_t fragments = 0; ///< that go over it in the step
};

/// Returns one element a step. `chips` says which chip each member is.
[[nodiscard]] std::vector<EdgeLoad>
busiest_edges(const Schedule& schedule, std::span<const std::int32_t> chips, const Route& route);

} // namespace tessera::collective
