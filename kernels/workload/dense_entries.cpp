// SPDX-License-Identifier: MIT
#include "kernels/workload/dense_entries.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::workload {

void MatrixSource::fail(const std::string& message, const std::string& hint) const {
    throw ConfigError(Diagnostic{
        file, 0, 0, "", tensor.empty() ? message : "tensor " + in_quotes(tensor) + ": " + message,
        hint});
}

std::string element_text(std::int64_t row, std::int64_t column) {
    return fmt::format("element [{}, {}]", row, column);
}

CoordinateMatrix entries_of(std::string_view bytes, std::int64_t rows, std::int64_t columns,
                            ValueType type, Marks marks, const MatrixSource& from) {
    CoordinateMatrix matrix{rows, columns, type, {}};
    const char* at = bytes.data();
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column, at += facts_of(type).bytes) {
            const double value = decoded(type, at);
            if (std::isnan(value)) {
                if (marks == Marks::Refused) {
                    from.fail(element_text(row, column) +
                                  " is NaN, the mark of a pruned element, and no `sparsity` "
                                  "section says that there are marks",
                              "--marks of `tessera pattern` reads them, `tessera pattern finalize` "
                              "makes them 0");
                }
                continue;
            }
            if (std::isinf(value)) {
                from.fail(element_text(row, column) + " is not finite, expected a finite number");
            }
            if (value == 0.0 && marks == Marks::Refused) {
                continue;
            }
            if (matrix.entries.size() == kMostEntries) {
                from.fail(
                    fmt::format("got more than {} entries, the most of a pattern", kMostEntries));
            }
            matrix.entries.push_back(
                {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), 0, value});
        }
    }
    return matrix;
}

void refuse_duplicates(const CoordinateMatrix& matrix, const MatrixSource& from) {
    const auto again = std::adjacent_find(matrix.entries.begin(), matrix.entries.end(),
                                          [](const CoordinateEntry& a, const CoordinateEntry& b) {
                                              return a.row == b.row && a.column == b.column;
                                          });
    if (again != matrix.entries.end()) {
        from.fail(element_text(again->row, again->column) + " has two entries, expected one",
                  "\"duplicates\": \"sum\" of a workload adds them");
    }
}

} // namespace tessera::workload
