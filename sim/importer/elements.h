// SPDX-License-Identifier: MIT
// Known elements, moved about and read: what is computed when a model is translated.
#pragma once

#include "sim/importer/model.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::importer {

/// An operator is known, but not what a node asks of it.
class Refused : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// More than the memory of all tiles holds.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 28U;
/// @throws Refused for sizes below 0, and for more elements
void require_sizes(const Sizes& sizes);

[[nodiscard]] std::int64_t product_of(const Sizes& sizes);
[[nodiscard]] std::string sizes_text(const Sizes& sizes); ///< "3 x 4"; "no sizes"

/// All elements as whole numbers; nothing where one is none, or where the type has fractions.
[[nodiscard]] std::optional<Sizes> whole_numbers(const Elements& elements);

/// A list of whole numbers, or with `shape` a tensor of them.
[[nodiscard]] Elements whole_elements(const Sizes& numbers,
                                      const std::optional<Sizes>& shape = std::nullopt);

/// So many elements of one value. @throws Refused where the type does not have it
[[nodiscard]] Elements equal_elements(workload::ValueType type, const Sizes& shape, double value);

/// Element i is element from[i] of the other.
[[nodiscard]] Elements taken(const Elements& elements, const Sizes& shape, const Sizes& from);

/// Another type. @returns nothing where the type does not have a value exactly
[[nodiscard]] std::optional<Elements> as_type(const Elements& elements, workload::ValueType type);

/// FP32, rounded, where the type is FP64; else the elements as they are.
[[nodiscard]] Elements single_of(Elements elements);

/// Where element i of a tensor whose axis j is axis order[j] of one of `shape` stands in that.
[[nodiscard]] Sizes places_permuted(const Sizes& shape, const std::vector<std::size_t>& order);

} // namespace tessera::importer
