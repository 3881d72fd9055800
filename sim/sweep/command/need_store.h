// SPDX-License-Identifier: MIT
// Messages of commands that read a store.
#pragma once

#include "base/error.h"
#include "sim/process/exit_code.h"
#include "sim/sweep/store.h"

#include <filesystem>
#include <string>
#include <system_error>

namespace tessera::sweep {

/// @throws IoError where there is no store
inline void need_store(const std::filesystem::path& folder) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        throw IoError(folder.string() + ": no store there; `tessera sweep run` makes one");
    }
}

/// Warns of damaged lines, which are left out.
inline void tell_damage(const Damage& damage) {
    for (const std::string& warning : damage.warnings()) {
        process::tell_warning(warning);
    }
}

} // namespace tessera::sweep
