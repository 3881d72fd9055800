// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_planned.h"

#include "base/error.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera::sparse {
namespace {

/// The FP32 accumulators of elements are rounded once with FP16 partials that are reduced. The check's
/// own last rounding stands for the result.
std::int64_t roundings_of(const Partition& partition) {
    const Problem& problem = partition.problem();
    std::size_t contributors = 0;
    for (std::int64_t row = 0; row < problem.matrix->block_rows(); ++row) {
        contributors = std::max(contributors, partition.contributors(row).size());
    }
    const std::int64_t blocks = problem.row_blocks.empty() ? 0 : problem.row_blocks.front();
    const bool half = problem.types.partials == ElementType::F16;
    const std::int64_t reduced = contributors > 1 ? 1 : 0;
    return problem.kind->block_roundings * blocks +
           (half ? reduced : static_cast<std::int64_t>(contributors));
}

} // namespace

std::string name_of(const Problem& problem) {
    return fmt::format("{} {} x {} x {}", problem.pass == Pass::Sampled ? "sddmm" : "spmm",
                       problem.matrix->rows, problem.matrix->columns, problem.n);
}

family::Cuts cuts_of(const Split& split) {
    return {split.parts_m, split.parts_k, split.parts_n, split.passes};
}

void check_bytes(const spec::MachineSpec& machine, const Partition& partition,
                 const Reduction& reduction) {
    if (const Bytes bytes = least_bytes(machine, partition, reduction);
        bytes > machine.memory.bytes()) {
        throw DoesNotFit(
            fmt::format("{} does not fit in tile memory: the fullest tile is {} bytes over "
                        "with the operands, partial results and results that it has at once",
                        name_of(partition.problem()), bytes - machine.memory.bytes()));
    }
}

family::Planned planned(const spec::MachineSpec& machine, const Homes& homes,
                        const Reduction& reduction, const std::optional<OfMatrix>& matrix) {
    const Partition& partition = homes.partition();
    family::Planned made = emit(machine, homes, reduction, name_of(partition.problem()), matrix);
    static_cast<family::Cuts&>(made.division) = cuts_of(partition.split());
    made.division.roundings = roundings_of(partition);
    return made;
}

} // namespace tessera::sparse
