// SPDX-License-Identifier: MIT
#include "kernels/gather/gather.h"

#include "base/error.h"
#include "kernels/codelets/gather_rows_cost.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/gather/parts.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::gather {
namespace {

using family::TensorType;
using graph::Place;
using graph::TensorId;

class Gather final : public family::Step {
public:
    explicit Gather(const family::Request& request)
        : table_(request.inputs[0]), ids_(request.inputs[1]) {
        output_ = {table_.type, ids_.shape};
        output_.shape.push_back(columns());
    }

    [[nodiscard]] std::vector<TensorType> outputs() const override { return {output_}; }
    [[nodiscard]] double flops() const override { return 0; }

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        const Cut cut = choose(site.machine);
        graph.need_codelet("gather_rows");
        const TensorId table = add_table(graph, site, cut);
        const TensorId ids = standing_ids(graph, site, ids_, where[1]);
        ids_buffer_ = graph.add_buffer({.name = "row numbers"});
        std::vector<graph::Step> steps{
            bring_ids(graph, site, ids_, ids, ids_buffer_, cut.rows * cut.columns)};
        const auto set = graph.add_compute_set({"gather", program::Role::Work, site.owner, "rows"});
        const graph::BufferId picked = graph.add_buffer({.name = "picked"});
        for_parts(site.first_tile, cut, rows(), units(), [&](TileId tile, Part rows, Part units) {
            graph.hold(picked, tile, numbers() * units.count * kUnitBytes);
            add_gather(graph, site.machine, set, tile, {picked}, rows, units);
        });
        steps.push_back(graph::run(set));
        graph::BufferId out = picked;
        if (cut.rows > 1) {
            out = join(graph, site, cut, picked, steps);
        }
        const TensorId y = add_output(graph, site, cut, out);
        return {{table, ids}, {y}, graph::sequence(std::move(steps))};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Checked checked;
        const auto row_bytes = static_cast<std::size_t>(columns() * bytes_of(table_.type));
        const std::vector<std::byte> zeros(row_bytes);
        for (std::int64_t i = 0; i < numbers(); ++i) {
            std::uint32_t id = 0;
            std::memcpy(&id, inputs[1]->bytes.data() + i * kIdBytes, sizeof id);
            const std::byte* const expected =
                id < rows() ? inputs[0]->bytes.data() + id * row_bytes : zeros.data();
            const std::byte* const got =
                outputs[0].bytes.data() + static_cast<std::size_t>(i) * row_bytes;
            checked.elements += columns();
            if (std::memcmp(got, expected, row_bytes) != 0) {
                checked.sentence =
                    checked.failed_elements == 0 ? fmt::format("row {} of y", i) : checked.sentence;
                checked.failed_elements += columns();
            }
        }
        checked.passed = checked.failed_elements == 0;
        checked.sentence =
            checked.passed
                ? "exact"
                : fmt::format("WRONG: {} of {} elements in rows that differ; first: {}",
                              checked.failed_elements, checked.elements, checked.sentence);
        return checked;
    }

private:
    [[nodiscard]] std::int64_t rows() const { return table_.shape[0]; }
    [[nodiscard]] std::int64_t columns() const { return table_.shape[1]; }
    [[nodiscard]] std::int64_t numbers() const { return ids_.elements(); }
    /// The units of a row.
    [[nodiscard]] std::int64_t units() const {
        return largest(columns() * bytes_of(table_.type), kUnitBytes);
    }

    static graph::Tensor named(const char* name, const TensorType& type) {
        return {.name = name, .type = type.type, .shape = type.shape};
    }

    [[nodiscard]] Cut choose(const spec::MachineSpec& machine) const {
        const auto cut = best_cut(machine, rows(), units(),
                                  {[this](const Cut& one) { return bytes_on_tile(one); },
                                   [&](const Cut& one) { return cycles_of(machine, one); }});
        if (!cut) {
            throw NotModelled(fmt::format("gather: not modelled: rows of {} elements on {} tiles, "
                                          "which are more than a repeat copies; see "
                                          "docs/kernels.md",
                                          columns(), machine.chip.tiles));
        }
        return *cut;
    }

