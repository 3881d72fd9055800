// SPDX-License-Identifier: MIT
// Any bytes either give a matrix that keeps its promises or a ConfigError; nothing else may happen.
#include "base/error.h"
#include "kernels/workload/smtx.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    try {
        const auto matrix = tessera::workload::read_smtx(
            std::string_view(reinterpret_cast<const char*>(data), bytes), "fuzz.smtx");
        TESSERA_ASSERT(matrix.rows > 0 && matrix.columns > 0 && !matrix.has_values());
        const tessera::workload::CoordinateEntry* before = nullptr;
        for (const auto& entry : matrix.entries) {
            TESSERA_ASSERT(entry.row >= 0 && entry.row < matrix.rows);
            TESSERA_ASSERT(entry.column >= 0 && entry.column < matrix.columns);
            TESSERA_ASSERT(entry.value == 1.0);
            TESSERA_ASSERT(before == nullptr || before->row < entry.row ||
                           (before->row == entry.row && before->column < entry.column));
            before = &entry;
        }
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().line >= 1);
        TESSERA_ASSERT(error.diagnostics().front().column >= 1);
    }
    return 0;
}
