// SPDX-License-Identifier: MIT
// Single non-zeros: how workers share them.
#pragma once

#include "kernels/sparse/spmm_partition.h"
#include "models/program/pointer_format.h"

#include <cstdint>
#include <vector>

namespace tessera::sparse {

/// How the lists of single elements say where a line of the dense operand begins: in bytes from the
/// first.
inline constexpr auto kLineOffset = program::PointerFormat::Scaled16;

/// What one worker multiplies of a part: consecutive rows with blocks, and consecutive groups of
/// columns, 16 bytes of B each.
struct Share {
    Range rows;
    Range groups;
    std::int64_t first_block = 0; ///< of the part
    std::int64_t blocks = 0;
};

/// A share for each worker. The workers form teams of equal size: a team has nearly equal work in
/// rows, its workers part the column groups; the team size is the one whose slowest worker ends
/// first. So a heavy row is not one worker's.
[[nodiscard]] std::vector<Share> deal_work(const Problem& problem, const Part& part,
                                           std::int64_t column_groups, std::int64_t workers);

} // namespace tessera::sparse
