// SPDX-License-Identifier: MIT
#include "models/program/memory_use.h"

#include "models/program/leaf_steps.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace tessera::program {
namespace {

/// Steps at which a buffer of any tile comes or goes, from 0.
std::vector<std::uint32_t> spans_of(const Program& program, std::uint32_t steps) {
    std::set<std::uint32_t> begins{0};
    for (const Image& image : program.images) {
        for (const Segment& segment : image.segments) {
            begins.insert(segment.lifetime.first);
            if (segment.lifetime.last < steps) {
                begins.insert(segment.lifetime.last + 1);
            }
        }
    }
    return {begins.begin(), begins.lower_bound(steps)};
}

ImageUse use_of(const Image& image, const std::vector<std::uint32_t>& spans) {
    ImageUse use;
    use.of_span.resize(spans.size());
    const auto at = [&](auto found) { return static_cast<std::size_t>(found - spans.begin()); };
    for (const Segment& segment : image.segments) {
        const auto kind = static_cast<std::size_t>(segment.kind);
        const auto& [first, last] = segment.lifetime;
        const std::size_t begin = at(std::lower_bound(spans.begin(), spans.end(), first));
        const std::size_t end = at(std::upper_bound(spans.begin(), spans.end(), last));
        for (std::size_t span = begin; span < end; ++span) {
            use.of_span[span].at(kind) += segment.bytes;
        }
        if (begin == 0 && end == spans.size()) {
            use.always.at(kind) += segment.bytes;
        }
    }
    const auto peak = std::max_element(
        use.of_span.begin(), use.of_span.end(),
        [](const auto& left, const auto& right) { return sum_of(left) < sum_of(right); });
    use.peak_span = static_cast<std::size_t>(peak - use.of_span.begin());
    return use;
}

} // namespace

Bytes sum_of(const BytesByKind& by_kind) {
    return std::accumulate(by_kind.begin(), by_kind.end(), Bytes{0});
}

MemoryUse memory_use(const Program& program) {
    MemoryUse use;
    for (const Step* leaf : leaf_steps(program)) {
        use.steps.push_back(step_name(program, *leaf));
    }
    if (use.steps.empty()) {
        use.steps.emplace_back("start");
    }
    use.spans = spans_of(program, static_cast<std::uint32_t>(use.steps.size()));
    for (const Image& image : program.images) {
        use.images.push_back(use_of(image, use.spans));
    }
    return use;
}

} // namespace tessera::program
