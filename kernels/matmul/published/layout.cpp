// SPDX-License-Identifier: MIT
#include "kernels/matmul/published/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::matmul {

published::DenseProblem problem_of(const workload::MatmulWorkload& workload) {
    return {workload.m, workload.k, workload.n, workload.dtype, workload.partials};
}

PublishedCells cells_of(const published::DenseProblem& problem,
                        const published::DenseVertex& vertex) {
    const bool f32 = problem.data == ElementType::F32;
    const bool wide = problem.partials == ElementType::F32;
    const bool narrow = vertex.out_group == 8;
    const bool quarter = bytes_of(problem.data) == 1;
    PublishedCells cells{vertex, problem.data, problem.partials, problem.result()};
    const Bytes element = bytes_of(problem.data);
    const Bytes partial = bytes_of(problem.partials);
    cells.in_cell = vertex.in_group * element;
    cells.block = vertex.out_group * cells.in_cell;
    cells.partial_cell = vertex.out_group * partial;
    cells.result_cell = vertex.out_group * bytes_of(cells.result);
    cells.out_stride = (vertex.out_group - vertex.units) * partial / kWord + 1;
    cells.codelet = f32 && narrow     ? "published/conv_partial_1x1_float_8"
                    : f32             ? "published/conv_partial_1x1_float"
                    : narrow && !wide ? "published/conv_partial_1x1_half_8"
                                      : "published/conv_partial_1x1";
    cells.multiply = std::string(f32       ? "ConvPartial1x1Out_float_float"
                                 : quarter ? "ConvPartial1x1Out_quarter_half"
                                 : wide    ? "ConvPartial1x1Out_half_float"
                                           : "ConvPartial1x1Out_half_half") +
                     (narrow ? "_8" : "");
    cells.types = wide ? "float_float" : "half_half";
    cells.last_types = f32 ? "float_float" : wide ? "float_half" : "half_half";
    return cells;
}

std::vector<Range> in_units(std::vector<Range> runs, std::int64_t elements) {
    for (Range& run : runs) {
        run = {run.first / elements, run.last / elements};
    }
    return runs;
}

PublishedLayout::PublishedLayout(const spec::MachineSpec& on_machine,
                                 const workload::MatmulWorkload& of_workload,
                                 const published::DensePlan& by_plan)
    : machine(on_machine), workload(of_workload), plan(by_plan),
      cells(cells_of(problem_of(workload), plan.vertex)),
      out_groups(ceil_div(workload.m, cells.out_group)),
      in_groups(ceil_div(workload.k, cells.in_group)) {}

TileShare PublishedLayout::share(TileId tile, std::int64_t step) const {
    const published::DenseSplit& split = plan.split;
    const published::DensePart part = published::part_on(split, tile);
    const std::int64_t most = plan.tile.out_groups * split.out_parts;
    const std::int64_t first = most * step;
    const Range outs =
        published::part_of(std::min(most, out_groups - first), split.out_parts, part.out);
    return {part,
            published::part_of(workload.n, split.field_parts, part.field),
            published::part_of(in_groups, split.in_parts, part.in),
            {first + outs.first, first + outs.last}};
}

std::vector<Range> PublishedLayout::home_cells(const TileShare& share) const {
    return in_units(
        published::spread_inputs(share.input_cells() * cells.in_group, plan, cells.data),
        cells.in_group);
}

std::vector<Range> PublishedLayout::home_blocks(const TileShare& share) const {
    const std::int64_t elements = cells.in_group * cells.out_group;
    return in_units(published::spread_weights(share.weight_blocks() * elements, plan, cells.data),
                    elements);
}

std::string PublishedLayout::in_step(const std::string& name, std::int64_t step) const {
    return is_serial() ? fmt::format("{} {}", name, step) : name;
}

bool PublishedLayout::regroups() const {
    constexpr std::int64_t kResultGroupF32 = 8;
    return cells.result == ElementType::F32 && cells.out_group != kResultGroupF32;
}

} // namespace tessera::matmul
