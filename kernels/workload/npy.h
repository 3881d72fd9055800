// SPDX-License-Identifier: MIT
// NumPy `.npy` files of matrices, and of plain arrays (format: numpy.lib.format, versions 1.0 and
// 2.0).
//
//   bytes 0..5    \x93 N U M P Y          6, 7   version: 1 0 or 2 0
//   bytes 8..     header length, little-endian: 2 bytes in version 1.0, 4 bytes in 2.0
//   header        {'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }
//                 ASCII, then blanks and a newline
//   then          rows * columns elements, row-major
//
// Read: <f2, <f4, <f8, <i4, <i8. Written: <f2 and <f4 in version 1.0.
// Not read: other types, big-endian data, Fortran order, other numbers of dimensions, bytes after
// the data.
#pragma once

#include "base/error.h"
#include "kernels/workload/operands.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::workload {

/// The file is good, but of another shape than expected.
class WrongShape : public ConfigError {
public:
    using ConfigError::ConfigError;
};

/// Reads a file's bytes as a binary16 matrix; wider elements are rounded once to nearest even.
/// `file_name` is for messages only. Throws ConfigError if the bytes are no such file, if the shape
/// is not `expected` (when given), or if an element is infinite, NaN, or beyond the largest
/// binary16 (65504) after rounding.
[[nodiscard]] DenseF16 read_npy(std::string_view bytes, const std::string& file_name,
                                std::optional<MatrixShape> expected = std::nullopt);
/// The same as a binary32 matrix.
[[nodiscard]] DenseF32 read_npy_f32(std::string_view bytes, const std::string& file_name,
                                    std::optional<MatrixShape> expected = std::nullopt);

/// The same from a path. Throws IoError if the file cannot be read.
[[nodiscard]] DenseF16 read_npy_file(const std::string& path,
                                     std::optional<MatrixShape> expected = std::nullopt);
[[nodiscard]] DenseF32 read_npy_file_f32(const std::string& path,
                                         std::optional<MatrixShape> expected = std::nullopt);

/// A file of any shape as it stands: the bytes of its elements in row-major order.
struct NpyView {
    std::string descr; ///< "<f2", "|u1", ...
    std::vector<std::int64_t> shape;
    std::string_view data;
};

/// Reads a file of little-endian floats of 2, 4 or 8 bytes or integers of 1, 2, 4 or 8. Throws
/// ConfigError as read_npy does.
[[nodiscard]] NpyView view_npy(std::string_view bytes, const std::string& file_name);

inline constexpr std::size_t kMostNpyHeaderBytes = 64 * 1024; ///< with what stands before it

/// What stands before the elements of a matrix.
struct NpyMatrixHeader {
    std::string descr; ///< as of view_npy, or "|b1"
    MatrixShape shape;
    std::size_t header_bytes = 0; ///< the elements follow them
};

/// Reads a file's first kMostNpyHeaderBytes, or all of it if it has fewer; elements are not looked
/// at. Throws ConfigError as read_npy does.
[[nodiscard]] NpyMatrixHeader read_npy_header(std::string_view bytes, const std::string& file_name);

/// The bytes of a version 1.0 file of any shape; `data` are the elements in row-major order.
[[nodiscard]] std::string npy_bytes(std::string_view descr, const std::vector<std::int64_t>& shape,
                                    std::string_view data);

/// The bytes of a version 1.0 file; data are row-major with shape.rows * shape.columns elements.
/// Infinities and NaNs are written as they are.
[[nodiscard]] std::string npy_bytes_f16(std::span<const std::uint16_t> values, MatrixShape shape);
[[nodiscard]] std::string npy_bytes_f32(std::span<const float> values, MatrixShape shape);

} // namespace tessera::workload
