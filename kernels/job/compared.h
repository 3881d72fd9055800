// SPDX-License-Identifier: MIT
// Bytes that a run left against those that it must leave.
#pragma once

#include "kernels/job/job.h"

#include <cstddef>
#include <span>
#include <string>

namespace tessera::job {

struct Compared {
    std::size_t bytes = 0;
    std::string wrong; ///< the first difference, as a sentence; empty: none
};

/// Both are of one size.
void compare(const std::string& tensor, std::span<const std::byte> got,
             std::span<const std::byte> expected, Compared& compared);

[[nodiscard]] CheckOutcome outcome_of(const Compared& compared);

} // namespace tessera::job
