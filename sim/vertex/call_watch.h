// SPDX-License-Identifier: MIT
// Whether supervisor vertices keep the calling convention (docs/abi.md): each returns behind its
// call in the stub, with the $m9 and $sp that it was called with. To be fed with what a lock-step
// tile says of a phase.
#pragma once

#include "models/isa/context.h"
#include "sim/vertex/bench.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tessera::vertex {

class CallWatch {
public:
    /// Registers of worker n, or of the supervisor (-1), as they are now.
    using Registers = std::function<const isa::Context&(int)>;

    void begin_phase(const BenchPhase& phase);
    /// An instruction of the supervisor, after it. @throws ProgramError
    void issued(Address address, const Registers& registers);
    void launched(int worker) { launched_.insert(worker); }
    /// @throws ProgramError where the phase did not end in its stub
    void end_phase() const;

    /// "'entry': ", of the supervisor vertex that runs or was the last to run; empty without one.
    [[nodiscard]] std::string culprit() const;
    /// Warnings of vertices that returned while workers ran; each entry once.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    void returned(const Registers& registers);

    const BenchPhase* phase_ = nullptr;
    const BenchCall* call_ = nullptr; ///< the last that was called
    bool running_ = false;            ///< it has not returned
    std::uint32_t frame_ = 0;         ///< $m9 and $sp at its call
    std::uint32_t stack_ = 0;
    std::set<int> launched_; ///< workers, since the start
    std::vector<std::string> warnings_;
};

} // namespace tessera::vertex
