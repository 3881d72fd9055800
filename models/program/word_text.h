// SPDX-License-Identifier: MIT
// What people call a word of a tile's memory that the control program looks at.
#pragma once

#include "models/program/program.h"

#include <fmt/format.h>

#include <string>

namespace tessera::program {

/// "the word at 0x80010 of tile_3, 'flag'": with the names of the tensors that are this word and no
/// more. They are several where memory is used again.
[[nodiscard]] inline std::string word_text(const Program& program, const TileValue& word) {
    std::string names;
    for (const Tensor& tensor : program.tensors) {
        const bool is_word = tensor.pieces.size() == 1 && tensor.pieces[0].dims.empty() &&
                             tensor.pieces[0].tile == word.tile &&
                             tensor.pieces[0].address == word.address;
        if (is_word && names.find("'" + tensor.name + "'") == std::string::npos) {
            names += (names.empty() ? ", '" : " or '") + tensor.name + "'";
        }
    }
    return fmt::format("the word at {:#x} of tile_{}{}", word.address, word.tile, names);
}

} // namespace tessera::program
