// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_graph.h"

#include "base/bytes.h"
#include "base/error.h"
#include "kernels/graph/copy.h"
#include "kernels/lower/placing.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_lines.h"
#include "kernels/sparse/spmm_tensors.h"
#include "kernels/sparse/spmm_turn.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tessera::sparse {
namespace {

using program::Role;

constexpr const char* kOwner = "spmm";

class Emitter {
public:
    Emitter(const spec::MachineSpec& machine, const Homes& homes, const Reduction& reduction,
            const std::string& name, const std::optional<OfMatrix>& matrix)
        : machine_(machine), homes_(homes), partition_(homes.partition()),
          cut_(matrix ? matrix->cut : partition_), problem_(partition_.problem()),
          split_(partition_.split()), reduction_(reduction),
          matrix_(matrix), planned_{graph::Graph(name), {}}, graph_(planned_.graph),
          division_(planned_.division) {}

    family::Planned run() {
        graph_.codelets = codelets_of(problem_);
        add_buffers();
        std::vector<graph::BufferId> standing = partials_;
        standing.insert(standing.end(), {b_, multiplied_});
        lower::check_together(machine_, graph_, standing, "multiply");
        std::vector<graph::Step> steps;
        for (std::int64_t pass = 0; pass < split_.passes; ++pass) {
            add_pass({pass * split_.parts_n, (pass + 1) * split_.parts_n}, steps);
        }
        graph_.control = graph::sequence(std::move(steps));
        add_values_tensor();
        add_dense_tensor();
        add_result_tensor();
        planned_.has_given_a = turns();
        return std::move(planned_);
    }

private:
    /// The values, which stay, come with the first slices of B.
    void add_pass(const Range& slices, std::vector<graph::Step>& steps) {
        const auto bring = graph_.add_exchange({"bring operands", Role::Bring, kOwner});
        const bool turns_now = turns() && slices.first == 0;
        const auto multiply =
            graph_.add_compute_set({"multiply", Role::Work, kOwner, work_unit(), "row"});
        graph::ComputeSetId first = multiply;
        if (turns_now) {
            first = graph_.add_compute_set({"transpose values", Role::Rearrange, kOwner, "bytes"});
        }
        graph::Bringing bringing{graph_, machine_, bring, first};
        if (slices.first == 0) {
            bring_values(bringing);
        }
        bring_lines(bringing, lines(), slices);
        graph::run_next(steps, bring);
        if (turns_now) {
            add_turn(first, std::exchange(bringing.copied_words, {}));
            graph::run_next(steps, first);
        }
        add_multiply(multiply, slices, bringing.copied_words);
        graph::run_next(steps, multiply);
        if (!reduction_.jobs.empty()) {
            add_reduction(slices, steps);
        }
    }

    [[nodiscard]] bool turns() const { return matrix_.has_value(); }

    /// Each tile's values into the order in which it multiplies them.
    void add_turn(graph::ComputeSetId set, std::map<TileId, std::vector<std::int64_t>> copied) {
        Cycles slowest = 0;
        for (std::int64_t number = 0; number < split_.parts(); ++number) {
            const Part& part = partition_.part(number);
            const auto blocks = std::ssize(part.blocks);
            if (blocks == 0) {
                continue;
            }
            const auto order = shared_bytes(order_of(part, cut_.part(number), matrix_->from));
            for (std::int64_t in = 0; in < split_.parts_n; ++in) {
                const TileId tile = partition_.tile(number, in);
                graph_.hold(order_, tile, order);
                sparse::add_turn(graph_, machine_, set, tile, problem_, blocks, values_,
                                 multiplied_, order_);
                slowest = std::max(slowest, turn_cycles(machine_, problem_, blocks, copied[tile]));
            }
        }
        if (slowest > 0) {
            division_.predicted.compute += machine_.control.step_cycles + slowest;
        }
    }

    /// Of a tile's non-zeros, or blocks of them, times its columns; these differ where they cannot
    /// be dealt evenly.
    [[nodiscard]] std::string work_unit() const {
        const bool even = columns(0) == columns(split_.slices() - 1);
        return std::string(problem_.kind->unit) + (even ? "" : " times columns");
    }

