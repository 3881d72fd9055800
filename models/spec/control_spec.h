// SPDX-License-Identifier: MIT
// What the control program costs by itself.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::spec {

struct ControlSpec {
    Cycles step_cycles = 11;
    Cycles repeat_cycles = 19;
    Cycles branch_cycles = 12;
    Cycles call_cycles = 19;
    std::int64_t while_limit_rounds = 1'000'000;

    template <class Description> static void describe(Description& d) {
        d.field("step_cycles", &ControlSpec::step_cycles)
            .unit("cycles")
            .range(0, 100000)
            .says("entering one compute set from the control program")
            .from("docs/evidence.md#control")
            .used_by({"compute sets", "background copies"});
        d.field("repeat_cycles", &ControlSpec::repeat_cycles)
            .unit("cycles")
            .range(0, 100000)
            .says("one round of a repeat: its counter, kept in memory, and the branch back")
            .from("docs/evidence.md#control")
            .used_by({"repeats"});
        d.field("branch_cycles", &ControlSpec::branch_cycles)
            .unit("cycles")
            .range(0, 100000)
            .says("an if, or one look of a while at its value, when every tile has the value")
            .from("docs/evidence.md#control")
            .used_by({"decisions"});
        d.field("call_cycles", &ControlSpec::call_cycles)
            .unit("cycles")
            .range(0, 100000)
            .says("calling a function of the control program and returning from it")
            .from("docs/evidence.md#control")
            .used_by({"calls"});
        d.field("while_limit_rounds", &ControlSpec::while_limit_rounds)
            .unit("rounds")
            .range(1, 1'000'000'000'000)
            .says("a while that goes on for longer is a fault")
            .from("docs/evidence.md#control")
            .used_by({"whiles"});
    }
};

} // namespace tessera::spec