    [[nodiscard]] Bytes bytes_on_tile(const Cut& cut) const {
        const std::int64_t width = largest(units(), cut.columns) * kUnitBytes;
        const std::int64_t copies = cut.rows > 1 ? 3 : 1;
        return (largest(rows(), cut.rows) + 1 + copies * numbers()) * width +
               2 * numbers() * kIdBytes;
    }

    [[nodiscard]] Cycles cycles_of(const spec::MachineSpec& machine, const Cut& cut) const {
        const std::int64_t width = largest(units(), cut.columns);
        const Cycles overhead = plan::row_overhead(machine.exchange) + machine.sync.internal_cycles;
        Cycles cycles = overhead + numbers() + dealt(machine, numbers(), [&](std::int64_t own) {
                            return codelets::gather_rows_issues(own, width);
                        });
        if (cut.rows > 1) {
            const std::int64_t joined = largest(numbers(), cut.rows) * width;
            cycles += overhead + 2 * joined * (cut.rows - 1) +
                      dealt(machine, joined, [&](std::int64_t own) {
                          return codelets::join_rows_issues(own, cut.rows - 1);
                      });
        }
        return cycles;
    }

    [[nodiscard]] static TileId tile_of(const family::Site& site, const Cut& cut, std::int64_t row,
                                        std::int64_t column) {
        return site.first_tile + static_cast<TileId>(row * cut.columns + column);
    }

    /// With a row of zeros behind each part; padding is zero too.
    TensorId add_table(graph::Graph& graph, const family::Site& site, const Cut& cut) {
        const graph::BufferId buffer = graph.add_buffer({.name = "table", .zeroed = true});
        graph::Tensor table = named("table", table_);
        for_parts(site.first_tile, cut, rows(), units(),
                  [&](TileId tile, Part of_rows, Part of_units) {
                      graph.hold(buffer, tile, (of_rows.count + 1) * of_units.count * kUnitBytes);
                      table.pieces.push_back(piece_of(table_, tile, {buffer}, of_rows, of_units));
                  });
        table_buffer_ = buffer;
        return graph.add_tensor(std::move(table));
    }

    void add_gather(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                    TileId tile, Place to, Part of_rows, Part of_units) const {
        const std::int64_t workers = machine.tile.workers;
        const Bytes row_bytes = of_units.count * kUnitBytes;
        graph.add_work(set, tile, numbers());
        graph.add_vertex(set, tile, "gather_rows", program::VertexKind::MultiWorker,
                         {graph::read({ids_buffer_}, numbers() * kIdBytes),
                          graph::read({table_buffer_}, (of_rows.count + 1) * row_bytes),
                          graph::write(to, numbers() * row_bytes), graph::word(numbers() / workers),
                          graph::word(numbers() % workers), graph::word(of_rows.first),
                          graph::word(of_rows.count), graph::word(row_bytes),
                          graph::word(of_units.count)});
    }

