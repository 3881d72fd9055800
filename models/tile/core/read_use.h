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

    struct Instruction {
        isa::DataFlow flow;
        bool awaits = false; ///< it reads what a wait loop waits for
    };
    [[nodiscard]] const Instruction& instruction_at(Address pc);
    void use_all(Places& places, isa::place::Mask mask, Address pc);
    void gather(const Places& places, isa::place::Mask mask, Sources& into, Address pc);
    void assign(Sources& place, const Sources& value);
    void read(Places& places, int context, Cycles cycle, Address pc,
              std::span<const isa::MemoryAccess> accesses);

    const isa::MemoryView& memory_;
    RaceDetector& races_;
    std::vector<Places> contexts_; ///< the supervisor, then the workers
    std::unordered_map<Address, Instruction> instructions_;
    std::vector<Address> awaiting_loads_;
    bool asks_for_flags_ = false;
    const Instruction* running_ = nullptr;
    bool clears_ = false;          ///< the running instruction clears the accumulators
    std::vector<Sources> results_; ///< of the running instruction
};

} // namespace tessera::tile
