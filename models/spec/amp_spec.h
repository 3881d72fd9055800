// SPDX-License-Identifier: MIT
// The matrix unit. How many units there are follows from the generation (matrix_unit.h).
#pragma once

#include <cstdint>

namespace tessera::spec {

struct AmpSpec {
    double steps_per_issue = 1;

    /// Steps that may share an issue, and issues that a step takes: at least one of the two is 1.
    [[nodiscard]] std::int64_t steps_sharing() const {
        return steps_per_issue > 1 ? static_cast<std::int64_t>(steps_per_issue) : 1;
    }
    [[nodiscard]] std::int64_t step_issues() const {
        return steps_per_issue < 1 ? static_cast<std::int64_t>(1 / steps_per_issue) : 1;
    }
    /// Issues of so many successive steps of a worker.
    [[nodiscard]] std::int64_t issues_of(std::int64_t steps) const {
        return (steps * step_issues() + steps_sharing() - 1) / steps_sharing();
    }

    template <class Description> static void describe(Description& d) {
        d.field("steps_per_issue", &AmpSpec::steps_per_issue)
            .unit("steps")
            .range(0.5, 4)
            .says("successive matrix-unit or SLIC steps of a worker in the time of one issue: 0.5, "
                  "1, 2 or 4; the memory port keeps pace")
            .from("docs/evidence.md#matrix-unit")
            .used_by({"matrix instructions"});
    }
};

} // namespace tessera::spec
