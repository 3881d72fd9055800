// SPDX-License-Identifier: MIT
#include "kernels/reduce/sum_rows.h"

#include "kernels/codelets/product_types.h"
#include "kernels/family/numbers.h"
#include "kernels/family/product.h"
#include "kernels/graph/blocks.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/places.h"
#include "kernels/graph/rows.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tessera::reduce {
namespace {

using graph::Block;
using graph::kUnitBytes;
using graph::TensorId;

constexpr Bytes kSumUnitBytes = 16; ///< what reduce_add.S sums at once: four sums
constexpr std::int64_t kSumsOfUnit = 4;
constexpr std::size_t kFewSlices = 32; ///< so many are summed up at once

/// Sums of neighbouring columns, on the tile.
struct Slice {
    TileId tile = 0;
    graph::Place place;
};

/// Slices of the same columns.
struct Slices {
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
    std::vector<Slice> of; ///< on different tiles

    [[nodiscard]] std::int64_t units() const { return (columns + kSumsOfUnit - 1) / kSumsOfUnit; }
};

/// The blocks of a tensor that vertices may go over as they are.
std::optional<std::vector<Block>> standing_blocks(const graph::Graph& graph, TensorId id,
                                                  graph::TileRange tiles) {
    const graph::Tensor& tensor = graph.tensors.at(id.index);
    auto blocks = graph::is_on(tiles, tensor) ? graph::blocks_of(tensor) : std::nullopt;
    if (!blocks) {
        return std::nullopt;
    }
    std::map<std::int64_t, std::int64_t> columns; // of blocks from a first column on
    std::set<std::pair<TileId, std::int64_t>> seen;
    std::int64_t elements = 0;
    for (const Block& block : *blocks) {
        const bool is_aligned = block.place.offset % kUnitBytes == 0 &&
                                (block.rows == 1 || block.row_stride % kUnitBytes == 0);
        const bool is_alike =
            columns.try_emplace(block.first_column, block.columns).first->second == block.columns;
        if (!is_aligned || !is_alike || !seen.insert({block.tile, block.first_column}).second) {
            return std::nullopt;
        }
        elements += block.rows * block.columns;
    }
    std::int64_t all = 1;
    for (const std::int64_t size : tensor.shape) {
        all *= size;
    }
    std::int64_t end = 0;
    for (const auto& [first, count] : columns) {
        if (first < end) {
            return std::nullopt;
        }
        end = first + count;
    }
    return elements == all ? blocks : std::nullopt;
}

class Sums {
public:
    Sums(graph::Graph& graph, const family::Site& site, ElementType type)
        : graph_(graph), site_(site), type_(type) {}

    /// Adds the vertices of a slice for each block, in `set`.
    std::vector<Slices> add_slices(graph::ComputeSetId set, const std::vector<Block>& blocks) {
        graph_.need_codelet("column_sums");
        const graph::BufferId buffer = sums_buffer("sums of blocks");
        graph_.buffers.at(buffer.index).zeroed =
            type_ == ElementType::F32; // behind an odd number of units
        std::map<TileId, Bytes> held;
        std::map<std::int64_t, Slices> slices;
        for (const Block& block : blocks) {
            Slices& same =
                slices
                    .try_emplace(block.first_column, Slices{block.first_column, block.columns, {}})
                    .first->second;
            Bytes& taken = held[block.tile];
            const graph::Place place{buffer,
                                     std::exchange(taken, taken + same.units() * kSumUnitBytes)};
            same.of.push_back({block.tile, place});
            add_block(set, block, place);
        }
        for (const auto& [tile, bytes] : held) {
            graph_.hold(buffer, tile, bytes);
        }
        std::vector<Slices> all;
        for (auto& [first, same] : slices) {
            all.push_back(std::move(same));
        }
        return all;
    }

