// SPDX-License-Identifier: MIT
// A run by rounds: each begins with a stream copy, and says whose its cycles were.
#pragma once

#include "base/units.h"
#include "models/events/events.h"
#include "models/program/program.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::listeners {

struct Round {
    Cycles begin = 0; ///< all tiles have come to the copy
    Cycles cycles = 0;
    /// By kernel, in the order in which they come: cycles of the critical path, without barriers.
    std::vector<std::pair<std::string, Cycles>> kernels;
};

class Rounds final : public events::Listener {
public:
    /// The program outlives it.
    Rounds(const program::Program& program, std::uint32_t copy) : program_(program), copy_(copy) {}

    void copy_begun(const events::Flight& flight) override;
    void released(const events::Release& release) override;

    /// Those that have ended, when the program has.
    [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }

private:
    static void add(Round& round, const std::string& owner, Cycles cycles);
    [[nodiscard]] const std::string* owner_of(const events::Span& span) const;

    const program::Program& program_;
    std::uint32_t copy_;
    std::vector<Round> rounds_;
};

} // namespace tessera::listeners
