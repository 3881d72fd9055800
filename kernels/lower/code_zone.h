// SPDX-License-Identifier: MIT
// Where code and exchange rows stand, one address each on all tiles:
//
//   region 0: | kept free | codelets | stubs | rows of exchange 0, 1, ... | fetch window | data ...
#pragma once

#include "base/units.h"
#include "kernels/lower/memory_plan.h"
#include "models/spec/machine_spec.h"

#include <span>
#include <vector>

namespace tessera::lower {

struct CodeZone {
    Address codelets = 0;
    std::vector<Address> stubs; ///< by compute set
    std::vector<Address> rows;  ///< by exchange
    CodeRoom room;              ///< all of it
};

/// `stubs` and `rows`: bytes of the longest of each compute set and exchange.
[[nodiscard]] CodeZone lay_out_code(const spec::MachineSpec& machine, Bytes codelets,
                                    std::span<const Bytes> stubs, std::span<const Bytes> rows);

} // namespace tessera::lower
