// SPDX-License-Identifier: MIT
#include "models/isa/instruction.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tessera::isa {
namespace {

template <typename... Operands>
constexpr FormSpec make_form(std::string_view name, Operands... list) {
    return FormSpec{name, {list...}, static_cast<std::uint8_t>(sizeof...(list))};
}

constexpr std::array kForms = {
#define TESSERA_FORM(id, ...) make_form(#id, __VA_ARGS__),
#include "models/isa/forms.def"
#undef TESSERA_FORM
};

constexpr std::array<OpcodeSpec, static_cast<std::size_t>(Opcode::kCount)> kOpcodes = {{
    {"", Form::Ms, Lane::Main, 0, 0, 0, ""},
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source)                  \
    {mnemonic, Form::form, Lane::lane, code, cycles, (flags), source},
#include "models/isa/opcodes.def"
#undef TESSERA_OP
}};

struct Alias {
    std::string_view mnemonic;
    Opcode opcode;
};

constexpr std::array kAliases = {
#define TESSERA_ALIAS(mnemonic, row) Alias{mnemonic, Opcode::row},
#include "models/isa/aliases.def"
#undef TESSERA_ALIAS
};

constexpr std::uint32_t field_mask(unsigned bits) {
    return (1U << bits) - 1U;
}

// Where the upper six bits of sendoff's count stand, and how many bits stand below them.
constexpr unsigned kSplitShift = 14;
constexpr unsigned kSplitBits = 6;

/// A field at its place in the (two) words.
constexpr std::uint64_t placed(const OperandSpec& operand, std::uint32_t field) {
    if (operand.kind == OperandKind::EventsSplit) {
        return (std::uint64_t{field & field_mask(kSplitBits)} << operand.shift) |
               (std::uint64_t{field >> kSplitBits} << kSplitShift);
    }
    return std::uint64_t{field} << operand.shift;
}

constexpr std::uint32_t taken(const OperandSpec& operand, std::uint64_t words) {
    const auto at = [words](unsigned shift) { return static_cast<std::uint32_t>(words >> shift); };
    if (operand.kind == OperandKind::EventsSplit) {
        return (at(operand.shift) & field_mask(kSplitBits)) |
               ((at(kSplitShift) & field_mask(operand.bits - kSplitBits)) << kSplitBits);
    }
    return at(operand.shift) & field_mask(operand.bits);
}

/// The bits of the first word that operands fill.
constexpr std::uint32_t operand_mask(const OpcodeSpec& spec) {
    std::uint32_t mask = 0;
    const FormSpec& form = kForms[static_cast<std::size_t>(spec.form)];
    for (unsigned i = 0; i < form.operand_count; ++i) {
        mask |=
            static_cast<std::uint32_t>(placed(form.operands[i], field_mask(form.operands[i].bits)));
    }
    if ((spec.flags & kBroadcast) != 0) {
        mask |= 3U;
    }
    return mask;
}

/// Codes and masks of all rows in plain arrays: compilers limit the steps of a constant expression.
struct RowWords {
    std::uint32_t codes[kOpcodes.size()] = {};
    std::uint32_t masks[kOpcodes.size()] = {};
};

constexpr RowWords row_words() {
    RowWords words;
    for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
        words.codes[i] = kOpcodes[i].code;
        words.masks[i] = operand_mask(kOpcodes[i]);
    }
    return words;
}

constexpr RowWords kRowWords = row_words();

/// Whether the rows of one part in eight leave their operands' bits alone and share no word with a
/// later row.
constexpr bool codes_are_apart(std::size_t part) {
    for (std::size_t i = 1 + part; i < kOpcodes.size(); i += 8) {
        const std::uint32_t code = kRowWords.codes[i];
        const std::uint32_t fixed = ~kRowWords.masks[i];
        if ((code & ~fixed) != 0) {
            return false;
        }
        for (std::size_t j = i + 1; j < kOpcodes.size(); ++j) {
            if (((code ^ kRowWords.codes[j]) & fixed & ~kRowWords.masks[j]) == 0) {
                return false;
            }
        }
    }
    return true;
}
static_assert(codes_are_apart(0) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(1) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(2) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(3) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(4) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(5) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(6) && "two rows of opcodes.def share a word");
static_assert(codes_are_apart(7) && "two rows of opcodes.def share a word");

