// SPDX-License-Identifier: MIT
#include "models/isa/stretch_recorder.h"

#include "models/isa/address_triple.h"
#include "models/isa/csr_numbers.h"
#include "models/isa/decoded_program.h"
#include "models/isa/shadow.h"
#include "models/isa/stepped_engine.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace tessera::isa {
namespace {

/// The branch, exit or repeat of the instruction or bundle that begins with `op`, or null.
const MicroOperation* control_of(const DecodedProgram& program, const MicroOperation* op) {
    const Address address = program.address_of_operation(*op);
    for (; program.address_of_operation(*op) == address; ++op) {
        if (op->code < static_cast<std::uint16_t>(Opcode::kCount) &&
            (spec_of(static_cast<Opcode>(op->code)).flags & kControl) != 0) {
            return op;
        }
    }
    return nullptr;
}

bool is_repeat(const MicroOperation* control) {
    return control != nullptr && is_repeat(static_cast<Opcode>(control->code));
}

/// Whether a taken branch goes back.
bool is_back(const MicroOperation* control) {
    return control != nullptr &&
           has_constant_target(spec_of(static_cast<Opcode>(control->code)).form) &&
           goes_back(*control);
}

} // namespace

/// Follows one worker.
class StretchRecorder {
public:
    explicit StretchRecorder(Context& worker);

    RecordedStretch run(const MicroOperation* first);

private:
    using Check = StretchRecipe::Check;
    using Sum = StretchSum;

    static constexpr std::size_t kMostChecks = 512;
    static constexpr std::size_t kFile = 20; ///< of Context::main

    /// What a main register holds.
    struct Held {
        enum class Kind : std::uint8_t {
            Sum,
            Unknown,    ///< what timing mode does not know
            TripleLow,  ///< the first of a pair with three packed addresses
            TripleHigh, ///< the second
            Distance    ///< one of a list whose distances are not read
        };
        Kind kind = Kind::Sum;
        Sum sum;
        std::array<Sum, 3> addresses; ///< TripleLow
    };
    /// A repeat that loads along a list of distances.
    struct Gathering {
        AffineBody body;
        std::uint32_t list = 0; ///< its address when the repeat began
        bool began = false;     ///< its first pass is over
    };

    void refuse() { possible_ = false; }
    [[nodiscard]] std::uint32_t value(const Sum& sum) const { return sum.value(found_.data()); }
    [[nodiscard]] bool is_unknown(unsigned number) const {
        return number < 12 && ((before_.unknown >> number) & 1U) != 0;
    }
    /// Which `found` this is; refuses where they are too many.
    std::uint32_t find(std::uint32_t value, bool is_distance);
    static Sum constant(std::uint32_t value) {
        Sum sum;
        sum.constant = value;
        return sum;
    }
    [[nodiscard]] Sum term(std::uint32_t found) const;
    Sum added(const Sum& left, const Sum& right, std::uint32_t factor);
    Sum pinned(const Sum& sum);
    /// What register `number` held before the instruction.
    Sum held(unsigned number);
    Sum held_constant(unsigned number) { return pinned(held(number)); }
    void hold(unsigned number, const Sum& sum) { held_[number] = {Held::Kind::Sum, sum, {}}; }

    void touch(const Sum& address, const ShadowMemory::Access& access, bool moves_data);
    void load(unsigned number, const Sum& address, unsigned access_bytes, bool is_signed);
    void store(const Sum& address, unsigned number);

    void copy(const MicroOperation& op);
    void follow(const MicroOperation& op);
    void follow_integer(const MicroOperation& op);
    void follow_control(const MicroOperation& op);
    void follow_access(const MicroOperation& op);
    void follow_paced(const MicroOperation& op, std::initializer_list<std::size_t> addresses);
    void follow_gathered(const MicroOperation& op);
    void pin_operands(const MicroOperation& op);
    void compute(const MicroOperation& op);
    void decide(unsigned number, Check::Kind kind);
    void begin_repeat();
    void end_pass();
    void compare();
    const MicroOperation* advance(const MicroOperation* op);
    void finish();

