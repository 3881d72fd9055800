// SPDX-License-Identifier: MIT
// Which rows of C have several contributors, and who sums them up.
#pragma once

#include "kernels/sparse/spmm_partition.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::sparse {

/// Rows of C that one part sums up: its own partial lines and one slice of lines from every other
/// contributor.
struct SumJob {
    std::int32_t reducer = 0;
    std::int32_t first_row = 0;
    std::int32_t rows = 0;
    std::vector<std::int32_t> others; ///< contributing parts besides the reducer
    std::int64_t slices_offset = 0;   ///< lines into the buffer "slices"
    std::int64_t result_offset = 0;   ///< lines into the buffer "result"
};

struct Reduction {
    std::vector<SumJob> jobs;
    std::vector<std::vector<std::size_t>> jobs_of_part;
    std::vector<std::int64_t> slices_lines; ///< of each part: partial lines that it receives
    std::vector<std::int64_t> result_lines; ///< of each part: lines that it sums up
    std::vector<std::int32_t> empty_rows;   ///< block rows without blocks, ascending

    [[nodiscard]] std::int64_t most_slices() const { return most(slices_lines); }
    [[nodiscard]] std::int64_t most_results() const { return most(result_lines); }

private:
    static std::int64_t most(const std::vector<std::int64_t>& lines) {
        return lines.empty() ? 0 : *std::ranges::max_element(lines);
    }
};

/// Consecutive rows with the same contributors are dealt evenly to these. With FP16 partials a sole
/// contributor's rows are the result; FP32 ones are still to be rounded.
[[nodiscard]] Reduction find_reduction(const Partition& partition);

} // namespace tessera::sparse
