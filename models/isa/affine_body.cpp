// SPDX-License-Identifier: MIT
#include "models/isa/affine_body.h"

#include "models/isa/shadow.h"

#include <algorithm>

namespace tessera::isa {
namespace {

constexpr std::uint16_t kUnknowable = 0x0fff; ///< the others are the tile's, or read zero

std::uint16_t bit_of(unsigned number) {
    return static_cast<std::uint16_t>((1U << number) & kUnknowable);
}

/// Registers of one kind of operand.
std::uint16_t registers_of(const Operation& operation, OperandKind kind) {
    std::uint16_t found = 0;
    for (const OperandSpec& operand : spec_of(spec_of(operation.opcode).form).list()) {
        if (operand.kind == kind) {
            found |= bit_of(static_cast<unsigned>(operand_value(operation, operand.slot)) & 15U);
        }
    }
    return found;
}

/// The main register whose value a store puts into memory.
std::uint16_t stored_register(const Operation& operation) {
    const OpcodeSpec& spec = spec_of(operation.opcode);
    const auto operands = spec_of(spec.form).list();
    const bool stores_main = (spec.flags & kStore) != 0 && !operands.empty() &&
                             operands.front().kind == OperandKind::MainSrc;
    return stores_main ? bit_of(operation.d) : 0;
}

/// Registers that say where a store goes; the stored one may be among them.
std::uint16_t address_registers(const Operation& operation) {
    std::uint16_t found = 0;
    const auto operands = spec_of(spec_of(operation.opcode).form).list();
    for (const OperandSpec& operand : operands.subspan(1)) {
        const auto number = static_cast<unsigned>(operand_value(operation, operand.slot)) & 15U;
        if (operand.kind == OperandKind::MainSrc || operand.kind == OperandKind::MainDelta ||
            operand.kind == OperandKind::MainStep) {
            found |= bit_of(number);
        }
    }
    return found;
}

/// A load along a list of distances. All of a body use the same list, and the same distance.
bool is_gathering(const Operation& operation, AffineBody& body) {
    if (operation.opcode != Opcode::ldd16a64 && operation.opcode != Opcode::ldd16a32 &&
        operation.opcode != Opcode::ldd16b16) {
        return false;
    }
    const auto list = static_cast<std::uint8_t>(operation.a);
    const auto distance = static_cast<std::uint8_t>(operation.c);
    if (bit_of(list) == 0 || bit_of(distance) == 0 || list == distance ||
        (body.gathers && (list != body.list || distance != body.distance))) {
        return false;
    }
    body.gathers = true;
    body.list = list;
    body.distance = distance;
    return true;
}

/// A main half that only moves addresses; adds to the registers that the body changes by constants,
/// and to those that say by how much.
bool is_affine(const Operation& operation, AffineBody& body, std::uint16_t& linear,
               std::uint16_t& steady) {
    const OpcodeSpec& spec = spec_of(operation.opcode);
    const MainRegisters registers = main_registers(operation);
    if ((spec.flags & (kControl | kSystem)) != 0) {
        return false;
    }
    if ((spec.flags & (kLoad | kStore)) == 0) {
        if (registers.written == 0) {
            return true;
        }
        const bool adds = operation.opcode == Opcode::add_z || operation.opcode == Opcode::add_s ||
                          operation.opcode == Opcode::add_rr;
        if (!adds || operation.d != operation.a) {
            return false;
        }
        linear |= registers.written;
        if (operation.opcode == Opcode::add_rr) {
            steady |= bit_of(operation.b);
        }
        return true;
    }
    if (is_gathering(operation, body)) {
        return true;
    }
    if (stored_register(operation) != 0 || registers_of(operation, OperandKind::MainDst) != 0 ||
        registers_of(operation, OperandKind::MainAt) != 0 ||
        registers_of(operation, OperandKind::MainShift) != 0) {
        return false;
    }
    if (const std::uint16_t triple = registers_of(operation, OperandKind::MainPairStep);
        triple != 0) {
        body.triples |= triple;
        steady |= bit_of(operation.b);
    } else {
        linear |= registers.written;
        if (registers_of(operation, OperandKind::MainStep) != 0 &&
            spec_of(spec.form).list().back().slot == Slot::C) {
            steady |= bit_of(operation.c);
        }
    }
    return true;
}

} // namespace

std::optional<AffineBody> affine_body(std::span<const Operation> halves) {
    AffineBody body;
    std::uint16_t linear = 0;
    std::uint16_t steady = 0;
    std::uint16_t addressed = 0; // by instructions with addresses of their own registers
    bool stores = false;
    for (std::size_t half = 0; half < halves.size(); half += 2) {
        const Operation& main = halves[half];
        body.has_steps = body.has_steps || (spec_of(halves[half + 1].opcode).flags & kStep) != 0;
        if (!is_affine(main, body, linear, steady)) {
            return std::nullopt;
        }
        if (registers_of(main, OperandKind::MainPairStep) == 0) {
            addressed |= main_registers(main).read;
        }
        stores = stores || (spec_of(main.opcode).flags & kStore) != 0;
    }
    const auto packed = static_cast<std::uint16_t>(body.triples | (body.triples << 1U));
    if (((linear | packed) & steady) != 0 || (packed & (linear | addressed)) != 0) {
        return std::nullopt;
    }
    if (body.gathers) {
        const unsigned gathered = bit_of(body.list) | bit_of(body.distance);
        if (stores || packed != 0 || (gathered & (linear | steady)) != 0) {
            return std::nullopt;
        }
        body.addresses = addressed & kUnknowable;
    }
    return body;
}

ShadowRule shadow_rule(const Operation& operation) {
    if (operation.opcode == Opcode::kNone) {
        return {};
    }
    const OpcodeSpec& spec = spec_of(operation.opcode);
    const MainRegisters registers = main_registers(operation);
    ShadowRule rule;
    rule.written = static_cast<std::uint16_t>(registers.written & kUnknowable);
    const auto read = static_cast<std::uint16_t>(registers.read & kUnknowable);
    if ((spec.flags & (kLoad | kStore)) != 0) {
        const std::uint16_t stored = stored_register(operation);
        rule.sources = stored;
        rule.address = stored != 0 ? address_registers(operation) : read;
        rule.loaded = static_cast<std::uint16_t>(registers_of(operation, OperandKind::MainDst) |
                                                 registers_of(operation, OperandKind::MainAt));
    } else if ((spec.flags & kControl) != 0) {
        rule.used = (spec.flags & kSolo) != 0 ? 0 : read; // an exit's condition changes no cycle
    } else if ((spec.flags & (kSystem | kSupervisor)) != 0) {
        rule.used = read;
    } else if (operation.opcode == Opcode::atom) {
        rule.loaded = rule.written;
    } else {
        rule.sources = read;
    }
    return rule;
}

} // namespace tessera::isa
