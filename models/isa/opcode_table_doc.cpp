// SPDX-License-Identifier: MIT
#include "models/isa/opcode_table_doc.h"

#include "models/isa/instruction.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::isa {
namespace {

constexpr std::string_view kIntroduction =
    R"(# Instructions

Printed by the build target `tessera_instruction_table` from `models/isa/opcodes.def` and `meanings.def`; a test compares
the two.
The language round it stands in [assembler.md](assembler.md).

Operands, in the order in which they are written:

| written | is |
| --- | --- |
| `$m`, `$a` | a register of the main or the aux file; `$m0:1`, `$a0:1` a pair, `$a0:3` a quad |
| `$m+=`, `$m0:1+=`, `$m++`, `$m@`, `$m>>` | a register that the instruction also moves on; the suffix is part of the syntax |
| `[, $m]` | a delta that may be left out: `$mzero` |
| `$a0:1\|B` | also one register with `:B`: its word in every element |
| `$a\|BL`, `$a0:1\|BL` | also one register with `:BL`, `:BU` or `:B`: its lower half, upper half or word in every element |
| `uN`, `sN` | a constant of N bits, unsigned or signed; `uN<<20` one whose low 20 bits are zero |
| `addrN` | the address of code; the word holds address / 4 in N bits |
| `vertexN` | words from the start of memory in N bits: a number, or an address, from which the start is subtracted |
| `csr`, `ucsr` | a control register of the main group (0..255) or the aux group (256..511) |
| `flag` | a `TAMP_` or `TSLIC_` constant |
| `1..N` | how many events an exchange instruction takes; the word holds one less |

Issues are issue slots of a worker. The word stands without its operand fields; bit 31 of the first word of a bundle is set.
`step`s are of the matrix unit: how many issues several in a row take is `amp.steps_per_issue`.
`two-sets` instructions are not on ipu1, `fp8` ones only on ipu21; `exchange` ones only do something in a row.
Where rows share a mnemonic the first that the operands fit is taken.

In the last column d is the first operand, a, b and c those that follow, x0 element 0 of x.
)";

constexpr std::string_view kTableHead =
    "| mnemonic | operands | lane | issues | flags | word | does |\n"
    "| --- | --- | --- | ---: | --- | --- | --- |\n";

std::string operand_text(const OperandSpec& spec) {
    switch (spec.kind) {
    case OperandKind::MainDst:
    case OperandKind::MainSrc:
    case OperandKind::MainBoth:
    case OperandKind::MainDelta:
        return "$m";
    case OperandKind::MainStep:
        return "$m+=";
    case OperandKind::MainInc:
        return "$m++";
    case OperandKind::MainAt:
        return "$m@";
    case OperandKind::MainShift:
        return "$m>>";
    case OperandKind::MainPairDst:
        return "$m0:1";
    case OperandKind::MainPairStep:
        return "$m0:1+=";
    case OperandKind::AuxDst:
    case OperandKind::AuxSrc:
    case OperandKind::AuxSrcB:
        return "$a";
    case OperandKind::AuxPairDst:
    case OperandKind::AuxPairSrc:
    case OperandKind::AuxPairSrcB:
        return "$a0:1";
    case OperandKind::AuxQuadDst:
    case OperandKind::AuxQuadSrc:
        return "$a0:3";
    case OperandKind::UImm:
    case OperandKind::WeightIndex:
    case OperandKind::Strides:
        return fmt::format("u{}", spec.bits);
    case OperandKind::SImm:
        return fmt::format("s{}", spec.bits);
    case OperandKind::TopImm:
        return fmt::format("u{}<<20", spec.bits);
    case OperandKind::CodeAddr:
        return fmt::format("addr{}", spec.bits);
    case OperandKind::VertexOffset:
        return fmt::format("vertex{}", spec.bits);
    case OperandKind::Csr:
        return "csr";
    case OperandKind::UCsr:
        return "ucsr";
    case OperandKind::AmpFlag:
        return "flag";
    case OperandKind::Events:
    case OperandKind::EventsSplit:
        return fmt::format("1..{}", 1U << spec.bits);
    }
    return {};
}

