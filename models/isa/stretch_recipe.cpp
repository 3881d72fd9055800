// SPDX-License-Identifier: MIT
#include "models/isa/stretch_recipe.h"

#include "models/isa/address_triple.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/shadow.h"

#include <algorithm>
#include <cstring>

namespace tessera::isa {
namespace {

/// Reads 1, 2 or 4 bytes as a main register takes them.
std::uint32_t loaded_value(const std::byte* from, unsigned access_bytes, bool is_signed) {
    std::uint32_t value = 0;
    std::memcpy(&value, from, access_bytes);
    const unsigned unused = 32U - 8U * access_bytes;
    return is_signed
               ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused)
               : value;
}

/// What an integer operation makes of two values; the worker keeps its registers.
std::uint32_t computed(Context& worker, const MicroOperation& op, std::uint32_t left,
                       std::uint32_t right) {
    static const Engine& plain = engines().front();
    std::uint32_t* const main = worker.main;
    const std::array<std::uint32_t, 3> kept{main[op.a], main[op.b], main[op.d]};
    main[op.b] = right;
    main[op.a] = left; // of operations with one source, `b` is no register and names the first
    plain.execute(worker, op);
    const std::uint32_t result = main[op.d];
    main[op.d] = kept[2];
    main[op.b] = kept[1];
    main[op.a] = kept[0];
    return result;
}

} // namespace

bool StretchRecipe::holds(const Extent& extent, const Context& worker, std::uint32_t base) {
    const MemoryView& memory = *worker.memory;
    const std::int64_t first = std::int64_t{base} - memory.base + extent.low;
    const std::int64_t end = std::int64_t{base} - memory.base + extent.high;
    if (((base - extent.recorded) & (extent.alignment - 1U)) != 0 || first < 0 ||
        end > memory.span_bytes) {
        return false;
    }
    if (extent.in_region0) {
        const auto element = [&](std::int64_t offset) {
            return static_cast<std::uint32_t>(offset) >> memory.element_shift;
        };
        if (end > memory.region0_bytes ||
            (memory.fetch_conflict_faults && element(first) <= extent.last_fetched &&
             element(end - 1) >= extent.first_fetched)) {
            return false;
        }
    } else if (first < memory.region0_bytes) {
        return false;
    }
    return !extent.stores || first >= memory.code_end || end <= memory.code_begin;
}

/// Finds all values, and the words that main registers load.
bool StretchRecipe::goes_this_way(Context& worker, Values& values, WordsRead& words_read) const {
    ShadowMemory& shadow = *worker.shadow;
    const MemoryView& memory = *worker.memory;
    std::copy_n(worker.main, StretchDraft::kRegisters, values.begin());
    std::uint32_t next = StretchDraft::kRegisters;
    std::uint32_t sums = 0;
    for (const Check& check : checks_) {
        sum_up(values, sums, check.sums);
        sums = check.sums;
        const std::uint32_t left = check.left.of(values);
        switch (check.kind) {
        case Kind::Load: {
            const std::uint32_t offset = left - memory.base;
            if (offset > memory.span_bytes - check.access_bytes ||
                (offset & (check.access_bytes - 1U)) != 0) {
                return false;
            }
            const bool known = shadow.read(offset);
            if (known != check.known || shadow.loaded_by_round) {
                return false;
            }
            words_read.words[words_read.count++] = offset / 4;
            values[next++] =
                known ? loaded_value(memory.bytes + offset, check.access_bytes, check.is_signed)
                      : 0;
            break;
        }
        case Kind::Computed:
            values[next++] = computed(worker, *check.operation, left, check.right.of(values));
            break;
        case Kind::Zero:
            if ((left == 0 ? 1U : 0U) != check.value) {
                return false;
            }
            break;
        case Kind::Negative:
            if (left >> 31U != check.value) {
                return false;
            }
            break;
        case Kind::Equal:
            if (left != check.value) {
                return false;
            }
            break;
        case Kind::AreKnown: {
            const std::uint64_t first = left - memory.base;
            const std::uint64_t end = first + check.value;
            if (end > memory.span_bytes ||
                !shadow.are_known({static_cast<std::uint32_t>(first / 4),
                                   static_cast<std::uint32_t>((end + 3) / 4 - first / 4)})) {
                return false;
            }
            break;
        }
        }
    }
    sum_up(values, sums, static_cast<std::uint32_t>(sums_.size()));
    return true;
}

