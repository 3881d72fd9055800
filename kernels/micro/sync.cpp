// SPDX-License-Identifier: MIT
#include "kernels/micro/micro_plan.h"

#include <fmt/format.h>

namespace tessera::micro {

MicroPlan plan(const spec::MachineSpec& /*machine*/, const workload::SyncWorkload& workload) {
    program::Step sync;
    sync.kind = program::Step::Kind::Sync;
    MicroPlan plan;
    plan.program.name = "sync";
    plan.program.control.kind = program::Step::Kind::Repeat;
    plan.program.control.count = static_cast<std::uint32_t>(workload.repeats);
    plan.program.control.children.push_back(sync);
    plan.sentence = fmt::format("sync, {} times", workload.repeats);
    return plan;
}

} // namespace tessera::micro
