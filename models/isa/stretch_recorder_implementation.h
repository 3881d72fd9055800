// SPDX-License-Identifier: MIT
// How StretchRecorder follows a worker. Only the .cpp files of the recorder include it: what registers
// hold is in stretch_sums.cpp, what instructions make of it in stretch_instructions.cpp, and the way of
// the worker in stretch_recorder.cpp.
#pragma once

#include "models/isa/decoded_program.h"
#include "models/isa/shadow.h"
#include "models/isa/stepped_engine.h"
#include "models/isa/stretch_recipe.h"
#include "models/isa/stretch_recorder.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::isa {

/// Follows one worker.
class StretchRecorder {
public:
    explicit StretchRecorder(Context& worker);

    RecordedStretch run(const MicroOperation* first);

private:
    using Check = StretchDraft::Check;
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
    StretchDraft draft_;
    bool possible_ = true;

    std::array<std::uint32_t, StretchDraft::kMostFound> found_{}; ///< values
    std::array<bool, StretchDraft::kMostFound> is_pinned_{};
    std::array<bool, StretchDraft::kMostFound> is_distance_{}; ///< loaded from 16 bits
    std::uint32_t next_ = StretchDraft::kRegisters;
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

} // namespace tessera::isa
