// SPDX-License-Identifier: MIT
#include "kernels/pattern/dense.h"

#include "base/error.h"
#include "base/text.h"
#include "kernels/pattern/blocks.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::ValueType;

namespace {

constexpr std::int64_t kMostDenseElements = std::int64_t{1} << 31U;

void put(const CoordinateEntry& entry, ValueType type, char* to, const Source& target) {
    if (!workload::encode(type, entry.value, to)) {
        target.fail(fmt::format("{}: {} has not exactly the value {}",
                                element_text(entry.row, entry.column),
                                workload::facts_of(type).name, entry.value),
                    "--type chooses another type");
    }
}

} // namespace

void Source::fail(const std::string& message, const std::string& hint) const {
    throw ConfigError(Diagnostic{
        file, 0, 0, "", tensor.empty() ? message : "tensor " + in_quotes(tensor) + ": " + message,
        hint});
}

std::string element_text(std::int64_t row, std::int64_t column) {
    return fmt::format("element [{}, {}]", row, column);
}

CoordinateMatrix entries_of(std::string_view bytes, std::int64_t rows, std::int64_t columns,
                            ValueType type, Marks marks, const Source& from) {
    CoordinateMatrix matrix{rows, columns, type, {}};
    const char* at = bytes.data();
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns;
             ++column, at += workload::facts_of(type).bytes) {
            const double value = workload::decoded(type, at);
            if (std::isnan(value)) {
                if (marks == Marks::Refused) {
                    from.fail(element_text(row, column) +
                                  " is NaN, the mark of a pruned element, and no `sparsity` "
                                  "section says that there are marks",
                              "--marks reads them, `tessera pattern finalize` makes them 0");
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

std::string dense_bytes(const CoordinateMatrix& matrix, const Source& to) {
    if (matrix.rows > kMostDenseElements / matrix.columns) {
        to.fail(fmt::format("got {} x {}, expected at most {} elements where all of them are "
                            "written",
                            matrix.rows, matrix.columns, kMostDenseElements));
    }
    const std::size_t bytes = workload::facts_of(matrix.type).bytes;
    std::string dense(static_cast<std::size_t>(matrix.rows * matrix.columns) * bytes, '\0');
    for (const CoordinateEntry& entry : matrix.entries) {
        const auto element = static_cast<std::size_t>(entry.row * matrix.columns + entry.column);
        put(entry, matrix.type, dense.data() + element * bytes, to);
    }
    return dense;
}

std::string value_bytes(const CoordinateMatrix& matrix, const Source& to) {
    const std::size_t bytes = workload::facts_of(matrix.type).bytes;
    std::string values(matrix.entries.size() * bytes, '\0');
    char* at = values.data();
    for (const CoordinateEntry& entry : matrix.entries) {
        put(entry, matrix.type, at, to);
        at += bytes;
    }
    return values;
}

void refuse_duplicates(const CoordinateMatrix& matrix, const Source& from) {
    const auto again = std::adjacent_find(matrix.entries.begin(), matrix.entries.end(),
                                          [](const CoordinateEntry& a, const CoordinateEntry& b) {
                                              return a.row == b.row && a.column == b.column;
                                          });
    if (again != matrix.entries.end()) {
        from.fail(element_text(again->row, again->column) + " has two entries, expected one");
    }
}

} // namespace tessera::pattern
