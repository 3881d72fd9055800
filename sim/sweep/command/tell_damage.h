// SPDX-License-Identifier: MIT
// What commands say that read a store.
#pragma once

#include "sim/process/exit_code.h"
#include "sim/sweep/store.h"

#include <string>

namespace tessera::sweep {

/// Warns of damaged lines, which are left out.
inline void tell_damage(const Damage& damage) {
    for (const std::string& warning : damage.warnings()) {
        process::tell_warning(warning);
    }
}

} // namespace tessera::sweep
