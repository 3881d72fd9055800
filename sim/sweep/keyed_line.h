// SPDX-License-Identifier: MIT
// The line of a point that somebody calls by the first digits of its key.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

struct KeyedLine {
    std::string store; ///< in which it stands
    nlohmann::json line;
    bool is_only = true; ///< no other key begins so
};

/// The last line of the stores whose key begins so; nothing where there is none. @throws IoError
[[nodiscard]] std::optional<KeyedLine> keyed_line(const std::vector<std::string>& stores,
                                                  const std::string& begin);

} // namespace tessera::sweep
