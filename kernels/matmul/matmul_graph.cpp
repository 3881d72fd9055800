// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_graph.h"

#include "kernels/graph/cells.h"
#include "kernels/graph/copy.h"
#include "kernels/lower/placing.h"
#include "kernels/matmul/matmul_homes.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::matmul {
namespace {

using program::Role;

constexpr const char* kOwner = "matmul";
/// A reduction reads one unit behind its share.
constexpr Bytes kReadAhead = 16;

class Emitter {
public:
    Emitter(const spec::MachineSpec& machine, const Grid& grid, const std::string& name,
            const StandingSquares& standing)
        : machine_(machine), grid_(grid), problem_(grid.problem()), partition_(grid.partition()),
          a_(machine, grid, true, standing),
          b_(machine, grid, false, standing), planned_{graph::Graph(name), grid.division()},
          graph_(planned_.graph), predicted_(planned_.division.predicted) {}

    family::Planned run() {
        graph_.codelets = codelets_of(problem_);
        add_buffers();
        check_memory();
        std::vector<graph::Step> steps;
        for (std::int64_t chunk = 0; chunk < partition_.chunks; ++chunk) {
            add_chunk(chunk, steps);
        }
        if (grid_.reduces()) {
            add_reduction(steps);
        }
        add_epilogue(steps);
        graph_.control = graph::sequence(std::move(steps));
        add_operand(a_, "a", {problem_.m, problem_.k});
        add_operand(b_, "b", {problem_.k, problem_.n});
        add_result();
        if (problem_.epilogue.has_bias()) {
            graph_.add_tensor(std::move(bias_tensor_));
        }
        return std::move(planned_);
    }

private:
    /// The first product beside what later ones are brought from, and the sum: what a division that
    /// cannot fit is refused for, before its graph is made.
    void check_memory() const {
        std::vector<graph::BufferId> together{out_, weights_, x_};
        if (partition_.chunks > 1) {
            together.insert(together.end(), {home_a_, home_b_});
        }
        lower::check_together(machine_, graph_, together, "multiply");
        if (grid_.reduces()) {
            lower::check_together(machine_, graph_, {out_, slices_, result_}, "reduce");
        }
    }
    void add_buffers() {
        const std::int64_t busy = partition_.tiles();
        const std::int64_t all = machine_.chip.tiles;
        const Bytes out = grid_.most_rows() * grid_.most_out_groups() * kCellBytes;
        const Bytes share = ceil_div(out / kCellBytes, partition_.parts_k) * kCellBytes;
        const std::int64_t k_a = a_.stays() ? grid_.most_k_groups() : grid_.most_chunk_groups();
        const std::int64_t k_b = b_.stays() ? grid_.most_k_groups() : grid_.most_chunk_groups();
        const bool pads_a = problem_.k % 16 != 0;
        const bool pads_b = pads_a || problem_.n % problem_.group != 0;
        using graph::Where;
        out_ = graph_.add_buffer(
            {.name = "partials", .where = Where::Region1, .read_beyond = kReadAhead}, busy, out);
        weights_ = graph_.add_buffer(
            {.name = "weights", .where = Where::Region1, .padded = pads_b, .apart = {out_}}, busy,
            grid_.most_out_groups() * problem_.block_bytes() * k_b);
        slices_ = graph_.add_buffer({.name = "slices", .where = Where::Region1, .apart = {out_}},
                                    busy, (partition_.parts_k - 1) * share);
        x_ = graph_.add_buffer({.name = "x", .padded = pads_a, .apart = {out_}}, busy,
                               grid_.most_rows() * kCellBytes * k_a);
        const std::vector<graph::BufferId> received{x_, weights_};
        home_a_ = graph_.add_buffer({.name = "home of a", .padded = pads_a, .apart = received}, all,
                                    a_.most_home_bytes());
        home_b_ = graph_.add_buffer({.name = "home of b", .padded = pads_b, .apart = received}, all,
                                    b_.most_home_bytes());
        if (problem_.epilogue.has_bias()) {
            bias_ = graph_.add_buffer({.name = "bias", .padded = problem_.n % problem_.group != 0});
        }
        result_ =
            graph_.add_buffer({.name = "result"}, busy,
                              grid_.reduces() ? share / kCellBytes * problem_.result_cell() : 0);
    }

