// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/matmul/matmul.h"

namespace tessera::test {

/// A product planned by itself.
inline family::Divided choose_matmul(const spec::MachineSpec& machine,
                                     const workload::MatmulWorkload& workload) {
    exchange_plan::KnownSchedules known;
    return matmul::choose(machine, workload, known);
}

} // namespace tessera::test
