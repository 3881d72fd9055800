// SPDX-License-Identifier: MIT
// Commands that read a store warn with this of what is damaged in it.
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
