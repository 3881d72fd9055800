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
    Bytes step_bytes = 4;
    Bytes exchange_bytes = 32;
    Bytes sync_bytes = 4;
    Bytes repeat_bytes = 24;
    Bytes branch_bytes = 12;
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
        d.field("step_bytes", &ControlSpec::step_bytes)
            .unit("bytes")
            .range(0, 100000)
            .says("code of one compute set in the control program")
            .from("docs/evidence.md#control")
            .used_by({"compute sets"});
        d.field("exchange_bytes", &ControlSpec::exchange_bytes)
            .unit("bytes")
            .range(0, 100000)
            .says("code of one exchange or stream copy in the control program")
            .from("docs/evidence.md#control")
            .used_by({"exchanges", "reads of streaming memory", "writes to streaming memory",
                      "reads from the host", "writes to the host"});
        d.field("sync_bytes", &ControlSpec::sync_bytes)
            .unit("bytes")
            .range(0, 100000)
            .says("code of a barrier, or of a wait for a stream copy, in the control program")
            .from("docs/evidence.md#control")
            .used_by({"barriers", "barriers between chips", "barriers with the host",
                      "background copies"});
        d.field("repeat_bytes", &ControlSpec::repeat_bytes)
            .unit("bytes")
            .range(0, 100000)
            .says("code of a repeat around its steps: its counter and the branch back")
            .from("docs/evidence.md#control")
            .used_by({"repeats"});
        d.field("branch_bytes", &ControlSpec::branch_bytes)
            .unit("bytes")
            .range(0, 100000)
            .says("code of an if or a while around its steps")
            .from("docs/evidence.md#control")
            .used_by({"decisions"});
        d.field("while_limit_rounds", &ControlSpec::while_limit_rounds)
            .unit("rounds")
            .range(1, 1'000'000'000'000)
            .says("a while that goes on for longer is a fault")
            .from("docs/evidence.md#control")
            .used_by({"whiles"});
    }
};

} // namespace tessera::spec
