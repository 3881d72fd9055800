// SPDX-License-Identifier: MIT
#include "kernels/published/dense_costs.h"

#include <algorithm>

namespace tessera::published {

Range part_of(std::int64_t grains, std::int64_t parts, std::int64_t part) {
    const std::int64_t each = grains / parts;
    const std::int64_t small = parts - grains % parts;
    const auto begin = [&](std::int64_t index) {
        return index * each + std::max<std::int64_t>(0, index - small);
    };
    return {begin(part), begin(part + 1)};
}

TileId tile_of(const DenseSplit& split, const DensePart& part) {
    return static_cast<TileId>((part.in * split.field_parts + part.field) * split.out_parts +
                               part.out);
}

DensePart part_on(const DenseSplit& split, TileId tile) {
    const std::int64_t row = tile / split.out_parts;
    return {row / split.field_parts, row % split.field_parts, tile % split.out_parts};
}

std::vector<Range> spread_piece(std::int64_t elements, std::int64_t tiles, std::int64_t grain,
                                std::int64_t least) {
    std::vector<Range> runs;
    if (elements == 0) {
        return runs;
    }
    const std::int64_t grains = ceil_div(elements, grain);
    const std::int64_t most = std::max(ceil_div(grains, tiles), ceil_div(least, grain));
    const std::int64_t used = ceil_div(grains, most);
    for (std::int64_t tile = 0; tile < used; ++tile) {
        runs.push_back(
            {tile * grains / used * grain, std::min(elements, (tile + 1) * grains / used * grain)});
    }
    return runs;
}

std::vector<Range> spread_inputs(std::int64_t elements, const DensePlan& plan, ElementType data) {
    constexpr Bytes kLeast = 128;
    return spread_piece(elements, plan.split.out_parts, plan.vertex.in_group,
                        kLeast / bytes_of(data));
}

std::vector<Range> spread_weights(std::int64_t elements, const DensePlan& plan, ElementType data) {
    constexpr Bytes kLeast = 256;
    return spread_piece(elements, plan.split.field_parts,
                        plan.vertex.in_group * plan.vertex.out_group, kLeast / bytes_of(data));
}

std::vector<Range> spread_reduction(std::int64_t elements, std::int64_t tiles,
                                    ElementType partials) {
    constexpr std::int64_t kGrain = 16;
    return spread_piece(elements, tiles, std::max(kGrain, lanes_of(partials)), 0);
}

} // namespace tessera::published
