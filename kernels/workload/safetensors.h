// SPDX-License-Identifier: MIT
// Files of tensors in the format `.safetensors`.
//
//   bytes 0..7    length of the head, little-endian
//   head          JSON: {"w": {"dtype": "F16", "shape": [64, 32], "data_offsets": [0, 4096]}, ...}
//                 and "__metadata__", texts by name; blanks may follow
//   then          the bytes of the tensors, row-major, lowest byte first, without gaps
//
// The head is read first, then one tensor after the other in the order of their bytes: no more than
// one is in memory.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/dense_entries.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::workload {

inline constexpr std::size_t kTensorsLengthBytes = 8;

struct TensorHead {
    std::string name;
    std::string dtype;
    std::optional<ValueType> type; ///< nothing: one whose values are not read, as FP8
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0;

    [[nodiscard]] std::int64_t elements() const;
};

/// The bytes of a file in front of those of its tensors, which stand one behind the other in this order.
[[nodiscard]] std::string safetensors_head(std::span<const TensorHead> tensors);

/// Puts the next bytes behind `bytes`: `count` of them, or fewer at the end.
using ByteSource = std::function<void(std::string& bytes, std::size_t count)>;

class SafetensorsReader {
public:
    /// Reads the head. `file_name` is for messages only.
    /// @throws ConfigError where it is none, or its tensors overlap, leave gaps or are not as long
    /// as their shapes say
    SafetensorsReader(ByteSource source, std::string file_name);
    /// @throws IoError too, if the file cannot be read
    explicit SafetensorsReader(const std::string& path);

    /// In the order of their bytes.
    [[nodiscard]] const std::vector<TensorHead>& tensors() const { return tensors_; }
    /// The first bytes of the file, up to those of the tensors.
    [[nodiscard]] const std::string& head_bytes() const { return head_; }
    [[nodiscard]] const std::string& file_name() const { return file_name_; }

    /// The bytes of the next tensor. @throws ConfigError where the file is shorter
    [[nodiscard]] std::string next();
    /// Behind the last tensor. @throws ConfigError where the file goes on
    void expect_end();

private:
    void read_head();
    [[noreturn]] void fail(const std::string& message, const std::string& hint = "") const;

    ByteSource source_;
    std::string file_name_;
    std::string head_;
    std::vector<TensorHead> tensors_;
    std::size_t read_ = 0; ///< tensors
};

/// The matrix that a tensor is, which is the next one of the reader.
/// @throws ConfigError where it has not two sizes, or a type whose values are not read
[[nodiscard]] CoordinateMatrix next_matrix(SafetensorsReader& reader, const TensorHead& tensor,
                                           Marks marks);

/// The matrix that a tensor of two sizes is; an empty name means the only tensor.
/// @throws ConfigError with the nearest name
[[nodiscard]] CoordinateMatrix read_safetensors_matrix(SafetensorsReader& reader,
                                                       const std::string& tensor, Marks marks);

/// The sizes of such a matrix; only the head of the file is read.
[[nodiscard]] MatrixShape read_safetensors_size(const std::string& path, const std::string& tensor);

} // namespace tessera::workload
