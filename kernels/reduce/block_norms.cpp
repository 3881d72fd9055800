// SPDX-License-Identifier: MIT
#include "kernels/reduce/block_norms.h"

#include "kernels/family/numbers.h"
#include "kernels/graph/graph.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace tessera::reduce {
namespace {

using graph::Piece;

constexpr std::array<std::int64_t, 4> kBlocks{1, 4, 8, 16};
constexpr Bytes kUnitBytes = 8;

std::int64_t units_of_block(ElementType type, std::int64_t block) {
    return (block * block * bytes_of(type) + kUnitBytes - 1) / kUnitBytes;
}

class BlockNorms final : public family::Step {
public:
    BlockNorms(family::TensorType x, std::int64_t block)
        : x_(std::move(x)), block_(block), rows_(x_.shape[0]), columns_(x_.shape[1]),
          units_(units_of_block(x_.type, block)) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{ElementType::F32, {block_rows(), block_columns()}}};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> /*where*/) override {
        const Bytes pitch = units_ * kUnitBytes;
        const bool is_padded = pitch != block_ * block_ * bytes_of(x_.type) ||
                               rows_ % block_ != 0 || columns_ % block_ != 0;
        const std::string name = site.owner + ": x";
        const auto from = graph.add_buffer({.name = name, .padded = is_padded});
        const auto to = graph.add_buffer({.name = site.owner + ": y"});
        graph::Tensor x{.name = name, .type = x_.type, .shape = x_.shape};
        graph::Tensor y{
            .name = site.owner + ": y", .type = ElementType::F32, .shape = output().shape};
        const auto set =
            graph.add_compute_set({"norms", program::Role::Work, site.owner, "blocks"});
        graph.need_codelet("block_norms");
        const std::int64_t all = block_rows() * block_columns();
        const std::int64_t tiles = site.machine.chip.tiles;
        std::int64_t first = 0;
        for (std::int64_t i = 0; i < tiles && first < all; ++i) {
            const auto tile = site.first_tile + static_cast<TileId>(i);
            const std::int64_t blocks = all / tiles + (i < all % tiles ? 1 : 0);
            const Bytes results = blocks * bytes_of(ElementType::F32);
            graph.hold(from, tile, blocks * pitch);
            graph.hold(to, tile, (results + kUnitBytes - 1) / kUnitBytes * kUnitBytes);
            add_pieces(x, tile, {from}, first, blocks);
            y.pieces.push_back(graph::run_of(tile, {to}, first, blocks, ElementType::F32));
            graph.add_work(set, tile, blocks);
            graph.add_vertex(set, tile, fmt::format("block_norms_{}", name_of(x_.type)),
                             program::VertexKind::MultiWorker,
                             {graph::read({from}, blocks * pitch), graph::write({to}, results),
                              graph::word(units_), graph::word(blocks)});
            first += blocks;
        }
        return {{graph.add_tensor(std::move(x))},
                {graph.add_tensor(std::move(y))},
                graph::sequence({graph::run(set)})};
    }

    /// A block's elements are summed in FP32, in at most n additions one after the other, each of
    /// which is wrong by at most u = 2^-24 of the sum; one is for the rest. Small numbers become 0
    /// below 2^-126. Small whole numbers have no such error.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        const family::Value& x = *inputs.front();
        std::vector<double> sums(static_cast<std::size_t>(block_rows() * block_columns()));
        for (std::int64_t at = 0; at < x_.elements(); ++at) {
            const std::int64_t number =
                at / columns_ / block_ * block_columns() + at % columns_ / block_;
            sums[static_cast<std::size_t>(number)] += std::fabs(family::number_at(x, at));
        }
        const auto additions = static_cast<double>(block_ * block_);
        return family::compare(outputs.front(), [&](std::int64_t number) {
            const double sum = sums[static_cast<std::size_t>(number)];
            const double tolerance = x.whole_numbers
                                         ? 0
                                         : (additions + 1) * unit_roundoff(ElementType::F32) * sum +
                                               additions * 0x1p-126;
            return family::Expected{sum, tolerance};
        });
    }

    [[nodiscard]] double flops() const override { return static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t block_rows() const { return (rows_ + block_ - 1) / block_; }
    [[nodiscard]] std::int64_t block_columns() const { return (columns_ + block_ - 1) / block_; }

    /// Blocks [first, first + blocks) of the grid one behind the other. Those of a row of blocks are
    /// one piece, but for the last one of the row where the matrix ends inside.
    void add_pieces(graph::Tensor& x, TileId tile, graph::Place place, std::int64_t first,
                    std::int64_t blocks) const {
        const std::int64_t whole = columns_ / block_; // of a row of blocks
        for (std::int64_t at = first; at < first + blocks;) {
            const std::int64_t row = at / block_columns();
            const std::int64_t column = at % block_columns();
            const bool is_cut = column >= whole;
            const std::int64_t together =
                is_cut ? 1 : std::min(first + blocks - at, whole - column);
            add_piece(x, tile, place + (at - first) * units_ * kUnitBytes, row, column, together,
                      is_cut ? columns_ - column * block_ : block_);
            at += together;
        }
    }
    void add_piece(graph::Tensor& x, TileId tile, graph::Place place, std::int64_t row,
                   std::int64_t column, std::int64_t blocks, std::int64_t width) const {
        const Bytes element = bytes_of(x_.type);
        const std::int64_t height = std::min(block_, rows_ - row * block_);
        Piece piece{tile, place, row * block_ * columns_ + column * block_, {}};
        piece.dims = {{blocks, block_, units_ * kUnitBytes},
                      {height, columns_, block_ * element},
                      {width, 1, element}};
        x.pieces.push_back(std::move(piece));
    }

    family::TensorType x_;
    std::int64_t block_;
    std::int64_t rows_;
    std::int64_t columns_;
    std::int64_t units_; ///< of a block
};

std::unique_ptr<family::Step> make(const family::Request& request) {
    family::require_numbers(request, 0, "x");
    family::require_dense(request, 0, "x");
    const family::TensorType& x = request.inputs.front();
    if (x.shape.size() != 2) {
        throw family::Refused(
            0, "", fmt::format("got {}, expected rows and columns", family::shape_text(x)));
    }
    const double block = family::number_of(block_norms(), request, "block");
    const auto found = std::ranges::find_if(
        kBlocks, [&](std::int64_t side) { return static_cast<double>(side) == block; });
    if (found == kBlocks.end()) {
        throw family::Refused(-1, "block", fmt::format("got {:g}, expected 1, 4, 8 or 16", block));
    }
    return std::make_unique<BlockNorms>(x, *found);
}

} // namespace

Cycles block_norms_cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t blocks,
                          std::int64_t block) {
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t units = units_of_block(type, block);
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        const std::int64_t own = blocks / workers + (worker < blocks % workers ? 1 : 0);
        issues.push_back(codelets::block_norms_issues(type, own, units));
    }
    return plan::multi_worker_cycles(machine, issues);
}

const family::Family& block_norms() {
    static const family::Family family{
        "block_norms",
        "y = sums of the magnitudes of the elements of each block of x, in f32",
        {"x"},
        {{.key = "block",
          .says = "side of the square blocks: 1, 4, 8 or 16",
          .words = {},
          .number = 16}},
        make};
    return family;
}

} // namespace tessera::reduce