    [[nodiscard]] std::int64_t columns(std::int64_t in) const {
        return problem_.slice(split_, in).size();
    }

    void add_buffers() {
        using graph::Where;
        const std::int64_t busy = split_.tiles();
        const std::int64_t all = machine_.chip.tiles;
        const std::int64_t widest = problem_.widest_slice(split_);
        const Bytes b_bytes = partition_.most_b_lines() * problem_.line_bytes_of(widest);
        check_reach(b_bytes - problem_.line_bytes_of(widest));
        // Paced accesses keep B and partials apart, delta lists B and metadata, an exchange what it
        // sends and receives.
        const bool pads_b = problem_.n % problem_.column_grain() != 0 ||
                            problem_.matrix->columns % problem_.block != 0;
        const BlockKind& kind = *problem_.kind;
        // Results that stand in partials stay there, the passes' side by side.
        for (std::int64_t pass = 0; pass == 0 || (partials_stay() && pass < split_.passes);
             ++pass) {
            partials_.push_back(graph_.add_buffer(
                {.name = "partials", .where = Where::Region1, .read_beyond = kind.partials_beyond},
                busy, partition_.most_rows() * problem_.partial_line_bytes(widest)));
        }
        b_ = graph_.add_buffer({.name = "b",
                                .where = kind.b,
                                .read_beyond = kind.b_beyond,
                                .padded = pads_b,
                                .apart = partials_},
                               busy, b_bytes);
        const Bytes value_bytes =
            ceil_div(partition_.most_blocks(), homes_.values_a_unit()) * homes_.value_unit_bytes();
        values_ = graph_.add_buffer(
            {.name = "values", .where = kind.values, .read_beyond = kReadAhead}, busy, value_bytes);
        multiplied_ = values_;
        if (turns()) {
            order_ = graph_.add_buffer({.name = "order", .kind = program::SegmentKind::Metadata});
            multiplied_ = graph_.add_buffer({.name = "transposed values",
                                             .where = kind.values,
                                             .read_beyond = kReadAhead,
                                             .apart = {values_}},
                                            busy, value_bytes);
        }
        slices_ =
            graph_.add_buffer({.name = "slices", .where = Where::Region1, .apart = partials_}, busy,
                              reduction_.most_slices() * problem_.partial_line_bytes(widest));
        home_b_ = graph_.add_buffer({.name = "home of b", .padded = pads_b, .apart = {b_, values_}},
                                    all, homes_.most_b_bytes());
        home_values_ = graph_.add_buffer({.name = "home of values", .apart = {b_, values_}}, all,
                                         homes_.most_values_bytes());
        result_bytes_ = reduction_.most_results() * problem_.line_bytes_of(widest);
        result_ = graph_.add_buffer({.name = "result"}, busy, split_.passes * result_bytes_);
        empty_bytes_ = ceil_div(std::ssize(reduction_.empty_rows), split_.parts()) *
                       problem_.line_bytes_of(widest);
        empty_rows_ = graph_.add_buffer({.name = "empty rows", .zeroed = true}, busy,
                                        split_.passes * empty_bytes_);
    }
    [[nodiscard]] bool partials_stay() const { return problem_.types.sums_are_results(); }
    [[nodiscard]] graph::BufferId partials(std::int64_t in) const {
        return partials_[partials_stay() ? static_cast<std::size_t>(pass_of(in)) : 0];
    }
    /// Lists of slice `in`. They say where lines of B begin, which the width of a slice decides, and some where partial
    /// results do: passes that are alike in that have the same.
    graph::BufferId lists_of(std::int64_t in) {
        const bool widest = split_.passes == 1 || columns(in) == problem_.widest_slice(split_);
        const auto partial_lines =
            problem_.kind->lists_partials ? partials(in).index : std::uint32_t{0};
        const auto [at, is_new] = lists_.try_emplace({widest, partial_lines});
        if (is_new) {
            at->second = graph_.add_buffer(
                {.name = "lists", .kind = program::SegmentKind::Metadata, .apart = {b_}});
        }
        return at->second;
    }
    void check_reach(Bytes last_line) const {
        const auto furthest = problem_.kind->reach;
        if (furthest && last_line > *furthest) {
            throw DoesNotFit(
                fmt::format("{} does not fit in tile memory: the lines of X that a part "
                            "needs are {} bytes over what its lists of offsets reach",
                            graph_.name, last_line - *furthest));
        }
    }

