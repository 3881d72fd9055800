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

JumpLog::Taken JumpLog::take() {
    Taken taken;
    for (const Entry& entry : entries_) {
        const DecodedProgram& program = *programs_[entry.program];
        add(taken.counts, program.sums.front(),
            program.sums[static_cast<std::size_t>(entry.instruction)], entry.times);
        taken.unaligned += entry.pays_unaligned ? entry.times : 0;
    }
    for (std::size_t number = 0; number < programs_.size(); ++number) {
        const bool is_entered =
            std::any_of(entries_.begin(), entries_.end(),
                        [number](const Entry& entry) { return entry.program == number; });
        if (is_entered) {
            take_jumps(*programs_[number], times_[number], taken);
        }
    }
    entries_.clear();
    return taken;
}

} // namespace tessera::isa
