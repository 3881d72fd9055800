// SPDX-License-Identifier: MIT
// Energy of a run: power that flows all the time, and what each kind of event takes. Coefficients
// are the machine's; each is believed within a range, and a range of the whole follows.
// Source: docs/evidence.md#energy
#pragma once

#include "models/spec/machine_spec.h"
#include "sim/cost/activity.h"

#include <array>
#include <cstddef>
#include <numeric>

namespace tessera::cost {

struct EnergyKind {
    const char* key;
    const char* sentence;
};

/// Static comes first, clock second: these two a chip takes whatever it does.
inline constexpr std::array kEnergyKinds{
    EnergyKind{"static", "of chips without a clock"},
    EnergyKind{"clock", "of the clock of chips that do nothing"},
    EnergyKind{"instructions", "fetch and issue"},
    EnergyKind{"memory", "loads and stores of tile memory"},
    EnergyKind{"matrix", "multiply-accumulates of the matrix units"},
    EnergyKind{"vector", "arithmetic of the vector units"},
    EnergyKind{"exchange", "words between tiles"},
    EnergyKind{"links", "messages between chips"},
    EnergyKind{"streaming_memory", "bytes of streaming memory"},
    EnergyKind{"host", "bytes to the host and from it"},
    EnergyKind{"barriers", "of chips"},
    EnergyKind{"board", "what stands around the chips"}};
inline constexpr std::size_t kIdleKinds = 2;

/// In J, by kind.
struct Joules {
    std::array<double, kEnergyKinds.size()> by_kind{};

    [[nodiscard]] double total() const {
        return std::accumulate(by_kind.begin(), by_kind.end(), 0.0);
    }
    /// Static and clock.
    [[nodiscard]] double idle() const {
        return std::accumulate(by_kind.begin(), by_kind.begin() + kIdleKinds, 0.0);
    }
};

struct Energy {
    Joules joules;
    double low_j = 0;  ///< with every coefficient at the low end of its range
    double high_j = 0; ///< at the high end
};

/// Of what all chips of the machine did in so many seconds of its clock.
[[nodiscard]] Energy energy_of(const Activity& activity, double seconds,
                               const spec::MachineSpec& machine);

} // namespace tessera::cost
