// SPDX-License-Identifier: MIT
// Sections of a supervisor's way in timing mode: recorded, found again, and taken over.
#include "models/isa/csr_numbers.h"
#include "models/isa/decoded_program.h"
#include "models/tile/core/section_classes.h"
#include "models/tile/core/tile_core_implementation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace tessera::tile {
namespace {

using isa::Opcode;

bool is_opcode(const isa::MicroOperation& op, Opcode opcode) {
    return op.code == static_cast<std::uint16_t>(opcode);
}

class SectionHash {
public:
    void add(std::uint64_t value) {
        hash_ = (hash_ ^ value) * 0x9e3779b97f4a7c15U;
        hash_ ^= hash_ >> 32U;
    }
    [[nodiscard]] std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0;
};

/// What the supervisor learns, or whom it launches, follows from the moment.
bool follows_from_the_moment(const isa::MicroOperation& op) {
    return is_opcode(op, Opcode::run) ||
           (is_opcode(op, Opcode::get) && (op.imm == isa::kCsrCountL || op.imm == isa::kCsrCountU ||
                                           op.imm == isa::kCsrContextStatus));
}

const UnevenLaunch& more_uneven(const UnevenLaunch& first, const UnevenLaunch& second,
                                std::size_t workers) {
    const auto excess = [workers](const UnevenLaunch& one) {
        return static_cast<std::int64_t>(workers) * one.issues - one.all_issues;
    };
    return first.launch == 0 || (second.launch != 0 && excess(second) > excess(first)) ? second
                                                                                       : first;
}

} // namespace

constexpr unsigned kRegisters = 0x0fff; ///< $m0..$m11

/// No worker has a reason to write this value. One that leaves this very value, not known, in a register counts
/// as one that has not written it; audited tiles would tell.
constexpr std::uint32_t kUntouched = 0xd1ce5a3f;

/// A section that is being recorded.
struct SectionDraft {
    SectionRecord section; ///< its lists keep their room from section to section
    std::uint64_t hash = 0;
    std::size_t program = 0; ///< number of the one that the supervisor executes
    bool is_spoiled = false; ///< no other can do the same
    isa::JumpLog::Mark jumps;
    isa::JumpLog::Mark worker_jumps;
    UnevenLaunch uneven; ///< before the section
    std::int64_t unknown_addresses = 0;
    // Registers of a worker that it may write, and does not need: while it runs they hold kUntouched.
    std::uint16_t hidden = 0;
    std::uint32_t hidden_unknown = 0;
    std::array<std::uint32_t, 12> hidden_values{};
};

bool TileCore::Implementation::is_at_rest() const {
    return !slots.any_held(now) && weight_address_ready <= now &&
           std::all_of(ready.begin(), ready.end(), [this](Cycles at) { return at <= now; });
}

bool TileCore::Implementation::may_begin_section() const {
    return spans == nullptr && !worker_fault && is_at_rest() && supervisor.by_round == 0 &&
           !supervisor.shadow->has_rounds() && round <= Section::kMostSlots;
}

/// Of the registers of the supervisor, and of what stands where they point to.
std::uint64_t TileCore::Implementation::section_hash(const isa::MicroOperation* op) const {
    constexpr std::uint32_t kWords = 16;
    const program::TileWords& known = timing->known.of_tile(tile);
    SectionHash hash;
    hash.add(reinterpret_cast<std::uintptr_t>(op));
    const auto index = static_cast<std::size_t>(op - supervisor.program->operations.data());
    const unsigned needed =
        timing->sections->registers_of(*supervisor.program, index).needed & ~supervisor.unknown;
    for (unsigned left = needed; left != 0; left &= left - 1U) {
        const std::uint32_t value = supervisor.main[std::countr_zero(left)];
        hash.add(value);
        const std::uint32_t word = (value - memory.base) / 4;
        if (value - memory.base <= memory.span_bytes - kWords * 4 && known.all({word, kWords})) {
            std::array<std::uint64_t, kWords / 2> words;
            std::memcpy(words.data(), memory.bytes + std::size_t{word} * 4, sizeof words);
            for (const std::uint64_t two : words) {
                hash.add(two);
            }
        }
    }
    return hash.value();
}

