// SPDX-License-Identifier: MIT
#include "kernels/codelets/spmm_blocks_cost.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_lists.h"
#include "kernels/sparse/spmm_partition.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::spmm {
namespace {

constexpr Bytes kBehind = 128; ///< that loads in flight may read behind X and partial results

/// Blocks of 4 and 8: one list of X's lines, row by row.
class Blocks final : public BlockKind {
public:
    Blocks(std::int64_t block, ElementType partials)
        : BlockKind({.column_grain = block == 4 ? 2 : 1, // sums go by 16 bytes
                     .block_roundings = partials == ElementType::F16 ? 1 : block / 4,
                     .x_beyond = kBehind,
                     .partials_beyond = kBehind,
                     .unit = "blocks"},
                    fmt::format("spmm_block{}_{}", block, name_of(partials)),
                    program::VertexKind::Supervisor),
          block_(block), partials_(partials) {}

    [[nodiscard]] std::vector<std::string> codelets() const override {
        return {fmt::format("spmm_blocks_{}", name_of(partials_))};
    }
    [[nodiscard]] std::vector<program::PieceDim> value_loops() const override {
        return {{block_ * block_, 1, 2}};
    }

    /// Of each row its blocks less one and their lines of X, then each worker's columns.
    [[nodiscard]] PartLists lists(graph::Graph& /*graph*/, const Problem& problem, const Part& part,
                                  std::int64_t columns, std::int64_t workers,
                                  const VertexBuffers& buffers) const override {
        std::vector<std::uint32_t> words;
        std::vector<graph::Relocation> lines;
        std::size_t at = 0;
        for (const std::int32_t blocks : part.row_blocks) {
            words.push_back(static_cast<std::uint32_t>(blocks - 1));
            for (std::int32_t b = 0; b < blocks; ++b, ++at) {
                lines.push_back({static_cast<Bytes>(words.size() * 4), false, 0, buffers.x.index,
                                 part.local_x[at] * problem.x_line_bytes(columns)});
                words.push_back(0);
            }
        }
        words.insert(words.end(), 2, 0); // that the vertex reads behind them
        const auto shares = static_cast<Bytes>(words.size() * 4);
        std::int64_t first = 0;
        for (std::int64_t worker = 0; worker < workers; ++worker) {
            const std::int64_t own = columns / workers + (worker < columns % workers ? 1 : 0);
            words.push_back(static_cast<std::uint32_t>(first | (own << 16)));
            first += own;
        }
        return {shared(words),
                std::make_shared<const std::vector<graph::Relocation>>(std::move(lines)),
                {from(buffers.partials, 0), from(buffers.values, 0), from(buffers.lists, 0),
                 from(buffers.lists, shares), graph::word(problem.partial_line_bytes(columns)),
                 graph::word(static_cast<std::int64_t>(part.rows.size()) - 1)}};
    }

    [[nodiscard]] double estimate(const spec::MachineSpec& machine,
                                  const PartMeans& means) const override {
        const auto columns = static_cast<std::int64_t>(
            std::ceil(means.columns / static_cast<double>(machine.tile.workers)));
        const auto issues =
            static_cast<double>(codelets::blocks_issues(machine.amp, block_, partials_, columns));
        const auto turn = static_cast<double>(machine.tile.round_cycles());
        const auto loads = static_cast<double>(block_ * block_ / 4);
        return 150 + fullest_blocks(means) * (loads + 20 + turn * issues) + 2 * turn * means.rows;
    }

    void run(plan::StubTimeline& stub, const Problem& /*problem*/, const Part& part,
             std::int64_t columns, std::int64_t /*workers*/) const override {
        stub.blocks(block_, partials_, columns, part.row_blocks);
    }

private:
    std::int64_t block_;
    ElementType partials_;
};

} // namespace

const BlockKind& small_blocks(std::int64_t block, ElementType partials) {
    static const Blocks half4(4, ElementType::F16);
    static const Blocks single4(4, ElementType::F32);
    static const Blocks half8(8, ElementType::F16);
    static const Blocks single8(8, ElementType::F32);
    const bool half = partials == ElementType::F16;
    return block == 4 ? (half ? half4 : single4) : (half ? half8 : single8);
}

} // namespace tessera::spmm
