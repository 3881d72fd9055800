// SPDX-License-Identifier: MIT
#include "models/isa/decoded_program.h"

#include "base/error.h"
#include "models/isa/assembler.h"
#include "models/isa/instruction_counts.h"
#include "models/isa/matrix_loop_matcher.h"
#include "models/isa/matrix_pass_matcher.h"
#include "models/isa/operation_mapper.h"
#include "models/isa/wait_loops.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tessera::isa {
namespace {

bool is_rpt(const Operation& operation) {
    return operation.opcode == Opcode::rpt_i || operation.opcode == Opcode::rpt_r;
}

/// Whether operands of this form hold a constant code address.
bool is_branch(Form form) {
    const auto operands = spec_of(form).list();
    return std::any_of(operands.begin(), operands.end(), [](const OperandSpec& operand) {
        return operand.kind == OperandKind::CodeAddr;
    });
}

/// The sums behind an instruction or bundle that takes `issues`.
counts::InstructionCounts<std::int32_t> counted(counts::InstructionCounts<std::int32_t> sums,
                                                std::int32_t issues,
                                                std::initializer_list<Operation> halves) {
    using counts::Group;
    auto kind = counts::Class::Control;
    bool first = true;
    std::size_t instructions = 0;
    for (const Operation& half : halves) {
        const counts::Instruction& one = counts_of(half.opcode);
        if (std::exchange(first, false) || !is_nop(half)) {
            kind = one.kind;
        }
        instructions += is_nop(half) ? 0 : 1;
        if (one.step) {
            ++sums[counts::number_of(Group::MatrixSteps, *one.step)];
        }
        if (one.operation) {
            ++sums[counts::number_of(Group::VectorOperations, *one.operation)];
        }
        sums[counts::number_of(Group::MemoryBytes, counts::MemoryUse::Loaded)] += one.loaded_bytes;
        sums[counts::number_of(Group::MemoryBytes, counts::MemoryUse::Stored)] += one.stored_bytes;
    }
    sums[counts::number_of(Group::WorkerIssues, kind)] += issues;
    ++sums[counts::number_of(Group::WorkerBundles, kind)];
    if (instructions > 1) {
        ++sums[counts::number_of(Group::WorkerFullBundles, counts::Only::All)];
    }
    return sums;
}

class Decoder {
public:
    Decoder(std::span<const std::uint32_t> words, Address base, const Target& target)
        : words_(words), target_(target) {
        program_.base = base;
        program_.sums.emplace_back();
        program_.first_of.assign(words.size(), -1);
        program_.is_bundle.assign(words.size(), 0);
    }

    DecodedProgram decode() {
        find_bodies();
        find_waits();
        // The first chain is the code from its start; further ones are entered in the middle of a
        // bundle, or behind data that look like one.
        for (std::size_t at = 0; at < words_.size(); ++at) {
            if (program_.first_of[at] < 0) {
                chain(at);
            }
        }
        for (const auto& [rpt, body_end_word] : repeats_) {
            const auto found = body_end_operation_.find(body_end_word);
            TESSERA_ASSERT(found != body_end_operation_.end());
            program_.operations[rpt].imm2 = found->second;
            note_affine(program_.address_of[rpt], body_end_word,
                        program_.operations[static_cast<std::size_t>(found->second)]);
        }
        program_.jump_index.assign(program_.operations.size(), 0);
        for (std::size_t index = 0; index < program_.operations.size(); ++index) {
            program_.jump_index[index] = static_cast<std::int32_t>(program_.jumps.size());
            make_jumps(index);
        }
        for (std::size_t index = 0; index < program_.operations.size(); ++index) {
            note_counted(index);
        }
        for (const std::size_t index : pass_operations_) {
            resolve_pass(index);
        }
        count_weight_loads();
        return std::move(program_);
    }

private:
    [[nodiscard]] bool bundle_at(std::size_t at) const {
        return (words_[at] & kBundleBit) != 0 && at + 1 < words_.size();
    }

    [[nodiscard]] std::size_t behind(std::size_t at) const { return at + (bundle_at(at) ? 2 : 1); }

    [[nodiscard]] Address address(std::size_t at) const {
        return program_.base + static_cast<Address>(at * 4);
    }

