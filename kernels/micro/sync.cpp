// SPDX-License-Identifier: MIT
#include "kernels/micro/micro.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::micro {

Emitted emit(const spec::MachineSpec& /*machine*/, const workload::SyncWorkload& workload) {
    graph::Step sync;
    sync.kind = graph::Step::Kind::Sync;
    graph::Graph graph(fmt::format("sync, {} times", workload.repeats));
    graph.control = graph::repeat(workload.repeats, {sync});
    return {std::move(graph), [] { return Values{}; }};
}

} // namespace tessera::micro