/// Rows by the top eight bits that their word may have.
const std::array<std::vector<Opcode>, 256>& rows_by_major() {
    static const auto table = [] {
        std::array<std::vector<Opcode>, 256> rows;
        for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
            const std::uint32_t fixed = ~operand_mask(kOpcodes[i]) >> 24U;
            for (std::uint32_t major = 0; major < rows.size(); ++major) {
                if ((major & fixed) == kOpcodes[i].code >> 24U) {
                    rows[major].push_back(static_cast<Opcode>(i));
                }
            }
        }
        return rows;
    }();
    return table;
}

const std::map<std::string_view, std::vector<Opcode>>& rows_by_mnemonic() {
    static const auto table = [] {
        std::map<std::string_view, std::vector<Opcode>> rows;
        for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
            rows[kOpcodes[i].mnemonic].push_back(static_cast<Opcode>(i));
        }
        for (const Alias& alias : kAliases) {
            rows[alias.mnemonic].push_back(alias.opcode);
        }
        return rows;
    }();
    return table;
}

std::uint32_t to_field(OperandKind kind, std::int32_t value) {
    const auto bits = static_cast<std::uint32_t>(value);
    switch (kind) {
    case OperandKind::CodeAddr:
        return bits >> 2U;
    case OperandKind::TopImm:
        return bits >> 20U;
    case OperandKind::Events:
    case OperandKind::EventsSplit:
        return bits - 1U;
    default:
        return bits;
    }
}

std::int32_t from_field(OperandKind kind, std::uint32_t field, unsigned bits) {
    switch (kind) {
    case OperandKind::CodeAddr:
        return static_cast<std::int32_t>(field << 2U);
    case OperandKind::TopImm:
        return static_cast<std::int32_t>(field << 20U);
    case OperandKind::SImm:
        return static_cast<std::int32_t>(field << (32U - bits)) >> (32U - bits);
    case OperandKind::Events:
    case OperandKind::EventsSplit:
        return static_cast<std::int32_t>(field + 1U);
    default:
        return static_cast<std::int32_t>(field);
    }
}

} // namespace

std::int32_t operand_value(const Operation& operation, Slot slot) {
    switch (slot) {
    case Slot::D:
        return operation.d;
    case Slot::A:
        return operation.a;
    case Slot::B:
        return operation.b;
    case Slot::C:
        return operation.c;
    case Slot::Imm:
        return operation.imm;
    case Slot::Imm2:
        return operation.imm2;
    case Slot::Imm3:
        return operation.imm3;
    case Slot::Imm4:
        return operation.imm4;
    }
    return 0;
}

void set_operand(Operation& operation, Slot slot, std::int32_t value) {
    switch (slot) {
    case Slot::D:
        operation.d = static_cast<std::uint8_t>(value);
        break;
    case Slot::A:
        operation.a = static_cast<std::uint8_t>(value);
        break;
    case Slot::B:
        operation.b = static_cast<std::uint8_t>(value);
        break;
    case Slot::C:
        operation.c = static_cast<std::uint8_t>(value);
        break;
    case Slot::Imm:
        operation.imm = value;
        break;
    case Slot::Imm2:
        operation.imm2 = value;
        break;
    case Slot::Imm3:
        operation.imm3 = value;
        break;
    case Slot::Imm4:
        operation.imm4 = value;
        break;
    }
}

const OpcodeSpec& spec_of(Opcode opcode) {
    return kOpcodes[static_cast<std::size_t>(opcode)];
}

const FormSpec& spec_of(Form form) {
    return kForms[static_cast<std::size_t>(form)];
}