    /// 0 if the body of an rpt at `at` is legal, else which rule it breaks.
    [[nodiscard]] int body_fault(std::size_t at, const Operation& rpt) const {
        std::size_t body = behind(at);
        if (address(body) % 8 != 0) {
            return 1;
        }
        for (std::int32_t i = 0; i <= rpt.imm2; ++i, body += 2) {
            if (body + 1 >= words_.size() || !bundle_at(body)) {
                return 2;
            }
            for (const std::size_t half : {body, body + 1}) {
                const Operation operation = isa::decode(words_[half]);
                if (operation.opcode == Opcode::kNone || (words_[body + 1] & kBundleBit) != 0 ||
                    (spec_of(operation.opcode).flags & (kControl | kSystem)) != 0) {
                    return 3;
                }
            }
        }
        return 0;
    }

    void find_bodies() {
        for (std::size_t at = 0; at < words_.size(); ++at) {
            const Operation operation = isa::decode(words_[at]);
            if (is_rpt(operation) && body_fault(at, operation) == 0) {
                body_ends_.insert(behind(at) + 2 * static_cast<std::size_t>(operation.imm2 + 1));
                find_pass(at, operation);
            }
        }
    }

    void find_waits() {
        for (const WaitLoop& loop : wait_loops(words_, program_.base)) {
            waits_.insert(loop.head);
            for (const std::size_t load : loop.loads) {
                program_.awaiting_loads.push_back(address(load));
            }
        }
    }

    /// Where steps share issues the engine counts them one by one.
    void find_pass(std::size_t at, const Operation& rpt) {
        if (rpt.imm2 == 3 && target_.steps_sharing == 1) {
            if (auto place = match_matrix_pass(words_, at, behind(at))) {
                passes_.emplace(place->first, std::move(*place));
            }
        }
    }

    /// Instructions from `at` to the end of the code, or to one that an earlier chain has.
    void chain(std::size_t at) {
        while (at < words_.size() && program_.first_of[at] < 0) {
            instruction(at);
            at = behind(at);
        }
        if (at == words_.size() && end_ < 0) {
            end();
            return;
        }
        MicroOperation go{};
        go.code = code_of(Internal::Continue);
        const auto body_end = body_end_operation_.find(at);
        go.imm = body_end != body_end_operation_.end() ? body_end->second
                 : at == words_.size()                 ? end_
                                                       : program_.first_of[at];
        append_marker(go, at);
    }

    /// Describes the body of the rpt at `rpt` at its end, if no other has the same end.
    void note_affine(Address rpt, std::size_t body_end_word, MicroOperation& end) {
        const std::size_t first = behind((rpt - program_.base) / 4);
        std::vector<Operation> halves;
        for (std::size_t at = first; at < body_end_word; ++at) {
            halves.push_back(isa::decode(words_[at]));
        }
        auto body = affine_body(halves);
        if (body && end.imm2 == 0) {
            body->first_word = static_cast<std::uint32_t>(first);
            program_.affine_bodies.push_back(*body);
            end.imm2 = static_cast<std::int32_t>(program_.affine_bodies.size());
        }
    }

    /// Describes the loop that the branch at `index` counts down, if it is one that stands in one piece.
    void note_counted(std::size_t index) {
        constexpr std::size_t kMost = 255;
        MicroOperation& branch = program_.operations[index];
        if (branch.code != static_cast<std::uint16_t>(Opcode::brnzdec) || !goes_back(branch) ||
            program_.counted_loops.size() == kMost) {
            return;
        }
        const std::size_t first = index - static_cast<std::size_t>(-branch.imm2);
        std::vector<LoopInstruction> body;
        const std::size_t end = (program_.address_of[index] - program_.base) / 4;
        std::size_t repeat_end = 0;
        std::size_t at = (program_.address_of[first] - program_.base) / 4;
        for (; at <= end; at = behind(at)) {
            const bool is_here = program_.first_of[at] >= static_cast<std::int32_t>(first) &&
                                 program_.first_of[at] <= static_cast<std::int32_t>(index);
            const Operation operation = isa::decode(words_[at]);
            if (!is_here || operation.opcode == Opcode::kNone || has_two_words(operation.opcode)) {
                return;
            }
            if (is_rpt(operation)) {
                repeat_end = behind(at) + 2 * static_cast<std::size_t>(operation.imm2 + 1);
                body.push_back({operation, false});
            } else if (spec_of(operation.opcode).lane == Lane::Main) {
                body.push_back({operation, at < repeat_end});
            }
        }
        std::optional<CountedLoop> loop = in_one_piece_up_to(first, index) && repeat_end <= at
                                              ? counted_loop(body)
                                              : std::nullopt;
        if (!loop) {
            return;
        }
        for (std::size_t one = first; one <= index; ++one) {
            const auto jumps = static_cast<std::uint32_t>(program_.jump_index[one]);
            if (one == index) {
                loop->jumps.push_back(jumps + static_cast<std::uint32_t>(kTaken));
            } else if (is_repeat(static_cast<Opcode>(program_.operations[one].code))) {
                loop->jumps.push_back(jumps + static_cast<std::uint32_t>(kSkip));
                loop->jumps.push_back(jumps + static_cast<std::uint32_t>(kPass));
            }
        }
        program_.counted_loops.push_back(std::move(*loop));
        branch.c = static_cast<std::uint8_t>(program_.counted_loops.size());
    }

