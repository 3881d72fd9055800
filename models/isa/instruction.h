// SPDX-License-Identifier: MIT
// What an instruction is: lanes, operand forms, flags, and the table row that assembler,
// disassembler, interpreter and the documentation table are driven from (opcodes.def).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::isa {

enum class Lane : std::uint8_t { Main, Aux };

/// How an operand is written, and whether the instruction reads or writes it.
enum class OperandKind : std::uint8_t {
    MainDst,      ///< $m, written
    MainSrc,      ///< $m, read
    MainBoth,     ///< $m, read and written (brnzdec)
    MainDelta,    ///< $m, read; may be left out, then $mzero (the delta of a memory operand)
    MainStep,     ///< $m+=, read and written
    MainInc,      ///< $m++, read and written
    MainAt,       ///< $m@, read and written
    MainShift,    ///< $m>>, read and written
    MainPairDst,  ///< $mN:N+1, written
    MainPairStep, ///< $mN:N+1+=, read and written
    AuxDst,
    AuxSrc,
    AuxSrcB, ///< may carry :BL, :BU or :B
    AuxPairDst,
    AuxPairSrc,
    AuxPairSrcB, ///< may carry :BL, :BU (of one register) or :B
    AuxQuadDst,
    AuxQuadSrc,
    UImm,         ///< unsigned constant
    WeightIndex,  ///< number of a weight register, or its name $CWEI_unit_n
    SImm,         ///< signed constant
    TopImm,       ///< constant whose low 20 bits are zero; the field holds value >> 20
    CodeAddr,     ///< absolute byte address of code; the field holds address >> 2
    VertexOffset, ///< words from the start of memory, as a number or as the address itself
    Csr,          ///< register number for get and put
    UCsr,         ///< register number minus 0x100 for uget and uput
    AmpFlag,      ///< TAMP_ constant
    Strides,      ///< two bits an address of a paced access; those that it lacks are ignored
    Events,       ///< events of an exchange instruction, from 1; the field holds them less one
    EventsSplit,  ///< the same of sendoff: the low six bits stand at `shift`, the others at 14
};

/// Which decoded field the operand fills.
enum class Slot : std::uint8_t { D, A, B, C, Imm, Imm2, Imm3, Imm4 };

struct OperandSpec {
    OperandKind kind;
    Slot slot;
    std::uint8_t shift; ///< position of the field in the word; from 32 on in the second word
    std::uint8_t bits;
};

/// Operand forms. The word layout of each stands in forms.def.
enum class Form : std::uint8_t {
#define TESSERA_FORM(id, ...) id,
#include "models/isa/forms.def"
#undef TESSERA_FORM
};

struct FormSpec {
    std::string_view name;
    std::array<OperandSpec, 7> operands;
    std::uint8_t operand_count;

    [[nodiscard]] std::span<const OperandSpec> list() const {
        return {operands.data(), operand_count};
    }
};

/// Flags of a table row.
enum : std::uint16_t {
    kPlain = 0,
    kSolo = 1 << 0,       ///< not co-issuable
    kControl = 1 << 1,    ///< changes the program counter: not in an rpt body
    kSystem = 1 << 2,     ///< not in an rpt body
    kWorker = 1 << 3,     ///< workers only
    kSupervisor = 1 << 4, ///< supervisor only
    kLoad = 1 << 5,
    kStore = 1 << 6,
    kBroadcast = 1 << 7, ///< bits 1:0 of the word say how the first source is broadcast
    kWordOnly = 1 << 8,  ///< of kBroadcast: only :B, as the elements are whole words
    kTwoSets = 1 << 9,   ///< needs both sets of accumulators: not on ipu1
    kFp8 = 1 << 10,      ///< FP8: only on ipu21
    kExchange = 1 << 11, ///< only in a row of exchange instructions
    kTwoWords = 1 << 12, ///< two words at an 8-byte boundary, bit 31 of the first set
    kStep = 1 << 13,     ///< a step of the matrix unit or of SLIC: amp.steps_per_issue
};

enum class Opcode : std::uint16_t {
    kNone, ///< no instruction in this half of a bundle
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source) id,
#include "models/isa/opcodes.def"
#undef TESSERA_OP
    kCount
};

struct OpcodeSpec {
    std::string_view mnemonic;
    Form form;
    Lane lane;
    std::uint32_t code; ///< the (first) word without operand fields; bit 31 clear but for kTwoWords
    std::uint8_t cycles; ///< worker issues it takes
    std::uint16_t flags;
    std::string_view source; ///< where its meaning and latency come from
};

/// Broadcast suffix of a first source.
enum class Broadcast : std::uint8_t { None, Lower, Upper, Word };

/// One decoded instruction. Registers are architectural numbers 0..15; a pair or quad is its first
/// register.
struct Operation {
    Opcode opcode = Opcode::kNone;
    Broadcast broadcast = Broadcast::None;
    std::uint8_t d = 0;
    std::uint8_t a = 0;
    std::uint8_t b = 0;
    std::uint8_t c = 0;
    std::int32_t imm = 0;
    std::int32_t imm2 = 0;
    std::int32_t imm3 = 0;
    std::int32_t imm4 = 0;

    bool operator==(const Operation&) const = default;
};

constexpr std::uint32_t kBundleBit = 0x80000000U;

[[nodiscard]] const OpcodeSpec& spec_of(Opcode opcode);
[[nodiscard]] const FormSpec& spec_of(Form form);

/// All rows with this mnemonic, in table order; the assembler takes the first whose operands fit.
/// The rows of a mnemonic; of an alias (aliases.def) its single row.
[[nodiscard]] std::span<const Opcode> opcodes_named(std::string_view mnemonic);

/// Every mnemonic once, aliases too.
[[nodiscard]] std::span<const std::string_view> mnemonics();

/// The mnemonic of this row alone; empty where it has none.
[[nodiscard]] std::string_view alias_of(Opcode opcode);

/// Whether the instruction takes two words.
[[nodiscard]] bool has_two_words(Opcode opcode);

/// The word of an operation, of two words the first; operand values must fit their fields.
[[nodiscard]] std::uint32_t encode(const Operation& operation);

/// Both words of an operation that has two: the first in the lower half.
[[nodiscard]] std::uint64_t encode_both(const Operation& operation);

/// The second word of an operation that has two.
[[nodiscard]] std::uint32_t encode_second(const Operation& operation);

/// The operation of a word (bit 31, which marks a bundle, is ignored); opcode kNone when the word
/// is no instruction. `second` is the word behind it, for operations that have two.
[[nodiscard]] Operation decode(std::uint32_t word, std::uint32_t second = 0);

/// The field of an operation that an operand fills; `set_operand` needs a value that fits it.
[[nodiscard]] std::int32_t operand_value(const Operation& operation, Slot slot);
void set_operand(Operation& operation, Slot slot, std::int32_t value);

/// Whether an operand of this kind names a register.
[[nodiscard]] bool is_register(OperandKind kind);

/// Masks over $m0..$m15 that the operation reads and writes.
struct MainRegisters {
    std::uint16_t read = 0;
    std::uint16_t written = 0;
};
[[nodiscard]] MainRegisters main_registers(const Operation& operation);

} // namespace tessera::isa
