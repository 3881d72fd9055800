// SPDX-License-Identifier: MIT
// One tile, clock by clock: in clock t the context that owns slot t modulo the slots of a round
// issues, and nothing is run ahead. The oracle of TileCore, which interprets a worker to its end
// when it is launched: without races both give the same cycles, counts, registers and memory. It
// also says what happened: every issue, every stall with its reason, races, conflicts.
//
// Timing: as TileCore. Some hundred times slower.
// Not modelled: what a race's outcome would be on the machine beyond the order of issue.
// Source: docs/evidence.md#instruction-set
#pragma once

#include "models/tile/core/observation.h"
#include "models/tile/core/tile_core.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tessera::tile {

enum class OnConflict {
    Fault, ///< as TileCore
    /// Note it and go on; tile.fetch_conflict = ignore still says that fetch conflicts are none.
    Record
};

struct LockstepOptions {
    OnConflict on_conflict = OnConflict::Fault;
    bool find_races = true;
    /// Ends a run in which all contexts go round for nothing also where none of them is in a wait
    /// loop. TileCore then goes on to the limit of a phase.
    bool end_standstills = false;
    std::size_t listed_races = 100;     ///< further ones are only counted
    std::size_t listed_conflicts = 100; ///< further ones are only counted
};

class LockstepTile {
public:
    /// `memory` holds spec.memory.bytes() bytes and outlives the tile; 8-byte aligned.
    LockstepTile(const spec::MachineSpec& spec, TileId tile, std::byte* memory,
                 LockstepOptions options = {});
    ~LockstepTile();
    LockstepTile(LockstepTile&&) noexcept;
    LockstepTile& operator=(LockstepTile&&) noexcept;

    /// As TileCore::load. @throws ProgramError
    void load(const program::Image& image, CodeCache& code);

    /// As TileCore::run; races do not stop it. Where every context that runs goes round a loop and
    /// one of them waits for a word that nobody changes, that is a fault. @throws TileFault, of the
    /// least cycle
    ComputeOutcome run(Address stub, std::vector<ContextSpan>* spans = nullptr);

    /// Words by which contexts are to order what they do, beside those that wait loops read: the
    /// 32-bit words of [address, address + bytes). They do not race.
    void synchronise_by(Address address, Bytes bytes);

    /// Who gets the records of the runs from now on; null for nobody. Outlives the runs.
    void set_observer(LockstepObserver* observer);

    /// Races of the last run, in order of the second access, also where it faulted. One entry for
    /// each pair of instructions and contexts. Two accesses to a word by different contexts race if
    /// one of them writes, there was no local sync between them, the one was not the supervisor
    /// before it launched the other, no word by which contexts synchronise orders them, and what
    /// comes of them depends on their order (docs/models/tile.md#races). A read of an earlier run of which something comes in this one
    /// races in this one.
    [[nodiscard]] std::span<const Race> races() const;
    /// All pairs of accesses of the last run that raced, listed or not.
    [[nodiscard]] std::int64_t racing_accesses() const;
    /// Reads of the last run that would race, had anything come of them: registers may hold a value
    /// that depends on the order.
    [[nodiscard]] std::int64_t unused_reads() const;

    /// Conflicts of the last run, where they are recorded.
    [[nodiscard]] std::span<const Conflict> conflicts() const;
    [[nodiscard]] std::int64_t conflicts_found() const;

    /// As TileCore::set_register, context and memory.
    void set_register(int context, unsigned place, std::uint32_t value);
    [[nodiscard]] const isa::Context& context(int number) const;
    [[nodiscard]] std::span<std::byte> memory(Address address, Bytes bytes);
    [[nodiscard]] std::span<const std::byte> memory(Address address, Bytes bytes) const;

private:
    friend class TileCore; // falls back on it where contexts wait for each other
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace tessera::tile
