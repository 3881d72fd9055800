// SPDX-License-Identifier: MIT
#include "models/isa/stretch_recorder.h"

#include "models/isa/address_triple.h"
#include "models/isa/stretch_recorder_implementation.h"

#include <algorithm>
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
        draft_.checks.push_back(check);
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
    for (unsigned number = 0; number < StretchDraft::kRegisters; ++number) {
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
    possible_ = possible_ && draft_.checks.size() <= kMostChecks;
    return next;
}

/// What the worker leaves.
void StretchRecorder::finish() {
    for (StretchDraft::Extent& extent : draft_.extents) {
        extent.base = added(extent.base, Sum{}, 0);
        extent.recorded = value(extent.base);
    }
    // Stores behind each other are one.
    std::vector<StretchDraft::Lost> all = std::move(draft_.lost);
    std::sort(all.begin(), all.end(), [](const auto& left, const auto& right) {
        return std::tie(left.extent, left.offset) < std::tie(right.extent, right.offset);
    });
    draft_.lost.clear();
    for (const StretchDraft::Lost& one : all) {
        if (!draft_.lost.empty()) {
            StretchDraft::Lost& back = draft_.lost.back();
            const std::int32_t end = back.offset + static_cast<std::int32_t>(back.words * 4);
            if (back.extent == one.extent && one.offset <= end) {
                const std::int32_t one_end = one.offset + static_cast<std::int32_t>(one.words * 4);
                back.words = static_cast<std::uint32_t>(std::max(end, one_end) - back.offset) / 4;
                continue;
            }
        }
        draft_.lost.push_back(one);
    }
    for (unsigned number = 0; number < 12; ++number) {
        const Held& one = held_[number];
        if (one.kind == Held::Kind::Sum && !(one.sum.constant == 0 && one.sum.count == 1 &&
                                             one.sum.terms[0] == Sum::Term{number, 1})) {
            draft_.registers.push_back({number, one.sum});
        } else if (one.kind == Held::Kind::TripleLow) {
            draft_.triples.push_back({number, one.addresses});
        }
    }
    for (std::size_t jump = 0; jump < jumps_before_.size(); ++jump) {
        if (c_.jumps[jump] != jumps_before_[jump]) {
            draft_.gone.push_back(
                {static_cast<std::uint32_t>(jump), c_.jumps[jump] - jumps_before_[jump]});
        }
    }
    draft_.unknown_after = c_.unknown;
    draft_.issues = c_.issues - issues_before_;
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
        return {op, nullptr, 0, 0};
    }
    draft_.next = op;
    finish();
    return {op, StretchRecipe::make(draft_), instructions_, draft_.sums()};
}

RecordedStretch record_stretch(Context& worker, const MicroOperation* first) {
    return StretchRecorder(worker).run(first);
}

} // namespace tessera::isa
