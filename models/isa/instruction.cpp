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
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, source)                          \
    {mnemonic, Form::form, Lane::lane, code, cycles, (flags), source},
#include "models/isa/opcodes.def"
#undef TESSERA_OP
}};

constexpr std::uint32_t field_mask(unsigned bits) {
    return (1U << bits) - 1U;
}

constexpr std::uint32_t operand_mask(const OpcodeSpec& spec) {
    std::uint32_t mask = 0;
    const FormSpec& form = kForms[static_cast<std::size_t>(spec.form)];
    for (unsigned i = 0; i < form.operand_count; ++i) {
        mask |= field_mask(form.operands[i].bits) << form.operands[i].shift;
    }
    if ((spec.flags & kBroadcast) != 0) {
        mask |= 3U;
    }
    return mask;
}

constexpr bool codes_are_apart() {
    // Masks once: compilers limit the steps of a constant expression.
    std::array<std::uint32_t, kOpcodes.size()> masks{};
    for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
        masks[i] = operand_mask(kOpcodes[i]);
        if ((kOpcodes[i].code & masks[i]) != 0) {
            return false;
        }
    }
    for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
        for (std::size_t j = i + 1; j < kOpcodes.size(); ++j) {
            const std::uint32_t differing = kOpcodes[i].code ^ kOpcodes[j].code;
            if ((differing & ~(masks[i] | masks[j])) == 0) {
                return false;
            }
        }
    }
    return true;
}
static_assert(codes_are_apart(), "two rows of opcodes.def share a word");

/// Rows by the top seven bits of their word.
const std::array<std::vector<Opcode>, 128>& rows_by_major() {
    static const auto table = [] {
        std::array<std::vector<Opcode>, 128> rows;
        for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
            rows[kOpcodes[i].code >> 24U].push_back(static_cast<Opcode>(i));
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
    case OperandKind::NegImm:
        return static_cast<std::int32_t>(field | ~field_mask(bits));
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

std::uint32_t encode(const Operation& operation) {
    const OpcodeSpec& spec = spec_of(operation.opcode);
    std::uint32_t word = spec.code;
    for (const OperandSpec& operand : spec_of(spec.form).list()) {
        const std::uint32_t field = to_field(operand.kind, operand_value(operation, operand.slot)) &
                                    field_mask(operand.bits);
        word |= field << operand.shift;
    }
    return word | static_cast<std::uint32_t>(operation.broadcast);
}

Operation decode(std::uint32_t word) {
    word &= ~kBundleBit;
    Operation operation;
    for (const Opcode candidate : rows_by_major()[word >> 24U]) {
        const OpcodeSpec& spec = spec_of(candidate);
        if ((word & ~operand_mask(spec)) != spec.code) {
            continue;
        }
        operation.opcode = candidate;
        for (const OperandSpec& operand : spec_of(spec.form).list()) {
            const std::uint32_t field = (word >> operand.shift) & field_mask(operand.bits);
            set_operand(operation, operand.slot, from_field(operand.kind, field, operand.bits));
        }
        if ((spec.flags & kBroadcast) != 0) {
            operation.broadcast = static_cast<Broadcast>(word & 3U);
        }
        break;
    }
    return operation;
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
