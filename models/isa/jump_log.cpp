// SPDX-License-Identifier: MIT
#include "models/isa/jump_log.h"

namespace tessera::isa {
namespace {

using Sums = counts::InstructionCounts<std::int32_t>;

/// Adds `times` the difference of two sums.
void add(counts::InstructionCounts<std::int64_t>& counts, const Sums& upto, const Sums& before,
         std::int64_t times) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] += times * (upto[i] - before[i]);
    }
}

/// What was executed between the jumps of a program, which were gone `times` each: 0 then.
void take_jumps(const DecodedProgram& program, std::vector<std::int64_t>& times,
                JumpLog::Taken& taken) {
    for (std::size_t jump = 0; jump < times.size(); ++jump) {
        if (times[jump] != 0) {
            const Jump& gone = program.jumps[jump];
            add(taken.counts, program.sums[static_cast<std::size_t>(gone.from)],
                program.sums[static_cast<std::size_t>(gone.to)], times[jump]);
            taken.unaligned += gone.unaligned * times[jump];
            times[jump] = 0;
        }
    }
}

} // namespace

bool JumpLog::is_entered(std::size_t program) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [program](const Entry& entry) { return entry.program == program; });
}

void JumpLog::mark(Mark& mark) const {
    mark.times.resize(times_.size());
    for (std::size_t program = 0; program < times_.size(); ++program) {
        if (is_entered(program)) {
            mark.times[program] = times_[program];
        } else {
            mark.times[program].clear();
        }
    }
    mark.entries = entries_;
}

JumpLog::Since JumpLog::since(const Mark& mark) const {
    Since since;
    for (std::size_t number = 0; number < entries_.size(); ++number) {
        Entry entry = entries_[number];
        entry.times -= number < mark.entries.size() ? mark.entries[number].times : 0;
        if (entry.times != 0) {
            since.entries.push_back(entry);
        }
    }
    for (std::size_t program = 0; program < times_.size(); ++program) {
        if (!is_entered(program)) {
            continue;
        }
        const std::vector<std::int64_t>& before = mark.times[program];
        for (std::size_t jump = 0; jump < times_[program].size(); ++jump) {
            const std::int64_t times = times_[program][jump] - (before.empty() ? 0 : before[jump]);
            if (times != 0) {
                since.gone.push_back(
                    {static_cast<std::uint32_t>(program), static_cast<std::uint32_t>(jump), times});
            }
        }
    }
    return since;
}

void JumpLog::repeat(const Since& since) {
    for (const Entry& entry : since.entries) {
        entered(entry.program, entry.instruction, entry.pays_unaligned, entry.times);
    }
    for (const Gone& one : since.gone) {
        times_[one.program][one.jump] += one.times;
    }
}

JumpLog::Taken JumpLog::take() {
    Taken taken;
    for (const Entry& entry : entries_) {
        const DecodedProgram& program = *programs_[entry.program];
        add(taken.counts, program.sums.front(),
            program.sums[static_cast<std::size_t>(entry.instruction)], entry.times);
        taken.unaligned += entry.pays_unaligned ? entry.times : 0;
    }
    for (std::size_t number = 0; number < programs_.size(); ++number) {
        if (is_entered(number)) {
            take_jumps(*programs_[number], times_[number], taken);
        }
    }
    entries_.clear();
    return taken;
}

} // namespace tessera::isa
