// SPDX-License-Identifier: MIT
#include "kernels/codelets/supervisor_timeline.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::codelets {

SupervisorTimeline::SupervisorTimeline(const spec::MachineSpec& machine)
    : pipeline_cycles_(machine.tile.pipeline_cycles), round_(machine.tile.round_cycles()),
      free_(static_cast<std::size_t>(machine.tile.workers), 0) {}

Cycles SupervisorTimeline::issue(Cycles sources_ready) {
    const Cycles earliest = std::max(now_, sources_ready);
    for (Cycles cycle = earliest; cycle < earliest + round_; ++cycle) {
        const auto slot = static_cast<std::size_t>(cycle % round_);
        if (slot >= free_.size() || free_[slot] <= cycle) {
            now_ = cycle + 1;
            ++issues_;
            return cycle;
        }
    }
    return issue(*std::min_element(free_.begin(), free_.end()));
}

void SupervisorTimeline::plain(std::int64_t instructions) {
    for (std::int64_t i = 0; i < instructions; ++i) {
        issue();
    }
}

void SupervisorTimeline::jump(Cycles sources_ready) {
    now_ = issue(sources_ready) + pipeline_cycles_;
}

void SupervisorTimeline::launch(Cycles issued, std::size_t worker, std::int64_t issues) {
    const Cycles earliest = issued + pipeline_cycles_;
    const Cycles start =
        earliest + ((static_cast<Cycles>(worker) - earliest) % round_ + round_) % round_;
    free_[worker] = start + round_ * (issues - 1) + pipeline_cycles_;
}

void SupervisorTimeline::run_all(std::span<const std::int64_t> issues, Cycles sources_ready) {
    TESSERA_ASSERT(issues.size() == free_.size());
    const Cycles issued = issue(sources_ready);
    for (std::size_t n = 0; n < free_.size(); ++n) {
        launch(issued, n, issues[n]);
    }
}

void SupervisorTimeline::run_all(std::int64_t longer, std::int64_t more, std::int64_t fewer) {
    const Cycles issued = issue();
    for (std::size_t n = 0; n < free_.size(); ++n) {
        launch(issued, n, static_cast<std::int64_t>(n) < longer ? more : fewer);
    }
}

void SupervisorTimeline::run(std::int64_t issues, Cycles sources_ready) {
    launch(issue(sources_ready), 0, issues);
}

void SupervisorTimeline::sync() {
    issue();
    now_ = std::max(now_, *std::max_element(free_.begin(), free_.end()));
}

} // namespace tessera::codelets
