// SPDX-License-Identifier: MIT
// Any bytes either give a table whose rows are as long as its heading, or one mistake with a place.
#include "base/error.h"
#include "sim/calibrate/csv.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    try {
        const auto table = tessera::calibrate::parse_csv(
            std::string_view(reinterpret_cast<const char*>(data), bytes), "fuzz.csv");
        TESSERA_ASSERT(!table.heading.empty());
        for (const auto& row : table.rows) {
            TESSERA_ASSERT(row.size() == table.heading.size());
        }
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().line >= 1);
    }
    return 0;
}