    /// Where a tile has its chunk of an operand.
    [[nodiscard]] graph::Place chunk_place(const Operand& operand, const TilePart& part,
                                           std::int64_t chunk) const {
        const auto buffer = operand.is_a() ? x_ : weights_;
        if (!operand.stays()) {
            return {buffer};
        }
        const std::int64_t before =
            grid_.chunk(part.ik, chunk).first - grid_.k_groups(part.ik).first;
        return {buffer, operand.units(part, before) * operand.unit_bytes()};
    }
    [[nodiscard]] graph::Place home_place(const Operand& operand, const plan::HomeRun& run) const {
        return {operand.is_a() ? home_a_ : home_b_, run.offset};
    }

    void add_chunk(std::int64_t chunk, std::vector<graph::Step>& steps) {
        const auto bring =
            graph_.add_exchange({fmt::format("bring chunk {}", chunk), Role::Bring, kOwner});
        const auto multiply = graph_.add_compute_set(
            {fmt::format("multiply chunk {}", chunk), Role::Work, kOwner, "multiply-accumulates"});
        graph::Bringing bringing{graph_, machine_, bring, multiply};
        for (const bool wide : {true, false}) {
            for (const Operand* operand : {&a_, &b_}) {
                if (operand->wide() == wide) {
                    bring_operand(*operand, chunk, bringing);
                }
            }
        }
        if (chunk == partition_.chunks - 1 && problem_.epilogue.has_bias()) {
            bring_bias(bring);
        }
        Cycles slowest = 0;
        for (TileId tile = 0; tile < grid_.tiles(); ++tile) {
            const TilePart part = grid_.part(tile);
            const codelets::MatmulVertexShape shape{grid_.rows(part.im).size(),
                                                    grid_.out_groups(part.in).size(),
                                                    grid_.chunk(part.ik, chunk).size(), chunk == 0};
            add_multiply(multiply, tile, chunk, shape);
            slowest = std::max(slowest, stub_cycles(shape, bringing.copied_words[tile]));
        }
        predicted_.compute += machine_.control.step_cycles + slowest;
        graph::run_next(steps, bring, multiply);
    }

    void bring_operand(const Operand& operand, std::int64_t chunk, graph::Bringing& bringing) {
        std::vector<graph::Receiver> receivers;
        for (const plan::HomeRun& run : operand.runs(chunk)) {
            receivers.clear();
            for (const TileId tile : operand.receivers(run.group)) {
                receivers.push_back({tile, chunk_place(operand, grid_.part(tile), chunk) +
                                               run.first * operand.unit_bytes()});
            }
            bringing.add(run.tile, home_place(operand, run), run.units() * operand.unit_bytes(),
                         receivers, operand.wide());
        }
    }

    void add_multiply(graph::ComputeSetId set, TileId tile, std::int64_t chunk,
                      const codelets::MatmulVertexShape& shape) {
        const TilePart part = grid_.part(tile);
        const auto& [rows, out_groups, k_groups, fresh] = shape;
        const std::int64_t workers = machine_.tile.workers;
        plan::counted_rounds(machine_, ceil_div(rows, workers), "rows");
        graph_.add_work(set, tile, rows * out_groups * k_groups);
        graph_.add_vertex(
            set, tile,
            fmt::format("matmul_{}_{}", name_of(problem_.partials), fresh ? "fresh" : "add"),
            program::VertexKind::Supervisor,
            {graph::read(chunk_place(b_, part, chunk),
                         out_groups * k_groups * problem_.block_bytes()),
             graph::read(chunk_place(a_, part, chunk), rows * k_groups * kCellBytes),
             graph::pointer({out_}, rows * out_groups * kCellBytes,
                            fresh ? graph::Access::Write : graph::Access::Update),
             graph::word(rows * kCellBytes), graph::word(rows / workers),
             graph::word(rows % workers), graph::word(out_groups - 1), graph::word(k_groups - 1)});
    }

    Cycles stub_cycles(const codelets::MatmulVertexShape& shape,
                       const std::vector<std::int64_t>& copied_words) {
        const auto [known, is_new] = known_cycles_.try_emplace({shape, copied_words});
        if (is_new) {
            plan::StubTimeline stub(machine_, true);
            for (const std::int64_t words : copied_words) {
                stub.copy(words);
            }
            stub.matmul(problem_.partials, shape);
            known->second = stub.finish();
        }
        return known->second;
    }

