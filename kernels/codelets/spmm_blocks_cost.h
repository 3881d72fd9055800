// SPDX-License-Identifier: MIT
// What spmm_blocks_f16.S, spmm_blocks_f32.S and spmm_blocks_single.S cost, to the cycle: worker
// issues of a weight load and the supervisor's walk over the list. tests/kernels/codelets/sparse_codelet_test.cpp holds them to the
// interpreter's cycles.
#pragma once

#include "kernels/codelets/product_types.h"
#include "kernels/codelets/supervisor_timeline.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::codelets {

constexpr std::int64_t kBlocksColumns = 15; ///< SPARSE_BLOCK_COLUMNS, once a vertex

/// Weight loads of a block: one, or two with half of its inputs each.
[[nodiscard]] std::int64_t blocks_passes(std::int64_t block);
/// Registers that each of them fills, 8 bytes an instruction.
[[nodiscard]] std::int64_t blocks_weights(std::int64_t block, ProductTypes types);

/// Issues of a worker for one weight load of a block of `block` (4 or 8, in FP32 also 16) over its
/// `columns`; one more in a row's first one.
[[nodiscard]] std::int64_t blocks_issues(const spec::AmpSpec& amp, std::int64_t block,
                                         ProductTypes types, std::int64_t columns);

/// spmm_block<block>_<p> over `columns` columns, dealt evenly, from its first instruction to behind
/// its return; `row_blocks`: blocks of each row.
void run_blocks(SupervisorTimeline& time, const spec::AmpSpec& amp, std::int64_t block,
                ProductTypes types, std::int64_t columns,
                const std::vector<std::int32_t>& row_blocks);

} // namespace tessera::codelets
