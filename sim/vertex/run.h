// SPDX-License-Identifier: MIT
// Runs a bench: once on the fast tile for the result, once on the lock-step tile for what happened.
// Without races both must agree in cycles and memory. With races they may differ, and what they
// differ in is told; the fast tile must then agree with the same order interpreted instruction by
// instruction.
#pragma once

#include "models/tile/core/lockstep.h"
#include "models/tile/core/tile_core.h"
#include "sim/vertex/bench.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::vertex {

/// One run of a worker.
struct WorkerRun {
    int worker = 0;
    std::size_t launch = 0; ///< index in PhaseResult::launches
    std::string entry;      ///< symbol, or its address
    Cycles begin = 0;       ///< first issue, cycles since the start of the phase
    Cycles end = 0;         ///< behind its last issue
    Cycles cycles = 0;      ///< issues times the slots of a round
};

/// All workers that are started up to a sync.
struct Launch {
    std::string entry; ///< symbols, each once
    int workers = 0;
    Cycles begin = 0;
    Cycles end = 0;
    Cycles cycles = 0; ///< of the worker that has most, in all its runs of the launch
};

struct PhaseResult {
    tile::ComputeOutcome outcome;
    std::vector<WorkerRun> workers;
    std::vector<Launch> launches;
    std::vector<tile::Race> races;
    std::int64_t racing_accesses = 0;
    std::int64_t unused_reads = 0; ///< that would race, had anything come of them
    std::vector<tile::Conflict> conflicts;
    std::int64_t conflicts_found = 0;
};

struct CodeLine {
    std::string source; ///< "scaled_add.S:41", or "stub"
    std::int64_t issues = 0;
    std::int64_t cycles =
        0;           ///< its issues and the waits that it causes, of all who ran it together
    int workers = 0; ///< that ran it
};

/// Where the time went, of workers or of the supervisor.
struct Activity {
    std::int64_t issues = 0; ///< instructions and bundles
    Cycles issue_cycles = 0;
    std::map<std::string, Cycles> stall_cycles; ///< by reason
};

struct PointResult {
    std::vector<PhaseResult> phases;
    Cycles tile_cycles = 0;   ///< all phases: from the first instruction of a stub to its return
    Cycles worker_cycles = 0; ///< of the slowest worker of each launch, summed over the launches
    std::vector<std::vector<std::byte>> arrays; ///< after the run, as Bench::arrays

    Activity workers;
    Activity supervisor;
    std::map<std::string, std::int64_t> by_mnemonic; ///< halves of bundles count by themselves
    std::map<std::string, std::int64_t> by_class;
    std::map<std::string, std::int64_t> by_lane; ///< of worker issues: main, aux, both
    std::vector<CodeLine> lines;                 ///< most cycles first
    std::vector<std::string> warnings;           ///< of the calling convention
    /// Where records are kept: all phases one after the other.
    std::shared_ptr<const tile::LockstepLog> log;
};

struct RunSettings {
    bool lockstep_only = false; ///< look for races and conflicts and go on behind them
    bool keep_log = false;      ///< for traces
};

/// A compute phase of a vertex file that lasts longer is taken for an endless loop: a tenth of a
/// second at the machine's clock. The limit of whole programs, tile.phase_limit_cycles, takes half
/// a minute to reach.
inline constexpr Cycles kPhaseLimitCycles = 200'000'000;

/// @throws ProgramError (a fault of the code, or a supervisor vertex breaks the calling
/// convention), NotModelled
[[nodiscard]] PointResult run_bench(const spec::MachineSpec& machine, const Bench& bench,
                                    const RunSettings& settings);

/// The instruction or bundle at an address as text; empty outside code.
[[nodiscard]] std::string instruction_text(const Bench& bench, Address address);

/// "scaled_add.S:41"; "stub" outside the sources.
[[nodiscard]] std::string source_line(const Bench& bench, Address address);

/// Symbol at or before the address, as "name" or "name+0x8".
[[nodiscard]] std::string symbol_text(const Bench& bench, Address address);

} // namespace tessera::vertex
