// SPDX-License-Identifier: MIT
// Walks a control program: tells what comes next and asks for what only the machine knows.
//
//   next() -> Run step | Round of a repeat | Called | Decide on a value -> decide(true or false)
#pragma once

#include "models/program/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::program {

/// What the walk met.
struct Visit {
    enum class Kind {
        End,    ///< of the program
        Run,    ///< `step` is to be done
        Round,  ///< a round of the repeat `step` begins
        Called, ///< the function of `step` begins
        Chosen, ///< the sequence `step`, which is for some rounds, begins or is left out
        Decide  ///< `step` is a while or an if; decide() comes before the next next()
    };
    Kind kind = Kind::End;
    const Step* step = nullptr;
};

class ControlCursor {
public:
    /// `program` outlives the cursor and has passed check_control().
    ControlCursor(const Program& program, std::int64_t while_limit_rounds);

    [[nodiscard]] Visit next();

    /// The round, from 0, of the innermost repeat around what next() has met; of a Round the repeat's
    /// own. 0 where there is none.
    [[nodiscard]] std::int64_t round() const;
    /// That repeat; null where there is none.
    [[nodiscard]] const Step* innermost_repeat() const;

    /// Steps that are walked, the outermost first.
    struct Place {
        const Step* owner = nullptr; ///< the step that has them
        std::size_t next = 0;        ///< of its children
        std::int64_t rounds = 0;     ///< begun

        friend bool operator==(const Place&, const Place&) = default;
    };
    [[nodiscard]] std::vector<Place> position() const;
    /// So many rounds of the innermost walk of `repeat` are behind it, and the one that has begun is
    /// as many later.
    void skip_rounds(const Step& repeat, std::int64_t rounds);

    /// Whether something comes, or may come, before the next barrier.
    [[nodiscard]] bool computes_next() const;

    /// The answer to Decide: whether the word is not 0. @throws ProgramError if a while goes on for
    /// too long.
    void decide(bool not_zero);

private:
    /// Steps that are walked in order, perhaps several times.
    struct Level {
        const Step* owner = nullptr;
        std::span<const Step> steps;
        std::size_t next = 0;
        std::int64_t rounds = 0; ///< begun
    };
    [[nodiscard]] const Level* innermost() const;
    [[nodiscard]] Visit visit(const Step& step);
    [[nodiscard]] Visit end_round();

    const Program& program_;
    std::int64_t while_limit_rounds_;
    bool begun_ = false;
    std::vector<Level> levels_;
    const Step* undecided_ = nullptr;
};

} // namespace tessera::program
