// SPDX-License-Identifier: MIT
// Follows what contexts read from memory through their registers, to tell the race detector which
// reads something comes
// of: a value that is stored, addresses memory, decides a branch, is put into a control register or
// the weight store, or sets a flag that is asked for.
//
// Not modelled: a value that depends on more than kMostReads unused reads at once counts as used.
#pragma once

#include "models/isa/context.h"
#include "models/isa/data_flow.h"
#include "models/tile/core/race_detector.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tessera::tile {

class ReadUse {
public:
    ReadUse(const isa::MemoryView& memory, std::size_t workers, RaceDetector& races);

    /// The code that contexts will run.
    void load(std::span<const isa::DecodedProgram* const> programs);

    /// Before a context executes the instruction or bundle at `pc`.
    void begin(const isa::Context& context, Address pc);
    /// After it, or after it faulted, with the accesses that it made.
    void end(const isa::Context& context, Cycles cycle, Address pc,
             std::span<const isa::MemoryAccess> accesses);

    /// A register gets a value from outside.
    void forget(int context, unsigned place);

private:
    static constexpr std::size_t kMostReads = 64;
    using ReadId = RaceDetector::ReadId;
    using Sources = std::vector<ReadId>; ///< unused reads, none twice
    using Places = std::array<Sources, isa::place::kCount>;

    [[nodiscard]] const isa::DataFlow& flow_at(Address pc);
    void use_all(Places& places, std::uint32_t mask);
    void gather(const Places& places, std::uint32_t mask, Sources& into);
    void assign(Sources& place, const Sources& value);
    void read(Places& places, const isa::DataFlow& flow, int context, Cycles cycle, Address pc,
              std::span<const isa::MemoryAccess> accesses);

    const isa::MemoryView& memory_;
    RaceDetector& races_;
    std::vector<Places> contexts_; ///< the supervisor, then the workers
    std::unordered_map<Address, isa::DataFlow> flows_;
    bool asks_for_flags_ = false;
    const isa::DataFlow* flow_ = nullptr; ///< of the running instruction
    bool clears_ = false;                 ///< it clears the accumulators
    std::vector<Sources> results_;        ///< of the running instruction
};

} // namespace tessera::tile
