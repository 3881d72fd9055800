// SPDX-License-Identifier: MIT
#include "models/isa/operation_mapper.h"

namespace tessera::isa {

unsigned aux_width(OperandKind kind) {
    switch (kind) {
    case OperandKind::AuxPairDst:
    case OperandKind::AuxPairSrc:
    case OperandKind::AuxPairSrcB:
        return 2;
    case OperandKind::AuxQuadDst:
    case OperandKind::AuxQuadSrc:
        return 4;
    default:
        return 1;
    }
}

namespace {

/// Puts operand values into a micro-operation with registers as indices of the context's files.
class Mapper {
public:
    static Mapped map(const Operation& source, const Target& target) {
        Mapped mapped;
        if (source.opcode == Opcode::kNone) {
            mapped.reject(InvalidReason::NoInstruction);
        } else {
            map_operands(mapped, source, target);
        }
        if (!mapped.valid) {
            mapped.operation = MicroOperation{};
            mapped.operation.code = code_of(Internal::Invalid);
            mapped.operation.imm = static_cast<std::int32_t>(mapped.reason);
            mapped.copies.used = 0;
        }
        return mapped;
    }

private:
    static void map_operands(Mapped& mapped, const Operation& source, const Target& target) {
        MicroOperation& op = mapped.operation;
        op.code = static_cast<std::uint16_t>(source.opcode);
        op.broadcast = source.broadcast;
        op.imm = source.imm;
        op.imm2 = source.imm2;
        const OpcodeSpec& spec = spec_of(source.opcode);
        if ((spec.flags & kTwoSets) != 0 && target.accumulator_sets() < 2) {
            mapped.reject(InvalidReason::NeedsTwoSets);
        }
        if ((spec.flags & kFp8) != 0 && !target.has_fp8()) {
            mapped.reject(InvalidReason::NeedsFp8);
        }
        const bool half =
            source.broadcast == Broadcast::Lower || source.broadcast == Broadcast::Upper;
        if (half && (spec.flags & kWordOnly) != 0) {
            mapped.reject(InvalidReason::Registers);
        }
        for (const OperandSpec& operand : spec_of(spec.form).list()) {
            if (is_register(operand.kind)) {
                assign(mapped, source, operand);
            }
        }
    }

    static void assign(Mapped& mapped, const Operation& source, const OperandSpec& operand) {
        const auto number = static_cast<std::uint8_t>(operand_value(source, operand.slot));
        // a broadcast repeats one register, which may be odd
        const OperandKind kind =
            operand.kind == OperandKind::AuxPairSrcB && source.broadcast != Broadcast::None
                ? OperandKind::AuxSrcB
                : operand.kind;
        const std::uint8_t index = index_of(mapped, kind, number);
        MicroOperation& op = mapped.operation;
        switch (operand.slot) {
        case Slot::D:
            op.d = index;
            break;
        case Slot::A:
            op.a = index;
            break;
        case Slot::B:
            op.b = index;
            break;
        default:
            // the second destination of a paced load stands in its own field, for staging
            (operand.kind == OperandKind::AuxPairDst || operand.kind == OperandKind::AuxDst
                 ? op.d2
                 : op.c) = index;
            break;
        }
    }

    static void write_main(Mapped& mapped, std::uint16_t registers,
                           InvalidReason reason = InvalidReason::SameResult) {
        constexpr std::uint16_t kKept = (1U << kMainReadOnly) - 1U;
        if ((mapped.main_written & registers & kKept) != 0) {
            mapped.reject(reason);
        }
        mapped.main_written |= registers;
    }

    static std::uint8_t index_of(Mapped& mapped, OperandKind kind, std::uint8_t number) {
        const auto one = static_cast<std::uint16_t>(1U << number);
        const auto pair = static_cast<std::uint16_t>(3U << number);
        switch (kind) {
        case OperandKind::MainDst:
            write_main(mapped, one);
            return number >= kMainReadOnly ? kMainDiscard : number;
        case OperandKind::MainPairDst:
            check_multiple(mapped, number, 2);
            write_main(mapped, pair);
            return number >= kMainReadOnly ? kMainDiscard : number;
        case OperandKind::MainBoth:
        case OperandKind::MainStep:
        case OperandKind::MainInc:
        case OperandKind::MainAt:
        case OperandKind::MainShift:
            write_main(mapped, one,
                       kind == OperandKind::MainStep ? InvalidReason::ResultSteps
                                                     : InvalidReason::SameResult);
            return number >= kMainReadOnly ? copied(mapped, number, Internal::CopySingle) : number;
        case OperandKind::MainPairStep:
            check_multiple(mapped, number, 2);
            write_main(mapped, pair);
            return number >= kMainReadOnly ? copied(mapped, number, Internal::CopyPair) : number;
        case OperandKind::MainSrc:
        case OperandKind::MainDelta:
            return number;
        default:
            return aux_index(mapped, kind, number);
        }
    }

    /// The operand's index after its value has been copied to where writes are discarded.
    static std::uint8_t copied(Mapped& mapped, std::uint8_t number, Internal internal) {
        MicroOperation copy{};
        copy.code = code_of(internal);
        copy.a = number;
        copy.d = static_cast<std::uint8_t>(kMainCopies + mapped.copies.used);
        mapped.copies.list[mapped.copies.used++] = copy;
        return copy.d;
    }

    static void check_multiple(Mapped& mapped, std::uint8_t number, unsigned width) {
        if (number % width != 0) {
            mapped.reject(InvalidReason::Registers);
        }
    }

    static std::uint8_t aux_index(Mapped& mapped, OperandKind kind, std::uint8_t number) {
        const unsigned width = aux_width(kind);
        check_multiple(mapped, number, width);
        const bool written = kind == OperandKind::AuxDst || kind == OperandKind::AuxPairDst ||
                             kind == OperandKind::AuxQuadDst;
        const std::uint32_t mask = ((1U << width) - 1U) << number;
        if (written && (mapped.all_aux_written & mask) != 0) {
            mapped.reject(InvalidReason::SameResult);
        }
        if (written) {
            mapped.all_aux_written |= mask;
        }
        if (number >= 8) {
            return static_cast<std::uint8_t>(written ? kAuxDiscard : kAuxZero);
        }
        (written ? mapped.aux.written : mapped.aux.read) |= mask;
        return number;
    }
};

} // namespace

Mapped map_operation(const Operation& source, const Target& target) {
    return Mapper::map(source, target);
}

} // namespace tessera::isa
