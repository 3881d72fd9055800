// SPDX-License-Identifier: MIT
#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::spmm {
namespace {

/// FP16 blocks of 16: the columns of X are the rows of the dense codelets' matrix unit.
class Blocks16 final : public BlockKind {
public:
    explicit Blocks16(ElementType partials)
        : BlockKind({.vertex = fmt::format("spmm_block16_{}", name_of(partials)),
                     .codelets = {fmt::format("matmul_amp_{}", name_of(partials)),
                                  fmt::format("spmm_block16_{}", name_of(partials))},
                     .value_loops = value_loops(partials),
                     .reach = std::nullopt,
                     .list_bytes = partials == ElementType::F16 ? 12 : 24,
                     .block_roundings = partials == ElementType::F16 ? 1 : 4,
                     .values = graph::Where::Region1,
                     .partials_beyond = kReadAhead,
                     .by_halves = partials == ElementType::F32,
                     .lists_partials = true,
                     .unit = "blocks"}),
          partials_(partials), loads_(partials == ElementType::F16 ? 1 : 2) {}

    /// For each weight load: its lines of X, its lines of partial results, and what to do there.
    [[nodiscard]] PartLists lists(graph::Graph& graph, const spec::MachineSpec& machine,
                                  const Problem& problem, const Part& part, std::int64_t columns,
                                  const VertexBuffers& buffers) const override {
        const std::int64_t workers = machine.tile.workers;
        plan::counted_rounds(machine, ceil_div(columns, workers), "columns or non-zeros");
        const std::uint32_t fresh = graph.symbol_number(traits().vertex + "_fresh");
        const std::uint32_t add = graph.symbol_number(traits().vertex + "_add");
        std::vector<graph::Relocation> words;
        const auto next = [&] { return static_cast<Bytes>(words.size() * 4); };
        std::size_t at = 0;
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            const Bytes out = static_cast<Bytes>(row) * problem.partial_line_bytes(columns);
            for (std::int32_t b = 0; b < part.row_blocks[row]; ++b, ++at) {
                const Bytes x = part.local_x[at] * problem.line_bytes_of(columns);
                for (std::int64_t load = 0; load < loads_; ++load) {
                    words.push_back({next(), false, 0, buffers.x.index, x});
                    words.push_back(
                        {next(), false, 0, buffers.partials.index, out + load * columns * 32});
                    words.push_back({next(), true, b == 0 ? fresh : add, 0, 0});
                }
            }
        }
        const std::vector<std::uint32_t> unset(words.size());
        const auto blocks = std::ssize(part.blocks);
        return {shared(unset),
                std::make_shared<const std::vector<graph::Relocation>>(std::move(words)),
                {from(buffers.values, 0), from(buffers.lists, 0), graph::word(blocks * loads_ - 1),
                 graph::word(columns / workers), graph::word(columns % workers)}};
    }

    [[nodiscard]] double estimate(const spec::MachineSpec& machine,
                                  const PartMeans& means) const override {
        const double rounds = std::ceil(means.columns / real(machine.tile.workers));
        const double steps = 4 * rounds + 10;
        const auto weights = real(codelets::weight_loads(partials_));
        const double load =
            weights + 25 +
            real(machine.tile.round_cycles()) * (steps / machine.amp.steps_per_issue + 10);
        return 200 + fullest_blocks(means) * real(loads_) * load;
    }

    void run(plan::StubTimeline& stub, const Problem& /*problem*/, const Part& part,
             std::int64_t columns, std::int64_t /*workers*/) const override {
        std::vector<bool> fresh;
        for (const std::int32_t blocks : part.row_blocks) {
            for (std::int32_t b = 0; b < blocks; ++b) {
                fresh.insert(fresh.end(), static_cast<std::size_t>(loads_), b == 0);
            }
        }
        stub.block16(partials_, columns, fresh);
    }

private:
    static std::vector<program::PieceDim> value_loops(ElementType partials) {
        if (partials == ElementType::F16) {
            // row r of the block is output r: set (r >> 1) & 1, unit 2 * (r >> 2) + (r & 1)
            return {{4, 64, 64}, {2, 32, 256}, {2, 16, 32}, {16, 1, 2}};
        }
        return {{16, 16, 32}, {16, 1, 2}};
    }

    ElementType partials_;
    std::int64_t loads_; ///< of weights, a block
};

} // namespace

std::unique_ptr<BlockKind> blocks16(codelets::ProductTypes types) {
    return std::make_unique<Blocks16>(types.partials);
}

} // namespace tessera::spmm
