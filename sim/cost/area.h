// SPDX-License-Identifier: MIT
// Area of a chip by part, to weigh designs against each other.
// Source: docs/evidence.md#area
#pragma once

#include "models/spec/machine_spec.h"

namespace tessera::cost {

/// In mm2, of one chip.
struct Area {
    double memory_mm2 = 0;
    double workers_mm2 = 0;
    double matrix_mm2 = 0;
    double exchange_mm2 = 0;
    double other_mm2 = 0;

    [[nodiscard]] double total_mm2() const {
        return memory_mm2 + workers_mm2 + matrix_mm2 + exchange_mm2 + other_mm2;
    }
};

[[nodiscard]] Area area_of(const spec::MachineSpec& machine);

} // namespace tessera::cost
