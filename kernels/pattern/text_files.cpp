// SPDX-License-Identifier: MIT
#include "kernels/pattern/text_files.h"

#include "kernels/workload/value_type.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::ValueType;

std::string matrix_market_text(const CoordinateMatrix& matrix, const workload::MatrixSource& to) {
    const bool whole = workload::is_whole(matrix.type);
    const char* const field = !matrix.has_values() ? "pattern" : whole ? "integer" : "real";
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field,
                   matrix.rows, matrix.columns, matrix.entries.size());
    std::array<char, sizeof(std::int64_t)> bytes{};
    for (const CoordinateEntry& entry : matrix.entries) {
        fmt::format_to(out, "{} {}", entry.row + 1, entry.column + 1);
        if (whole) {
            if (!workload::encode(ValueType::I64, entry.value, bytes.data())) {
                to.fail(workload::element_text(entry.row, entry.column) +
                        ": got a whole number of 2^53 or more, which is not kept");
            }
            fmt::format_to(out, " {}", static_cast<std::int64_t>(entry.value));
        } else if (matrix.has_values()) {
            fmt::format_to(out, " {}", entry.value);
        }
        text += '\n';
    }
    return text;
}

std::string smtx_text(const CoordinateMatrix& matrix) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(matrix.rows) + 1, 0);
    for (const CoordinateEntry& entry : matrix.entries) {
        ++starts[static_cast<std::size_t>(entry.row) + 1];
    }
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{}, {}, {}\n0", matrix.rows, matrix.columns, matrix.entries.size());
    std::int64_t start = 0;
    for (std::size_t row = 1; row < starts.size(); ++row) {
        start += starts[row];
        fmt::format_to(out, " {}", start);
    }
    text += '\n';
    const char* between = "";
    for (const CoordinateEntry& entry : matrix.entries) {
        fmt::format_to(out, "{}{}", between, entry.column);
        between = " ";
    }
    return text + '\n';
}

} // namespace tessera::pattern
