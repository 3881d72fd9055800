// SPDX-License-Identifier: MIT
#include "models/isa/instruction_counts.h"

#include <array>
#include <cstddef>

namespace tessera::isa {
namespace {

namespace column {

using counts::loads;
using counts::matrix;
using counts::moves;
using counts::plain;
using counts::stores;
using counts::vector;
using enum counts::Class;
using enum counts::MatrixStep;
using enum counts::VectorOperation;

constexpr std::array<counts::Instruction, static_cast<std::size_t>(Opcode::kCount)> kCounts = {{
    {},
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source) counts,
#include "models/isa/opcodes.def"
#undef TESSERA_OP
}};

} // namespace column

} // namespace

const counts::Instruction& counts_of(Opcode opcode) {
    return column::kCounts[static_cast<std::size_t>(opcode)];
}

} // namespace tessera::isa
