// SPDX-License-Identifier: MIT
// All splits worth trying, cheapest first.
#pragma once

#include "kernels/plan/predicted_cycles.h"
#include "kernels/sparse/spmm_partition.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::sparse {

/// With more transfers than this the best-ranked split is taken: making and binding them takes the time.
inline constexpr std::size_t kManyTransfers = 30'000;

struct Candidate {
    Split split;
    plan::PredictedCycles predicted;
    Bytes bytes = 0; ///< of a tile
    Bytes over =
        0; ///< of them, of B or of messages, more than there is room for, lists reach or can well be planned
    bool ranked = false;            ///< by its parts, not by means
    std::size_t least_messages = 0; ///< of what was cut out, see spmm_homes.h; else 0

    [[nodiscard]] Cycles cycles() const { return predicted.total(); }
};

/// Splits by estimated cycles, those whose estimated bytes fit first. The best by averages are cut
/// out and ranked again by their parts: as many as some 10 million blocks, rows and columns allow,
/// shared out among host threads.
[[nodiscard]] std::vector<Candidate> search(const spec::MachineSpec& machine,
                                            const Problem& problem);

/// Several passes over one matrix, which is cut as `cut` says. Block i of the transpose is block
/// from[i] of the matrix.
struct Searched {
    const Problem& cut;
    std::span<const Problem> passes;
    const workload::SparsePattern* transpose = nullptr; ///< null: `cut` is the only one
    std::span<const std::int64_t> from = {};
};
/// The same for these: cycles are those of all, bytes and messages those of the pass that has most.
[[nodiscard]] std::vector<Candidate> search(const spec::MachineSpec& machine,
                                            const Searched& searched);

} // namespace tessera::sparse
