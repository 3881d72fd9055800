// SPDX-License-Identifier: MIT
#include "traces/exporters/format.h"

#include <fmt/format.h>

namespace tessera::traces {

std::string_view time_unit(Clock clock) {
    return clock == Clock::Cycles ? "1 ns = 1 cycle" : "machine time";
}

std::string title(const Metadata& metadata) {
    return metadata.clock == Clock::Cycles
               ? fmt::format("{} ({})", metadata.machine, time_unit(metadata.clock))
               : fmt::format("{} ({} at {} GHz)", metadata.machine, time_unit(metadata.clock),
                             metadata.clock_hz / 1e9);
}

std::string chip_name(std::uint32_t chip) {
    return fmt::format("ipu_{}", chip);
}

std::string name_in(const Metadata& metadata, std::uint32_t chip, std::string_view name) {
    return metadata.chips > 1 ? fmt::format("{}.{}", chip_name(chip), name) : std::string{name};
}

} // namespace tessera::traces