    [[nodiscard]] graph::Place partial_line(std::int64_t part, std::int64_t row,
                                            std::int64_t in) const {
        return {partials(in),
                partition_.part(part).local_row(row) * problem_.partial_line_bytes(columns(in))};
    }
    [[nodiscard]] graph::Place slice(const SumJob& job, std::size_t other,
                                     std::int64_t width) const {
        const std::int64_t line = job.slices_offset + static_cast<std::int64_t>(other) * job.rows;
        return {slices_, line * problem_.partial_line_bytes(width)};
    }
    /// Lines of C that a job of slice `in` makes.
    [[nodiscard]] graph::Place result(const SumJob& job, std::int64_t in) const {
        return {result_, pass_of(in) * result_bytes_ +
                             job.result_offset * problem_.line_bytes_of(columns(in))};
    }
    [[nodiscard]] std::int64_t pass_of(std::int64_t in) const { return in / split_.parts_n; }

    void bring_values(graph::Bringing& bringing) {
        std::vector<graph::Receiver> receivers;
        for (const HomeRun& run : homes_.values()) {
            receivers.clear();
            for (std::int64_t in = 0; in < split_.parts_n; ++in) {
                receivers.push_back({partition_.tile(static_cast<std::int64_t>(run.group), in),
                                     {values_, run.first * homes_.value_unit_bytes()}});
            }
            bringing.add(run.tile, {home_values_, run.offset},
                         run.units() * homes_.value_unit_bytes(), receivers, homes_.values_wide());
        }
    }

    void add_multiply(graph::ComputeSetId set, const Range& slices,
                      std::map<TileId, std::vector<std::int64_t>>& copied) {
        Cycles slowest = 0;
        for (std::int64_t number = 0; number < split_.parts(); ++number) {
            const Part& part = partition_.part(number);
            if (part.blocks.empty()) {
                continue;
            }
            std::map<std::int64_t, PartLists> lists_of_width;
            std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, Cycles> known;
            for (std::int64_t in = slices.first; in < slices.last; ++in) {
                const TileId tile = partition_.tile(number, in);
                const std::int64_t width = columns(in);
                const graph::BufferId buffer = lists_of(in);
                PartLists& lists = lists_of_width[width];
                if (lists.contents == nullptr) {
                    lists = problem_.kind->lists(graph_, machine_, problem_, part, width,
                                                 {multiplied_, buffer, b_, partials(in)});
                }
                if (held_lists_.insert({tile, buffer.index}).second) {
                    graph_.hold(buffer, tile, lists.contents, lists.relocations);
                }
                graph_.add_work(set, tile, std::ssize(part.blocks) * width);
                graph_.add_item(set, tile, lists.largest_row);
                add_vertex(set, tile, in, part, lists, buffer);
                division_.tiles_busy += pass_of(in) == 0 ? 1 : 0;
                const std::vector<std::int64_t>& words = copied[tile];
                Cycles& cycles = known[{width, words}];
                if (cycles == 0) {
                    cycles = multiply_cycles(machine_, problem_, part, width, words);
                }
                slowest = std::max(slowest, cycles);
            }
        }
        if (division_.tiles_busy > 0) { // else there is no step
            division_.predicted.compute += machine_.control.step_cycles + slowest;
        }
    }

