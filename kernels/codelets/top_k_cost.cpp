// SPDX-License-Identifier: MIT
#include "kernels/codelets/top_k_cost.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::codelets {

void run_top_k_select(SupervisorTimeline& time, TopKElement element,
                      std::span<const TopKStage> stages) {
    const std::int64_t workers = time.workers();
    time.plain(1);
    const Cycles sort = time.result_ready(time.issue());
    time.plain(1);
    Cycles stage = time.result_ready(time.issue());
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const Cycles halves = time.result_ready(time.issue(stage));
        const Cycles entry = time.result_ready(time.issue(sort));
        const Cycles chosen = time.result_ready(time.issue(std::max(halves, entry)));
        std::vector<std::int64_t> issues;
        for (std::int64_t worker = 0; worker < workers; ++worker) {
            issues.push_back(
                top_k_stage_issues(element, stages[i].halves,
                                   stages[i].comparisons / workers +
                                       (worker < stages[i].comparisons % workers ? 1 : 0)));
        }
        time.run_all(issues, chosen);
        stage = time.result_ready(time.issue());
        time.sync();
        i + 1 < stages.size() ? time.jump() : time.plain(1);
    }
    time.jump();
}

} // namespace tessera::codelets
