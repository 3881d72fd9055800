// SPDX-License-Identifier: MIT
// Where code stands, one address each on all tiles:
//
//   region 0: | kept free | codelets | stub 0, 1, ... | control program | fetch window | rows ...
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <span>
#include <vector>

namespace tessera::lower {

struct CodeZone {
    Address codelets = 0;
    std::vector<Address> stubs; ///< by compute set
    Address control = 0;        ///< the control program
    Bytes control_bytes = 0;
    Bytes bytes = 0; ///< from the start of region 0 on
};

/// The alignment of each piece of code, and of rows.
inline constexpr Bytes kCodeAlignment = 8;

/// What contexts fetch ahead of the end of code or rows; data must not stand there.
[[nodiscard]] Bytes fetched_behind(const spec::MachineSpec& machine);

/// `stubs`: bytes of the longest of each compute set. Nothing takes no bytes, and no window.
[[nodiscard]] CodeZone lay_out_code(const spec::MachineSpec& machine, Bytes codelets,
                                    std::span<const Bytes> stubs, Bytes control);

} // namespace tessera::lower
