// SPDX-License-Identifier: MIT
// What readers of files with tensors share: who a message is about, and the entries that the bytes of
// a dense matrix are.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::workload {

/// Who a message is about: "weights.safetensors", or with a tensor of it.
struct MatrixSource {
    std::string file;
    std::string tensor; ///< or empty

    /// @throws ConfigError that names file and tensor
    [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;
};

/// What elements that are NaN mean.
enum class Marks {
    Refused, ///< a mistake: nothing says that the file has marks
    Read     ///< the element is pruned; all others are kept, also those of value 0
};

/// The entries of a dense matrix: elements that are not 0, or with marks those that are not NaN.
/// `bytes` has exactly rows * columns values. @throws ConfigError at an infinity, and at a NaN where
/// marks are refused
[[nodiscard]] CoordinateMatrix entries_of(std::string_view bytes, std::int64_t rows,
                                          std::int64_t columns, ValueType type, Marks marks,
                                          const MatrixSource& from);

/// @throws ConfigError where an element has two entries, which stand side by side
void refuse_duplicates(const CoordinateMatrix& matrix, const MatrixSource& from);

/// "element [3, 4]"
[[nodiscard]] std::string element_text(std::int64_t row, std::int64_t column);

} // namespace tessera::workload