    /// Whether the operations are instructions that follow each other, and ends of repeats.
    [[nodiscard]] bool in_one_piece_up_to(std::size_t first, std::size_t last) const {
        return std::all_of(program_.operations.begin() + static_cast<std::ptrdiff_t>(first),
                           program_.operations.begin() + static_cast<std::ptrdiff_t>(last),
                           [](const MicroOperation& op) {
                               return op.code < static_cast<std::uint16_t>(Opcode::kCount) ||
                                      op.code <= code_of(Internal::BodyEnd);
                           });
    }

    /// The operations of a pass, if they stand in one piece and are all legal.
    void resolve_pass(std::size_t index) {
        MicroOperation& op = program_.operations[index];
        const PassPlace& place = passes_.at((program_.address_of[index] - program_.base) / 4);
        const std::int32_t end =
            place.end < words_.size() ? program_.first_of[place.end] : std::int32_t{-1};
        const auto rpt = std::find_if(repeats_.begin(), repeats_.end(), [&](const auto& repeat) {
            return program_.address_of[repeat.first] == address(place.rpt);
        });
        const auto first = static_cast<std::int32_t>(index) + 1;
        const auto is_legal = [](const MicroOperation& one) {
            return one.code < code_of(Internal::Invalid) && one.code != 0;
        };
        if (end <= first || rpt == repeats_.end() ||
            !std::all_of(program_.operations.begin() + first, program_.operations.begin() + end,
                         is_legal)) {
            return;
        }
        MatrixPass pass = place.pass;
        pass.rpt = static_cast<std::int32_t>(rpt->first);
        pass.end = end;
        program_.matrix_passes.push_back(std::move(pass));
        op.imm = static_cast<std::int32_t>(program_.matrix_passes.size());
    }

    void count_weight_loads() {
        for (std::size_t index = program_.operations.size(); index-- > 1;) {
            const MicroOperation& op = program_.operations[index];
            MicroOperation& before = program_.operations[index - 1];
            const auto each = static_cast<std::int32_t>(weight_registers(before));
            if (each != 0 && op.code == before.code && op.imm == before.imm + each) {
                before.imm2 = op.imm2 + 1;
            }
        }
    }

    /// The jumps of an operation, in the order of kLeave and its like.
    void make_jumps(std::size_t index) {
        const MicroOperation& op = program_.operations[index];
        const auto position = [&](std::int32_t at) {
            return program_.positions[static_cast<std::size_t>(at)];
        };
        const Position& own = program_.positions[index];
        if (op.code == code_of(Internal::Continue)) {
            program_.jumps.push_back(jump(own, position(op.imm)));
        } else if (op.code >= static_cast<std::uint16_t>(Opcode::kCount) ||
                   (spec_of(static_cast<Opcode>(op.code)).flags & kControl) == 0) {
            return;
        } else if (is_rpt({.opcode = static_cast<Opcode>(op.code)})) {
            const std::int32_t first = program_.index_of(program_.address_of[index + 1]);
            program_.jumps.push_back(jump(own, position(op.imm2 + 1)));
            program_.jumps.push_back(jump(position(op.imm2), position(first)));
        } else {
            const std::size_t at = (program_.address_of[index] - program_.base) / 4;
            program_.jumps.push_back(jump(own, Position{}));
            program_.jumps.back().link = address(behind(at));
            if (is_branch(spec_of(static_cast<Opcode>(op.code)).form)) {
                make_taken(index);
            }
        }
    }