std::span<const Opcode> opcodes_named(std::string_view mnemonic) {
    const auto& rows = rows_by_mnemonic();
    const auto found = rows.find(mnemonic);
    return found == rows.end() ? std::span<const Opcode>{} : std::span<const Opcode>{found->second};
}

std::span<const std::string_view> mnemonics() {
    static const auto names = [] {
        std::vector<std::string_view> list;
        for (const auto& [name, rows] : rows_by_mnemonic()) {
            list.push_back(name);
        }
        return list;
    }();
    return names;
}

std::string_view alias_of(Opcode opcode) {
    const auto* const found =
        std::find_if(kAliases.begin(), kAliases.end(),
                     [opcode](const Alias& alias) { return alias.opcode == opcode; });
    return found == kAliases.end() ? std::string_view{} : found->mnemonic;
}

bool has_two_words(Opcode opcode) {
    return (spec_of(opcode).flags & kTwoWords) != 0;
}

std::uint64_t encode_both(const Operation& operation) {
    const OpcodeSpec& spec = spec_of(operation.opcode);
    std::uint64_t words = spec.code;
    for (const OperandSpec& operand : spec_of(spec.form).list()) {
        const std::uint32_t field = to_field(operand.kind, operand_value(operation, operand.slot)) &
                                    field_mask(operand.bits);
        words |= placed(operand, field);
    }
    return words | static_cast<std::uint64_t>(operation.broadcast);
}

std::uint32_t encode(const Operation& operation) {
    return static_cast<std::uint32_t>(encode_both(operation));
}

std::uint32_t encode_second(const Operation& operation) {
    return static_cast<std::uint32_t>(encode_both(operation) >> 32U);
}

Operation decode(std::uint32_t word, std::uint32_t second) {
    // of the words with bit 31 set, those of two words are known as they are
    if (rows_by_major()[word >> 24U].empty()) {
        word &= ~kBundleBit;
    }
    const std::uint64_t words = (std::uint64_t{second} << 32U) | word;
    Operation operation;
    for (const Opcode candidate : rows_by_major()[word >> 24U]) {
        const OpcodeSpec& spec = spec_of(candidate);
        if ((word & ~kRowWords.masks[static_cast<std::size_t>(candidate)]) != spec.code) {
            continue;
        }
        operation.opcode = candidate;
        for (const OperandSpec& operand : spec_of(spec.form).list()) {
            set_operand(operation, operand.slot,
                        from_field(operand.kind, taken(operand, words), operand.bits));
        }
        if ((spec.flags & kBroadcast) != 0) {
            operation.broadcast = static_cast<Broadcast>(word & 3U);
        }
        break;
    }
    return operation;
}

bool is_register(OperandKind kind) {
    return kind < OperandKind::UImm;
}

MainRegisters main_registers(const Operation& operation) {
    constexpr std::uint16_t kWritable = 0x0fff; // nothing waits for a write that is discarded
    MainRegisters registers;
    const OpcodeSpec& spec = spec_of(operation.opcode);
    for (const OperandSpec& operand : spec_of(spec.form).list()) {
        const auto number = static_cast<unsigned>(operand_value(operation, operand.slot)) & 15U;
        const auto one = static_cast<std::uint16_t>(1U << number);
        const auto pair = static_cast<std::uint16_t>(3U << number);
        switch (operand.kind) {
        case OperandKind::MainDst:
            registers.written |= one;
            break;
        case OperandKind::MainSrc:
        case OperandKind::MainDelta:
            registers.read |= one;
            break;
        case OperandKind::MainBoth:
        case OperandKind::MainStep:
        case OperandKind::MainInc:
        case OperandKind::MainAt:
        case OperandKind::MainShift:
            registers.read |= one;
            registers.written |= one;
            break;
        case OperandKind::MainPairDst:
            registers.written |= pair;
            break;
        case OperandKind::MainPairStep:
            registers.read |= pair;
            registers.written |= pair;
            break;
        default:
            break;
        }
    }
    registers.written &= kWritable;
    return registers;
}

} // namespace tessera::isa
