// SPDX-License-Identifier: MIT
// Who hears a run besides its account: progress, the trace, the recording, and the job, whose check
// looks at steps.
//
//   Observers(...) --> hear(...) --> read_from(simulation), begin() --> the run --> end(), finish()
#pragma once

#include "base/activity.h"
#include "kernels/job/job.h"
#include "models/events/events.h"
#include "models/listeners/account.h"
#include "models/listeners/link_trace.h"
#include "models/listeners/progress.h"
#include "models/listeners/recorder.h"
#include "models/listeners/rounds.h"
#include "models/program/program.h"
#include "models/simulation/simulation.h"
#include "models/spec/machine_spec.h"
#include "sim/cli/cli.h"
#include "sim/run/looks.h"
#include "traces/exporters/exporter.h"
#include "traces/output_file.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::run {

class Observers {
public:
    /// Opens the trace and the recording that `command` asks for, before a long plan. Command and machine outlive the
    /// object. @throws UsageError, IoError
    Observers(const cli::RunCommand& command, const spec::MachineSpec& machine,
              const std::string& workload);
    ~Observers();
    Observers(const Observers&) = delete;
    Observers& operator=(const Observers&) = delete;

    /// Who listens to a run of the job's program; all three outlive the run. `looks`: the job does.
    [[nodiscard]] std::vector<events::Listener*> hear(job::Job& job,
                                                      const program::Program& program, bool looks);
    /// How each chip of a system is run: `first`, which has heard, is chip 0's.
    [[nodiscard]] std::vector<ipu::RunOptions>
    options_of_chips(const program::SystemProgram& system, ipu::RunOptions first);
    /// Who hears what goes between the chips of a system; null without a trace.
    [[nodiscard]] events::LinkListener* hear_links(const program::SystemProgram& system);
    /// Where they read; before the operands stand.
    void read_from(const simulation::Simulation& simulation);
    /// The operands stand on the tiles, and nothing has run.
    void begin();
    /// The run is over.
    void end(const simulation::Simulation& simulation);
    /// Host seconds that looking has taken.
    [[nodiscard]] double seconds() const { return looks_ ? looks_->seconds() : 0; }
    /// Of a run with a sequence of patterns; nothing otherwise.
    [[nodiscard]] std::optional<std::vector<listeners::Round>> rounds() const {
        return rounds_ ? std::optional(rounds_->rounds()) : std::nullopt;
    }
    /// Completes the trace, where there is one; adds sentences to `warnings`.
    [[nodiscard]] std::optional<traces::TraceSummary> finish(std::vector<std::string>& warnings);
    /// Writes the recording, where there is one. Returns its bytes, compressed, for a page, if one is
    /// asked for. `programs`: of each chip; `last`: the chip that ends last.
    [[nodiscard]] std::string write_recording(const simulation::Simulation& simulation,
                                              const std::vector<const program::Program*>& programs,
                                              std::size_t last, const std::string& workload);

private:
    struct Trace;

    listeners::Recorder& add_recorder(const program::Program& program);

    /// Whether something records the run: a file's recording or a page's.
    [[nodiscard]] bool records() const {
        return record_file_ != nullptr || !command_.report.empty();
    }

    const cli::RunCommand& command_;
    const spec::MachineSpec& machine_;
    std::unique_ptr<Trace> trace_;
    std::optional<listeners::LinkTrace> links_; ///< in the trace of a system
    std::optional<Activity> simulating_;
    std::optional<listeners::Progress> progress_;
    std::optional<listeners::Rounds> rounds_;
    std::optional<Looks> looks_;
    std::unique_ptr<traces::OutputFile> record_file_;
    std::deque<listeners::Recorder> recorders_; ///< by chip
};

} // namespace tessera::run
