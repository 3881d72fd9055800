// SPDX-License-Identifier: MIT
#include "sim/planner.h"

#include "base/error.h"

namespace tessera::sim {

Plan plan(const spec::MachineSpec&, const workload::MatmulWorkload&) {
    throw NotModelled("not modelled: planning of matmul");
}

Plan plan(const spec::MachineSpec&, const workload::SpmmWorkload&, const workload::SparseF16&) {
    throw NotModelled("not modelled: planning of spmm");
}

} // namespace tessera::sim
