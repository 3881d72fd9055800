// SPDX-License-Identifier: MIT
// Some elements, drawn at random, times a factor; the others become 0.
//
//     step, where it stands  --"bring"-->  a copy on each tile with x  --"dropout"-->  y
//
// Vertices go over blocks of elements (draws.h) that stand one behind the other, and whose numbers are evenly apart. A
// tensor that does not stand in whole blocks is rearranged into runs of them.
#include "base/bytes.h"
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/draws.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/elementwise/map.h"
#include "kernels/elementwise/one_number.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/function/constants.h"
#include "kernels/graph/places.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tessera::elementwise {
namespace {

using family::Refused;
using family::Request;
using family::TensorType;
using graph::TensorId;

/// Neighbouring blocks on a tile.
struct BlockRun {
    TileId tile = 0;
    graph::Place place;
    std::int64_t first = 0; ///< number of the first block
    std::int64_t apart = 1; ///< from number to number
    std::int64_t blocks = 0;
};

/// A dimension of a piece, in blocks.
struct BlockDim {
    std::int64_t count = 0;
    std::int64_t apart = 0;
    Bytes step = 0;
};

/// The piece by its blocks, innermost dimension first. Nothing where it does not have whole blocks.
std::optional<std::vector<BlockDim>> block_dims(const graph::Piece& piece, const Draws& draws) {
    const Bytes element = bytes_of(draws.type);
    const std::int64_t of_block = draws.elements_of_block();
    std::vector<program::PieceDim> dims = piece.dims;
    std::ranges::sort(dims, {}, &program::PieceDim::tile_stride);
    std::int64_t run = 1; // neighbours
    auto dim = dims.begin();
    for (; dim != dims.end() && dim->tile_stride == run * element && dim->host_stride == run;
         ++dim) {
        run *= dim->count;
    }
    if (run % of_block != 0 || piece.host_offset % of_block != 0 ||
        piece.place.offset % graph::kUnitBytes != 0) {
        return std::nullopt;
    }
    std::vector<BlockDim> made{{run / of_block, 1, Draws::kBlockBytes}};
    for (; dim != dims.end(); ++dim) {
        if (dim->tile_stride < made.back().step || dim->tile_stride % graph::kUnitBytes != 0 ||
            dim->host_stride % of_block != 0) {
            return std::nullopt;
        }
        const BlockDim next{dim->count, dim->host_stride / of_block, dim->tile_stride};
        BlockDim& last = made.back();
        if (last.count == 1 && next.step == last.step) {
            last = next;
        } else if (next.step == last.count * last.step && next.apart == last.count * last.apart) {
            last.count *= next.count;
        } else {
            made.push_back(next);
        }
    }
    return made;
}

/// Nothing where the tensor does not stand in whole blocks.
std::optional<std::vector<BlockRun>> block_runs(const graph::Tensor& tensor, const Draws& draws) {
    std::vector<BlockRun> runs;
    for (const graph::Piece& piece : tensor.pieces) {
        const auto dims = block_dims(piece, draws);
        if (!dims) {
            return std::nullopt;
        }
        const std::int64_t first = piece.host_offset / draws.elements_of_block();
        const auto add = [&](const auto& self, std::size_t depth, graph::Place at,
                             std::int64_t number) -> void {
            const BlockDim& dim = (*dims)[depth];
            if (depth == 0 && dim.count > 0) {
                runs.push_back({piece.tile, at, number, dim.apart, dim.count});
            }
            for (std::int64_t i = 0; depth > 0 && i < dim.count; ++i) {
                self(self, depth - 1, at + i * dim.step, number + i * dim.apart);
            }
        };
        add(add, dims->size() - 1, piece.place, first);
    }
    return runs;
}

class Dropout final : public Map {
public:
    Dropout(function::Function function, const Request& request, const Draws& draws, Factor factor)
        : Map(std::move(function), {request.inputs[0]}, request.inputs[0], {"x"}),
          step_(request.inputs.size() > 1 ? std::optional(request.inputs[1]) : std::nullopt),
          draws_(draws), factor_(factor) {}

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        family::Emitted made;
        made.inputs = read_blocks(graph, site, where[0]);
        made.outputs = {add_output(graph, site, made.inputs)};
        const TensorId x = made.inputs[0];
        const TensorId y = made.outputs[0];
        const std::vector<BlockRun> runs = whole_blocks(graph, {x, y});
        const graph::BufferId steps = graph.add_buffer({.name = "step"});
        std::vector<graph::Step> all;
        if (step_) {
            made.inputs.push_back(where[1] ? *where[1] : add_number(graph, site, "step", *step_));
            all.push_back(bring_number(graph, site, made.inputs[1], x, steps));
        } else {
            const auto zero = shared_bytes(std::vector<std::uint32_t>{0});
            std::set<TileId> tiles;
            for (const BlockRun& run : runs) {
                if (tiles.insert(run.tile).second) {
                    graph.hold(steps, run.tile, zero);
                }
            }
        }
        const auto set = add_work(graph, site);
        const auto to = *graph::alike(graph.tensors.at(x.index), graph.tensors.at(y.index));
        for (const BlockRun& run : runs) {
            add_run(graph, site, set, run, {to.at(run.place.buffer.index), run.place.offset},
                    {steps});
        }
        all.push_back(graph::run(set));
        made.steps = graph::sequence(std::move(all));
        return made;
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        std::uint32_t step = 0;
        if (step_) {
            std::memcpy(&step, inputs[1]->bytes.data(), sizeof step);
        }
        return family::compare(outputs[0], [&](std::int64_t i) {
            if (!draws_.keeps(i, step)) {
                return family::Expected{0, 0};
            }
            const double exact = factor_.value * family::number_at(*inputs[0], i);
            return family::Expected{exact, workload::rounding(draws_.type, exact)};
        });
    }

private:
    /// Where x is read: where it stands if that is in whole blocks.
    [[nodiscard]] std::vector<TensorId> read_blocks(graph::Graph& graph, const family::Site& site,
                                                    std::optional<TensorId> where) const {
        if (where && !block_runs(graph.tensors.at(where->index), draws_)) {
            where.reset();
        }
        return read_alike(graph, site, std::span(&where, 1));
    }