bool StretchRecipe::apply(Context& worker) const {
    ShadowMemory& shadow = *worker.shadow;
    const MemoryView& memory = *worker.memory;
    if (std::any_of(begins_with_.begin(), begins_with_.end(), [&](const StretchDraft::Pinned& one) {
            return worker.main[one.number] != one.value;
        })) {
        return false;
    }
    // A worker that comes near its limit of issues meets it instruction by instruction.
    const auto code = static_cast<std::int64_t>(worker.program->operations.size());
    if (worker.unknown != unknown_before_ || worker.by_round != 0 ||
        worker.issues + issues_ + code > worker.issue_limit) {
        return false;
    }
    Values values;
    WordsRead words_read;
    if (!goes_this_way(worker, values, words_read)) {
        return false;
    }
    const auto is_read = [&](std::uint32_t first, std::uint32_t count) {
        return std::any_of(words_read.words.begin(), words_read.words.begin() + words_read.count,
                           [&](std::uint32_t word) { return word - first < count; });
    };
    std::array<std::uint32_t, StretchDraft::kMostFound> bases;
    for (std::size_t n = 0; n < extents_.size(); ++n) {
        bases[n] = extents_[n].base.of(values);
        if (!holds(extents_[n], worker, bases[n])) {
            return false;
        }
    }
    const auto first_word = [&](const StretchDraft::Lost& lost) {
        return (bases[lost.extent] + static_cast<std::uint32_t>(lost.offset) - memory.base) / 4;
    };
    const auto meets = [&](const StretchDraft::Lost& lost) {
        return is_read(first_word(lost), lost.words);
    };
    const auto stored_offset = [&](const Stored& stored) {
        return stored.address.of(values) - memory.base;
    };
    // Which of two accesses to a word came first is not known here.
    const auto is_lost = [&](std::uint32_t word) {
        return std::any_of(lost_.begin(), lost_.end(), [&](const StretchDraft::Lost& lost) {
            return word - first_word(lost) < lost.words;
        });
    };
    if (std::any_of(lost_.begin(), lost_.end(), meets) ||
        std::any_of(stored_.begin(), stored_.end(), [&](const Stored& stored) {
            const std::uint32_t word = stored_offset(stored) / 4;
            return is_read(word, 1) || is_lost(word);
        })) {
        return false;
    }
    // Nothing stands against it any more.
    for (const StretchDraft::Lost& lost : lost_) {
        shadow.lose({first_word(lost), lost.words});
    }
    for (const Stored& stored : stored_) {
        const std::uint32_t offset = stored_offset(stored);
        const std::uint32_t value = stored.value.of(values);
        if (stored.known) {
            std::memcpy(memory.bytes + offset, &value, sizeof value);
        }
        shadow.store(offset, stored.known);
    }
    for (const Register& one : registers_) {
        worker.main[one.number] = one.value.of(values);
    }
    for (const Triple& one : triples_) {
        const AddressTriple packed{one.addresses[0].of(values), one.addresses[1].of(values),
                                   one.addresses[2].of(values)};
        packed.pack(worker.main + one.number);
    }
    for (const StretchDraft::Gone& one : gone_) {
        worker.jumps[one.jump] += one.times;
    }
    worker.unknown = unknown_after_;
    worker.issues += issues_;
    worker.taken = false;
    worker.exited = next_ == nullptr;
    return true;
}

} // namespace tessera::isa