bool TileCore::Implementation::begins_as(const Section& section,
                                         const isa::MicroOperation* op) const {
    if (section.first != op || section.code != code_number || section.control != registers ||
        !section.registers[0].are_in(supervisor, section.needed[0])) {
        return false;
    }
    for (std::size_t n = 0; n < workers.size(); ++n) {
        if (!section.registers[n + 1].are_in(workers[n], section.needed[n + 1])) {
            return false;
        }
    }
    const program::TileWords& known = timing->known.of_tile(tile);
    const std::uint32_t* value = section.reads.values.data();
    for (const program::WordRange& range : section.reads.ranges) {
        if (std::memcmp(memory.bytes + std::size_t{range.first} * 4, value,
                        std::size_t{range.count} * 4) != 0 ||
            !known.all(range)) {
            return false;
        }
        value += range.count;
    }
    return std::none_of(section.reads.unknown.begin(), section.reads.unknown.end(),
                        [&known](std::uint32_t word) { return known.get(word); });
}

/// Lets the section's time pass, operation by operation up to where it is as it was when the section was
/// recorded. False if an operation would be a fault at this moment.
bool TileCore::Implementation::pass_time_of(const Section& section) {
    const isa::MicroOperation* const operations = supervisor.program->operations.data();
    const auto slot_of = [this](Cycles cycle) { return cycle % round; };
    auto issues = section.issues.begin();
    auto rest = section.rests.begin();
    for (std::uint32_t step = 0; step < section.steps.size(); ++step) {
        const isa::MicroOperation& op = operations[section.steps[step] >> Section::kStepBits];
        const auto kind = section.steps[step] & ((1U << Section::kStepBits) - 1U);
        const Cycles issue = earliest_issue(op);
        const bool loads_weights = isa::weight_registers(op) != 0;
        if ((loads_weights || is_opcode(op, Opcode::runall) || is_opcode(op, Opcode::put)) &&
            slots.any_held(issue)) {
            return false;
        }
        if (kind == Section::Loads) {
            now = issue + op.imm2 + 1;
            continue;
        }
        now = issue + 1;
        if (is_opcode(op, Opcode::runall)) {
            for (std::size_t number = 0; number < workers.size(); ++number) {
                const Cycles first = first_issue_of(number, issue);
                slots.hold(number, first + round * (*issues++ - 1) + spec->tile.pipeline_cycles);
            }
        } else if (is_opcode(op, Opcode::sync)) {
            now = std::max(now, slots.all_free_from());
        } else if (is_opcode(op, Opcode::put) &&
                   (op.imm == isa::kCsrWeightAddress || op.imm == isa::kCsrCommand)) {
            weight_address_ready = issue + spec->tile.pipeline_cycles;
        }
        note_results(op, issue);
        if (kind == Section::Taken) {
            now = issue + spec->tile.pipeline_cycles;
        }
        if (rest != section.rests.end() && rest->steps == step + 1) {
            if (slot_of(now) == slot_of(section.begin + rest->cycles) && is_at_rest()) {
                now += section.cycles - rest->cycles;
                return true;
            }
            ++rest;
        }
    }
    return is_at_rest();
}

/// False if the section cannot be taken over here; then nothing has changed.
bool TileCore::Implementation::take_over_time_of(const Section& section) {
    std::atomic<Cycles>& known = section.cycles_by_slot[static_cast<std::size_t>(now % round)];
    const Cycles begin = now;
    if (const Cycles cycles = known.load(std::memory_order_relaxed); cycles != 0) {
        now += cycles;
    } else {
        const auto ready_before = ready;
        const Cycles weight_address_before = weight_address_ready;
        const WorkerSlots slots_before = slots;
        if (!pass_time_of(section)) {
            now = begin;
            ready = ready_before;
            weight_address_ready = weight_address_before;
            slots = slots_before;
            return false;
        }
        known.store(now - begin, std::memory_order_relaxed);
    }
    if (now > spec->tile.phase_limit_cycles) {
        now = begin; // the limit is met operation by operation
        return false;
    }
    return true;
}

void TileCore::Implementation::take_over(const Section& section) {
    isa::ShadowMemory& shadow = *supervisor.shadow;
    for (const program::WordRange& range : section.lost) {
        shadow.lose(range);
    }
    const std::uint32_t* value = section.stored_values.data();
    for (const program::WordRange& range : section.stored) {
        std::memcpy(memory.bytes + std::size_t{range.first} * 4, value,
                    std::size_t{range.count} * 4);
        value += range.count;
        for (std::uint32_t word = 0; word < range.count; ++word) {
            shadow.store((range.first + word) * 4, true);
        }
    }
    section.registers_after[0].give(supervisor, section.written[0]);
    for (std::size_t n = 0; n < workers.size(); ++n) {
        section.registers_after[n + 1].give(workers[n], section.written[n + 1]);
    }
    registers = *section.control_after;
    isa::take_up(supervisor, section.program_after);
    supervisor_jumps.repeat(section.jumps);
    worker_jumps.repeat(section.worker_jumps);
    std::int64_t& launches = outcome.counts.at(counts::Group::Launches);
    UnevenLaunch uneven = section.uneven;
    uneven.launch += uneven.launch == 0 ? 0 : launches;
    outcome.uneven = more_uneven(outcome.uneven, uneven, workers.size());
    launches += section.launches;
    outcome.busiest_issues += section.busiest_issues;
    worker_issues += section.worker_issues;
    for (std::size_t number = 0; number < workers.size(); ++number) {
        outcome.issues_of[number] += section.issues_of[number];
    }
}

