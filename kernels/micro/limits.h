// SPDX-License-Identifier: MIT
// What a micro-workload asks of the machine, against what the machine has.
#pragma once

#include "base/error.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <string>

namespace tessera::micro {

/// The value of a workload's `key` does not go with the machine: what it got and what was expected.
[[nodiscard]] ConfigError wrong_value(const std::string& key, const std::string& message);

/// `wanted` tiles of those there are, 0 meaning `most`. @throws ConfigError naming `key` where
/// there are not so many
[[nodiscard]] std::int64_t tiles_or_all(const spec::MachineSpec& machine, std::int64_t wanted,
                                        std::int64_t most);
/// @throws ConfigError naming `key` where the machine has no such tile
[[nodiscard]] TileId checked_tile(const spec::MachineSpec& machine, const std::string& key,
                                  std::int64_t tile);

} // namespace tessera::micro