    void add_reduction(std::vector<graph::Step>& steps) {
        const auto bring =
            graph_.add_exchange({"reduce: bring partial results", Role::Reduce, kOwner});
        for (std::int64_t turn = 1; turn < partition_.parts_k; ++turn) {
            for (TileId tile = 0; tile < grid_.tiles(); ++tile) {
                add_partials(bring, tile, turn);
            }
        }
        const auto reduce =
            graph_.add_compute_set({"reduce", Role::Reduce, kOwner, "partial results"});
        const codelets::ProductTypes types = codelets::of_f16(problem_.partials);
        const std::int64_t others = partition_.parts_k - 1;
        std::int64_t most_units = 0;
        for (TileId tile = 0; tile < grid_.tiles(); ++tile) {
            const Range share = grid_.share(grid_.part(tile));
            const std::int64_t units = 2 * share.size();
            most_units = std::max(most_units, units);
            if (units > 0) {
                const graph::Place own{out_, share.first * kCellBytes};
                family::add_sum(graph_, machine_, reduce, tile, types,
                                {own, {slices_}, others, units, {result_}});
            }
        }
        predicted_.add_sums(machine_.control.step_cycles +
                            plan::reduce_cycles(machine_, types, most_units, others));
        graph::run_next(steps, bring, reduce);
    }

    /// What tiles go on with where their shares of the result stand.
    void add_epilogue(std::vector<graph::Step>& steps) {
        const Epilogue& epilogue = problem_.epilogue;
        const auto sets = epilogue.add_sets(graph_, kOwner, "", steps);
        Epilogue::Taken slowest{};
        for (TileId tile = 0; !epilogue.is_empty() && tile < grid_.tiles(); ++tile) {
            const TilePart part = grid_.part(tile);
            const Range share = grid_.share(part);
            const std::int64_t rows = grid_.rows(part.im).size();
            if (share.size() == 0) {
                continue;
            }
            const Bytes bytes = share.size() * problem_.result_cell();
            const auto strips = grid_.strips(share, rows);
            epilogue.add(graph_, machine_, sets, tile, result_place(), bytes, bias_, strips);
            const Epilogue::Taken taken = epilogue.cycles(machine_, bytes, strips);
            for (std::size_t i = 0; i < slowest.size(); ++i) {
                slowest[i] = std::max(slowest[i], taken[i]);
            }
        }
        predicted_.compute += epilogue.steps_of(machine_, slowest);
    }
    [[nodiscard]] graph::Place result_place() const { return {grid_.reduces() ? result_ : out_}; }

    /// The bias of an out part comes to the tiles of the part that have some of the result.
    void bring_bias(graph::ExchangeId bring) {
        std::vector<Epilogue::BiasPart> parts;
        for (std::int64_t in = 0; in < partition_.parts_n; ++in) {
            const Range groups = grid_.out_groups(in);
            const std::int64_t first = groups.first * problem_.group;
            const std::int64_t last = std::min(groups.last * problem_.group, problem_.n);
            parts.push_back({first, last - first, groups.size() * problem_.result_cell(), {}});
            for (std::int64_t im = 0; im < partition_.parts_m; ++im) {
                for (std::int64_t ik = 0; ik < partition_.parts_k; ++ik) {
                    if (im + ik == 0 || grid_.share({im, ik, in}).size() > 0) {
                        parts.back().tiles.push_back(grid_.tile({im, ik, in}));
                    }
                }
            }
        }
        bias_tensor_ = problem_.epilogue.bring_bias(graph_, bring, bias_, parts);
    }

    /// The share of a tile's partial results that the `turn`-th tile behind it sums up.
    void add_partials(graph::ExchangeId bring, TileId tile, std::int64_t turn) {
        const TilePart from = grid_.part(tile);
        TilePart to = from;
        to.ik = (from.ik + turn) % partition_.parts_k;
        const Range share = grid_.share(to);
        if (share.size() == 0) {
            return;
        }
        const std::int64_t slot = from.ik < to.ik ? from.ik : from.ik - 1;
        const Bytes bytes = share.size() * kCellBytes;
        graph_.add_message(bring, tile, {out_, share.first * kCellBytes}, bytes,
                           {grid_.tile(to), {slices_, slot * bytes}});
    }

