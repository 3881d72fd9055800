// SPDX-License-Identifier: MIT
// Counts that a test makes up.
#pragma once

#include "models/counts/counts.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace tessera::test {

/// Counts of which each group named has its number, all of it in its first kind.
inline counts::Counts
counted(std::initializer_list<std::pair<counts::Group, std::int64_t>> groups) {
    counts::Counts counts;
    for (const auto& [group, number] : groups) {
        counts.at(group) = number;
    }
    return counts;
}

} // namespace tessera::test