    void make_taken(std::size_t index) {
        MicroOperation& op = program_.operations[index];
        const auto target = static_cast<Address>(op.imm);
        op.imm2 = DecodedProgram::kOutside;
        Jump taken;
        if (program_.holds(target)) {
            const std::int32_t to = program_.index_of(target);
            op.imm2 = to - static_cast<std::int32_t>(index);
            taken =
                jump(program_.positions[index], program_.positions[static_cast<std::size_t>(to)]);
            taken.unaligned = program_.unaligned_bundle(target) ? 1 : 0;
        }
        program_.jumps.push_back(taken);
    }

    [[nodiscard]] static Jump jump(const Position& from, const Position& to) {
        return {.from = from.count_upto,
                .to = to.count_before,
                .issues = from.issues_upto - to.issues_before};
    }

    void instruction(std::size_t at) {
        if (body_ends_.contains(at)) {
            body_end(at);
        }
        program_.first_of[at] = static_cast<std::int32_t>(program_.operations.size());
        if (waits_.contains(at)) {
            MicroOperation op{};
            op.code = code_of(Internal::Wait);
            append_marker(op, at);
        }
        if (passes_.contains(at)) {
            MicroOperation op{};
            op.code = code_of(Internal::Pass);
            pass_operations_.push_back(program_.operations.size());
            append_marker(op, at);
        }
        const Operation first = isa::decode(words_[at], bundle_at(at) ? words_[at + 1] : 0);
        if ((words_[at] & kBundleBit) != 0 && !bundle_at(at)) {
            invalid(at, InvalidReason::CutShort);
        } else if (has_two_words(first.opcode)) {
            two_words(at, first);
        } else if (!bundle_at(at)) {
            step(first.opcode == Opcode::kNone ? 1 : issues_of(first), {first});
            mark_step(at, first);
            append_mapped(at, first, map_operation(first, target_));
        } else {
            program_.is_bundle[at] = 1;
            bundle(at, first);
        }
    }

    void two_words(std::size_t at, const Operation& operation) {
        if (address(at) % 8 != 0) {
            invalid(at, InvalidReason::Unaligned);
            return;
        }
        step(issues_of(operation), {operation});
        append_mapped(at, operation, map_operation(operation, target_));
    }

    [[nodiscard]] std::int32_t issues_of(const Operation& operation) const {
        const OpcodeSpec& spec = spec_of(operation.opcode);
        return spec.cycles * ((spec.flags & kStep) != 0 ? target_.step_issues : 1);
    }

    /// Where steps share issues, the engine counts those of an instruction when it comes to it.
    void mark_step(std::size_t at, const Operation& operation) {
        if (target_.steps_sharing > 1 && operation.opcode != Opcode::kNone &&
            (spec_of(operation.opcode).flags & kStep) != 0) {
            MicroOperation op{};
            op.code = code_of(Internal::Step);
            append(op, at, {});
        }
    }

    void invalid(std::size_t at, InvalidReason reason) {
        MicroOperation op{};
        op.code = code_of(Internal::Invalid);
        op.imm = static_cast<std::int32_t>(reason);
        step(1, {});
        append(op, at, {});
    }

    /// Why the two may not be one bundle.
    [[nodiscard]] static std::optional<InvalidReason> bundle_fault(const Operation& first,
                                                                   const Mapped& main,
                                                                   const Operation& second,
                                                                   const Mapped& aux) {
        for (const Mapped* half : {&main, &aux}) {
            if (!half->valid) {
                return half->reason;
            }
        }
        if (spec_of(first.opcode).lane != Lane::Main || spec_of(second.opcode).lane != Lane::Aux ||
            ((spec_of(first.opcode).flags | spec_of(second.opcode).flags) & kSolo) != 0) {
            return InvalidReason::Lanes;
        }
        if ((main.aux.written & aux.aux.written) != 0) {
            return InvalidReason::SameBundleResult;
        }
        return std::nullopt;
    }

