// SPDX-License-Identifier: MIT
#include "kernels/job/pattern_sequence.h"

#include "base/bytes.h"
#include "kernels/pattern/schedule.h"

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

} // namespace

void PatternSequence::change(const std::vector<std::byte>& trained) {
    const auto by_type = [&](auto element) {
        using Element = decltype(element);
        const auto values = elements_of<Element>(trained);
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
        pattern::PatternChange change =
            pattern::next_pattern(*now_.type.sparse, known, schedule_, changes_);
        now_.bytes = values.empty() ? std::vector<std::byte>{}
                                    : bytes_of_all(pattern::moved_values(change, values));
        went_ = static_cast<std::int64_t>(change.went.size());
        is_drawn_instead_ = is_drawn_instead_ || change.is_drawn_instead;
        now_.type.sparse =
            std::make_shared<const workload::SparsePattern>(std::move(change.pattern));
    };
    now_.type.type == ElementType::F32 ? by_type(float{}) : by_type(std::uint16_t{});
    ++changes_;
}

} // namespace tessera::job
