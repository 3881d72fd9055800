// SPDX-License-Identifier: MIT
// Pencil and paper for one tile: the issue rules of docs/four_tiles.md applied to a program's
// listing. Deliberately knows nothing of the interpreter and of the kernels' cost models, so that
// it can be compared with both.
#pragma once

#include "base/units.h"
#include "models/isa/assembler.h"
#include "models/program/program.h"
#include "models/spec/tile_spec.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::by_hand {

/// A tile's code as text and its vertex state as words, by address.
class Listing {
public:
    Listing(const program::Program& program, TileId tile);

    /// @throws std::out_of_range where no instruction starts
    [[nodiscard]] const isa::ListingLine& at(Address address) const { return lines_.at(address); }
    [[nodiscard]] std::optional<std::uint32_t> state(Address address) const;

private:
    std::map<Address, isa::ListingLine> lines_;
    std::map<Address, std::uint32_t> state_;
};

/// An instruction or bundle of a context.
struct Issued {
    Address address = 0;
    Cycles cycle = 0; ///< of a supervisor: since the stub's first issue; of a worker: its number
    std::string text;
    bool jumped_here = false;
    std::int64_t times = 1; ///< body of a repeat
};

/// What a worker's data decides: how its `brneg`s go, and how often its `rpt` repeats.
struct WorkerChoices {
    std::vector<bool> branches_taken;
    std::int64_t repeats = 0;
};

struct WorkerPath {
    std::vector<Issued> path;
    std::int64_t issues = 0;
};

[[nodiscard]] WorkerPath walk_worker(const spec::TileSpec& tile, const Listing& code, Address entry,
                                     const WorkerChoices& choices);

struct WorkerRun {
    Cycles first = 0;
    Cycles last = 0;
    Cycles slot_free = 0; ///< first cycle at which the supervisor has the slot again
    std::int64_t issues = 0;
};

struct Launch {
    Address entry = 0;
    std::vector<WorkerRun> workers;
};

struct SupervisorPath {
    std::vector<Issued> path;
    std::vector<Launch> launches;
    Cycles cycles = 0; ///< from the first issue to the return
};

/// Issues that worker `worker` makes from `entry`.
using IssuesOf = std::function<std::int64_t(Address entry, std::int64_t worker)>;

[[nodiscard]] SupervisorPath walk_supervisor(const spec::TileSpec& tile, const Listing& code,
                                             Address stub, const IssuesOf& issues_of);

} // namespace tessera::by_hand