    /// Units [first, last) of a part's chunk.
    void add_units(graph::Tensor& tensor, const Operand& operand, TileId tile, graph::Place place,
                   const TilePart& part, std::int64_t chunk, std::int64_t first,
                   std::int64_t last) const {
        if (operand.is_a()) {
            const graph::CellGrid cells{.rows = grid_.rows(part.im).size(),
                                        .first_row = grid_.rows(part.im).first,
                                        .first_group = grid_.chunk(part.ik, chunk).first,
                                        .host_inner = problem_.k,
                                        .host_row_stride = problem_.k};
            graph::add_cells(tensor, tile, place, cells, first, last);
        } else {
            // in weight store order
            const graph::WeightGrid weights{
                .inputs = {grid_.chunk(part.ik, chunk), 16, problem_.k, problem_.n},
                .channels = {grid_.out_groups(part.in), problem_.group, problem_.n},
                .is_by_channels = true,
                .is_by_sets = problem_.group == 16};
            graph::add_weights(tensor, tile, place, weights, first, last);
        }
    }

    void add_operand(const Operand& operand, const char* name, std::vector<std::int64_t> shape) {
        graph::Tensor tensor = graph::given_tensor(name, ElementType::F16, std::move(shape));
        for (std::int64_t chunk = 0; chunk < partition_.chunks; ++chunk) {
            for (const plan::HomeRun& run : operand.runs(chunk)) {
                add_units(tensor, operand, run.tile, home_place(operand, run),
                          operand.part_of_group(run.group), chunk, run.first, run.last);
            }
            for (TileId tile = 0; operand.stays() && tile < grid_.tiles(); ++tile) {
                const TilePart part = grid_.part(tile);
                add_units(tensor, operand, tile, chunk_place(operand, part, chunk), part, chunk, 0,
                          operand.units(part, grid_.chunk(part.ik, chunk).size()));
            }
        }
        graph_.add_tensor(std::move(tensor));
    }

    void add_result() {
        graph::Tensor c = graph::wanted_tensor("c", ElementType::F16, {problem_.m, problem_.n});
        for (TileId tile = 0; tile < grid_.tiles(); ++tile) {
            const TilePart part = grid_.part(tile);
            const graph::CellGrid cells{.rows = grid_.rows(part.im).size(),
                                        .group = problem_.group,
                                        .first_row = grid_.rows(part.im).first,
                                        .first_group = grid_.out_groups(part.in).first,
                                        .host_inner = problem_.n,
                                        .host_row_stride = problem_.n,
                                        .cell_bytes = problem_.result_cell()};
            const Range share = grid_.share(part);
            graph::add_cells(c, tile, result_place(), cells, share.first, share.last);
        }
        graph_.add_tensor(std::move(c));
    }

    const spec::MachineSpec& machine_;
    const Grid& grid_;
    const Problem& problem_;
    const Partition& partition_;
    Operand a_;
    Operand b_;
    family::Planned planned_;
    graph::Graph& graph_;
    plan::PredictedCycles& predicted_;
    graph::BufferId out_; ///< partial results
    graph::BufferId weights_;
    graph::BufferId slices_;
    graph::BufferId x_;
    graph::BufferId home_a_;
    graph::BufferId home_b_;
    graph::BufferId bias_;
    graph::Tensor bias_tensor_;
    graph::BufferId result_;
    /// The cycles of a vertex of this shape after such copies.
    std::map<std::pair<codelets::MatmulVertexShape, std::vector<std::int64_t>>, Cycles>
        known_cycles_;
};

} // namespace

std::vector<std::string> codelets_of(const Problem& problem) {
    const std::string type(name_of(problem.partials));
    std::vector<std::string> sources{"matmul_amp_" + type, "reduce_add_" + type, "copy"};
    problem.epilogue.add_codelets(sources);
    return sources;
}

family::Planned emit(const spec::MachineSpec& machine, const Grid& grid, const std::string& name,
                     const StandingSquares& standing) {
    return Emitter(machine, grid, name, standing).run();
}

} // namespace tessera::matmul
