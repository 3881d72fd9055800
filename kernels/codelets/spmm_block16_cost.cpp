// SPDX-License-Identifier: MIT
#include "kernels/codelets/spmm_block16_cost.h"

#include "kernels/codelets/matmul_amp_cost.h"

namespace tessera::codelets {

void run_block16(SupervisorTimeline& time, const spec::AmpSpec& amp, ElementType partials,
                 std::int64_t columns, const std::vector<bool>& fresh) {
    const Cycles pointer = time.issue();
    Cycles list = time.result_ready(time.issue());
    time.plain(1);
    const Cycles entry = time.issue();
    const std::vector<std::int64_t> issues(static_cast<std::size_t>(time.workers()),
                                           kBlock16Columns);
    time.run_all(issues, time.result_ready(entry));
    Cycles address = time.result_ready(time.issue(time.result_ready(pointer)));
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        time.issue(list); // the worker entry, ready long before it is launched
        time.sync();
        load_weights(time, partials, address);
        address = 0;
        launch_rows(time, amp, columns, fresh[i], kBlock16Addresses);
        list = time.result_ready(time.issue());
        i + 1 < fresh.size() ? time.jump() : time.plain(1);
    }
    time.sync();
    time.jump();
}

} // namespace tessera::codelets
