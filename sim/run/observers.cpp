// SPDX-License-Identifier: MIT
#include "sim/run/observers.h"

#include "models/listeners/trace_producer.h"
#include "sim/recording/write.h"
#include "traces/critical_tile.h"
#include "traces/output_file.h"
#include "traces/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::run {

struct Observers::Trace {
    Trace(const cli::RunCommand& command, const spec::MachineSpec& machine,
          const std::string& workload)
        : Trace(command, machine, workload,
                traces::parse_selection(command.trace_tiles, command.trace_level,
                                        static_cast<TileId>(machine.chip.tiles))) {}

    /// What the run is told to.
    [[nodiscard]] traces::TraceSink& sink() {
        return critical ? static_cast<traces::TraceSink&>(*critical) : exporter;
    }

    traces::NameTable names;
    traces::Exporter exporter;
    std::optional<traces::CriticalTile> critical;   ///< where those tiles are to be in it
    std::deque<listeners::TraceProducer> producers; ///< by chip

private:
    Trace(const cli::RunCommand& command, const spec::MachineSpec& machine,
          const std::string& workload, const traces::Selection& selection)
        : exporter(std::make_unique<traces::OutputFile>(command.trace), shown(selection), names,
                   {.metadata = {.workload = workload,
                                 .machine = machine.name,
                                 .clock_hz = machine.chip.clock_hz,
                                 .version = TESSERA_VERSION,
                                 .clock = traces::parse_clock(command.trace_clock),
                                 .chips = static_cast<std::uint32_t>(machine.system.chips)}}) {
        if (selection.with_critical) {
            critical.emplace(exporter, selection, traces::kMostKeptSpans,
                             static_cast<std::uint32_t>(machine.system.chips));
        }
    }

    /// The exporter takes any tile where one of them is added at the end.
    static traces::Selection shown(traces::Selection selection) {
        if (selection.with_critical) {
            selection.tiles.assign(selection.tiles.size(), true);
        }
        return selection;
    }
};

Observers::Observers(const cli::RunCommand& command, const spec::MachineSpec& machine,
                     const std::string& workload)
    : command_(command), machine_(machine) {
    if (!command.trace.empty()) {
        trace_ = std::make_unique<Trace>(command, machine, workload);
    }
    if (!command.record.empty()) {
        record_file_ = std::make_unique<traces::OutputFile>(command.record);
    }
}
Observers::~Observers() = default;

std::vector<events::Listener*> Observers::hear(job::Job& job, const program::Program& program,
                                               bool looks) {
    simulating_.emplace("simulating, step", 0, "cycles");
    progress_.emplace(program, [this](std::int64_t done, std::int64_t total, Cycles cycle) {
        simulating_->at(done, total, cycle);
    });
    std::vector<events::Listener*> all{&*progress_};
    if (trace_ != nullptr) {
        all.push_back(
            &trace_->producers.emplace_back(program, machine_, trace_->sink(), trace_->names));
    }
    if (records()) {
        all.push_back(&add_recorder(program));
    }
    if (const auto copy = job.round_copy()) {
        all.push_back(&rounds_.emplace(program, *copy));
    }
    if (looks) {
        all.push_back(&looks_.emplace(job, program, command_.threads));
    }
    return all;
}

std::vector<ipu::RunOptions> Observers::options_of_chips(const program::SystemProgram& system,
                                                         ipu::RunOptions first) {
    std::vector<ipu::RunOptions> all(system.chips(), first);
    for (std::size_t chip = 1; chip < all.size(); ++chip) {
        all[chip].listeners.clear();
        if (records()) {
            all[chip].listeners.push_back(&add_recorder(system.of_chip(chip)));
        }
        if (trace_ != nullptr) {
            all[chip].listeners.push_back(
                &trace_->producers.emplace_back(system.of_chip(chip), machine_, trace_->sink(),
                                                trace_->names, static_cast<std::uint32_t>(chip)));
        }
    }
    return all;
}

events::LinkListener* Observers::hear_links(const program::SystemProgram& system) {
    return trace_ != nullptr ? &links_.emplace(system, trace_->sink(), trace_->names) : nullptr;
}

void Observers::end(const simulation::Simulation& simulation) {
    simulating_.reset();
    if (!links_) {
        return;
    }
    Cycles cycles = 0;
    for (std::size_t chip = 0; chip < simulation.chips(); ++chip) {
        cycles = std::max(cycles, simulation.account(chip).cycles());
    }
    for (const simulation::EdgePart& part : simulation.edges_by_time()) {
        links_->edge(part.from, part.to, part.begin, part.end, part.bytes, cycles);
    }
    links_->end_edges();
}

void Observers::read_from(const simulation::Simulation& simulation) {
    if (looks_) {
        looks_->read_from(simulation);
    }
}

void Observers::begin() {
    if (looks_) {
        looks_->begin();
    }
}

listeners::Recorder& Observers::add_recorder(const program::Program& program) {
    std::optional<listeners::RecordedWindow> window;
    if (command_.record_window) {
        window = {command_.record_window->first, command_.record_window->second};
    }
    return recorders_.emplace_back(program, machine_, window);
}

std::string Observers::write_recording(const simulation::Simulation& simulation,
                                       const std::vector<const program::Program*>& programs,
                                       std::size_t last, const std::string& workload) {
    if (!records()) {
        return {};
    }
    const Activity writing("writing the recording");
    recording::Facts facts{.machine = machine_.name,
                           .workload = workload,
                           .mode = command_.mode.empty() ? "functional" : command_.mode,
                           .clock_hz = machine_.chip.clock_hz,
                           .chips = {},
                           .last = last};
    for (std::size_t chip = 0; chip < recorders_.size(); ++chip) {
        facts.chips.push_back({simulation.account(chip), recorders_[chip], *programs[chip]});
    }
    if (record_file_ != nullptr) {
        recording::write(facts, *record_file_);
    }
    return command_.report.empty() ? std::string() : recording::compressed(facts);
}

std::optional<traces::TraceSummary> Observers::finish(std::vector<std::string>& warnings) {
    if (trace_ == nullptr) {
        return std::nullopt;
    }
    const Activity writing("writing the trace");
    if (const auto missing = trace_->critical ? trace_->critical->finish() : std::nullopt) {
        warnings.push_back(
            fmt::format("the trace does not have tile {}, which is critical longest: "
                        "the run is too long to keep all tiles; show it with "
                        "--trace-tiles {}",
                        *missing, *missing));
    }
    traces::TraceSummary traced = trace_->exporter.finish();
    if (traced.truncated) {
        warnings.push_back(traced.message);
    }
    return traced;
}

} // namespace tessera::run