    /// The blocks of tensors that stand alike. If the last block is not whole, it has elements alone in buffers of the step's
    /// own, which are made large enough.
    [[nodiscard]] std::vector<BlockRun> whole_blocks(graph::Graph& graph,
                                                     const std::array<TensorId, 2>& tensors) const {
        graph::Tensor model = graph.tensors.at(tensors[0].index);
        const std::int64_t of_block = draws_.elements_of_block();
        for (std::size_t i = 0; i < model.pieces.size(); ++i) {
            graph::Piece& piece = model.pieces[i];
            if (piece.dims.size() != 1 || piece.dims[0].count % of_block == 0) {
                continue;
            }
            std::int64_t& count = piece.dims[0].count;
            count = (count + of_block - 1) / of_block * of_block;
            for (const TensorId tensor : tensors) {
                const graph::Place& place = graph.tensors.at(tensor.index).pieces[i].place;
                graph.hold(place.buffer, piece.tile, place.offset + count * bytes_of(draws_.type));
            }
        }
        return *block_runs(model, draws_);
    }

    void add_run(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                 const BlockRun& run, graph::Place to, graph::Place step) const {
        const Bytes bytes = run.blocks * Draws::kBlockBytes;
        const auto number = static_cast<std::uint32_t>(run.first) + draws_.key();
        function::Function dropout = function();
        dropout.constants = {
            graph::read(run.place, 0),       graph::word(number),       graph::word(run.apart),
            graph::read(step, kNumberBytes), graph::word(draws_.seed),  graph::word(draws_.keep),
            graph::word(factor_.bits),       graph::word(Draws::kMix1), graph::word(Draws::kMix2)};
        const graph::UnitRows rows{run.tile, run.place, 1, run.blocks, bytes};
        const std::array sides{function::Side{run.place, bytes, Draws::kBlockBytes},
                               function::Side{to, bytes, Draws::kBlockBytes}};
        const std::array reads{
            graph::use(run.place, elements_of(run) * bytes_of(draws_.type), graph::Access::Read)};
        function::add_vertices(graph, site.machine, set, dropout, rows, sides, reads);
    }

