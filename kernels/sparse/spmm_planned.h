// SPDX-License-Identifier: MIT
// A partition's product with the record of how it is divided.
#pragma once

#include "kernels/family/product.h"
#include "kernels/sparse/spmm_graph.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_partition.h"
#include "kernels/sparse/spmm_reduction.h"
#include "models/spec/machine_spec.h"

#include <optional>
#include <string>

namespace tessera::sparse {

/// "spmm 4096 x 4096 x 64"
[[nodiscard]] std::string name_of(const Problem& problem);
[[nodiscard]] family::Cuts cuts_of(const Split& split);

/// @throws DoesNotFit where the fullest tile has more to hold at once than memory
void check_bytes(const spec::MachineSpec& machine, const Partition& partition,
                 const Reduction& reduction);

/// The product's graph, and its record but for exchanges. @throws as emit()
[[nodiscard]] family::Planned planned(const spec::MachineSpec& machine, const Homes& homes,
                                      const Reduction& reduction,
                                      const std::optional<OfMatrix>& matrix = {});

} // namespace tessera::sparse
