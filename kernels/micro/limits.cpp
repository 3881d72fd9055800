// SPDX-License-Identifier: MIT
#include "kernels/micro/limits.h"

#include <fmt/format.h>

namespace tessera::micro {
namespace {

ConfigError out_of_machine(const spec::MachineSpec& machine, const std::string& key,
                           const std::string& got, std::int64_t least, std::int64_t most) {
    return wrong_value(
        key, most < least
                 ? fmt::format(
                       "{}, expected none on machine '{}', whose {} tiles (chip.tiles) are too few",
                       got, machine.name, machine.chip.tiles)
                 : fmt::format("{}, expected {}..{} on machine '{}' (chip.tiles)", got, least, most,
                               machine.name));
}

} // namespace

ConfigError wrong_value(const std::string& key, const std::string& message) {
    Diagnostic diagnostic;
    diagnostic.file = "workload";
    diagnostic.pointer = "/" + key;
    diagnostic.message = message;
    return ConfigError(diagnostic);
}

std::int64_t tiles_or_all(const spec::MachineSpec& machine, std::int64_t wanted,
                          std::int64_t most) {
    if (wanted > most) {
        throw out_of_machine(machine, "tiles", fmt::format("got {} tiles", wanted), 1, most);
    }
    return wanted == 0 ? most : wanted;
}

TileId checked_tile(const spec::MachineSpec& machine, const std::string& key, std::int64_t tile) {
    if (tile >= machine.chip.tiles) {
        throw out_of_machine(machine, key, fmt::format("got tile {}", tile), 0,
                             machine.chip.tiles - 1);
    }
    return static_cast<TileId>(tile);
}

} // namespace tessera::micro
