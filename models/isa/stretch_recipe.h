// SPDX-License-Identifier: MIT
// Timing mode: what a worker did in a stretch of its way (engine.h), as a function of what it found: mostly a pass of an outer loop. Sparse products go the same ways over and over, at other
// addresses. A recipe of one says which known words it loads and where they stand, which values among
// them decided about the way, which addresses it touches as sums of what it found, and what it leaves.
// To apply it takes the time of a few sums. StretchRecorder drafts it.
#pragma once

#include "models/isa/context.h"
#include "models/isa/stretch_draft.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::isa {

class StretchRecipe {
public:
    static constexpr std::uint32_t kMostSums = 160; ///< beside what is found

    /// Null where it has more sums than that.
    [[nodiscard]] static std::unique_ptr<const StretchRecipe> make(const StretchDraft& draft);

    /// Does what a worker does in the stretch, where it goes this recipe's way. False if it does not:
    /// then nothing has changed but what the phase has read, which it reads on any way that begins as
    /// this one does.
    [[nodiscard]] bool apply(Context& worker) const;
    /// A register that has to hold a value when the stretch begins, so that others are told apart
    /// quickly. It is $m15, which holds 0, where none has to.
    [[nodiscard]] StretchDraft::Pinned mark() const {
        return begins_with_.empty() ? StretchDraft::Pinned{kZero, 0} : begins_with_.front();
    }
    /// Where the next stretch begins; null behind an exit.
    [[nodiscard]] const MicroOperation* next() const { return next_; }

private:
    class Packer;
    using Kind = StretchDraft::Check::Kind;

    static constexpr std::uint32_t kZero = 15; ///< the number of what is always 0
    static constexpr std::uint32_t kMostValues = StretchDraft::kMostFound + kMostSums;
    /// The values stand by number: first those that the worker finds, then sums of them.
    using Values = std::array<std::uint32_t, kMostValues>;

    /// A value is the one that is found under a number, plus a constant.
    struct Value {
        std::uint32_t constant = 0;
        std::uint32_t number = kZero;

        [[nodiscard]] std::uint32_t of(const Values& values) const {
            return values[number] + constant;
        }
    };
    /// A sum of more than that: its terms, without the constant.
    struct Sum {
        std::uint32_t first = 0; ///< among terms_
        std::uint32_t count = 0;
    };
    struct Check {
        Kind kind = Kind::Load;
        std::uint8_t access_bytes = 0; ///< Load
        bool is_signed = false;        ///< Load
        bool known = false;            ///< Load
        std::uint32_t value = 0;
        Value left; ///< of Equal: what was found
        Value right;
        const MicroOperation* operation = nullptr; ///< Computed
        std::uint32_t sums = 0;                    ///< how many of sums_ are to be computed before
    };
    using Extent = StretchExtent<Value>;
    struct Stored {
        Value address;
        Value value;
        bool known = false;
    };
    struct Register {
        std::uint32_t number = 0;
        Value value;
    };
    struct Triple {
        std::uint32_t number = 0;
        std::array<Value, 3> addresses;
    };

    [[nodiscard]] static bool holds(const Extent& extent, const Context& worker,
                                    std::uint32_t base);
    /// Fills the values up to `sums` sums.
    void sum_up(Values& values, std::uint32_t done, std::uint32_t sums) const {
        for (; done < sums; ++done) {
            const StretchSum::Term* const first = terms_.data() + sums_[done].first;
            std::uint32_t sum = 0;
            for (std::uint32_t term = 0; term < sums_[done].count; ++term) {
                sum += first[term].factor * values[first[term].found];
            }
            values[StretchDraft::kMostFound + done] = sum;
        }
    }
    struct WordsRead {
        std::array<std::uint32_t, StretchDraft::kMostFound> words;
        std::uint32_t count = 0;
    };
    [[nodiscard]] bool goes_this_way(Context& worker, Values& values, WordsRead& words_read) const;

    std::uint32_t unknown_before_ = 0;
    std::uint32_t unknown_after_ = 0;
    std::vector<StretchDraft::Pinned> begins_with_;
    std::vector<StretchSum::Term> terms_;
    std::vector<Sum> sums_;
    std::vector<Check> checks_;
    std::vector<Extent> extents_;
    std::vector<StretchDraft::Lost> lost_;
    std::vector<Stored> stored_;
    std::vector<Register> registers_;
    std::vector<Triple> triples_;
    std::vector<StretchDraft::Gone> gone_;
    const MicroOperation* next_ = nullptr;
    std::int64_t issues_ = 0;
};

} // namespace tessera::isa
