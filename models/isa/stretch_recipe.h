// SPDX-License-Identifier: MIT
// Timing mode: what a worker did in a stretch of its way (engine.h), as a function of what it found: mostly a pass of an outer loop. Sparse products go the same ways over and over, at other
// addresses. A recipe of one says which known words it loads and where they stand, which values among
// them decided about the way, which addresses it touches as sums of what it found, and what it leaves.
// To apply it takes the time of a few sums. StretchRecorder makes it.
#pragma once

#include "base/units.h"
#include "models/isa/context.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::isa {

/// A constant plus multiples of what a worker found: main registers at the begin of the stretch, then
/// words that it loaded, by number. All modulo 2^32, as the machine's integers.
struct StretchSum {
    static constexpr std::size_t kMostTerms = 5;
    struct Term {
        std::uint32_t found = 0; ///< number
        std::uint32_t factor = 0;

        friend bool operator==(const Term&, const Term&) = default;
    };
    std::uint32_t constant = 0;
    std::uint32_t count = 0;
    std::array<Term, kMostTerms> terms{}; ///< ascending by number, no factor is 0

    [[nodiscard]] std::uint32_t value(const std::uint32_t* found) const {
        std::uint32_t sum = constant;
        for (std::uint32_t term = 0; term < count; ++term) {
            sum += terms[term].factor * found[terms[term].found];
        }
        return sum;
    }
    [[nodiscard]] bool is_constant() const { return count == 0; }
};

class StretchRecipe {
public:
    static constexpr std::uint32_t kRegisters = 16; ///< main registers that a worker finds
    static constexpr std::uint32_t kMostFound = 96; ///< with the words that it loads

    /// Does what a worker does in the stretch, where it goes this recipe's way. False if it does not:
    /// then nothing has changed but what the phase has read, which it reads on any way that begins as
    /// this one does.
    [[nodiscard]] bool apply(Context& worker) const;
    /// A register that has to hold a value when the stretch begins, so that others are told apart
    /// quickly. It is $m15, which holds 0, where none has to.
    struct Mark {
        std::uint32_t number = 15;
        std::uint32_t value = 0;
    };
    [[nodiscard]] Mark mark() const {
        return begins_with_.empty()
                   ? Mark{}
                   : Mark{begins_with_.front().number, begins_with_.front().value.constant};
    }
    /// How many sums it takes to apply it, about.
    [[nodiscard]] std::size_t sums() const {
        return checks_.size() + extents_.size() + lost_.size() + 2 * stored_.size() +
               registers_.size() + 3 * triples_.size();
    }
    /// Where the next stretch begins; null behind an exit.
    [[nodiscard]] const MicroOperation* next() const { return next_; }

private:
    friend class StretchRecorder;

    /// What has to be as it was, in the order of the way.
    struct Check {
        enum class Kind : std::uint8_t {
            Load,     ///< a main register loads a word or a part of one at `left`, found next
            Computed, ///< an integer operation of `left` and `right`, its result is found next
            Equal,    ///< what was found has the value
            Zero,     ///< whether `left` is 0: the value is 1, or 0 if it is not
            Negative, ///< the same of its sign
            AreKnown  ///< all words of a list of so many bytes at `left` are known
        };
        Kind kind = Kind::Load;
        std::uint8_t access_bytes = 0; ///< Load
        bool is_signed = false;        ///< Load
        bool known = false;            ///< Load
        std::uint32_t found = 0;       ///< Equal
        std::uint32_t value = 0;
        StretchSum left;
        StretchSum right;
        const MicroOperation* operation = nullptr; ///< Computed
    };
    /// Accesses whose addresses differ by constants: `offset` + [low, high).
    struct Extent {
        StretchSum base; ///< an address; a multiple of `alignment` away from the recorded one
        std::uint32_t recorded = 0;
        std::int32_t low = 0;
        std::int32_t high = 0;
        std::uint32_t alignment = 1;
        bool in_region0 = false;
        bool stores = false;
        std::uint32_t first_fetched = 0; ///< memory elements of the code that is fetched meanwhile
        std::uint32_t last_fetched = 0;
    };
    /// Tensor data stored at an extent's base + offset.
    struct Lost {
        std::uint32_t extent = 0;
        std::int32_t offset = 0;
        std::uint32_t words = 0;
    };
    struct Stored {
        StretchSum address;
        StretchSum value;
        bool known = false;
    };
    struct Register {
        std::uint32_t number = 0;
        StretchSum value;
    };
    /// A pair of main registers with three packed addresses.
    struct Triple {
        std::uint32_t number = 0;
        std::array<StretchSum, 3> addresses;
    };
    struct Gone {
        std::uint32_t jump = 0;
        std::int64_t times = 0;
    };

    [[nodiscard]] static bool holds(const Extent& extent, const Context& worker,
                                    std::uint32_t base);

    std::uint32_t unknown_before_ = 0;
    std::uint32_t unknown_after_ = 0;
    std::vector<Register> begins_with_; ///< registers that have to hold a constant
    std::vector<Check> checks_;
    std::vector<Extent> extents_;
    std::vector<Lost> lost_;
    std::vector<Stored> stored_;
    std::vector<Register> registers_; ///< that change
    std::vector<Triple> triples_;
    std::vector<Gone> gone_; ///< jumps of the program
    const MicroOperation* next_ = nullptr;
    std::int64_t issues_ = 0;
};

} // namespace tessera::isa
