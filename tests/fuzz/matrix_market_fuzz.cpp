// SPDX-License-Identifier: MIT
// Any bytes either give a matrix that keeps its promises or a ConfigError; nothing else may happen.
#include "base/error.h"
#include "kernels/workload/matrix_market.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using tessera::workload::Duplicates;
    try {
        const auto matrix = tessera::workload::read_matrix_market(
            std::string_view(reinterpret_cast<const char*>(data), bytes), "fuzz.mtx",
            bytes % 2 == 0 ? Duplicates::Sum : Duplicates::Error);
        const tessera::workload::CoordinateEntry* before = nullptr;
        for (const auto& entry : matrix.entries) {
            TESSERA_ASSERT(entry.row >= 0 && entry.row < matrix.rows);
            TESSERA_ASSERT(entry.column >= 0 && entry.column < matrix.columns);
            TESSERA_ASSERT(std::isfinite(entry.value));
            TESSERA_ASSERT(before == nullptr || before->row < entry.row ||
                           (before->row == entry.row && before->column < entry.column));
            before = &entry;
        }
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().line >= 1);
    }
    return 0;
}
