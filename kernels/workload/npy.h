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
// Read: bools, floats of 2, 4 and 8 bytes, integers of 1, 2, 4 and 8, with or without a sign, in
// either byte order, row-major or in Fortran's order. Written: <f2 and <f4 in version 1.0.
// Not read: other types, bytes after the data; where a matrix is wanted, other numbers of dimensions.
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

/// Whether read_npy_file() reads such a matrix, as far as the header tells. @throws as it
void check_npy_file(const std::string& path, const MatrixShape& expected);
/// The same of the first bytes of a file, which have all of its header.
void check_npy_header(const std::string& bytes, const std::string& file_name,
                      const MatrixShape& expected);

/// The type of a file's elements.
struct NpyType {
    std::string descr; ///< of the lowest byte first: "<f2", "|u1", ...
    std::size_t bytes = 0;
    bool is_big_endian = false; ///< the file has the highest byte first
};

/// The type that a header names so; nothing where it is none that is read.
[[nodiscard]] std::optional<NpyType> npy_type(std::string_view descr);

/// Walks the elements of a file in the order in which they stand.
class NpyOrder {
public:
    NpyOrder(const std::vector<std::int64_t>& shape, bool is_fortran);

    /// Where the element would stand if the file were row-major.
    [[nodiscard]] std::size_t row_major_index() const { return static_cast<std::size_t>(index_); }
    void next();

private:
    bool is_fortran_;
    std::vector<std::int64_t> sizes_;
    std::vector<std::int64_t> place_;
    std::vector<std::int64_t> steps_;
    std::int64_t index_ = 0;
};

/// A file of any shape: the bytes of its elements in row-major order, lowest byte first.
struct NpyArray {
    std::string descr; ///< "<f2", "|u1", ...
    std::vector<std::int64_t> shape;
    std::string data;
};

/// Throws ConfigError as read_npy does, but for elements that are not finite.
[[nodiscard]] NpyArray read_npy_array(std::string_view bytes, const std::string& file_name);

/// The text of a file that has one text of bytes or of UCS-4, as "|S3" or "<U3"; characters that are
/// no ASCII become '?'. Throws ConfigError if the file is another.
[[nodiscard]] std::string read_npy_text(std::string_view bytes, const std::string& file_name);

inline constexpr std::size_t kMostNpyHeaderBytes = 64 * 1024; ///< with what stands before it

/// What stands before the elements of a matrix.
struct NpyMatrixHeader {
    NpyType type;
    bool is_fortran = false;
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
