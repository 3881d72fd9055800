// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_block_kind.h"

#include "base/bytes.h"
#include "base/error.h"
#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/codelets/spmm_blocks_cost.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/sparse/spmm_partition.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tessera::sparse {
namespace {

/// Blocks of the fullest part.
double fullest_blocks(const PartMeans& means) {
    const double mean_row = means.blocks / std::max(means.rows, 1.0);
    return std::max(
        {means.blocks, means.longest_row, std::min(means.all_rows, means.rows + 1) * mean_row});
}

// Blocks of 4 and 8, in FP32 also of 16: one list of B's lines, row by row.

constexpr Bytes kBehind = 128; ///< that loads in flight may read behind B and partial results

std::vector<program::PieceDim> value_loops(std::int64_t block, Bytes element) {
    const std::int64_t passes = codelets::blocks_passes(block);
    if (passes == 1) {
        return {{block * block, 1, element}};
    }
    const std::int64_t inputs = block / passes;
    return {{passes, inputs, block * inputs * element},
            {block, block, inputs * element},
            {inputs, 1, element}};
}

/// FP32 sums of FP16 products are rounded once a chain of four; FP32 products each.
std::int64_t roundings_of(std::int64_t block, codelets::ProductTypes types) {
    if (types.data == ElementType::F32) {
        return block;
    }
    return types.partials == ElementType::F16 ? 1 : block / 4;
}

/// Of each row its blocks less one and their lines of B, then each worker's columns.
PartLists lists_of_blocks(graph::Graph& /*graph*/, const spec::MachineSpec& machine,
                          const Problem& problem, const Part& part, std::int64_t columns,
                          const VertexBuffers& buffers) {
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::uint32_t> words;
    std::vector<graph::Relocation> lines;
    std::size_t at = 0;
    for (const std::int32_t blocks : part.row_blocks) {
        words.push_back(static_cast<std::uint32_t>(blocks - 1));
        for (std::int32_t b = 0; b < blocks; ++b, ++at) {
            lines.push_back({static_cast<Bytes>(words.size() * 4), false, 0, buffers.b.index,
                             part.local_b[at] * problem.line_bytes_of(columns)});
            words.push_back(0);
        }
    }
    words.insert(words.end(), 2, 0); // that the vertex reads behind them
    const auto shares = static_cast<Bytes>(words.size() * 4);
    std::int64_t first = 0;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        const std::int64_t own = columns / workers + (worker < columns % workers ? 1 : 0);
        words.push_back(graph::halves(first, own, "columns").word);
        first += own;
    }
    plan::counted_rounds(machine, ceil_div(columns, workers), "columns or non-zeros");
    return {shared_bytes(words),
            std::make_shared<const std::vector<graph::Relocation>>(std::move(lines)),
            {from(buffers.partials, 0), from(buffers.values, 0), from(buffers.lists, 0),
             from(buffers.lists, shares), graph::word(problem.partial_line_bytes(columns)),
             graph::word(std::ssize(part.rows) - 1)}};
}

double estimate_blocks(const spec::MachineSpec& machine, const Problem& problem,
                       const PartMeans& means) {
    const auto columns =
        static_cast<std::int64_t>(std::ceil(means.columns / real(machine.tile.workers)));
    const auto issues =
        real(codelets::blocks_issues(machine.amp, problem.block, problem.types, columns));
    const auto turn = real(machine.tile.round_cycles());
    const auto passes = real(codelets::blocks_passes(problem.block));
    const auto loads = real(codelets::blocks_weights(problem.block, problem.types));
    return 150 + fullest_blocks(means) * passes * (loads + 20 + turn * issues) +
           2 * turn * means.rows;
}

void run_blocks(plan::StubTimeline& stub, const Problem& problem, const Part& part,
                std::int64_t columns, std::int64_t /*workers*/) {
    stub.blocks(problem.block, problem.types, columns, part.row_blocks);
}

BlockKind small_blocks(std::int64_t block, codelets::ProductTypes types) {
    return {.vertex = fmt::format("spmm_block{}_{}", block, codelets::suffix(types)),
            .codelets = {fmt::format("spmm_blocks_{}", codelets::suffix(types))},
            .value_loops = value_loops(block, bytes_of(types.data)),
            .column_grain = block * bytes_of(types.data) < 16 ? 2 : 1, // sums go by 16 bytes
            .list_bytes = 4,
            .block_roundings = roundings_of(block, types),
            .b_beyond = kBehind,
            .partials_beyond = kBehind,
            .unit = "blocks",
            .lists = lists_of_blocks,
            .estimate = estimate_blocks,
            .run = run_blocks};
}

// FP16 blocks of 16: the columns of B are the rows of the dense codelets' matrix unit.

/// Of weights, a block.
std::int64_t loads_of(ElementType partials) {
    return partials == ElementType::F16 ? 1 : 2;
}

std::vector<program::PieceDim> value_loops(ElementType partials) {
    if (partials == ElementType::F16) {
        // row r of the block is output r: set (r >> 1) & 1, unit 2 * (r >> 2) + (r & 1)
        return {{4, 64, 64}, {2, 32, 256}, {2, 16, 32}, {16, 1, 2}};
    }
    return {{16, 16, 32}, {16, 1, 2}};
}

