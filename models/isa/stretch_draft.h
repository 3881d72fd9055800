// SPDX-License-Identifier: MIT
// What StretchRecorder writes down of a stretch: everything is a sum of what the worker found.
// StretchRecipe takes it over in a shape that is fast to apply.
#pragma once

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

/// Accesses whose addresses differ by constants: `offset` + [low, high).
template <class Base> struct StretchExtent {
    Base base; ///< an address; a multiple of `alignment` away from the recorded one
    std::uint32_t recorded = 0;
    std::int32_t low = 0;
    std::int32_t high = 0;
    std::uint32_t alignment = 1;
    bool in_region0 = false;
    bool stores = false;
    std::uint32_t first_fetched = 0; ///< memory elements of the code that is fetched meanwhile
    std::uint32_t last_fetched = 0;
};

struct StretchDraft {
    static constexpr std::uint32_t kRegisters = 16; ///< main registers that a worker finds
    static constexpr std::uint32_t kMostFound = 96; ///< with the words that it loads

    /// A check says what has to be as it was. Checks stand in the order of the way.
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
    using Extent = StretchExtent<StretchSum>;
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

        friend bool operator==(const Gone&, const Gone&) = default;
    };
    /// A register that has to hold a constant.
    struct Pinned {
        std::uint32_t number = 0;
        std::uint32_t value = 0;
    };

    std::uint32_t unknown_before = 0;
    std::uint32_t unknown_after = 0;
    std::vector<Pinned> begins_with;
    std::vector<Check> checks;
    std::vector<Extent> extents;
    std::vector<Lost> lost;
    std::vector<Stored> stored;
    std::vector<Register> registers; ///< that change
    std::vector<Triple> triples;
    std::vector<Gone> gone;               ///< jumps of the program
    const MicroOperation* next = nullptr; ///< where the next stretch begins; null behind an exit
    std::int64_t issues = 0;

    /// How many sums it takes to apply it, about.
    [[nodiscard]] std::size_t sums() const {
        return checks.size() + extents.size() + lost.size() + 2 * stored.size() + registers.size() +
               3 * triples.size();
    }
};

} // namespace tessera::isa