    Context& c_;
    ShadowMemory& shadow_;
    const SteppedEngine& engine_ = stepped_shadow_engine();
    std::unique_ptr<StretchRecipe> recipe_ = std::make_unique<StretchRecipe>();
    bool possible_ = true;

    std::array<std::uint32_t, StretchRecipe::kMostFound> found_{}; ///< values
    std::array<bool, StretchRecipe::kMostFound> is_pinned_{};
    std::array<bool, StretchRecipe::kMostFound> is_distance_{}; ///< loaded from 16 bits
    std::uint32_t next_ = StretchRecipe::kRegisters;
    std::array<Held, kFile> held_;
    std::optional<Gathering> gathering_;

    /// As it was before the instruction.
    struct Before {
        std::array<std::uint32_t, kFile> main{};
        std::uint32_t unknown = 0;
        std::uint32_t repeat_count = 0;
        std::uint32_t first_fetched = 0; ///< memory elements
        std::uint32_t last_fetched = 0;
    } before_;
    std::vector<std::int64_t> jumps_before_;
    std::int64_t issues_before_ = 0;
    bool repeated_ = false;          ///< a repeat has been met
    std::uint32_t passes_ = 0;       ///< of it
    std::uint32_t instructions_ = 0; ///< that the shadow engine does not skip, about
    bool ended_ = false;             ///< by a taken branch back, or in front of a second repeat
};

StretchRecorder::StretchRecorder(Context& worker) : c_(worker), shadow_(*worker.shadow) {
    std::copy_n(c_.main, StretchRecipe::kRegisters, found_.begin());
    for (unsigned number = 0; number < kFile; ++number) {
        if (number < 14) {
            const bool unknown = number < 12 && ((c_.unknown >> number) & 1U) != 0;
            held_[number] = {unknown ? Held::Kind::Unknown : Held::Kind::Sum, term(number), {}};
        } else {
            hold(number, constant(number < 16 ? 0 : c_.main[number]));
        }
    }
    recipe_->unknown_before_ = c_.unknown;
}

std::uint32_t StretchRecorder::find(std::uint32_t found_value, bool is_distance) {
    if (next_ == StretchRecipe::kMostFound) {
        refuse();
        return 0;
    }
    found_[next_] = found_value;
    is_distance_[next_] = is_distance;
    return next_++;
}

StretchSum StretchRecorder::term(std::uint32_t found) const {
    Sum sum;
    sum.count = 1;
    sum.terms[0] = {found, 1};
    return sum;
}

/// left + factor * right.
StretchSum StretchRecorder::added(const Sum& left, const Sum& right, std::uint32_t factor) {
    Sum sum = constant(left.constant + factor * right.constant);
    std::size_t l = 0;
    std::size_t r = 0;
    while (l < left.count || r < right.count) {
        const bool takes_left =
            l < left.count && (r == right.count || left.terms[l].found <= right.terms[r].found);
        const bool takes_right =
            r < right.count && (l == left.count || right.terms[r].found <= left.terms[l].found);
        Sum::Term next{takes_left ? left.terms[l].found : right.terms[r].found, 0};
        if (takes_left) {
            next.factor += left.terms[l++].factor;
        }
        if (takes_right) {
            next.factor += factor * right.terms[r++].factor;
        }
        if (is_pinned_[next.found]) {
            sum.constant += next.factor * found_[next.found];
        } else if (next.factor != 0) {
            if (sum.count == Sum::kMostTerms) {
                const Sum all = pinned(left);
                return constant(all.constant + factor * pinned(right).constant);
            }
            sum.terms[sum.count++] = next;
        }
    }
    return sum;
}

/// What it is made of has to be the same the next time.
StretchSum StretchRecorder::pinned(const Sum& sum) {
    for (std::uint32_t n = 0; n < sum.count; ++n) {
        const std::uint32_t found = sum.terms[n].found;
        if (!is_pinned_[found]) {
            is_pinned_[found] = true;
            if (found < StretchRecipe::kRegisters) {
                recipe_->begins_with_.push_back({found, constant(found_[found])});
                continue;
            }
            Check check;
            check.kind = Check::Kind::Equal;
            check.found = found;
            check.value = found_[found];
            recipe_->checks_.push_back(check);
        }
    }
    return constant(value(sum));
}

