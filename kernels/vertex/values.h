// SPDX-License-Identifier: MIT
// The values of arrays: lists, numbers, generators, files and formulas.
#pragma once

#include "kernels/vertex/evaluation.h"
#include "kernels/vertex/value_type.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::vertex {

using ArrayShape = std::vector<std::int64_t>;

/// Product of the dimensions.
[[nodiscard]] std::int64_t elements_of(const ArrayShape& shape);

/// Most elements of a size of an array on a tile: what its addresses reach.
inline constexpr std::int64_t kMostOnTile = std::int64_t{1} << 21;

/// The shape of an array at a point, of at most `most` elements in each size: as the file says, or as
/// its values have it. Mistakes are noted in `evaluation`. @throws IoError where a file cannot be read
[[nodiscard]] ArrayShape shape_of(Evaluation& evaluation, const LoadedVertex& loaded,
                                  const ArraySpec& array, std::int64_t most = kMostOnTile);

/// Values that stand at `pointer` of the file, for an array of a type and a shape.
struct ValuesRequest {
    std::string pointer;
    const Json* given = nullptr; ///< null: zeros
    const ValueType* type = nullptr;
    ArrayShape shape;
    std::string stream; ///< the array's name, so that arrays of one seed differ
};

/// The shape that the values themselves have: of a list or a file; nothing of the others.
[[nodiscard]] std::optional<ArrayShape> own_shape(Evaluation& evaluation,
                                                  const LoadedVertex& loaded,
                                                  const std::string& pointer, const Json& given,
                                                  const ValueType& type);

/// The bytes of the array. Mistakes are noted in `evaluation`; the bytes are then zero.
/// @throws IoError where a file cannot be read
[[nodiscard]] std::vector<std::byte> make_values(Evaluation& evaluation, const LoadedVertex& loaded,
                                                 const ValuesRequest& request);

/// The elements of an `.npy` file as numbers, and its shape. @throws ConfigError, IoError
struct NpyNumbers {
    ArrayShape shape;
    std::vector<double> values;
};
[[nodiscard]] NpyNumbers read_numbers(const std::string& path);

} // namespace tessera::vertex
