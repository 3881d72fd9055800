// SPDX-License-Identifier: MIT
#include "kernels/job/pattern_sequence.h"

#include "base/bytes.h"
#include "kernels/pattern/schedule.h"

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

/// Blocks of `before` that `after`, a pattern of the same grid, does not have.
std::int64_t blocks_missing(const workload::SparsePattern& before,
                            const workload::SparsePattern& after) {
    std::int64_t missing = 0;
    for (std::int64_t row = 0; row < before.block_rows(); ++row) {
        std::int64_t at = after.first_block(row);
        for (std::int64_t block = before.first_block(row); block < before.first_block(row + 1);
             ++block) {
            while (at < after.first_block(row + 1) &&
                   after.column_of(at) < before.column_of(block)) {
                ++at;
            }
            const bool is_there =
                at < after.first_block(row + 1) && after.column_of(at) == before.column_of(block);
            missing += is_there ? 0 : 1;
        }
    }
    return missing;
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
        now_.bytes = values.empty() ? std::vector<std::byte>{}
                                    : bytes_of_all(pattern::moved_values(change, values));
        went_.push_back(static_cast<std::int64_t>(change.went.size()));
        is_drawn_instead_ = is_drawn_instead_ || change.is_drawn_instead;
        now_.type.sparse =
            std::make_shared<const workload::SparsePattern>(std::move(change.pattern));
    };
    now_.type.type == ElementType::F32 ? by_type(float{}) : by_type(std::uint16_t{});
    ++changes_;
}

void PatternSequence::take(family::Value next) {
    went_.push_back(blocks_missing(*now_.type.sparse, *next.type.sparse));
    now_ = std::move(next);
    ++changes_;
}

} // namespace tessera::job