StretchSum StretchRecorder::held(unsigned number) {
    const Held& register_held = held_[number];
    switch (register_held.kind) {
    case Held::Kind::Sum:
        return added(register_held.sum, Sum{}, 0); // without what is pinned by now
    case Held::Kind::TripleLow:
    case Held::Kind::TripleHigh: {
        const Held& low =
            register_held.kind == Held::Kind::TripleLow ? register_held : held_[number - 1];
        for (const Sum& address : low.addresses) {
            pinned(address);
        }
        return constant(before_.main[number]);
    }
    case Held::Kind::Unknown:
    case Held::Kind::Distance:
        break;
    }
    refuse();
    return {};
}

void StretchRecorder::touch(const Sum& address, const ShadowMemory::Access& access,
                            bool moves_data) {
    const std::uint32_t at = value(address);
    if (at - c_.memory->base != access.offset) {
        refuse();
        return;
    }
    const bool in_region0 = access.offset < c_.memory->region0_bytes;
    auto extent = std::find_if(
        recipe_->extents_.begin(), recipe_->extents_.end(), [&](const StretchRecipe::Extent& one) {
            return one.base.count == address.count && one.base.terms == address.terms &&
                   one.in_region0 == in_region0 && one.stores == access.writes;
        });
    if (extent == recipe_->extents_.end()) {
        if (recipe_->extents_.size() == StretchRecipe::kMostFound) {
            refuse();
            return;
        }
        StretchRecipe::Extent made;
        made.base = address;
        made.recorded = at;
        made.in_region0 = in_region0;
        made.stores = access.writes;
        made.first_fetched = before_.first_fetched;
        made.last_fetched = before_.last_fetched;
        extent = recipe_->extents_.insert(recipe_->extents_.end(), made);
    }
    const auto offset = static_cast<std::int32_t>(address.constant - extent->base.constant);
    const auto end = offset + std::int32_t{access.access_bytes};
    const bool is_first = extent->low == extent->high;
    extent->low = is_first ? offset : std::min(extent->low, offset);
    extent->high = is_first ? end : std::max(extent->high, end);
    extent->alignment = std::max<std::uint32_t>(extent->alignment, access.access_bytes);
    extent->first_fetched = std::min(extent->first_fetched, before_.first_fetched);
    extent->last_fetched = std::max(extent->last_fetched, before_.last_fetched);
    if (access.writes && moves_data) {
        const auto number = static_cast<std::uint32_t>(extent - recipe_->extents_.begin());
        recipe_->lost_.push_back({number, offset, access.access_bytes / 4U});
    }
}

/// A main register takes a word or a part of one.
void StretchRecorder::load(unsigned number, const Sum& address, unsigned access_bytes,
                           bool is_signed) {
    if (shadow_.loaded_by_round) {
        refuse();
    }
    Check check;
    check.kind = Check::Kind::Load;
    check.left = address;
    check.access_bytes = static_cast<std::uint8_t>(access_bytes);
    check.is_signed = is_signed;
    check.known = !shadow_.loaded_unknown;
    const std::uint32_t found =
        find(check.known ? c_.main[number] : 0, access_bytes == 2 && !is_signed);
    recipe_->checks_.push_back(check);
    hold(number, term(found));
    if (!check.known) {
        held_[number].kind = Held::Kind::Unknown;
    }
}

void StretchRecorder::store(const Sum& address, unsigned number) {
    const bool known = !is_unknown(number);
    recipe_->stored_.push_back({address, known ? held(number) : Sum{}, known});
}

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
    recipe_->checks_.push_back(check);
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
        recipe_->checks_.push_back(check);
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

/// The engine is in front of the first pass of a repeat, or behind one of no passes.
void StretchRecorder::begin_repeat() {
    passes_ = c_.repeat_count;
    constexpr std::uint32_t kFewest = 4; // exec/shadow_step.h
    if (c_.repeat_count < kFewest || c_.repeat_end_operation->imm2 == 0) {
        return;
    }
    const AffineBody& body =
        c_.program->affine_bodies[static_cast<std::size_t>(c_.repeat_end_operation->imm2) - 1];
    if (body.gathers && c_.program->base + body.first_word * 4 == c_.repeat_first &&
        (c_.unknown & body.addresses) == 0) {
        gathering_ = Gathering{body, c_.main[body.list], false};
    }
}

