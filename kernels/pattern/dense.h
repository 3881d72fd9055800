// SPDX-License-Identifier: MIT
// Matrices as the bytes of all their elements, row-major.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <string>
#include <string_view>

namespace tessera::pattern {

/// Who a message is about: "weights.safetensors", or with a tensor of it.
struct Source {
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
[[nodiscard]] workload::CoordinateMatrix entries_of(std::string_view bytes, std::int64_t rows,
                                                    std::int64_t columns, workload::ValueType type,
                                                    Marks marks, const Source& from);

/// The bytes of all elements; those without an entry are 0.
/// @throws ConfigError where they are too many, or where the type does not have an entry's value
[[nodiscard]] std::string dense_bytes(const workload::CoordinateMatrix& matrix, const Source& to);

/// The bytes of the entries' values, in their order. @throws ConfigError as above
[[nodiscard]] std::string value_bytes(const workload::CoordinateMatrix& matrix, const Source& to);

/// @throws ConfigError where an element has two entries, which stand side by side
void refuse_duplicates(const workload::CoordinateMatrix& matrix, const Source& from);

/// "element [3, 4]"
[[nodiscard]] std::string element_text(std::int64_t row, std::int64_t column);

} // namespace tessera::pattern
