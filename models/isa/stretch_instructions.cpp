// SPDX-License-Identifier: MIT
#include "models/isa/address_triple.h"
#include "models/isa/csr_numbers.h"
#include "models/isa/stretch_recorder_implementation.h"

namespace tessera::isa {

void StretchRecorder::copy(const MicroOperation& op) {
    const auto both = op.code == static_cast<std::uint16_t>(Internal::CopyPair);
    for (unsigned n = 0; n < (both ? 2U : 1U); ++n) {
        hold(op.d + n, held(op.a + n));
    }
}

/// All operands have to be the same the next time.
void StretchRecorder::pin_operands(const MicroOperation& op) {
    const auto pin = [&](Slot slot) {
        switch (slot) {
        case Slot::D:
            held_constant(op.d);
            break;
        case Slot::A:
            held_constant(op.a);
            break;
        case Slot::B:
            held_constant(op.b);
            break;
        case Slot::C:
            held_constant(op.c);
            break;
        default:
            refuse();
        }
    };
    for (const OperandSpec& operand : spec_of(spec_of(static_cast<Opcode>(op.code)).form).list()) {
        switch (operand.kind) {
        case OperandKind::MainSrc:
        case OperandKind::MainBoth:
        case OperandKind::MainDelta:
            pin(operand.slot);
            break;
        case OperandKind::MainStep:
        case OperandKind::MainInc:
        case OperandKind::MainAt:
        case OperandKind::MainShift:
        case OperandKind::MainPairStep:
            refuse();
            break;
        default:
            break;
        }
    }
}

void StretchRecorder::follow_integer(const MicroOperation& op) {
    const auto index = static_cast<std::size_t>(&op - c_.program->operations.data());
    const unsigned sources = c_.program->shadow_rules[index].sources;
    const auto opcode = static_cast<Opcode>(op.code);
    const bool is_pair = opcode == Opcode::tapack;
    if ((before_.unknown & sources) != 0 || opcode == Opcode::atom) {
        held_[op.d].kind = Held::Kind::Unknown;
        if (is_pair) {
            held_[op.d + 1U].kind = Held::Kind::Unknown;
        }
        return;
    }
    const auto immediate = static_cast<std::uint32_t>(op.imm);
    switch (opcode) {
    case Opcode::add_rr:
        hold(op.d, added(held(op.a), held(op.b), 1));
        return;
    case Opcode::sub_rr:
        hold(op.d, added(held(op.a), held(op.b), 0U - 1U));
        return;
    case Opcode::add_z:
    case Opcode::add_s:
        hold(op.d, added(held(op.a), constant(immediate), 1));
        return;
    case Opcode::sub_z:
    case Opcode::sub_s:
        hold(op.d, added(constant(immediate), held(op.a), 0U - 1U));
        return;
    case Opcode::mul_s:
        hold(op.d, added(Sum{}, held(op.a), immediate));
        return;
    case Opcode::shl_u:
        hold(op.d, added(Sum{}, held(op.a), 1U << (immediate & 31U)));
        return;
    case Opcode::mul_rr: {
        const Sum left = held(op.a);
        const Sum right = held(op.b);
        if (left.is_constant() || right.is_constant()) {
            hold(op.d, added(Sum{}, left.is_constant() ? right : left,
                             left.is_constant() ? left.constant : right.constant));
            return;
        }
        break;
    }
    case Opcode::or_rr:
        if (const Sum right = held(op.b); right.is_constant() && right.constant == 0) { // mov
            hold(op.d, held(op.a));
            return;
        }
        break;
    case Opcode::setzi_m:
        hold(op.d, constant(immediate));
        return;
    case Opcode::tapack: {
        Held low{Held::Kind::TripleLow, {}, {held(op.a), held(op.b), held(op.c)}};
        held_[op.d] = low;
        held_[op.d + 1U].kind = Held::Kind::TripleHigh;
        return;
    }
    default:
        break;
    }
    compute(op);
}

/// What sums do not follow is computed again, if it can be told from two operands.
void StretchRecorder::compute(const MicroOperation& op) {
    Check check;
    check.kind = Check::Kind::Computed;
    check.operation = &op;
    for (const OperandSpec& operand : spec_of(spec_of(static_cast<Opcode>(op.code)).form).list()) {
        if (operand.kind == OperandKind::MainSrc) {
            (operand.slot == Slot::A ? check.left : check.right) =
                held(operand.slot == Slot::A ? op.a : op.b);
        } else if (operand.kind != OperandKind::MainDst && operand.kind != OperandKind::UImm &&
                   operand.kind != OperandKind::SImm && operand.kind != OperandKind::TopImm) {
            pin_operands(op);
            hold(op.d, constant(c_.main[op.d]));
            return;
        }
    }
    if (check.left.is_constant() && check.right.is_constant()) {
        hold(op.d, constant(c_.main[op.d]));
        return;
    }
    const std::uint32_t found = find(c_.main[op.d], false);
    draft_.checks.push_back(check);
    hold(op.d, term(found));
}

/// A branch goes this way because a register is 0 or not, or negative or not.
void StretchRecorder::decide(unsigned number, Check::Kind kind) {
    const Sum sum = held(number);
    if (!sum.is_constant()) {
        Check check;
        check.kind = kind;
        check.left = sum;
        check.value = kind == Check::Kind::Zero ? (value(sum) == 0 ? 1U : 0U) : value(sum) >> 31U;
        draft_.checks.push_back(check);
    }
}

void StretchRecorder::follow_control(const MicroOperation& op) {
    const auto opcode = static_cast<Opcode>(op.code);
    switch (opcode) {
    case Opcode::brz:
    case Opcode::brnz:
        decide(op.a, Check::Kind::Zero);
        break;
    case Opcode::brneg:
    case Opcode::brpos:
        decide(op.a, Check::Kind::Negative);
        break;
    case Opcode::brnzdec:
        decide(op.d, Check::Kind::Zero);
        if (before_.main[op.d] != 0) {
            hold(op.d, added(held(op.d), constant(1), 0U - 1U));
        }
        break;
    case Opcode::call:
        hold(op.d, constant(c_.main[op.d]));
        break;
    case Opcode::bri:
    case Opcode::exitz:
    case Opcode::exitnz:
    case Opcode::exitpos:
    case Opcode::exitneg:
        return;
    case Opcode::rpt_r:
        held_constant(op.a);
        begin_repeat();
        return;
    case Opcode::rpt_i:
        begin_repeat();
        return;
    case Opcode::get:
        if (op.imm != kCsrStatus && op.imm != kCsrPc) {
            refuse();
        }
        hold(op.d, constant(c_.main[op.d]));
        return;
    default:
        refuse();
        return;
    }
    if (op.imm2 == DecodedProgram::kOutside) {
        refuse();
    }
}

void StretchRecorder::follow_paced(const MicroOperation& op,
                                   std::initializer_list<std::size_t> addresses) {
    held_constant(op.b);
    Held& low = held_[op.a];
    if (low.kind != Held::Kind::TripleLow || shadow_.trail.size() != addresses.size()) {
        refuse();
        return;
    }
    auto access = shadow_.trail.begin();
    for (const std::size_t which : addresses) {
        touch(low.addresses[which], *access, true);
        ++access;
    }
    const AddressTriple then = AddressTriple::unpack(before_.main.data() + op.a);
    const AddressTriple now = AddressTriple::unpack(c_.main + op.a);
    const std::array<std::uint32_t, 3> moved{now.a0 - then.a0, now.a1 - then.a1, now.a2 - then.a2};
    for (std::size_t which = 0; which < moved.size(); ++which) {
        const auto signed_move =
            static_cast<std::uint32_t>(static_cast<std::int32_t>(moved[which] << 11U) >> 11);
        low.addresses[which] = added(low.addresses[which], constant(signed_move), 1);
    }
}

/// Data at a distance from a list, and the next distance.
void StretchRecorder::follow_gathered(const MicroOperation& op) {
    if (shadow_.trail.size() != 2) {
        refuse();
        return;
    }
    const Sum list = held(op.a);
    if (shadow_.silent) {
        held_[op.c].kind = Held::Kind::Distance;
    } else {
        Sum distance = held(op.c);
        const bool is_distance = distance.count == 1 && distance.constant == 0 &&
                                 distance.terms[0].factor == 1 &&
                                 is_distance_[distance.terms[0].found];
        if (!is_distance) {
            distance = constant(pinned(distance).constant & 0xffffU);
        }
        touch(added(held(op.b), distance, 1), shadow_.trail[0], true);
        touch(list, shadow_.trail[1], true);
        load(op.c, list, 2, false);
    }
    hold(op.a, added(list, constant(2), 1));
}

void StretchRecorder::follow_access(const MicroOperation& op) {
    const auto index = static_cast<std::size_t>(&op - c_.program->operations.data());
    const auto opcode = static_cast<Opcode>(op.code);
    const Form form = spec_of(opcode).form;
    if ((before_.unknown & c_.program->shadow_rules[index].address) != 0) {
        refuse();
        return;
    }
    switch (form) {
    case Form::Ld2Pace:
    case Form::Ld2PaceSmall:
        follow_paced(op, {0, 1});
        return;
    case Form::LdStPace:
        follow_paced(op, {0, 2});
        return;
    case Form::Ld2StPace:
        follow_paced(op, {0, 1, 2});
        return;
    case Form::StPace:
        follow_paced(op, {2});
        return;
    case Form::LddP:
    case Form::LddA:
        if (opcode != Opcode::ldd16v2a32) {
            follow_gathered(op);
            return;
        }
        break;
    default:
        break;
    }
    const auto is_distance = [&](unsigned number) {
        return held_[number].kind == Held::Kind::Distance;
    };
    if (shadow_.silent && (is_distance(op.a) || is_distance(op.b) || is_distance(op.c))) {
        return; // data at a distance that is not read
    }
    if (shadow_.trail.size() != 1) {
        refuse();
        return;
    }
    const ShadowMemory::Access access = shadow_.trail.front();
    const auto immediate = static_cast<std::uint32_t>(op.imm);
    const std::uint32_t bytes = access.access_bytes;
    Sum address;
    switch (form) {
    case Form::LdMI:
    case Form::LdAI:
    case Form::LdPI:
    case Form::LdQI:
    case Form::StMI:
    case Form::StAI:
    case Form::StPI:
        address = added(added(held(op.a), held(op.b), 1), constant(immediate * bytes), 1);
        break;
    case Form::LdMR:
    case Form::LdAR:
    case Form::LdPR:
    case Form::LdQR:
    case Form::StAR:
    case Form::StPR:
        address = added(added(held(op.a), held(op.b), 1), held(op.c), bytes);
        break;
    case Form::LdMStepI:
    case Form::LdAStepI:
    case Form::LdPStepI:
    case Form::LdQStepI:
    case Form::StMStepI:
    case Form::StAStepI:
    case Form::StPStepI: {
        const Sum delta = held(op.b);
        address = added(held(op.a), delta, 1);
        hold(op.b, added(delta, constant(immediate * bytes), 1));
        break;
    }
    case Form::LdMStepR:
    case Form::LdAStepR:
    case Form::LdPStepR:
    case Form::LdQStepR:
    case Form::StMStepR:
    case Form::StAStepR:
    case Form::StPStepR: {
        const Sum delta = held(op.b);
        address = added(held(op.a), delta, 1);
        hold(op.b, added(delta, held(op.c), bytes));
        break;
    }
    case Form::StMR:
        address = added(held(op.a), held(op.b), 4);
        break;
    case Form::StMBaseStep:
        address = held(op.a);
        hold(op.a, added(address, held(op.b), 4));
        break;
    default:
        refuse();
        return;
    }
    const OperandKind data = spec_of(form).list().front().kind;
    touch(address, access, data != OperandKind::MainSrc);
    if (data == OperandKind::MainDst) {
        const bool is_signed = opcode == Opcode::lds8_i || opcode == Opcode::lds8_r ||
                               opcode == Opcode::lds8step_i || opcode == Opcode::lds8step_r ||
                               opcode == Opcode::lds16_i || opcode == Opcode::lds16_r ||
                               opcode == Opcode::lds16step_i || opcode == Opcode::lds16step_r;
        load(op.d, address, bytes, is_signed);
    } else if (data == OperandKind::MainSrc) {
        store(address, op.d);
    }
}

void StretchRecorder::follow(const MicroOperation& op) {
    const std::uint16_t flags = spec_of(static_cast<Opcode>(op.code)).flags;
    if ((flags & (kLoad | kStore)) != 0) {
        follow_access(op);
    } else if ((flags & (kControl | kSystem | kSupervisor)) != 0) {
        follow_control(op);
    } else {
        follow_integer(op);
    }
}

} // namespace tessera::isa
