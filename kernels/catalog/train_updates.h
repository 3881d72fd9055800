// SPDX-License-Identifier: MIT
// Updates of tensors by their gradients: what the optimiser keeps, sums of several gradients, and the scale of a loss.
#pragma once

#include "kernels/catalog/train_writer.h"
#include "kernels/workload/pipeline_workload.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tessera::catalog {

struct UpdateRequest {
    const workload::Training& train;
    const std::vector<workload::PipelineTensor>& given; ///< tensors of the file
    std::vector<WantedGradient> wanted;                 ///< of tensors that are updated
    std::map<std::string, std::string> gradients;       ///< names, by tensor
    std::string by_rounds;       ///< a tensor whose rows rounds update themselves; empty: none
    bool is_in_rounds = false;   ///< the steps are those of such a round
    std::size_t first_place = 0; ///< of the steps so far: behind which updates may stand
};

/// Adds the updates, if the request has an optimiser, each right behind the last step that reads its tensor or the
/// gradient. Where gradients are summed, all steps so far become rounds of a repeat before.
void add_updates(TrainWriter& writer, UpdateRequest request);

} // namespace tessera::catalog
