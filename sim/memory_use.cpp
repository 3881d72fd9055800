// SPDX-License-Identifier: MIT
#include "sim/memory_use.h"

#include "models/program/leaf_steps.h"

#include <algorithm>
#include <numeric>

namespace tessera::sim {
namespace {

ImageUse use_of(const program::Image& image, std::uint32_t steps) {
    ImageUse use;
    use.of_step.resize(steps);
    for (const program::Segment& segment : image.segments) {
        const auto kind = static_cast<std::size_t>(segment.kind);
        const std::uint32_t last = std::min(segment.lifetime.last, steps - 1);
        for (std::uint32_t step = segment.lifetime.first; step <= last; ++step) {
            use.of_step[step].at(kind) += segment.bytes;
        }
        if (segment.lifetime.first == 0 && last == steps - 1) {
            use.always.at(kind) += segment.bytes;
        }
    }
    const auto peak = std::max_element(
        use.of_step.begin(), use.of_step.end(),
        [](const auto& left, const auto& right) { return sum_of(left) < sum_of(right); });
    use.peak_step = static_cast<std::uint32_t>(peak - use.of_step.begin());
    return use;
}

} // namespace

Bytes sum_of(const BytesByKind& by_kind) {
    return std::accumulate(by_kind.begin(), by_kind.end(), Bytes{0});
}

MemoryUse memory_use(const program::Program& program) {
    MemoryUse use;
    for (const program::Step* leaf : program::leaf_steps(program)) {
        use.steps.push_back(program::step_name(program, *leaf));
    }
    if (use.steps.empty()) {
        use.steps.emplace_back("start");
    }
    for (const program::Image& image : program.images) {
        use.images.push_back(use_of(image, static_cast<std::uint32_t>(use.steps.size())));
    }
    return use;
}

} // namespace tessera::sim
