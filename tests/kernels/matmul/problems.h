// SPDX-License-Identifier: MIT
// Machines and problems of tests of the dense product.
#pragma once

#include "kernels/matmul/matmul_grid.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::test {

inline spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

inline workload::MatmulWorkload product(std::int64_t m, std::int64_t k, std::int64_t n,
                                        ElementType partials = ElementType::F16) {
    workload::MatmulWorkload workload;
    workload.m = m;
    workload.k = k;
    workload.n = n;
    workload.partials = partials;
    return workload;
}

inline matmul::Problem problem_of(std::int64_t m, std::int64_t k, std::int64_t n,
                                  ElementType partials = ElementType::F16) {
    return matmul::Problem(product(m, k, n, partials));
}

} // namespace tessera::test