/// Behind a pass of a repeat that loads along a list: as end_gathering_pass of exec/shadow_step.h.
void StretchRecorder::end_pass() {
    const AffineBody& body = gathering_->body;
    if (!gathering_->began) {
        gathering_->began = true;
        const std::uint32_t skipped = c_.repeat_count - 1;
        const std::uint32_t first = c_.main[body.list] - c_.memory->base;
        Check check;
        check.kind = Check::Kind::AreKnown;
        check.left = held(body.list);
        check.value = (c_.main[body.list] - gathering_->list) * skipped;
        const std::uint64_t last = first + std::uint64_t{check.value};
        if (last > c_.memory->span_bytes ||
            !shadow_.are_known(
                {first / 4, static_cast<std::uint32_t>((last + 3) / 4) - first / 4})) {
            refuse();
            gathering_.reset();
            return;
        }
        recipe_->checks_.push_back(check);
        shadow_.silent = true;
    }
    if (shadow_.silent && c_.repeat_count == 1) {
        shadow_.silent = false;
        const Sum last = added(held(body.list), constant(2), 0U - 1U);
        shadow_.loaded_unknown = !shadow_.read(value(last) - c_.memory->base);
        load(body.distance, last, 2, false);
        gathering_.reset();
    }
}

/// What is not as it was followed is no sum of what was found.
void StretchRecorder::compare() {
    for (unsigned number = 0; number < StretchRecipe::kRegisters; ++number) {
        Held& one = held_[number];
        const bool unknown = number < 12 && ((c_.unknown >> number) & 1U) != 0;
        if (unknown) {
            one.kind = Held::Kind::Unknown;
            continue;
        }
        switch (one.kind) {
        case Held::Kind::Sum:
            possible_ = possible_ && value(one.sum) == c_.main[number];
            break;
        case Held::Kind::Unknown:
            refuse();
            break;
        case Held::Kind::TripleLow: {
            std::array<std::uint32_t, 2> pair{};
            AddressTriple{value(one.addresses[0]), value(one.addresses[1]), value(one.addresses[2])}
                .pack(pair.data());
            possible_ = possible_ && std::equal(pair.begin(), pair.end(), c_.main + number) &&
                        held_[number + 1].kind == Held::Kind::TripleHigh;
            break;
        }
        case Held::Kind::TripleHigh:
            possible_ = possible_ && held_[number - 1].kind == Held::Kind::TripleLow;
            break;
        case Held::Kind::Distance:
            possible_ = possible_ && gathering_.has_value();
            break;
        }
    }
}

/// Gives the next instruction or bundle; null behind an exit.
const MicroOperation* StretchRecorder::advance(const MicroOperation* op) {
    const DecodedProgram& program = *c_.program;
    const MicroOperation* const control = control_of(program, op);
    if (is_repeat(control)) {
        if (repeated_) {
            ended_ = true;
            return op;
        }
        repeated_ = true;
    }
    const Address address = program.address_of_operation(*op);
    std::copy(std::begin(c_.main), std::end(c_.main), before_.main.begin());
    before_.unknown = c_.unknown;
    before_.repeat_count = c_.repeat_count;
    const MemoryView& memory = *c_.memory;
    const bool repeats = c_.repeat_count > 0;
    const Address first = repeats ? c_.repeat_first : address + 4;
    const Address last = repeats ? c_.repeat_end - 4 : address + c_.fetch_window_bytes;
    before_.first_fetched = (first - memory.base) >> memory.element_shift;
    before_.last_fetched = (last - memory.base) >> memory.element_shift;
    // The engine skips all passes of most repeats but three.
    instructions_ += !repeats || passes_ - c_.repeat_count < 3 ? 1U : 0U;
    shadow_.trail.clear();
    const std::size_t number = c_.program_number;
    const MicroOperation* const next = engine_.step(c_, op);
    ended_ = c_.taken && is_back(control);
    if (!possible_) {
        return next;
    }
    if (c_.by_round != 0 || c_.program_number != number) {
        refuse();
        return next;
    }
    do { // the operations of this instruction or bundle, as exec/step.h carries them out
        if (op->code == static_cast<std::uint16_t>(Internal::CopySingle) ||
            op->code == static_cast<std::uint16_t>(Internal::CopyPair)) {
            copy(*op);
        } else if (op->code < static_cast<std::uint16_t>(Opcode::kCount)) {
            const OpcodeSpec& spec = spec_of(static_cast<Opcode>(op->code));
            if (spec.lane == Lane::Main) {
                follow(*op);
            }
            if ((spec.flags & kControl) != 0) {
                break;
            }
        }
        ++op;
    } while (program.address_of_operation(*op) == address &&
             op->code != static_cast<std::uint16_t>(Internal::Continue));
    if (gathering_ && before_.repeat_count != 0 && c_.repeat_count != before_.repeat_count) {
        end_pass();
    }
    compare();
    possible_ = possible_ && recipe_->checks_.size() <= kMostChecks;
    return next;
}

