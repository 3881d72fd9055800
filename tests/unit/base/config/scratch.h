// SPDX-License-Identifier: MIT
// What the configuration tests share: files in a folder that goes away, and errors as text.
#pragma once

#include "base/config/paths.h"
#include "base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_path.h"

#include <string>
#include <vector>

namespace tessera::test {

/// The configs/ of the source tree.
inline config::ConfigPaths source_paths() {
    return {{tessera::test::source_path("configs")}};
}

/// The lines of the ConfigError that `action` throws, without `folder` in front; empty if it throws
/// none.
template <class Action>
std::vector<std::string> mistakes_of(const Action& action, const std::string& folder = {}) {
    std::vector<std::string> out;
    try {
        action();
    } catch (const ConfigError& error) {
        for (const auto& diagnostic : error.diagnostics()) {
            std::string text = diagnostic.text();
            for (auto at = text.find(folder); !folder.empty() && at != std::string::npos;
                 at = text.find(folder)) {
                text.erase(at, folder.size());
            }
            out.push_back(text);
        }
    }
    return out;
}

using Lines = std::vector<std::string>;

} // namespace tessera::test
