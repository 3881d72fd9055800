// SPDX-License-Identifier: MIT
// Finds what stands round a matrix-unit body: the straight code that fills the matrix unit before
// the loop and drains it behind, which exec/matrix_pass.h does at once with all its rows.
#pragma once

#include "models/isa/decoded_program.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tessera::isa {

/// Word indices of the code of a pass.
struct PassPlace {
    std::size_t first = 0;
    std::size_t rpt = 0;
    std::size_t end = 0; ///< behind its last instruction
    MatrixPass pass;     ///< without the operations, which the decoder knows
};

/// The pass whose loop is the rpt at word `rpt` of four bundles from word `body` on, if the code
/// round it is one: every row of inputs is multiplied once, starts from its own partials or from
/// nothing, and is stored once, whatever the number of passes. That is established by following
/// the values through the code for one to four passes; a body's registers are the same behind
/// every later pass.
[[nodiscard]] std::optional<PassPlace> match_matrix_pass(std::span<const std::uint32_t> words,
                                                         std::size_t rpt, std::size_t body);

} // namespace tessera::isa