    /// The last block may have fewer.
    [[nodiscard]] std::int64_t elements_of(const BlockRun& run) const {
        const std::int64_t of_block = draws_.elements_of_block();
        const std::int64_t behind = (run.first + (run.blocks - 1) * run.apart + 1) * of_block;
        return run.blocks * of_block -
               std::max<std::int64_t>(0, behind - output_type().stored_elements());
    }

    std::optional<TensorType> step_;
    Draws draws_;
    Factor factor_;
};

/// 0 to 2^32 - 1.
std::uint32_t seed_of(const Request& request) {
    const double told = family::number_of(dropout(), request, "seed");
    if (!(told >= 0) || told > std::numeric_limits<std::uint32_t>::max() ||
        std::floor(told) != told) {
        throw Refused(-1, "seed",
                      fmt::format("got {}, expected a whole number from 0 to {}", told,
                                  std::numeric_limits<std::uint32_t>::max()));
    }
    return static_cast<std::uint32_t>(told);
}

/// Of 0x10000 elements so many are kept.
std::uint32_t keep_of(const Request& request, ElementType type) {
    const double rate = family::number_of(dropout(), request, "rate");
    // the factor of one in 0x10000 is beyond FP16
    const double most = type == ElementType::F16 ? 1 - 0x1p-15 : 1 - 0x1p-16;
    if (!(rate >= 0) || rate > most) {
        throw Refused(
            -1, "rate",
            fmt::format("got {}, expected 0 to {} for {}", rate, most, tessera::name_of(type)));
    }
    return static_cast<std::uint32_t>(std::lround((1 - rate) * Draws::kAll));
}

Factor factor_of_kept(std::uint32_t keep, ElementType type) {
    Request request;
    request.options["factor"] = double{Draws::kAll} / keep;
    return factor_of(scale(), request, "factor", type);
}

std::unique_ptr<family::Step> make_dropout(const Request& request) {
    family::require_numbers(request, 0, "x");
    const TensorType& x = request.inputs[0];
    if (request.inputs.size() > 1) {
        constexpr std::array kWhole{ElementType::U32, ElementType::I32};
        family::require_numbers(request, 1, "step", kWhole);
        family::require_dense(request, 1, "step");
        if (request.inputs[1].elements() != 1) {
            throw Refused(1, "",
                          fmt::format("step: got {}, expected one element",
                                      family::shape_text(request.inputs[1])));
        }
    }
    const Draws draws{seed_of(request), keep_of(request, x.type), x.type};
    return std::make_unique<Dropout>(
        function::Function{.name = "dropout",
                           .codelet = "elementwise_dropout",
                           .vertex = x.type == ElementType::F16 ? "dropout_f16" : "dropout_f32",
                           .loop = codelets::kDropoutLoop},
        request, draws, factor_of_kept(draws.keep, x.type));
}

} // namespace

const family::Family& dropout() {
    static const family::Family family = family::with_gradient(
        {.name = "dropout",
         .says = "elements of x that are drawn become 0, the others x / (1 - rate)",
         .inputs = {"x", "step"},
         .options = {{.key = "rate",
                      .says = "share of the elements that become 0, in steps of 2^-16",
                      .words = {},
                      .number = 0.1},
                     {.key = "seed",
                      .says = "of the draws; the same one draws the same elements",
                      .words = {},
                      .number = 0}},
         .make = make_dropout,
         .optional_inputs = 1},
        dropout_backward);
    return family;
}

} // namespace tessera::elementwise
