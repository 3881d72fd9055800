// SPDX-License-Identifier: MIT
// One tile without SystemC: a supervisor, worker contexts in barrel-scheduled slots, 624 KiB of
// SRAM, the weight store and the accumulators. A compute phase runs to its end in one call.
//
// Timing: a round has R = max(tile.workers, tile.pipeline_cycles) slots. Worker s issues at clocks
//   = s modulo R; its n-th issue is its first + R * n.
//   The supervisor takes the clocks whose slots no worker holds.
// Not modelled: instruction faults as exceptions that a program could handle (a fault ends the
// run). Source: docs/evidence.md#instruction-set
#pragma once

#include "base/error.h"
#include "base/units.h"
#include "models/counts/counts.h"
#include "models/events/events.h"
#include "models/program/known_words.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::isa {
struct Context;
struct DecodedProgram;
struct Engine;
struct Target;
class StretchRecipes;
} // namespace tessera::isa

namespace tessera::tile {

/// Why a tile stopped; the runner of a phase reports the fault with the least (cycle, tile,
/// worker).
struct Fault {
    TileId tile = 0;
    int context = -1; ///< worker number, or -1 for the supervisor
    Cycles cycle = 0; ///< since the start of the phase
    Address address = 0;
    bool not_modelled = false;
    bool needs_data = false; ///< not modelled, as timing mode has no tensor data
    bool endless = false;    ///< a limit of cycles: the context seems to loop for ever
    std::string instruction; ///< disassembled
    std::string source_line; ///< "matmul.S:41", or empty
    std::string reason;
    std::string registers;
};

class TileFault : public std::runtime_error {
public:
    explicit TileFault(Fault fault);
    [[nodiscard]] const Fault& fault() const { return fault_; }

private:
    Fault fault_;
};

/// One context's activity inside a compute phase, for traces: cycles since the start of the phase.
using ContextSpan = events::ContextSpan;

/// The launch whose busiest worker has most more issues than the mean one. A launch is all that is
/// started up to a sync.
struct UnevenLaunch {
    std::int64_t launch = 0;     ///< number in the phase, from 1; 0: none
    int worker = 0;              ///< the busiest, the lowest number of equals
    std::int64_t issues = 0;     ///< its own in the launch
    std::int64_t all_issues = 0; ///< of all workers in the launch

    friend bool operator==(const UnevenLaunch&, const UnevenLaunch&) = default;
};

struct ComputeOutcome {
    Cycles cycles = 0; ///< from the first issue of the stub to its return
    counts::Counts counts;
    std::int64_t busiest_issues = 0; ///< of the busiest worker of each launch, summed
    std::array<std::int64_t, events::kMostWorkers> issues_of = {}; ///< of each worker
    UnevenLaunch uneven;

    friend bool operator==(const ComputeOutcome&, const ComputeOutcome&) = default;
};

class SectionClasses;
class TileClasses;
class WorkerClasses;

/// Timing mode, for all tiles of a chip.
struct TimingMode {
    program::KnownWords& known;
    TileClasses& classes;
    /// Program::scattered; null: vertices scatter nowhere.
    const std::vector<std::vector<program::ByteRange>>* scattered = nullptr;
    bool keeps_contexts = true; ///< somebody may ask what contexts did
    /// Of launched workers; null: every worker runs instruction by instruction.
    isa::StretchRecipes* recipes = nullptr;
    WorkerClasses* workers = nullptr;   ///< with recipes; null: no worker is compared with others
    SectionClasses* sections = nullptr; ///< null: no section of a supervisor's way is
};

/// What timing mode did on a tile so far.
struct KnownFacts {
    std::int64_t phases = 0;
    std::int64_t unknown_addresses = 0; ///< loads and stores
    std::int64_t rounds_met = 0;        ///< phases that had to know the round of a repeat
    std::uint32_t registers = 0;        ///< the supervisor's as they are, by number
};

/// Decoded code that tiles of one generation share: each distinct code segment is decoded once. Not
/// thread-safe: filled while images are loaded, read-only afterwards.
class CodeCache {
public:
    /// `codelets` gives source lines and outlives the cache.
    explicit CodeCache(const std::vector<program::Codelet>& codelets);
    ~CodeCache();
    CodeCache(const CodeCache&) = delete;
    CodeCache& operator=(const CodeCache&) = delete;

    [[nodiscard]] const isa::DecodedProgram* decoded(const program::Segment& segment,
                                                     const isa::Target& target);
    /// "matmul.S:41", or empty when the address belongs to no codelet with a line table.
    [[nodiscard]] std::string source_line(Address address) const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

class TileCore {
public:
    /// `memory` holds spec.memory.bytes() zero bytes and outlives the tile; 8-byte aligned.
    TileCore(const spec::MachineSpec& spec, TileId tile, std::byte* memory);
    ~TileCore();
    TileCore(TileCore&&) noexcept;
    TileCore& operator=(TileCore&&) noexcept;

    /// The host has only the first `bytes` of the tile's memory: an access to the rest is a fault
    /// that says so. Before load().
    void keep_only(Bytes bytes);

    /// Writes the image's bytes and takes its code segments. @throws ProgramError if a segment is
    /// outside memory, or code outside region 0.
    void load(const program::Image& image, CodeCache& code);

    /// Runs the supervisor from `stub` until it returns to address 0, with every worker it
    /// launches. `spans`, if given, receives one entry a worker launch (appended). A phase in which
    /// a context comes to a wait loop (models/isa/wait_loops.h) is run slot by slot. `vertices`: what
    /// the stub calls, which timing mode asks where they may scatter. @throws TileFault
    ComputeOutcome run(Address stub, std::vector<ContextSpan>* spans = nullptr,
                       std::span<const program::Vertex> vertices = {});

    /// From now on the tile has no tensor data, and phases that another tile has run are counted.
    /// Before load(). `timing` outlives the tile.
    void set_timing(TimingMode& timing);
    /// Whether phases that could be counted are run instead, with every pass of every loop, and
    /// held against what was counted. @throws std::logic_error from run() if they differ.
    void set_audited(bool audited);

    /// In timing mode.
    [[nodiscard]] KnownFacts known_facts() const;

    /// The engine that executes from now on (isa::engines()); results are the same with each.
    void set_engine(const isa::Engine& engine);

    /// Registers and accumulators of worker `number`, or of the supervisor (-1), as the last run
    /// left them.
    [[nodiscard]] const isa::Context& context(int number) const;

    /// What a context finds in a register (isa::place: $m0..$m11, of workers $a0..$a7) in the next
    /// run.
    void set_register(int context, unsigned place, std::uint32_t value);

    /// False: interpret every bundle of matrix-unit loops, as an oracle for doing them by rows.
    /// Results are the same.
    void set_rows_at_once(bool allowed);

    /// Bytes [address, address + bytes) of tile memory. @throws ProgramError outside memory.
    [[nodiscard]] std::span<std::byte> memory(Address address, Bytes bytes);
    [[nodiscard]] std::span<const std::byte> memory(Address address, Bytes bytes) const;

private:
    friend class LockstepTile; // shares the state and the supervisor's instructions
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace tessera::tile
