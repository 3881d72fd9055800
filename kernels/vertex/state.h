// SPDX-License-Identifier: MIT
// Vertex state: fields one after the other, each at a multiple of its own size as C++ lays out a
// struct, then the tables that they point to.
//
//     {"u16": 3}  {"pointer": "x"}              03 00 .. .. | address of x
//     {"pointers": ["x", "y"], "list": true}    address of a table {x, y} behind the fields
#pragma once

#include "base/units.h"
#include "kernels/vertex/evaluation.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::vertex {

struct ArrayPlace {
    Address address = 0;
    Bytes bytes = 0;
    Bytes element_bytes = 1;
    Bytes padding_bytes = 0; ///< readable behind it
    Bytes padding_before_bytes = 0;
};

/// Bytes of the state with its tables. Its addresses need not be known yet.
[[nodiscard]] Bytes state_bytes(Evaluation& evaluation, const std::vector<StateField>& fields);

/// The bytes of a state that stands at `address`. Mistakes are noted in `evaluation`; a pointer
/// outside its array and the padding is one, and so is a length beyond the end of the array.
[[nodiscard]] std::vector<std::byte> pack_state(Evaluation& evaluation,
                                                const std::vector<StateField>& fields,
                                                const std::map<std::string, ArrayPlace>& arrays,
                                                Address address);

/// A word of a state whose arrays have no addresses yet.
struct StateWord {
    enum class Kind : std::uint8_t {
        Number,  ///< `number`
        Pointer, ///< the address of byte `offset` of `array`
        Table    ///< the address of the table with that `number`
    };
    Kind kind = Kind::Number;
    std::uint32_t number = 0;
    std::string array = {};
    Bytes offset = 0;
};
struct StateWords {
    std::vector<StateWord> words;
    std::vector<std::vector<StateWord>> tables;
};

/// The same state for arrays that somebody else places. `arrays`: their addresses are not looked at.
/// Mistakes are noted in `evaluation`; a pointer that is not a word of its own is one.
[[nodiscard]] StateWords state_words(Evaluation& evaluation, const std::vector<StateField>& fields,
                                     std::map<std::string, ArrayPlace> arrays);

} // namespace tessera::vertex