/// Where the supervisor goes on: behind all sections that another tile has had.
const isa::MicroOperation* TileCore::Implementation::begin_section(const isa::MicroOperation* op) {
    const bool is_inside =
        slots.any_held(now) || std::any_of(launch_issues.begin(), launch_issues.end(),
                                           [](std::int64_t issues) { return issues != 0; });
    if (is_inside) {
        return op;
    }
    if (draft != nullptr) {
        end_section(op);
    }
    ++sections_begun;
    while (by_sections && may_begin_section()) {
        SectionClasses& classes = *timing->sections;
        SectionClasses::Site& site = classes.site_of(op, phase_stub);
        if (!classes.compares_all() && !site.is_worth_it()) {
            break;
        }
        site.begun.fetch_add(1, std::memory_order_relaxed);
        const std::uint64_t hash = section_hash(op);
        const Section* const found =
            classes.find(hash, [&](const Section& section) { return begins_as(section, op); });
        if (found == nullptr) {
            record_section(op, hash);
            break;
        }
        if (!take_over_time_of(*found)) {
            break;
        }
        take_over(*found);
        site.alike.fetch_add(1, std::memory_order_relaxed);
        op = found->next;
    }
    return op;
}

void TileCore::Implementation::record_section(const isa::MicroOperation* op, std::uint64_t hash) {
    thread_local SectionDraft only;
    draft = &only;
    draft->hash = hash;
    draft->program = supervisor.program_number;
    draft->is_spoiled = false;
    SectionRecord& section = draft->section;
    section.registers.clear();
    section.registers_after.clear();
    section.stored_values.clear();
    section.steps.clear();
    section.issues.clear();
    section.rests.clear();
    section.control = registers;
    section.first = op;
    section.code = code_number;
    section.registers.push_back(SectionRegisters::of(supervisor));
    for (const isa::Context& worker : workers) {
        section.registers.push_back(SectionRegisters::of(worker));
    }
    section.needed.assign(workers.size() + 1, 0);
    section.written.assign(workers.size() + 1, 0);
    draft->hidden = 0;
    section.begin = now;
    section.launches = outcome.counts.at(counts::Group::Launches);
    section.busiest_issues = outcome.busiest_issues;
    section.worker_issues = worker_issues;
    section.issues_of = outcome.issues_of;
    supervisor_jumps.mark(draft->jumps);
    worker_jumps.mark(draft->worker_jumps);
    draft->uneven = std::exchange(outcome.uneven, {});
    draft->unknown_addresses = supervisor.shadow->unknown_addresses;
    supervisor.shadow->follow_worker();
}

void TileCore::Implementation::end_draft() {
    outcome.uneven = more_uneven(draft->uneven, outcome.uneven, workers.size());
    draft = nullptr;
}

void TileCore::Implementation::drop_section() {
    if (draft != nullptr) {
        supervisor.shadow->end_following();
        end_draft();
    }
}

void TileCore::Implementation::note_loads(const isa::MicroOperation& op) {
    const auto index = static_cast<std::uint32_t>(&op - supervisor.program->operations.data());
    draft->section.steps.push_back((index << Section::kStepBits) | Section::Loads);
}

/// Behind an operation of the supervisor, before the next one is looked for.
void TileCore::Implementation::note_step(const isa::MicroOperation& op) {
    const auto index = static_cast<std::uint32_t>(&op - supervisor.program->operations.data());
    draft->section.steps.push_back((index << Section::kStepBits) |
                                   (supervisor.taken ? Section::Taken : Section::Plain));
    const isa::MainRegisters& used = supervisor.program->main_registers[index];
    draft->section.needed[0] |=
        static_cast<std::uint16_t>(used.read & ~draft->section.written[0] & kRegisters);
    draft->section.written[0] |= static_cast<std::uint16_t>(used.written & kRegisters);
    draft->is_spoiled = draft->is_spoiled || follows_from_the_moment(op) ||
                        supervisor.program_number != draft->program;
    if (is_opcode(op, Opcode::sync) && is_at_rest()) {
        SectionRecord& section = draft->section;
        section.rests.push_back(
            {static_cast<std::uint32_t>(section.steps.size()), now - section.begin});
    }
}

