// SPDX-License-Identifier: MIT
#include "kernels/gather/gather.h"

#include "base/error.h"
#include "kernels/codelets/gather_rows_cost.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/gather/parts.h"
#include "kernels/gather/remote_rows.h"
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

/// Tables that stand behind each other.
std::int64_t groups_of(const TensorType& table) {
    return table.elements() / (table.shape[table.shape.size() - 2] * table.shape.back());
}

class Gather final : public family::Step {
public:
    explicit Gather(const family::Request& request)
        : table_(request.inputs[0]), ids_(request.inputs[1]) {
        if (groups() == 1 && table_.shape.size() == 2) {
            output_ = {table_.type, ids_.shape};
            output_.shape.push_back(columns());
        } else {
            output_ = {table_.type, table_.shape};
            output_.shape[output_.shape.size() - 2] = numbers() / groups();
        }
    }

    [[nodiscard]] std::vector<TensorType> outputs() const override { return {output_}; }
    [[nodiscard]] double flops() const override { return 0; }

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        if (site.remote) {
            const TensorId named = standing_ids(graph, site, ids_, where[1]);
            return read_remote_rows(graph, site, {groups(), rows(), numbers() / groups(), output_},
                                    named, ids_);
        }
        graph.need_codelet("gather_rows");
        if (groups() > 1) {
            return emit_groups(graph, site, where[1]);
        }
        const Cut cut = choose(site.machine);
        const TensorId table = add_table(graph, site, cut);
        const TensorId ids = standing_ids(graph, site, ids_, where[1]);
        ids_buffer_ = graph.add_buffer({.name = "row numbers"});
        std::vector<graph::Step> steps{
            bring_ids(graph, site, ids_, ids, ids_buffer_, cut.rows * cut.columns)};
        const auto set = graph.add_compute_set({"gather", program::Role::Work, site.owner, "rows"});
        const graph::BufferId picked = graph.add_buffer({.name = "picked"});
        for_parts(site.first_tile, cut, rows(), units(), [&](TileId tile, Part rows, Part units) {
            graph.hold(picked, tile, numbers() * units.count * kUnitBytes);
            add_gather(graph, site.machine, set, tile,
                       {{ids_buffer_}, {table_buffer_}, {picked}, numbers()}, rows, units);
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
            const std::int64_t row = i / (numbers() / groups()) * rows() + id;
            const std::byte* const expected =
                id < rows() ? inputs[0]->bytes.data() + static_cast<std::size_t>(row) * row_bytes
                            : zeros.data();
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
    /// Returns how many rows each table has.
    [[nodiscard]] std::int64_t rows() const { return table_.shape[table_.shape.size() - 2]; }
    [[nodiscard]] std::int64_t columns() const { return table_.shape.back(); }
    /// Tables.
    [[nodiscard]] std::int64_t groups() const { return groups_of(table_); }
    [[nodiscard]] std::int64_t numbers() const { return ids_.elements(); }
    /// The units of a row.
    [[nodiscard]] std::int64_t units() const {
        return largest(columns() * bytes_of(table_.type), kUnitBytes);
    }

    static graph::Tensor tensor_named(const char* name, const TensorType& type) {
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
        graph::Tensor table = tensor_named("table", table_);
        for_parts(site.first_tile, cut, rows(), units(),
                  [&](TileId tile, Part of_rows, Part of_units) {
                      graph.hold(buffer, tile, (of_rows.count + 1) * of_units.count * kUnitBytes);
                      table.pieces.push_back(piece_of(table_, tile, {buffer}, of_rows, of_units));
                  });
        table_buffer_ = buffer;
        return graph.add_tensor(std::move(table));
    }

    /// Where the vertex of a tile has its row numbers, its rows of a table, and its rows of y.
    struct At {
        Place ids;
        Place table;
        Place to;
        std::int64_t numbers = 0;
    };
    static void add_gather(graph::Graph& graph, const spec::MachineSpec& machine,
                           graph::ComputeSetId set, TileId tile, const At& at, Part of_rows,
                           Part of_units) {
        const std::int64_t workers = machine.tile.workers;
        const Bytes row_bytes = of_units.count * kUnitBytes;
        graph.add_work(set, tile, at.numbers);
        graph.add_vertex(set, tile, "gather_rows", program::VertexKind::MultiWorker,
                         {graph::read(at.ids, at.numbers * kIdBytes),
                          graph::read(at.table, (of_rows.count + 1) * row_bytes),
                          graph::write(at.to, at.numbers * row_bytes),
                          graph::word(at.numbers / workers), graph::word(at.numbers % workers),
                          graph::word(of_rows.first), graph::word(of_rows.count),
                          graph::word(row_bytes), graph::word(of_units.count)});
    }

    /// Several tables: a tile has some of them whole, or columns of one.
    family::Emitted emit_groups(graph::Graph& graph, const family::Site& site,
                                const std::optional<TensorId>& where) const {
        const std::int64_t tiles = site.machine.chip.tiles;
        const Cut cut{std::min(groups(), tiles),
                      std::clamp<std::int64_t>(tiles / groups(), 1, units())};
        const std::int64_t share = numbers() / groups();
        const graph::BufferId tables = graph.add_buffer({.name = "table", .zeroed = true});
        const graph::BufferId named = graph.add_buffer({.name = "row numbers"});
        const graph::BufferId picked = graph.add_buffer({.name = "picked"});
        const auto set = graph.add_compute_set({"gather", program::Role::Work, site.owner, "rows"});
        graph::Tensor table = tensor_named("table", table_);
        graph::Tensor numbers_there = tensor_named("row numbers", ids_);
        graph::Tensor y = tensor_named("y", output_);
        for_parts(site.first_tile, cut, groups(), units(), [&](TileId tile, Part own, Part width) {
            const Bytes row_bytes = width.count * kUnitBytes;
            const Bytes table_bytes = (rows() + 1) * row_bytes;
            graph.hold(tables, tile, own.count * table_bytes);
            graph.hold(named, tile, own.count * share * kIdBytes);
            graph.hold(picked, tile, own.count * share * row_bytes);
            numbers_there.pieces.push_back(
                graph::run_of(tile, {named}, own.first * share, own.count * share, ids_.type));
            for (std::int64_t i = 0; i < own.count; ++i) {
                const At at{{named, i * share * kIdBytes},
                            {tables, i * table_bytes},
                            {picked, i * share * row_bytes},
                            share};
                add_gather(graph, site.machine, set, tile, at, {0, rows()}, width);
                const std::int64_t group = own.first + i;
                table.pieces.push_back(
                    piece_of(table_, tile, at.table, {group * rows(), rows()}, width));
                y.pieces.push_back(piece_of(output_, tile, at.to, {group * share, share}, width));
            }
        });
        const TensorId stands = graph.add_tensor(std::move(table));
        const TensorId ids = standing_ids(graph, site, ids_, where);
        std::vector<graph::Step> steps{bring_to(graph, site, ids, std::move(numbers_there)),
                                       graph::run(set)};
        return {{stands, ids}, {graph.add_tensor(std::move(y))}, graph::sequence(std::move(steps))};
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
        graph::Tensor y = tensor_named("y", output_);
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

/// @throws Refused unless the first sizes of `ids` have one share for each of `groups` tables
void require_shares(const TensorType& ids, std::int64_t groups) {
    std::int64_t shares = 1;
    for (const std::int64_t size : ids.shape) {
        if (shares == groups) {
            return;
        }
        shares *= size;
    }
    if (shares != groups) {
        throw family::Refused(1, "",
                              fmt::format("ids: got {}, expected row numbers for each of {} tables",
                                          family::shape_text(ids), groups));
    }
}

std::unique_ptr<family::Step> make(const family::Request& request) {
    const TensorType& table = request.inputs[0];
    if (table.sparse != nullptr || table.shape.size() < 2 || table.elements() == 0 ||
        bytes_of(table.type) < 2) {
        throw family::Refused(
            0, "",
            fmt::format("table: got {} of {}, expected dense matrices of elements of 2 or 4 bytes",
                        family::shape_text(table), name_of(table.type)));
    }
    require_ids(request);
    require_shares(request.inputs[1], groups_of(table));
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
    if (table.shape.size() > 2) {
        throw family::Refused(0, "", "the gradient of several tables is wanted, which has none");
    }
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
    static const family::Family gather = [] {
        family::Family made = family::with_gradient(
            {"gather", "y[i, :] = table[ids[i], :]", {"table", "ids"}, {}, make}, backward);
        made.reads_remote = true;
        return made;
    }();
    return gather;
}

} // namespace tessera::gather
