// SPDX-License-Identifier: MIT
#include "kernels/gather/scatter_add.h"

#include "base/error.h"
#include "kernels/codelets/scatter_add_cost.h"
#include "kernels/family/numbers.h"
#include "kernels/gather/parts.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::gather {
namespace {

using family::TensorType;
using graph::TensorId;

class ScatterAdd final : public family::Step {
public:
    ScatterAdd(const family::Request& request, std::int64_t rows)
        : x_(request.inputs[0]),
          ids_(request.inputs[1]), output_{x_.type, {rows, x_.shape.back()}} {}

    [[nodiscard]] std::vector<TensorType> outputs() const override { return {output_}; }
    [[nodiscard]] double flops() const override { return static_cast<double>(x_.elements()); }

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        const Cut cut = choose(site.machine);
        graph.need_codelet("scatter_add");
        graph.need_codelet("zero");
        const TensorId x =
            where[0]
                ? *where[0]
                : graph::add_runs(graph, {site.first_tile, site.machine.chip.tiles},
                                  {.name = "x", .type = x_.type, .shape = x_.shape}, kUnitBytes);
        const TensorId ids = standing_ids(graph, site, ids_, where[1]);
        const graph::BufferId numbers_here = graph.add_buffer({.name = "row numbers"});
        // what is beside elements in a unit is added too, and means nothing
        const bool has_padding = row_bytes() % kUnitBytes != 0;
        const graph::BufferId rows_here =
            graph.add_buffer({.name = "rows of x", .zeroed = has_padding});
        const graph::BufferId sums = graph.add_buffer({.name = "y"});
        const auto zero = graph.add_compute_set({"zero", program::Role::Work, site.owner, "words"});
        const auto add =
            graph.add_compute_set({"scatter add", program::Role::Work, site.owner, "rows"});
        graph::Tensor parts{.name = "rows of x", .type = x_.type, .shape = x_.shape};
        graph::Tensor y{.name = "y", .type = output_.type, .shape = output_.shape};
        for_parts(site.first_tile, cut, rows(), units(), [&](TileId tile, Part own, Part of_units) {
            const Bytes width = of_units.count * kUnitBytes;
            graph.hold(rows_here, tile, numbers() * width);
            graph.hold(sums, tile, (own.count + 1) * width);
            parts.pieces.push_back(piece_of(x_, tile, {rows_here}, {0, numbers()}, of_units));
            y.pieces.push_back(piece_of(output_, tile, {sums}, own, of_units));
            add_zeros(graph, site.machine, zero, tile, sums, (own.count + 1) * of_units.count);
            add_vertex(graph, site.machine, add, tile, {numbers_here, rows_here, sums}, own,
                       of_units.count);
        });
        graph::Step steps_of_ids =
            bring_ids(graph, site, ids_, ids, numbers_here, cut.rows * cut.columns);
        const TensorId to = graph.add_tensor(std::move(parts));
        graph::Step steps_of_x = graph::add_copy(graph, site.machine, x, to, program::Role::Bring,
                                                 site.owner, "bring rows");
        graph.tensors.pop_back(); // the vertices' business alone: no tensor of the program
        const TensorId out = graph.add_tensor(std::move(y));
        return {{x, ids},
                {out},
                graph::sequence({graph::run(zero), std::move(steps_of_ids), std::move(steps_of_x),
                                 graph::run(add)})};
    }

    /// A sum of k numbers has k - 1 roundings.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        struct Sum {
            double exact = 0;
            double magnitude = 0;
            std::int64_t numbers = 0;
        };
        std::vector<Sum> sums(static_cast<std::size_t>(output_.elements()));
        for (std::int64_t i = 0; i < numbers(); ++i) {
            std::uint32_t id = 0;
            std::memcpy(&id, inputs[1]->bytes.data() + i * kIdBytes, sizeof id);
            for (std::int64_t column = 0; id < rows() && column < columns(); ++column) {
                const double x = family::number_at(*inputs[0], i * columns() + column);
                Sum& sum = sums[static_cast<std::size_t>(id * columns() + column)];
                sum.exact += x;
                sum.magnitude += std::fabs(x);
                ++sum.numbers;
            }
        }
        return family::compare(outputs[0], [&](std::int64_t element) {
            const Sum& sum = sums[static_cast<std::size_t>(element)];
            const auto roundings = static_cast<double>(std::max<std::int64_t>(sum.numbers - 1, 0));
            return family::Expected{sum.exact,
                                    roundings * (unit_roundoff(ElementType::F32) * sum.magnitude +
                                                 workload::rounding(ElementType::F32, 0))};
        });
    }