    /// Adds the stages behind it. Returns what stands as pieces of the result in `to`.
    std::vector<graph::Piece> add_stages(std::vector<Slices> slices, graph::BufferId to,
                                         std::vector<graph::Step>& steps) {
        std::vector<graph::Piece> pieces;
        while (!slices.empty()) {
            const auto exchange =
                graph_.add_exchange({"bring sums", program::Role::Reduce, site_.owner});
            const auto set =
                graph_.add_compute_set({"sum", program::Role::Reduce, site_.owner, "sums"});
            const Stage stage{exchange, set, sums_buffer("gathered sums"), sums_buffer("sums"), to};
            std::vector<Slices> next;
            std::int64_t most = 0;
            for (const Slices& same : slices) {
                most = std::max(most, static_cast<std::int64_t>(same.of.size()));
                add_stage(stage, same, next, pieces);
            }
            additions_ += most;
            steps.push_back(graph::run(exchange));
            steps.push_back(graph::run(set));
            slices = std::move(next);
        }
        return pieces;
    }

    [[nodiscard]] std::int64_t additions() const { return additions_; }

private:
    struct Stage {
        graph::ExchangeId exchange;
        graph::ComputeSetId set;
        graph::BufferId gathered;
        graph::BufferId sums; ///< for a next stage
        graph::BufferId results;
    };

    graph::BufferId sums_buffer(const char* name) {
        return graph_.add_buffer(
            {.name = name, .where = graph::Where::Region1, .read_beyond = kSumUnitBytes});
    }

    void add_block(graph::ComputeSetId set, const Block& block, graph::Place to) {
        const std::int64_t workers = site_.machine.tile.workers;
        const Bytes row_bytes = block.columns * bytes_of(type_);
        const std::int64_t units = graph::units_of(row_bytes);
        const Bytes out_bytes = units * kUnitBytes * bytes_of(ElementType::F32) / bytes_of(type_);
        std::vector<graph::Field> state{
            graph::read(block.place, row_bytes),
            graph::write(to, out_bytes),
            graph::word(block.rows == 1 ? 0 : block.row_stride / kUnitBytes),
            graph::word(plan::counted_rounds(site_.machine, block.rows, "rows")),
            graph::word(units / workers),
            graph::word(units % workers)};
        for (std::int64_t row = 1; row < block.rows; ++row) {
            state.push_back(
                graph::use(block.place + row * block.row_stride, row_bytes, graph::Access::Read));
        }
        additions_ = std::max(additions_, block.rows);
        graph_.add_work(set, block.tile, block.rows);
        graph_.add_vertex(set, block.tile, fmt::format("column_sums_{}", name_of(type_)),
                          program::VertexKind::MultiWorker, state);
    }

    /// Slices of a group become one, in parts that all groups cut alike; slices of the same part are for
    /// the next stage, if there are several groups.
    void add_stage(const Stage& stage, const Slices& slices, std::vector<Slices>& next,
                   std::vector<graph::Piece>& pieces) {
        const std::size_t count = slices.of.size();
        const std::size_t groups =
            count <= kFewSlices
                ? 1
                : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
        const std::int64_t parts =
            std::min<std::int64_t>(slices.units(), static_cast<std::int64_t>(count / groups));
        for (std::int64_t part = 0; part < parts; ++part) {
            const std::int64_t first = slices.units() * part / parts;
            const std::int64_t units = slices.units() * (part + 1) / parts - first;
            Slices sums{slices.first_column + first * kSumsOfUnit,
                        std::min(units * kSumsOfUnit, slices.columns - first * kSumsOfUnit),
                        {}};
            for (std::size_t group = 0; group < groups; ++group) {
                const std::size_t begin = count * group / groups;
                const std::size_t end = count * (group + 1) / groups;
                const bool is_last = groups == 1;
                sums.of.push_back(add_part(stage, std::span(slices.of).subspan(begin, end - begin),
                                           static_cast<std::size_t>(part), first, units, is_last));
            }
            if (groups == 1) {
                pieces.push_back(graph::run_of(sums.of[0].tile, sums.of[0].place, sums.first_column,
                                               sums.columns, type_));
            } else {
                next.push_back(std::move(sums));
            }
        }
    }