/// What the worker leaves.
void StretchRecorder::finish() {
    StretchRecipe& recipe = *recipe_;
    for (StretchRecipe::Extent& extent : recipe.extents_) {
        extent.base = added(extent.base, Sum{}, 0);
        extent.recorded = value(extent.base);
    }
    // Stores behind each other are one.
    std::vector<StretchRecipe::Lost> all = std::move(recipe.lost_);
    std::sort(all.begin(), all.end(), [](const auto& left, const auto& right) {
        return std::tie(left.extent, left.offset) < std::tie(right.extent, right.offset);
    });
    recipe.lost_.clear();
    for (const StretchRecipe::Lost& one : all) {
        if (!recipe.lost_.empty()) {
            StretchRecipe::Lost& back = recipe.lost_.back();
            const std::int32_t end = back.offset + static_cast<std::int32_t>(back.words * 4);
            if (back.extent == one.extent && one.offset <= end) {
                const std::int32_t one_end = one.offset + static_cast<std::int32_t>(one.words * 4);
                back.words = static_cast<std::uint32_t>(std::max(end, one_end) - back.offset) / 4;
                continue;
            }
        }
        recipe.lost_.push_back(one);
    }
    for (unsigned number = 0; number < 12; ++number) {
        const Held& one = held_[number];
        if (one.kind == Held::Kind::Sum && !(one.sum.constant == 0 && one.sum.count == 1 &&
                                             one.sum.terms[0] == Sum::Term{number, 1})) {
            recipe.registers_.push_back({number, one.sum});
        } else if (one.kind == Held::Kind::TripleLow) {
            recipe.triples_.push_back({number, one.addresses});
        }
    }
    for (std::size_t jump = 0; jump < jumps_before_.size(); ++jump) {
        if (c_.jumps[jump] != jumps_before_[jump]) {
            recipe.gone_.push_back(
                {static_cast<std::uint32_t>(jump), c_.jumps[jump] - jumps_before_[jump]});
        }
    }
    recipe.unknown_after_ = c_.unknown;
    recipe.issues_ = c_.issues - issues_before_;
}

RecordedStretch StretchRecorder::run(const MicroOperation* first) {
    jumps_before_.assign(c_.jumps, c_.jumps + c_.program->jumps.size());
    issues_before_ = c_.issues;
    possible_ = c_.by_round == 0;
    shadow_.gathering = false;
    shadow_.silent = false;
    shadow_.watch_pass(); // notes accesses
    const std::int64_t unknown_addresses = shadow_.unknown_addresses;
    const MicroOperation* op = first;
    while (op != nullptr && !ended_) {
        op = advance(op);
    }
    shadow_.watching = false;
    shadow_.silent = false;
    if (!possible_ || shadow_.unknown_addresses != unknown_addresses) {
        return {op, nullptr, 0};
    }
    recipe_->next_ = op;
    finish();
    return {op, std::move(recipe_), instructions_};
}

RecordedStretch record_stretch(Context& worker, const MicroOperation* first) {
    return StretchRecorder(worker).run(first);
}

} // namespace tessera::isa
