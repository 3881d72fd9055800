// SPDX-License-Identifier: MIT
// Runs a bench: on the lock-step tile for the result and for what happened, and before that on the
// fast tile, which runs one context after the other. Without races both must agree in cycles and
// memory. With races the machine's order, slot by slot, decides, and what is different in the other
// order is told; the fast tile must then agree with its own order interpreted instruction by
// instruction. Where words are named by which contexts synchronise, only the lock-step tile runs.
#pragma once

#include "models/tile/core/lockstep.h"
#include "models/tile/core/tile_core.h"
#include "sim/vertex/bench.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

/// What it costs workers that bundles which branches lead to do not lie at multiples of 8 bytes.
struct Placement {
    Cycles cycles = 0;
    double share = 0; ///< of the cycles of workers
    std::vector<CodeLine>
        lines; ///< of these bundles, most cycles first; their issues are not counted
};

/// What the order of contexts that race decides, as far as two orders show it: the machine's and one
/// context after the other.
struct OrderEffect {
    std::int64_t words = 0; ///< of memory
    Address first_word = 0;
    Cycles other_cycles = 0; ///< of all phases, one context after the other
    std::string other_fault; ///< which that order ends in; empty if it ends well
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
    std::optional<OrderEffect> order;           ///< where contexts race and both orders were run

    Activity workers;
    Activity supervisor;
    std::map<std::string, std::int64_t> by_mnemonic; ///< halves of bundles count by themselves
    std::map<std::string, std::int64_t> by_class;
    std::map<std::string, std::int64_t> by_lane; ///< of worker issues: main, aux, both
    std::vector<CodeLine> lines;                 ///< most cycles first
    Placement placement;
    std::vector<std::string> warnings; ///< of the calling convention
    /// Where records are kept: all phases one after the other.
    std::shared_ptr<const tile::LockstepLog> log;
};

/// A compute phase of a vertex file that lasts longer is taken for an endless loop: a tenth of a
/// second at the machine's clock. The limit of whole programs, tile.phase_limit_cycles, takes half
/// a minute to reach.
inline constexpr Cycles kPhaseLimitCycles = 200'000'000;

/// A phase that the lock-step tile is to follow for longer ends the run: some seconds.
inline constexpr Cycles kLockstepLimitCycles = 50'000'000;

struct RunSettings {
    bool lockstep_only = false; ///< look for races and conflicts and go on behind them
    bool keep_log = false;      ///< for traces
    Cycles lockstep_limit_cycles = kLockstepLimitCycles; ///< of a phase
};

/// @throws ProgramError (a fault of the code, or a supervisor vertex breaks the calling
/// convention), NotModelled
[[nodiscard]] PointResult run_bench(const spec::MachineSpec& machine, const Bench& bench,
                                    const RunSettings& settings);

} // namespace tessera::vertex
