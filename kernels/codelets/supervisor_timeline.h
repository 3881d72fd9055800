// SPDX-License-Identifier: MIT
// The issue cycles of a supervisor's instructions, for cost models. The rules are the machine's; the
// cost model of each vertex lists its instructions by hand. Source:
// docs/evidence.md#instruction-timing.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::codelets {

class SupervisorTimeline {
public:
    explicit SupervisorTimeline(const spec::MachineSpec& machine);

    /// One plain instruction that may read its sources from `sources_ready` on. Returns its issue
    /// cycle.
    Cycles issue(Cycles sources_ready = 0);
    void plain(std::int64_t instructions);
    /// A taken branch, call or return.
    void jump(Cycles sources_ready = 0);
    /// runall; worker n makes `issues[n]` issues.
    void run_all(std::span<const std::int64_t> issues, Cycles sources_ready = 0);
    /// runall of work that is dealt evenly: the first `longer` workers make `more` issues, the rest
    /// `fewer`.
    void run_all(std::int64_t longer, std::int64_t more, std::int64_t fewer);
    /// run: worker 0 makes `issues` issues.
    void run(std::int64_t issues, Cycles sources_ready = 0);
    void sync();

    [[nodiscard]] Cycles result_ready(Cycles issued) const { return issued + pipeline_cycles_; }
    [[nodiscard]] Cycles now() const { return now_; }
    /// Instructions of the supervisor so far.
    [[nodiscard]] std::int64_t issues() const { return issues_; }
    [[nodiscard]] std::int64_t workers() const { return static_cast<std::int64_t>(free_.size()); }

private:
    void launch(Cycles issued, std::size_t worker, std::int64_t issues);

    Cycles pipeline_cycles_;
    Cycles round_; ///< slots of a round
    Cycles now_ = 0;
    std::int64_t issues_ = 0;
    std::vector<Cycles> free_; ///< cycle from which the supervisor may use each worker's slot
};

} // namespace tessera::codelets
