// SPDX-License-Identifier: MIT
// How often contexts have gone each jump of their code. All that their instructions count follows
// from it, so that straight code and loops pay for no count:
//
//   sum over jumps of times * (what stands up to where it leaves - what stands before where it enters)
//
// Contexts of a tile share one. Whoever runs them begins a log, and takes from it behind their exits.
#pragma once

#include "models/isa/decoded_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::isa {

class JumpLog {
public:
    /// The code must outlive the log, or live until the next load.
    void load(std::span<const DecodedProgram* const> programs) {
        programs_.assign(programs.begin(), programs.end());
        times_.clear();
        for (const DecodedProgram* program : programs_) {
            times_.emplace_back(program->jumps.size());
        }
        entries_.clear();
    }

    /// Forgets what has been noted.
    void begin() {
        for (const Entry& entry : entries_) {
            std::fill(times_[entry.program].begin(), times_[entry.program].end(), 0);
        }
        entries_.clear();
    }

    /// By jump of a program. Whoever counts here has told of an entry into it.
    [[nodiscard]] std::int64_t* times(std::size_t program) { return times_[program].data(); }

    /// A context begins there, or comes from a jump whose end no code says.
    void entered(std::size_t program, std::int32_t instruction, bool pays_unaligned,
                 std::int64_t times = 1) {
        for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
            if (entry->instruction == instruction && entry->program == program &&
                entry->pays_unaligned == pays_unaligned) {
                entry->times += times;
                return;
            }
        }
        entries_.push_back({program, instruction, pays_unaligned, times});
    }

    /// How often that was.
    [[nodiscard]] std::int64_t entries() const {
        std::int64_t all = 0;
        for (const Entry& entry : entries_) {
            all += entry.times;
        }
        return all;
    }

    struct Entry {
        std::size_t program = 0;
        std::int32_t instruction = 0; ///< instructions before it
        bool pays_unaligned = false;
        std::int64_t times = 0;
    };
    struct Gone {
        std::uint32_t program = 0;
        std::uint32_t jump = 0;
        std::int64_t times = 0;
    };
    /// This remembers how much had been noted at a moment.
    struct Mark {
        std::vector<std::vector<std::int64_t>> times; ///< empty where nothing has been noted
        std::vector<Entry> entries;
    };
    void mark(Mark& mark) const;
    /// This has all that was noted since then.
    struct Since {
        std::vector<Gone> gone;
        std::vector<Entry> entries;
    };
    [[nodiscard]] Since since(const Mark& mark) const;
    /// Notes it once more.
    void repeat(const Since& since);

    struct Taken {
        counts::InstructionCounts<std::int64_t> counts{};
        std::int64_t unaligned = 0; ///< branches taken to a bundle at an address of 4 modulo 8
    };
    /// What was executed since begin(), which is forgotten. Every context has exited since.
    [[nodiscard]] Taken take();

private:
    [[nodiscard]] bool is_entered(std::size_t program) const;

    std::vector<const DecodedProgram*> programs_;
    std::vector<std::vector<std::int64_t>> times_; ///< by program and jump
    std::vector<Entry> entries_;
};

/// The context goes on in the code `number` of its programs.
inline void take_up(Context& context, std::size_t number) {
    context.program = context.programs[number];
    context.program_number = number;
    context.jumps = context.jump_log->times(number);
}

} // namespace tessera::isa
