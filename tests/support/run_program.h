// SPDX-License-Identifier: MIT
// Runs a Program on tile cores and the exchange fabric, without SystemC: what a chip does, one step
// after the other.
#pragma once

#include "base/units.h"
#include "models/isa/engine.h"
#include "models/program/array_id.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::test {

/// Cycles as the machine accounts for them: an exchange is sync, prologue and longest row.
struct RunCycles {
    Cycles compute = 0;
    Cycles exchange = 0;
    Cycles sync = 0;

    [[nodiscard]] Cycles total() const { return compute + exchange + sync; }
};

struct RunOutcome {
    std::vector<std::uint16_t> result; ///< tensor "c", row-major, where it is FP16
    std::map<program::ArrayId, std::vector<std::byte>> arrays; ///< all tensors, row-major
    std::map<std::string, std::vector<std::byte>> tensors;     ///< the same by name
    RunCycles cycles;
    std::vector<Cycles> step_cycles; ///< of each compute set and exchange, in control order
};

/// The tensor of that name in a program in which no two are called alike.
[[nodiscard]] program::ArrayId tensor_named(const program::Program& program,
                                            const std::string& name);

/// Loads the images, writes the operands by name, executes the control program, reads "c". Stream
/// copies of the background are done where they start.
[[nodiscard]] RunOutcome
run_program(const spec::MachineSpec& machine, const program::Program& program,
            const std::map<std::string, std::vector<std::uint16_t>>& operands);

/// The same with operands as bytes, of whatever type, on an engine.
[[nodiscard]] RunOutcome run_program(const spec::MachineSpec& machine,
                                     const program::Program& program,
                                     const std::map<std::string, std::vector<std::byte>>& operands,
                                     const isa::Engine& engine = isa::engine());

/// The same, of a program in which several may be called alike.
[[nodiscard]] RunOutcome
run_program(const spec::MachineSpec& machine, const program::Program& program,
            const std::map<program::ArrayId, std::vector<std::byte>>& operands,
            const isa::Engine& engine = isa::engine());

/// Who looks at tensors while a program runs; `read` gives one, row-major.
struct Watcher {
    using Read = std::function<std::vector<std::byte>(program::ArrayId)>;
    std::function<void(const Read& read)> begun; ///< operands are in place
    std::function<void(const program::Step& leaf, const Read& read)>
        ended; ///< a compute set, an exchange or a stream copy
    /// A stream copy begins to read `rows` of a buffer of the host, which may be written.
    std::function<void(std::uint32_t copy, std::int64_t row, std::span<std::byte> rows,
                       const Read& read)>
        asked = {};
    /// Before and after a tile runs its part of compute set `set`.
    using Computes =
        std::function<void(std::uint32_t set, TileId tile, std::span<const std::byte> memory)>;
    Computes computes = {};
    Computes computed = {};
};
[[nodiscard]] RunOutcome
run_program(const spec::MachineSpec& machine, const program::Program& program,
            const std::map<program::ArrayId, std::vector<std::byte>>& operands,
            const Watcher& watcher);

/// What is wrong with a program's plain data, one sentence each: segments that overlap or leave
/// memory, or have data before they are kept, operand elements that have no home or several on one tile, result
/// elements without a piece.
[[nodiscard]] std::vector<std::string> faults_of(const spec::MachineSpec& machine,
                                                 const program::Program& program);

} // namespace tessera::test