/// For each weight load: its lines of B, its lines of partial results, and what to do there.
PartLists lists_of_blocks16(graph::Graph& graph, const spec::MachineSpec& machine,
                            const Problem& problem, const Part& part, std::int64_t columns,
                            const VertexBuffers& buffers) {
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t loads = loads_of(problem.types.partials);
    plan::counted_rounds(machine, ceil_div(columns, workers), "columns or non-zeros");
    const std::uint32_t fresh = graph.symbol_number(problem.kind->vertex + "_fresh");
    const std::uint32_t add = graph.symbol_number(problem.kind->vertex + "_add");
    std::vector<graph::Relocation> words;
    const auto next = [&] { return static_cast<Bytes>(words.size() * 4); };
    std::size_t at = 0;
    for (std::size_t row = 0; row < part.rows.size(); ++row) {
        const Bytes out = static_cast<Bytes>(row) * problem.partial_line_bytes(columns);
        for (std::int32_t b = 0; b < part.row_blocks[row]; ++b, ++at) {
            const Bytes line = part.local_b[at] * problem.line_bytes_of(columns);
            for (std::int64_t load = 0; load < loads; ++load) {
                words.push_back({next(), false, 0, buffers.b.index, line});
                words.push_back(
                    {next(), false, 0, buffers.partials.index, out + load * columns * 32});
                words.push_back({next(), true, b == 0 ? fresh : add, 0, 0});
            }
        }
    }
    const std::vector<std::uint32_t> unset(words.size());
    const auto blocks = std::ssize(part.blocks);
    return {shared_bytes(unset),
            std::make_shared<const std::vector<graph::Relocation>>(std::move(words)),
            {from(buffers.values, 0), from(buffers.lists, 0), graph::word(blocks * loads - 1),
             graph::word(columns / workers), graph::word(columns % workers)}};
}

double estimate_blocks16(const spec::MachineSpec& machine, const Problem& problem,
                         const PartMeans& means) {
    const double rounds = std::ceil(means.columns / real(machine.tile.workers));
    const double steps = 4 * rounds + 10;
    const auto weights = real(codelets::weight_loads(problem.types.partials));
    const double load =
        weights + 25 +
        real(machine.tile.round_cycles()) * (steps / machine.amp.steps_per_issue + 10);
    return 200 + fullest_blocks(means) * real(loads_of(problem.types.partials)) * load;
}

void run_blocks16(plan::StubTimeline& stub, const Problem& problem, const Part& part,
                  std::int64_t columns, std::int64_t /*workers*/) {
    const auto loads = static_cast<std::size_t>(loads_of(problem.types.partials));
    std::vector<bool> fresh;
    for (const std::int32_t blocks : part.row_blocks) {
        for (std::int32_t b = 0; b < blocks; ++b) {
            fresh.insert(fresh.end(), loads, b == 0);
        }
    }
    stub.block16(problem.types.partials, columns, fresh);
}

BlockKind blocks16(codelets::ProductTypes types) {
    const ElementType partials = types.partials;
    return {.vertex = fmt::format("spmm_block16_{}", name_of(partials)),
            .codelets = {fmt::format("matmul_amp_{}", name_of(partials)),
                         fmt::format("spmm_block16_{}", name_of(partials))},
            .value_loops = value_loops(partials),
            .list_bytes = 12 * loads_of(partials),
            .block_roundings = partials == ElementType::F16 ? 1 : 4,
            .values = graph::Where::Region1,
            .partials_beyond = kReadAhead,
            .by_halves = partials == ElementType::F32,
            .lists_partials = true,
            .unit = "blocks",
            .lists = lists_of_blocks16,
            .estimate = estimate_blocks16,
            .run = run_blocks16};
}

} // namespace

const BlockKind& kind_of(std::int64_t block, codelets::ProductTypes types) {
    static const auto kinds = [] {
        std::map<std::pair<std::int64_t, codelets::ProductTypes>, BlockKind> made;
        for (const auto of :
             {codelets::of_f16(ElementType::F16), codelets::of_f16(ElementType::F32),
              codelets::ProductTypes{ElementType::F32, ElementType::F32}}) {
            made[{1, of}] = elements(of);
            made[{4, of}] = small_blocks(4, of);
            made[{8, of}] = small_blocks(8, of);
            made[{16, of}] = of.data == ElementType::F16 ? blocks16(of) : small_blocks(16, of);
        }
        return made;
    }();
    const auto kind = kinds.find({block, types});
    if (kind == kinds.end()) {
        throw NotModelled(
            fmt::format("spmm in blocks of {0} x {0}: not modelled: expected 1, 4, 8 or 16; see "
                        "docs/kernels.md",
                        block));
    }
    return kind->second;
}

bool has_kind(const spec::MachineSpec& machine, std::int64_t block, codelets::ProductTypes types) {
    return block == 1 || !types.sums_are_results() || spec::matrix_unit(machine).sets > 1;
}

} // namespace tessera::sparse