/// In front of `next`, where nothing is under way.
void TileCore::Implementation::end_section(const isa::MicroOperation* next) {
    SectionRecord& section = draft->section;
    isa::ShadowMemory& shadow = *supervisor.shadow;
    if (draft->is_spoiled || section.issues.empty() || supervisor.by_round != 0 ||
        shadow.unknown_addresses != draft->unknown_addresses ||
        !shadow.first_reads(section.reads)) {
        drop_section();
        return;
    }
    section.lost = shadow.lost();
    section.stored = shadow.stored();
    shadow.end_following();
    for (const program::WordRange& range : section.stored) {
        const std::size_t end = section.stored_values.size();
        section.stored_values.resize(end + range.count);
        std::memcpy(&section.stored_values[end], memory.bytes + std::size_t{range.first} * 4,
                    std::size_t{range.count} * 4);
    }
    section.next = next;
    section.program_after = supervisor.program_number;
    section.registers_after.push_back(SectionRegisters::of(supervisor));
    for (const isa::Context& worker : workers) {
        section.registers_after.push_back(SectionRegisters::of(worker));
    }
    section.control_after = registers;
    section.jumps = supervisor_jumps.since(draft->jumps);
    section.worker_jumps = worker_jumps.since(draft->worker_jumps);
    section.uneven = outcome.uneven;
    section.uneven.launch -= section.uneven.launch == 0 ? 0 : section.launches;
    section.launches = outcome.counts.at(counts::Group::Launches) - section.launches;
    section.busiest_issues = outcome.busiest_issues - section.busiest_issues;
    section.worker_issues = worker_issues - section.worker_issues;
    for (std::size_t number = 0; number < workers.size(); ++number) {
        section.issues_of[number] = outcome.issues_of[number] - section.issues_of[number];
    }
    section.cycles = now - section.begin;
    auto kept = std::make_unique<Section>(section);
    kept->cycles_by_slot[static_cast<std::size_t>(section.begin % round)] = section.cycles;
    timing->sections->add(draft->hash, std::move(kept));
    end_draft();
}

/// A worker is about to begin at `entry`: which of its registers will it need, and which will it write?
void TileCore::Implementation::hide_registers(std::size_t number, Address entry) {
    isa::Context& worker = workers[number];
    const auto program = std::find_if(programs.begin(), programs.end(),
                                      [entry](const auto* one) { return one->holds(entry); });
    if (program == programs.end()) {
        draft->is_spoiled = true;
        return;
    }
    const isa::EntryRegisters used = timing->sections->registers_of(
        **program, static_cast<std::size_t>((*program)->index_of(entry)));
    std::uint16_t& needed = draft->section.needed[number + 1];
    std::uint16_t& written = draft->section.written[number + 1];
    needed |= static_cast<std::uint16_t>(used.needed & ~written);
    written |= static_cast<std::uint16_t>(used.written & needed);
    draft->hidden = static_cast<std::uint16_t>(used.written & ~written & kRegisters);
    draft->hidden_unknown = worker.unknown & draft->hidden;
    for (unsigned left = draft->hidden; left != 0; left &= left - 1U) {
        const auto one = static_cast<std::size_t>(std::countr_zero(left));
        draft->hidden_values[one] = std::exchange(worker.main[one], kUntouched);
    }
    worker.unknown |= draft->hidden;
}

/// The worker has exited: what it has not written is as it was.
void TileCore::Implementation::show_registers(std::size_t number) {
    isa::Context& worker = workers[number];
    for (unsigned left = std::exchange(draft->hidden, std::uint16_t{0}); left != 0;
         left &= left - 1U) {
        const auto one = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint32_t bit = 1U << one;
        if ((worker.unknown & bit) != 0 && worker.main[one] == kUntouched) {
            worker.main[one] = draft->hidden_values[one];
            worker.unknown = (worker.unknown & ~bit) | (draft->hidden_unknown & bit);
        } else {
            draft->section.written[number + 1] |= static_cast<std::uint16_t>(bit);
        }
    }
}

void TileCore::Implementation::note_issues(std::int64_t issues) {
    draft->section.issues.push_back(static_cast<std::uint32_t>(issues));
}

} // namespace tessera::tile