    void bundle(std::size_t at, const Operation& first) {
        if ((words_[at + 1] & kBundleBit) != 0) {
            invalid(at, InvalidReason::SecondHalf);
            return;
        }
        const Operation second = isa::decode(words_[at + 1]);
        Mapped main = map_operation(first, target_);
        const Mapped aux = map_operation(second, target_);
        if (const auto reason = bundle_fault(first, main, second, aux)) {
            invalid(at, *reason);
            return;
        }
        step(std::max(issues_of(first), issues_of(second)), {first, second});
        mark_step(at, second);
        const bool control = (spec_of(first.opcode).flags & kControl) != 0;
        if (!control && (main.aux.written & aux.aux.read) == 0) {
            append_mapped(at, first, main);
            append_mapped(at, second, aux);
        } else if (control || (main.aux.read & aux.aux.written) == 0) {
            append_mapped(at, second, aux);
            append_mapped(at, first, main);
        } else {
            staged(at, first, main, second, aux);
        }
    }

    /// A load and store whose halves need each other's old registers: the loaded value waits beside
    /// the file.
    void staged(std::size_t at, const Operation& first, Mapped& main, const Operation& second,
                const Mapped& aux) {
        std::vector<MicroOperation> commits;
        unsigned stage = kAuxStage;
        for (const OperandSpec& operand : spec_of(spec_of(first.opcode).form).list()) {
            std::uint8_t& index = operand.slot == Slot::D ? main.operation.d : main.operation.d2;
            MicroOperation commit{};
            switch (operand.kind) {
            case OperandKind::AuxDst:
                commit.code = code_of(Internal::CommitSingle);
                break;
            case OperandKind::AuxPairDst:
                commit.code = code_of(Internal::CommitPair);
                break;
            case OperandKind::AuxQuadDst:
                commit.code = code_of(Internal::CommitQuad);
                break;
            default:
                continue;
            }
            commit.d = index;
            commit.a = static_cast<std::uint8_t>(stage);
            index = static_cast<std::uint8_t>(stage);
            stage += aux_width(operand.kind);
            commits.push_back(commit);
        }
        append_mapped(at, first, main);
        append_mapped(at, second, aux);
        for (const MicroOperation& commit : commits) {
            append(commit, at, {});
        }
    }

    void append_mapped(std::size_t at, const Operation& source, const Mapped& mapped) {
        MicroOperation op = mapped.operation;
        for (unsigned i = 0; i < mapped.copies.used; ++i) {
            append(mapped.copies.list[i], at, {});
        }
        if (is_rpt(source)) {
            if (const int broken = body_fault(at, source); broken != 0) {
                op.code = code_of(Internal::BadRepeat);
                op.imm = broken;
            } else {
                const std::size_t body = behind(at);
                repeats_.emplace_back(program_.operations.size(),
                                      body + 2 * static_cast<std::size_t>(source.imm2 + 1));
            }
        }
        append(op, at, source.opcode == Opcode::kNone ? MainRegisters{} : main_registers(source));
        program_.shadow_rules.back() = shadow_rule(source);
    }

    void append(const MicroOperation& op, std::size_t at, MainRegisters registers) {
        program_.operations.push_back(op);
        program_.address_of.push_back(address(at));
        program_.positions.push_back(position_);
        program_.main_registers.push_back(registers);
        program_.shadow_rules.emplace_back();
    }

    /// Starts the bookkeeping of an instruction or bundle that takes `issues`.
    void step(std::int32_t issues, std::initializer_list<Operation> halves) {
        program_.sums.push_back(counted(program_.sums.back(), issues, halves));
        position_.issues_before = position_.issues_upto;
        position_.issues_upto += issues;
        position_.count_before = position_.count_upto;
        position_.count_upto += 1;
    }

    /// Whether the operations from word `at` to the end of the list so far follow each other.
    [[nodiscard]] bool in_one_piece(std::size_t at) const {
        const std::int32_t first = program_.first_of[at];
        return first >= 0 && std::none_of(program_.operations.begin() + first,
                                          program_.operations.end(), [](const MicroOperation& op) {
                                              return op.code == code_of(Internal::Continue);
                                          });
    }