std::string operands_text(const OpcodeSpec& row) {
    std::string text;
    for (const OperandSpec& spec : spec_of(row.form).list()) {
        const bool is_broadcast =
            (row.flags & kBroadcast) != 0 &&
            (spec.kind == OperandKind::AuxSrcB || spec.kind == OperandKind::AuxPairSrcB);
        const char* suffix = (row.flags & kWordOnly) != 0 ? "\\|B" : "\\|BL";
        const std::string operand = operand_text(spec) + (is_broadcast ? suffix : "");
        if (spec.kind == OperandKind::MainDelta) {
            text += "[, " + operand + "]";
        } else {
            text += (text.empty() ? "" : ", ") + operand;
        }
    }
    return text.empty() ? text : "`" + text + "`";
}

std::string flags_text(std::uint16_t flags) {
    constexpr std::array<std::pair<std::uint16_t, std::string_view>, 13> kNames = {{
        {kSolo, "solo"},
        {kControl, "control"},
        {kSystem, "system"},
        {kWorker, "worker"},
        {kSupervisor, "supervisor"},
        {kLoad, "load"},
        {kStore, "store"},
        {kBroadcast, "broadcast"},
        {kTwoSets, "two-sets"},
        {kFp8, "fp8"},
        {kExchange, "exchange"},
        {kTwoWords, "two-words"},
        {kStep, "step"},
    }};
    std::string text;
    for (const auto& [flag, name] : kNames) {
        if ((flags & flag) != 0) {
            text += (text.empty() ? "" : " ") + std::string(name);
        }
    }
    return text;
}

/// The table's rows of one mnemonic; none if the table has none.
std::string rows_of(std::string_view mnemonic, std::string_view meaning) {
    std::string text;
    for (const Opcode opcode : opcodes_named(mnemonic)) {
        const OpcodeSpec& row = spec_of(opcode);
        text += fmt::format("| {} | {} | {} | {} | {} | {:#010x} | {} |\n", mnemonic,
                            operands_text(row), row.lane == Lane::Main ? "main" : "aux", row.cycles,
                            flags_text(row.flags), row.code, meaning);
    }
    return text;
}

} // namespace

std::string opcode_table_markdown() {
    std::string text(kIntroduction);
#define TESSERA_FAMILY(title) text += fmt::format("\n## {}\n\n{}", title, kTableHead);
#define TESSERA_MEANING(mnemonic, meaning) text += rows_of(mnemonic, meaning);
#include "models/isa/meanings.def"
#undef TESSERA_FAMILY
#undef TESSERA_MEANING
    return text;
}

std::string_view meaning_of(std::string_view mnemonic) {
    static const std::map<std::string_view, std::string_view> meanings = {
#define TESSERA_FAMILY(title)
#define TESSERA_MEANING(name, meaning) {name, meaning},
#include "models/isa/meanings.def"
#undef TESSERA_FAMILY
#undef TESSERA_MEANING
    };
    const auto found = meanings.find(mnemonic);
    return found == meanings.end() ? std::string_view{} : found->second;
}

std::vector<OpcodeLine> opcode_list() {
    std::vector<OpcodeLine> lines;
    for (const auto mnemonic : mnemonics()) {
        for (const Opcode opcode : opcodes_named(mnemonic)) {
            const OpcodeSpec& row = spec_of(opcode);
            std::string operands = operands_text(row);
            std::erase(operands, '`');
            std::erase(operands, '\\');
            std::string meaning(meaning_of(mnemonic));
            std::erase(meaning, '\\');
            lines.push_back({std::string(mnemonic), std::move(operands),
                             row.lane == Lane::Main ? "main" : "aux", static_cast<int>(row.cycles),
                             std::move(meaning)});
        }
    }
    return lines;
}

} // namespace tessera::isa