    /// Each tile of a column of parts joins its share of the rows. Returns where they stand then.
    graph::BufferId join(graph::Graph& graph, const family::Site& site, const Cut& cut,
                         graph::BufferId picked, std::vector<graph::Step>& steps) const {
        const std::int64_t workers = site.machine.tile.workers;
        const graph::BufferId others =
            graph.add_buffer({.name = "others' rows", .apart = {picked}});
        const graph::BufferId out = graph.add_buffer({.name = "y"});
        const auto exchange =
            graph.add_exchange({"exchange parts of rows", program::Role::Reduce, site.owner});
        const auto set = graph.add_compute_set({"join", program::Role::Reduce, site.owner});
        for (std::int64_t turn = 1; turn < cut.rows; ++turn) {
            for (std::int64_t row = 0; row < cut.rows; ++row) {
                for (std::int64_t column = 0; column < cut.columns; ++column) {
                    const Bytes row_bytes =
                        part_of(units(), cut.columns, column).count * kUnitBytes;
                    const std::int64_t to = (row + turn) % cut.rows;
                    const Part share = part_of(numbers(), cut.rows, to);
                    if (share.count > 0) {
                        graph.add_message(exchange, tile_of(site, cut, row, column),
                                          {picked, share.first * row_bytes},
                                          share.count * row_bytes,
                                          {tile_of(site, cut, to, column),
                                           {others, (turn - 1) * share.count * row_bytes}});
                    }
                }
            }
        }
        for (std::int64_t row = 0; row < cut.rows; ++row) {
            const Part share = part_of(numbers(), cut.rows, row);
            for (std::int64_t column = 0; share.count > 0 && column < cut.columns; ++column) {
                const TileId tile = tile_of(site, cut, row, column);
                const std::int64_t words =
                    share.count * part_of(units(), cut.columns, column).count;
                graph.hold(others, tile, (cut.rows - 1) * words * kUnitBytes);
                graph.hold(out, tile, words * kUnitBytes);
                graph.add_vertex(
                    set, tile, "join_rows", program::VertexKind::MultiWorker,
                    {graph::read({picked, share.first * words / share.count * kUnitBytes},
                                 words * kUnitBytes),
                     graph::read({others}, (cut.rows - 1) * words * kUnitBytes),
                     graph::write({out}, words * kUnitBytes), graph::word(words / workers),
                     graph::word(words % workers), graph::word(cut.rows - 1), graph::word(words)});
            }
        }
        steps.push_back(graph::run(exchange));
        steps.push_back(graph::run(set));
        return out;
    }

    TensorId add_output(graph::Graph& graph, const family::Site& site, const Cut& cut,
                        graph::BufferId buffer) const {
        graph::Tensor y = named("y", output_);
        for (std::int64_t row = 0; row < cut.rows; ++row) {
            const Part share = part_of(numbers(), cut.rows, row);
            for (std::int64_t column = 0; share.count > 0 && column < cut.columns; ++column) {
                y.pieces.push_back(piece_of(output_, tile_of(site, cut, row, column), {buffer},
                                            share, part_of(units(), cut.columns, column)));
            }
        }
        return graph.add_tensor(std::move(y));
    }

    TensorType table_;
    TensorType ids_;
    TensorType output_;
    graph::BufferId table_buffer_; ///< of the graph at hand
    graph::BufferId ids_buffer_;
};

std::unique_ptr<family::Step> make(const family::Request& request) {
    const TensorType& table = request.inputs[0];
    if (table.sparse != nullptr || table.shape.size() != 2 || table.elements() == 0 ||
        bytes_of(table.type) < 2) {
        throw family::Refused(
            0, "",
            fmt::format("table: got {} of {}, expected a dense matrix of elements of 2 or 4 bytes",
                        family::shape_text(table), name_of(table.type)));
    }
    require_ids(request);
    return std::make_unique<Gather>(request);
}

/// Rows are added in FP32, whatever the table has.
family::Steps backward(const family::GradientRequest& request) {
    using family::backward_step;
    if (request.wants(1)) {
        throw family::Refused(1, "", "the gradient of row numbers is wanted, which have none");
    }
    const std::string& ids = request.step.inputs[1];
    const std::string& dy = request.of_outputs[0];
    const std::string& of_table = request.of_inputs[0];
    const TensorType& table = request.inputs[0];
    const family::Options rows{{"rows", static_cast<double>(table.shape[0])}};
    if (table.type == ElementType::F32) {
        return {backward_step("scatter_add", {dy, ids}, of_table, rows)};
    }
    return {backward_step("cast", {dy}, of_table + "_rows", {{"to", std::string("f32")}}),
            backward_step("scatter_add", {of_table + "_rows", ids}, of_table + "_sums", rows),
            backward_step("cast", {of_table + "_sums"}, of_table,
                          {{"to", std::string(name_of(table.type))}})};
}

} // namespace

const family::Family& family() {
    static const family::Family gather = family::with_gradient(
        {"gather", "y[i, :] = table[ids[i], :]", {"table", "ids"}, {}, make}, backward);
    return gather;
}

} // namespace tessera::gather