    /// Vertices reach B and partials, and workers their share of lists and values, by offsets of
    /// their own: what they use in all is said once.
    void add_vertex(graph::ComputeSetId set, TileId tile, std::int64_t in, const Part& part,
                    const PartLists& lists, graph::BufferId held) {
        const std::int64_t width = columns(in);
        const Bytes values = std::ssize(part.blocks) * problem_.value_bytes();
        const Bytes lines = std::ssize(part.b_lines) * problem_.line_bytes_of(width);
        const Bytes partial_lines = std::ssize(part.rows) * problem_.partial_line_bytes(width);
        std::vector<graph::Field> state = lists.state;
        using graph::Access;
        state.insert(state.end(), {graph::use({held}, std::ssize(*lists.contents), Access::Read),
                                   graph::use({multiplied_}, values, Access::Read),
                                   graph::use({b_}, lines, Access::Read),
                                   graph::use({partials(in)}, partial_lines, Access::Write)});
        graph_.add_vertex(set, tile, problem_.kind->vertex, problem_.kind->vertex_kind, state);
    }

    void add_reduction(const Range& slices, std::vector<graph::Step>& steps) {
        const auto bring =
            graph_.add_exchange({"reduce: bring partial rows", Role::Reduce, kOwner});
        std::size_t turns = 0;
        for (const SumJob& job : reduction_.jobs) {
            turns = std::max(turns, job.others.size());
        }
        for (std::size_t turn = 0; turn < turns; ++turn) {
            for (const SumJob& job : reduction_.jobs) {
                if (turn < job.others.size()) {
                    bring_partials(bring, job, slices, turn);
                }
            }
        }
        const auto reduce =
            graph_.add_compute_set({"reduce", Role::Reduce, kOwner, "partial results"});
        Cycles slowest = 0;
        for (std::int64_t part = 0; part < split_.parts(); ++part) {
            const auto& jobs = reduction_.jobs_of_part[static_cast<std::size_t>(part)];
            for (std::int64_t in = slices.first; in < slices.last && !jobs.empty(); ++in) {
                plan::StubTimeline stub(machine_, false);
                for (const std::size_t number : jobs) {
                    const SumJob& job = reduction_.jobs[number];
                    const std::int64_t units =
                        job.rows * problem_.partial_line_bytes(columns(in)) / 16;
                    family::add_sum(
                        graph_, machine_, reduce, partition_.tile(part, in), problem_.types,
                        {partial_line(part, job.first_row, in), slice(job, 0, columns(in)),
                         std::ssize(job.others), units, result(job, in)});
                    stub.reduce(problem_.types, units, std::ssize(job.others));
                }
                slowest = std::max(slowest, stub.finish());
            }
        }
        division_.predicted.add_sums(machine_.control.step_cycles + slowest);
        graph::run_next(steps, bring, reduce);
    }

    void bring_partials(graph::ExchangeId bring, const SumJob& job, const Range& slices,
                        std::size_t turn) {
        const std::size_t other =
            (turn + static_cast<std::size_t>(job.reducer)) % job.others.size();
        for (std::int64_t in = slices.first; in < slices.last; ++in) {
            const std::int64_t width = columns(in);
            graph_.add_message(bring, partition_.tile(job.others[other], in),
                               partial_line(job.others[other], job.first_row, in),
                               job.rows * problem_.partial_line_bytes(width),
                               {partition_.tile(job.reducer, in), slice(job, other, width)});
        }
    }

    void add_values_tensor() {
        const std::int64_t block = problem_.block;
        graph::Tensor tensor = graph::given_tensor("a", problem_.types.data,
                                                   {problem_.matrix->blocks(), block, block});
        add_values_at_home(tensor, homes_, cut_, values_, home_values_);
        graph_.add_tensor(std::move(tensor));
    }

    void add_dense_tensor() {
        graph::Tensor tensor =
            graph::given_tensor("b", problem_.types.data, {problem_.matrix->columns, problem_.n});
        add_pieces(tensor, lines(), problem_.matrix->columns);
        graph_.add_tensor(std::move(tensor));
    }
    [[nodiscard]] Lines lines() const { return {homes_, b_, home_b_}; }