    /// The description of the four bundles before `at` if they are a matrix-unit body: its number,
    /// or 0.
    std::int32_t matrix_loop_before(std::size_t at) {
        std::array<Operation, 8> halves;
        if (at < halves.size() || !in_one_piece(at - halves.size())) {
            return 0;
        }
        for (std::size_t i = 0; i < halves.size(); ++i) {
            halves[i] = isa::decode(words_[at - halves.size() + i]);
        }
        MatrixLoop loop;
        if (!match_matrix_loop(halves, loop)) {
            return 0;
        }
        program_.matrix_loops.push_back(loop);
        return static_cast<std::int32_t>(program_.matrix_loops.size());
    }

    /// The same of the three bundles before `at`.
    std::uint8_t sparse_loop_before(std::size_t at) {
        std::array<Operation, 6> halves;
        constexpr std::size_t kMost = 255;
        if (at < halves.size() || !in_one_piece(at - halves.size()) ||
            program_.sparse_loops.size() == kMost) {
            return 0;
        }
        for (std::size_t i = 0; i < halves.size(); ++i) {
            halves[i] = isa::decode(words_[at - halves.size() + i]);
        }
        SparseLoop loop;
        if (!match_sparse_loop(halves, loop)) {
            return 0;
        }
        program_.sparse_loops.push_back(loop);
        return static_cast<std::uint8_t>(program_.sparse_loops.size());
    }

    void body_end(std::size_t at) {
        MicroOperation op{};
        op.code = code_of(Internal::BodyEnd);
        op.imm = matrix_loop_before(at);
        op.d = sparse_loop_before(at);
        body_end_operation_[at] = static_cast<std::int32_t>(program_.operations.size());
        append_marker(op, at);
    }

    void end() {
        const std::size_t at = words_.size();
        if (body_ends_.contains(at)) {
            body_end(at);
        }
        MicroOperation op{};
        op.code = code_of(Internal::EndOfCode);
        end_ = static_cast<std::int32_t>(program_.operations.size());
        append_marker(op, at);
    }

    /// A step that is part of no instruction and takes no time.
    void append_marker(const MicroOperation& op, std::size_t at) {
        position_.issues_before = position_.issues_upto;
        position_.count_before = position_.count_upto;
        append(op, at, {});
    }

    std::span<const std::uint32_t> words_;
    Target target_;
    DecodedProgram program_;
    Position position_;
    std::int32_t end_ = -1; ///< index of the one EndOfCode
    std::set<std::size_t> body_ends_;
    std::set<std::size_t> waits_;             ///< first words of wait loops
    std::map<std::size_t, PassPlace> passes_; ///< by their first word
    std::vector<std::size_t> pass_operations_;
    std::map<std::size_t, std::int32_t> body_end_operation_;
    std::vector<std::pair<std::size_t, std::size_t>> repeats_;
};

} // namespace

DecodedProgram decode_program(std::span<const std::uint32_t> words, Address base,
                              const Target& target) {
    return Decoder(words, base, target).decode();
}

const char* text_of(InvalidReason reason) {
    switch (reason) {
    case InvalidReason::NoInstruction:
        return "not an instruction";
    case InvalidReason::Registers:
        return "not an instruction: a pair or quad does not start at a multiple of its registers, "
               "or "
               "a half of a whole word is broadcast";
    case InvalidReason::SameResult:
        return "not an instruction: two results go to one register";
    case InvalidReason::ResultSteps:
        return "not modelled: its result goes to the register that steps, and which of the two "
               "stays there is not published (docs/deviations.md, result-steps)";
    case InvalidReason::NeedsTwoSets:
        return "not an instruction of this generation: it needs two sets of accumulators, ipu1 has "
               "one";
    case InvalidReason::NeedsFp8:
        return "not an instruction of this generation: only ipu21 has FP8";
    case InvalidReason::CutShort:
        return "not an instruction: its second word is missing";
    case InvalidReason::SecondHalf:
        return "not an instruction: bit 31 is set in the second half of a bundle";
    case InvalidReason::Lanes:
        return "not an instruction: a bundle is a main and an aux instruction that may share one";
    case InvalidReason::SameBundleResult:
        return "not an instruction: both halves of the bundle write one register";
    case InvalidReason::Unaligned:
        return "not an instruction: it takes two words, at an address that is no multiple of 8";
    }
    return "not an instruction";
}

} // namespace tessera::isa
