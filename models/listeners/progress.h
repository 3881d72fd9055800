// SPDX-License-Identifier: MIT
// How far a run is, in steps of its control program.
#pragma once

#include "models/events/events.h"
#include "models/program/control_check.h"
#include "models/program/program.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace tessera::listeners {

class Progress final : public events::Listener {
public:
    /// Told at each release: steps done, steps in all, which are not known where there is a while or
    /// an if, and cycles.
    using Tell = std::function<void(std::int64_t done, std::int64_t total, Cycles cycle)>;

    Progress(const program::Program& program, Tell tell)
        : total_(program::expected_steps(program)), tell_(std::move(tell)) {}

    void released(const events::Release& release) override {
        tell_(release.steps_done, std::max(total_, release.steps_done), release.cycle);
    }

private:
    std::int64_t total_;
    Tell tell_;
};

} // namespace tessera::listeners
