// SPDX-License-Identifier: MIT
// What spmm_blocks_f16.S and spmm_blocks_f32.S cost, to the cycle: worker issues of a block and the
// supervisor's walk over the list. tests/kernels/codelets/sparse_codelet_test.cpp holds them to the
// interpreter's cycles.
#pragma once

#include "base/element_type.h"
#include "kernels/codelets/supervisor_timeline.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::codelets {

constexpr std::int64_t kBlocksColumns = 15; ///< SPARSE_BLOCK_COLUMNS, once a vertex

/// Issues of a worker for one block of `block` (4 or 8) over its `columns`; one more in a row's
/// first block.
[[nodiscard]] std::int64_t blocks_issues(const spec::AmpSpec& amp, std::int64_t block,
                                         ElementType partials, std::int64_t columns);

/// spmm_block4_<p> or spmm_block8_<p> over `columns` columns, dealt evenly, from its first
/// instruction to behind its return; `row_blocks`: blocks of each row.
void run_blocks(SupervisorTimeline& time, const spec::AmpSpec& amp, std::int64_t block,
                ElementType partials, std::int64_t columns,
                const std::vector<std::int32_t>& row_blocks);

} // namespace tessera::codelets
