// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/sparse/spmm.h"

namespace tessera::test {

/// A product planned by itself.
inline family::Divided choose_spmm(const spec::MachineSpec& machine,
                                   const workload::SpmmWorkload& workload,
                                   const workload::SparsePattern& matrix) {
    exchange_plan::KnownSchedules known;
    return sparse::choose(machine, workload, matrix, known);
}

} // namespace tessera::test
