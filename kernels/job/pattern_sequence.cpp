// SPDX-License-Identifier: MIT
#include "kernels/job/pattern_sequence.h"

#include "base/bytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace tessera::job {
namespace {

template <class Element> std::vector<Element> elements_of(const std::vector<std::byte>& bytes) {
    std::vector<Element> values(bytes.size() / sizeof(Element));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

/// Gives the number in `before` of each block of `after`, a pattern of the same grid; -1: it came.
std::vector<std::int64_t> numbers_before(const workload::SparsePattern& before,
                                         const workload::SparsePattern& after) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(after.block_column.size());
    for (std::int64_t row = 0; row < after.block_rows(); ++row) {
        std::int64_t at = before.first_block(row);
        const std::int64_t end = before.first_block(row + 1);
        for (std::int64_t block = after.first_block(row); block < after.first_block(row + 1);
             ++block) {
            while (at < end && before.column_of(at) < after.column_of(block)) {
                ++at;
            }
            const bool was_there = at < end && before.column_of(at) == after.column_of(block);
            numbers.push_back(was_there ? at : -1);
        }
    }
    return numbers;
}

/// Values of the pattern before, as the new one has them. None stay none.
template <class Element>
std::vector<std::byte> moved(const pattern::PatternChange& change,
                             const std::vector<std::byte>& bytes) {
    return bytes.empty() ? bytes
                         : bytes_of_all(pattern::moved_values(change, elements_of<Element>(bytes)));
}

} // namespace

void PatternSequence::change(const workload::Schedule& schedule, const Left& left) {
    const auto given = elements_of<float>(left.gradients);
    const std::vector<double> gradients(given.begin(), given.end());
    const auto by_type = [&](auto element) {
        using Element = decltype(element);
        const auto values = elements_of<Element>(left.values);
        std::vector<double> norms;
        pattern::BlockNorms known;
        if (!values.empty()) {
            if constexpr (std::is_same_v<Element, float>) {
                norms = pattern::block_norms(std::vector<double>(values.begin(), values.end()),
                                             now_.type.sparse->block);
            } else {
                norms = pattern::block_norms(values, now_.type.sparse->block);
            }
            known.kept = norms;
        }
        if (!gradients.empty()) {
            known.gradients = gradients;
        }
        pattern::PatternChange change =
            pattern::next_pattern(*now_.type.sparse, known, schedule, changes_);
        now_.bytes = moved<Element>(change, left.values);
        move_states(change, left);
        went_.push_back(static_cast<std::int64_t>(change.went.size()));
        is_drawn_instead_ = is_drawn_instead_ || change.is_drawn_instead;
        now_.type.sparse =
            std::make_shared<const workload::SparsePattern>(std::move(change.pattern));
    };
    now_.type.type == ElementType::F32 ? by_type(float{}) : by_type(std::uint16_t{});
    ++changes_;
}

void PatternSequence::take(family::Value next, const Left& left) {
    pattern::PatternChange change;
    change.pattern = *next.type.sparse;
    change.from = numbers_before(*now_.type.sparse, *next.type.sparse);
    const auto stayed =
        std::ranges::count_if(change.from, [](std::int64_t number) { return number >= 0; });
    went_.push_back(now_.type.sparse->blocks() - stayed);
    move_states(change, left);
    now_ = std::move(next);
    ++changes_;
}

void PatternSequence::move_states(const pattern::PatternChange& change, const Left& left) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
        states_[i] = now_.type.type == ElementType::F32
                         ? moved<float>(change, left.states.at(i))
                         : moved<std::uint16_t>(change, left.states.at(i));
    }
}

} // namespace tessera::job