    /// Units [first, first + units) of the slices of a group, on the tile of slice `receiver`.
    Slice add_part(const Stage& stage, std::span<const Slice> group, std::size_t receiver,
                   std::int64_t first, std::int64_t units, bool is_last) {
        const TileId tile = group[receiver].tile;
        const Bytes bytes = units * kSumUnitBytes;
        const codelets::ProductTypes types{is_last ? type_ : ElementType::F32, ElementType::F32};
        graph_.need_codelet(fmt::format("reduce_add_{}", codelets::suffix(types)));
        const graph::Place others =
            taken_on(stage.gathered, tile, bytes * static_cast<std::int64_t>(group.size() - 1));
        const graph::Place result =
            taken_on(is_last ? stage.results : stage.sums, tile,
                     bytes / bytes_of(ElementType::F32) * bytes_of(types.data));
        std::int64_t come = 0;
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (i != receiver) {
                graph_.add_message(stage.exchange, group[i].tile,
                                   group[i].place + first * kSumUnitBytes, bytes,
                                   {tile, others + come++ * bytes});
            }
        }
        family::add_sum(
            graph_, site_.machine, stage.set, tile, types,
            {group[receiver].place + first * kSumUnitBytes, others, come, units, result});
        return {tile, result};
    }

    /// The next bytes of a buffer on a tile.
    graph::Place taken_on(graph::BufferId buffer, TileId tile, Bytes bytes) {
        Bytes& end = ends_[{buffer.index, tile}];
        const graph::Place place{buffer, end};
        end += bytes;
        graph_.hold(buffer, tile, end);
        return place;
    }

    graph::Graph& graph_;
    const family::Site& site_;
    ElementType type_;
    std::map<std::pair<std::uint32_t, TileId>, Bytes> ends_;
    std::int64_t additions_ = 0; ///< of an element, at most
};

class SumRows final : public family::Step {
public:
    explicit SumRows(const family::Request& request)
        : x_(family::matrices_input(request, family::kNumbers)) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{x_.type, {columns()}}};
    }

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
        const bool stands = where[0] && standing_blocks(graph, *where[0], tiles);
        const TensorId x =
            stands
                ? *where[0]
                : graph::add_rows(graph,
                                  {.name = site.owner + ": x", .type = x_.type, .shape = x_.shape},
                                  tiles)
                      .tensor;
        graph::align_to_units(graph, x);
        const auto blocks = *graph::blocks_of(graph.tensors.at(x.index));
        const auto set =
            graph.add_compute_set({"column sums", program::Role::Work, site.owner, "rows"});
        Sums sums(graph, site, x_.type);
        std::vector<graph::Step> steps{graph::run(set)};
        auto slices = sums.add_slices(set, blocks);
        const graph::BufferId results = graph.add_buffer({.name = site.owner + ": y"});
        graph::Tensor y{.name = site.owner + ": y", .type = x_.type, .shape = {columns()}};
        y.pieces = sums.add_stages(std::move(slices), results, steps);
        additions_ = sums.additions();
        return {{x}, {graph.add_tensor(std::move(y))}, graph::sequence(std::move(steps))};
    }

    /// With u = 2^-24: an element is off by at most u of the sum of magnitudes for each sum that it takes
    /// part in. Small whole numbers have no such error. Then the sum is rounded to its type.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        const double u = unit_roundoff(ElementType::F32);
        const double least = workload::rounding(ElementType::F32, 0);
        std::vector<double> sums(static_cast<std::size_t>(columns()));
        std::vector<double> magnitudes(sums.size());
        for (std::int64_t i = 0; i < x_.elements(); ++i) {
            const double x = family::number_at(*inputs[0], i);
            sums[static_cast<std::size_t>(i % columns())] += x;
            magnitudes[static_cast<std::size_t>(i % columns())] += std::fabs(x);
        }
        const auto roundings = static_cast<double>(additions_ + 1);
        return family::compare(outputs[0], [&](std::int64_t j) {
            const auto at = static_cast<std::size_t>(j);
            const double off =
                inputs[0]->whole_numbers ? 0 : roundings * (u * magnitudes[at] + least);
            const double rounded = x_.type == ElementType::F16
                                       ? workload::rounding(x_.type, std::fabs(sums[at]) + off)
                                       : 0;
            return family::Expected{sums[at], off + rounded};
        });
    }

    [[nodiscard]] double flops() const override { return static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    family::TensorType x_;
    std::int64_t additions_ = 0; ///< of an element, at most; after emit()
};

} // namespace

const family::Family& sum_rows() {
    static const family::Family family{
        .name = "sum_rows",
        .says = "y = sum of the rows of x",
        .inputs = {"x"},
        .options = {},
        .make = [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<SumRows>(request);
        }};
    return family;
}

} // namespace tessera::reduce
