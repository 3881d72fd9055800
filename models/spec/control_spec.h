// SPDX-License-Identifier: MIT
// What the control program costs by itself.
#pragma once

#include "base/units.h"

namespace tessera::spec {

struct ControlSpec {
    Cycles step_cycles = 11;

    template <class Description> static void describe(Description& d) {
        d.field("step_cycles", &ControlSpec::step_cycles)
            .unit("cycles")
            .range(0, 100000)
            .says("entering one compute set from the control program")
            .from("docs/evidence.md#control");
    }
};

} // namespace tessera::spec
