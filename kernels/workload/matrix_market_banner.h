// SPDX-License-Identifier: MIT
// The first line of a Matrix Market file (matrix_market.h), which says what follows.
#pragma once

#include "base/text_lines.h"

#include <cstdint>
#include <span>
#include <string>

namespace tessera::workload {

enum class MatrixField : std::uint8_t { Real, Integer, Pattern };
enum class MatrixSymmetry : std::uint8_t { General, Symmetric, Skew };

struct MatrixMarketBanner {
    MatrixField field = MatrixField::Real;
    MatrixSymmetry symmetry = MatrixSymmetry::General;
    bool is_array = false; ///< otherwise coordinates
};

/// `words` are those of the first line up to a comment; of more than six the first six.
/// @throws ConfigError that names `file` and says which files are read
[[nodiscard]] MatrixMarketBanner read_matrix_market_banner(std::span<const Word> words,
                                                           const std::string& file);

} // namespace tessera::workload
