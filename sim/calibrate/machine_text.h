// SPDX-License-Identifier: MIT
// The machine that a reference row names, as in "GC2 x1 (1216 tiles each, 1.6 GHz)".
#pragma once

#include "sim/calibrate/measurement.h"

#include <string>
#include <variant>
#include <vector>

namespace tessera::calibrate {

struct NamedMachine {
    std::string name;              ///< of a machine file
    std::vector<std::string> sets; ///< tiles and clock, where the row gives them
};

/// Whether a row is of several chips: by its column `ipus`, "x4" in the machine's name, or a topology
/// between chips.
[[nodiscard]] bool says_several_chips(const ReferenceRow& row);

/// The first word names the machine, capitals apart; "1216 tiles" and "1.6 GHz" or "1600 MHz" are
/// its tiles and clock. Machines that are not in `machines` are not covered.
/// @throws ConfigError at the cell where a number of tiles or a clock is none
[[nodiscard]] std::variant<NamedMachine, NotCovered>
machine_of(const ReferenceRow& row, const std::vector<std::string>& machines);

} // namespace tessera::calibrate