    void add_result_tensor() {
        graph::Tensor tensor =
            graph::wanted_tensor("c", problem_.types.data, {problem_.matrix->rows, problem_.n});
        for (std::int64_t in = 0; in < split_.slices(); ++in) {
            const graph::CellGrid cells =
                cells_of(problem_, problem_.matrix->rows, problem_.slice(split_, in),
                         problem_.kind->by_halves);
            for (const SumJob& job : reduction_.jobs) {
                add_lines(tensor, partition_.tile(job.reducer, in), result(job, in), cells,
                          problem_.block, job.first_row, job.rows);
            }
            if (partials_stay()) {
                add_sole_rows(tensor, cells, in);
            }
            add_empty_rows(tensor, cells, in);
        }
        graph_.add_tensor(std::move(tensor));
    }

    /// Rows that one part alone contributes to stand in its partials: they are the result.
    void add_sole_rows(graph::Tensor& tensor, const graph::CellGrid& cells, std::int64_t in) const {
        const std::int64_t rows = problem_.matrix->block_rows();
        for (std::int64_t first = 0; first < rows;) {
            const std::vector<std::int32_t>& parts = partition_.contributors(first);
            const std::int64_t last = partition_.end_of_run(first);
            if (parts.size() == 1) {
                add_lines(tensor, partition_.tile(parts[0], in), partial_line(parts[0], first, in),
                          cells, problem_.block, first, last - first);
            }
            first = last;
        }
    }

    /// Rows of C without blocks stand evenly on the tiles of a slice.
    void add_empty_rows(graph::Tensor& tensor, const graph::CellGrid& cells,
                        std::int64_t in) const {
        const Bytes line_bytes = problem_.line_bytes_of(cells.rows);
        for (std::int64_t part = 0; part < split_.parts(); ++part) {
            const Range own =
                plan::part_of(std::ssize(reduction_.empty_rows), split_.parts(), part);
            const auto row = [&](std::int64_t at) {
                return std::int64_t{reduction_.empty_rows[static_cast<std::size_t>(at)]};
            };
            for (std::int64_t at = own.first; at < own.last;) {
                const std::int64_t first = at++;
                while (at < own.last && row(at) == row(at - 1) + 1) {
                    ++at;
                }
                add_lines(
                    tensor, partition_.tile(part, in),
                    {empty_rows_, pass_of(in) * empty_bytes_ + (first - own.first) * line_bytes},
                    cells, problem_.block, row(first), at - first);
            }
        }
    }

    const spec::MachineSpec& machine_;
    const Homes& homes_;
    const Partition& partition_;
    const Partition& cut_; ///< of the matrix whose values stand on the tiles
    const Problem& problem_;
    const Split& split_;
    const Reduction& reduction_;
    const std::optional<OfMatrix>& matrix_;
    family::Planned planned_;
    graph::Graph& graph_;
    family::Division& division_;
    std::vector<graph::BufferId> partials_; ///< by pass where they stay
    graph::BufferId b_;
    graph::BufferId values_;
    graph::BufferId multiplied_; ///< values in the order in which the vertices read them
    graph::BufferId order_;
    graph::BufferId slices_;
    graph::BufferId home_b_;
    graph::BufferId home_values_;
    std::map<std::pair<bool, std::uint32_t>, graph::BufferId> lists_; ///< see lists_of
    std::set<std::pair<TileId, std::uint32_t>> held_lists_; ///< that an earlier pass brought
    graph::BufferId result_;
    Bytes result_bytes_ = 0; ///< of a pass
    Bytes empty_bytes_ = 0;  ///< of a pass
    graph::BufferId empty_rows_;
};

} // namespace

std::vector<std::string> codelets_of(const Problem& problem) {
    std::vector<std::string> names = problem.kind->codelets;
    names.push_back(fmt::format("reduce_add_{}", codelets::suffix(problem.types)));
    names.emplace_back("copy");
    if (problem.pass == Pass::Transposed) {
        names.push_back(turn_codelet(problem));
    }
    return names;
}

family::Planned emit(const spec::MachineSpec& machine, const Homes& homes,
                     const Reduction& reduction, const std::string& name,
                     const std::optional<OfMatrix>& matrix) {
    return Emitter(machine, homes, reduction, name, matrix).run();
}

} // namespace tessera::sparse