private:
    [[nodiscard]] std::int64_t rows() const { return output_.shape[0]; }
    [[nodiscard]] std::int64_t columns() const { return output_.shape[1]; }
    [[nodiscard]] std::int64_t numbers() const { return ids_.elements(); }
    [[nodiscard]] Bytes row_bytes() const { return columns() * bytes_of(x_.type); }
    /// The units of a row.
    [[nodiscard]] std::int64_t units() const { return largest(row_bytes(), kUnitBytes); }

    [[nodiscard]] Cut choose(const spec::MachineSpec& machine) const {
        const auto cut = best_cut(machine, rows(), units(),
                                  {[this](const Cut& one) { return bytes_on_tile(one); },
                                   [&](const Cut& one) { return cycles_of(machine, one); }});
        if (!cut) {
            throw NotModelled(
                fmt::format("scatter_add: not modelled: rows of {} elements on {} tiles, "
                            "which are more than a repeat adds; see "
                            "docs/kernels.md",
                            columns(), machine.chip.tiles));
        }
        return *cut;
    }

    [[nodiscard]] Bytes bytes_on_tile(const Cut& cut) const {
        const std::int64_t width = largest(units(), cut.columns) * kUnitBytes;
        return (largest(rows(), cut.rows) + 1 + numbers()) * width + numbers() * kIdBytes;
    }

    [[nodiscard]] Cycles cycles_of(const spec::MachineSpec& machine, const Cut& cut) const {
        const std::int64_t width = largest(units(), cut.columns);
        const std::int64_t zeros = (largest(rows(), cut.rows) + 1) * width;
        return 2 * plan::row_overhead(machine.exchange) + 2 * machine.sync.internal_cycles +
               numbers() + 2 * numbers() * width + zeros +
               dealt(machine, width, [&](std::int64_t own) {
                   return codelets::scatter_add_issues(numbers(), own);
               });
    }

    static void add_zeros(graph::Graph& graph, const spec::MachineSpec& machine,
                          graph::ComputeSetId set, TileId tile, graph::BufferId buffer,
                          std::int64_t words) {
        const std::int64_t workers = machine.tile.workers;
        const std::int64_t most = workers * plan::most_rounds(machine);
        graph.add_work(set, tile, words);
        for (std::int64_t first = 0; first < words; first += most) {
            const std::int64_t here = std::min(most, words - first);
            graph.add_vertex(set, tile, "zero64", program::VertexKind::MultiWorker,
                             {graph::write({buffer, first * kUnitBytes}, here * kUnitBytes),
                              graph::word(here / workers), graph::word(here % workers)});
        }
    }

    struct Buffers {
        graph::BufferId ids;
        graph::BufferId x;
        graph::BufferId sums;
    };
    void add_vertex(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                    TileId tile, const Buffers& buffers, Part own, std::int64_t words) const {
        const std::int64_t workers = machine.tile.workers;
        const Bytes width = words * kUnitBytes;
        graph.add_work(set, tile, numbers());
        graph.add_vertex(
            set, tile, "scatter_add", program::VertexKind::MultiWorker,
            {graph::read({buffers.ids}, numbers() * kIdBytes),
             graph::read({buffers.x}, numbers() * width),
             graph::pointer({buffers.sums}, (own.count + 1) * width, graph::Access::Update),
             graph::word(words / workers), graph::word(words % workers), graph::word(own.first),
             graph::word(own.count), graph::word(width), graph::word(numbers())});
    }

    TensorType x_;
    TensorType ids_;
    TensorType output_;
};

std::unique_ptr<family::Step> make_scatter_add(const family::Request& request) {
    const TensorType& x = request.inputs[0];
    const TensorType& ids = request.inputs[1];
    require_ids(request);
    const bool fits = x.sparse == nullptr && x.type == ElementType::F32 && x.elements() > 0 &&
                      x.shape.size() == ids.shape.size() + 1 &&
                      std::equal(ids.shape.begin(), ids.shape.end(), x.shape.begin());
    if (!fits) {
        throw family::Refused(
            0, "",
            fmt::format("got {} of {} for {} row numbers, expected a dense row of f32 for each",
                        family::shape_text(x), name_of(x.type), family::shape_text(ids)));
    }
    const double rows = family::number_of(scatter_add(), request, "rows");
    if (!(rows >= 1 && rows < 0x1p31 && rows == std::floor(rows))) {
        throw family::Refused(
            -1, "rows", fmt::format("got {}, expected a whole number of rows from 1 on", rows));
    }
    return std::make_unique<ScatterAdd>(request, static_cast<std::int64_t>(rows));
}

} // namespace

const family::Family& scatter_add() {
    static const family::Family family{
        "scatter_add",
        "y[r, :] = sum of x[i, :] over all i with ids[i] = r, in f32",
        {"x", "ids"},
        {{.key = "rows", .says = "how many rows y has", .words = {}, .number = 1}},
        make_scatter_add};
    return family;
}

} // namespace tessera::gather
