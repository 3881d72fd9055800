// SPDX-License-Identifier: MIT
#include "kernels/codelets/spmm_blocks_cost.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_partition.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::spmm {
namespace {

constexpr Bytes kBehind = 128; ///< that loads in flight may read behind X and partial results

/// Blocks of 4 and 8, in FP32 also of 16: one list of X's lines, row by row.
class Blocks final : public BlockKind {
public:
    Blocks(std::int64_t block, codelets::ProductTypes types)
        : BlockKind(
              {.vertex = fmt::format("spmm_block{}_{}", block, codelets::suffix(types)),
               .codelets = {fmt::format("spmm_blocks_{}", codelets::suffix(types))},
               .value_loops = value_loops(block, bytes_of(types.data)),
               .reach = std::nullopt,
               .column_grain = block * bytes_of(types.data) < 16 ? 2 : 1, // sums go by 16 bytes
               .list_bytes = 4,
               .block_roundings = roundings_of(block, types),
               .x_beyond = kBehind,
               .partials_beyond = kBehind,
               .unit = "blocks"}),
          block_(block), types_(types) {}

    /// Of each row its blocks less one and their lines of X, then each worker's columns.
    [[nodiscard]] PartLists lists(graph::Graph& /*graph*/, const spec::MachineSpec& machine,
                                  const Problem& problem, const Part& part, std::int64_t columns,
                                  const VertexBuffers& buffers) const override {
        const std::int64_t workers = machine.tile.workers;
        std::vector<std::uint32_t> words;
        std::vector<graph::Relocation> lines;
        std::size_t at = 0;
        for (const std::int32_t blocks : part.row_blocks) {
            words.push_back(static_cast<std::uint32_t>(blocks - 1));
            for (std::int32_t b = 0; b < blocks; ++b, ++at) {
                lines.push_back({static_cast<Bytes>(words.size() * 4), false, 0, buffers.x.index,
                                 part.local_x[at] * problem.line_bytes_of(columns)});
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
        return {shared(words),
                std::make_shared<const std::vector<graph::Relocation>>(std::move(lines)),
                {from(buffers.partials, 0), from(buffers.values, 0), from(buffers.lists, 0),
                 from(buffers.lists, shares), graph::word(problem.partial_line_bytes(columns)),
                 graph::word(std::ssize(part.rows) - 1)}};
    }

    [[nodiscard]] double estimate(const spec::MachineSpec& machine,
                                  const PartMeans& means) const override {
        const auto columns =
            static_cast<std::int64_t>(std::ceil(means.columns / real(machine.tile.workers)));
        const auto issues = real(codelets::blocks_issues(machine.amp, block_, types_, columns));
        const auto turn = real(machine.tile.round_cycles());
        const auto passes = real(codelets::blocks_passes(block_));
        const auto loads = real(codelets::blocks_weights(block_, types_));
        return 150 + fullest_blocks(means) * passes * (loads + 20 + turn * issues) +
               2 * turn * means.rows;
    }

    void run(plan::StubTimeline& stub, const Problem& /*problem*/, const Part& part,
             std::int64_t columns, std::int64_t /*workers*/) const override {
        stub.blocks(block_, types_, columns, part.row_blocks);
    }

private:
    static std::vector<program::PieceDim> value_loops(std::int64_t block, Bytes element) {
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
    static std::int64_t roundings_of(std::int64_t block, codelets::ProductTypes types) {
        if (types.data == ElementType::F32) {
            return block;
        }
        return types.partials == ElementType::F16 ? 1 : block / 4;
    }

    std::int64_t block_;
    codelets::ProductTypes types_;
};

} // namespace

std::unique_ptr<BlockKind> small_blocks(std::int64_t block, codelets::ProductTypes types) {
    return std::make_unique<Blocks>(block, types);
}

} // namespace tessera::spmm
