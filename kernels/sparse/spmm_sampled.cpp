// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_sampled.h"

#include "base/bytes.h"
#include "base/ceil_div.h"
#include "base/error.h"
#include "kernels/codelets/spmm_sampled_cost.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_lines.h"
#include "kernels/sparse/spmm_planned.h"
#include "kernels/sparse/spmm_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace tessera::sparse {
namespace {

using program::Role;

constexpr const char* kSampledOwner = "sddmm";
constexpr Bytes kSumBytes = 4;
constexpr Bytes kRowUnit = 8; ///< in which lists say where rows are

codelets::ProductTypes sum_types(const Problem& problem) {
    return {problem.types.data, ElementType::F32};
}

/// Neighbouring values of a block that stand in one of its rows.
struct Run {
    Bytes place = 0; ///< from the block's first value
    std::int64_t row = 0;
    std::int64_t column = 0;
};

std::int64_t run_length(const Problem& problem) {
    const auto& loops = problem.kind->value_loops;
    return loops.empty() ? 1 : std::min(loops.back().count, problem.block);
}

/// The runs of a block in the order in which its values stand.
std::vector<Run> runs_of_block(const Problem& problem) {
    const std::int64_t length = run_length(problem);
    std::vector<Run> runs{{}};
    std::vector<std::int64_t> elements{0};
    for (const program::PieceDim& dim : problem.kind->value_loops) {
        const bool is_last = &dim == &problem.kind->value_loops.back();
        const std::int64_t count = is_last ? dim.count / length : dim.count;
        const std::int64_t step = is_last ? length : 1;
        std::vector<Run> next;
        std::vector<std::int64_t> next_elements;
        for (std::size_t at = 0; at < runs.size(); ++at) {
            for (std::int64_t i = 0; i < count; ++i) {
                next.push_back({runs[at].place + i * step * dim.tile_stride, 0, 0});
                next_elements.push_back(elements[at] + i * step * dim.host_stride);
            }
        }
        runs = std::move(next);
        elements = std::move(next_elements);
    }
    for (std::size_t at = 0; at < runs.size(); ++at) {
        runs[at].row = elements[at] / problem.block;
        runs[at].column = elements[at] % problem.block;
    }
    std::ranges::sort(runs, {}, &Run::place);
    return runs;
}

std::int64_t units_of(const Problem& problem, std::int64_t blocks) {
    const std::int64_t whole =
        ceil_div(blocks, problem.kind->values_a_unit) * problem.kind->values_a_unit;
    return whole * problem.block * problem.block / run_length(problem);
}

/// Bytes of the sums of so many blocks, in whole units of values.
Bytes sums_bytes(const Problem& problem, std::int64_t blocks) {
    return units_of(problem, blocks) * run_length(problem) * kSumBytes;
}

std::string sampled_vertex(const Problem& problem) {
    return problem.types.data == ElementType::F32 ? "spmm_sampled_single" : "spmm_sampled_f32";
}

class SampledEmitter {
public:
    SampledEmitter(const spec::MachineSpec& machine, const Homes& x, const Homes& dy)
        : machine_(machine), x_homes_(x), dy_homes_(dy), partition_(x.partition()),
          problem_(partition_.problem()), split_(partition_.split()),
          runs_(runs_of_block(problem_)), planned_{graph::Graph(name_of(problem_)), {}},
          graph_(planned_.graph), division_(planned_.division) {}

    family::Planned run() {
        graph_.codelets = {fmt::format("spmm_sampled_{}", codelets::suffix(sum_types(problem_))),
                           fmt::format("reduce_add_{}", codelets::suffix(sum_types(problem_))),
                           "copy"};
        add_buffers();
        std::vector<graph::Step> steps;
        for (std::int64_t pass = 0; pass < split_.passes; ++pass) {
            add_pass(pass, steps);
        }
        reduce(steps);
        graph_.control = graph::sequence(std::move(steps));
        add_values(graph::given_tensor("a", problem_.types.data, shape()), a_);
        add_dense("dy", dy(), problem_.matrix->rows);
        add_dense("x", x(), problem_.matrix->columns);
        const Values made{sums_stay() ? sums_ : made_.of_parts, made_.at_home};
        add_values(graph::wanted_tensor("c", problem_.types.data, shape()), made);
        return std::move(planned_);
    }

private:
    [[nodiscard]] Lines x() const { return {x_homes_, x_, home_x_}; }
    [[nodiscard]] Lines dy() const { return {dy_homes_, dy_, home_dy_}; }
    [[nodiscard]] std::int64_t columns(std::int64_t in) const {
        return problem_.slice(split_, in).size();
    }
    /// Sums stand in the homes of the values if nothing is added to them, or rounded.
    [[nodiscard]] bool sums_stay() const {
        return split_.slices() == 1 && problem_.types.data == ElementType::F32;
    }

    /// Values of the matrix, or what is made for them.
    struct Values {
        graph::BufferId of_parts; ///< on the tiles of their parts
        graph::BufferId at_home;  ///< or on tiles of their own
    };

    void add_buffers() {
        const std::int64_t busy = split_.tiles();
        const std::int64_t all = machine_.chip.tiles;
        const Bytes line = problem_.line_bytes_of(problem_.widest_slice(split_));
        const bool pads = problem_.n % problem_.column_grain() != 0;
        const bool pads_x = pads || problem_.matrix->columns % problem_.block != 0;
        const bool pads_dy = pads || problem_.matrix->rows % problem_.block != 0;
        const Bytes values = ceil_div(partition_.most_blocks(), x_homes_.values_a_unit()) *
                             x_homes_.value_unit_bytes();
        sums_ = graph_.add_buffer({.name = "sums", .where = graph::Where::Region1}, busy,
                                  split_.passes * sums_bytes(problem_, partition_.most_blocks()));
        x_ = graph_.add_buffer({.name = "x", .padded = pads_x}, busy,
                               partition_.most_b_lines() * line);
        dy_ = graph_.add_buffer({.name = "dy", .padded = pads_dy, .apart = {x_}}, busy,
                                dy_homes_.partition().most_b_lines() * line);
        home_x_ = graph_.add_buffer({.name = "home of x", .padded = pads_x, .apart = {x_, dy_}},
                                    all, x_homes_.most_b_bytes());
        home_dy_ = graph_.add_buffer({.name = "home of dy", .padded = pads_dy, .apart = {x_, dy_}},
                                     all, dy_homes_.most_b_bytes());
        slices_ =
            graph_.add_buffer({.name = "slices", .where = graph::Where::Region1, .apart = {sums_}},
                              all, split_.slices() * most_home_units() * unit_sums());
        a_ = add_value_buffers(busy, values);
        made_ = add_value_buffers(busy, values);
    }
    Values add_value_buffers(std::int64_t busy, Bytes of_part) {
        Values made;
        made.of_parts =
            graph_.add_buffer({.name = "values"}, busy, x_homes_.values_stay() ? of_part : 0);
        made.at_home = graph_.add_buffer({.name = "home of values"}, machine_.chip.tiles,
                                         x_homes_.most_values_bytes());
        return made;
    }
    /// Bytes of the sums of a unit of values.
    [[nodiscard]] Bytes unit_sums() const { return sums_bytes(problem_, x_homes_.values_a_unit()); }
    [[nodiscard]] std::int64_t most_home_units() const {
        return x_homes_.most_values_bytes() / x_homes_.value_unit_bytes();
    }
    /// The sums of a part in pass `pass`.
    [[nodiscard]] graph::Place sums(const Part& part, std::int64_t pass) const {
        return {sums_, pass * sums_bytes(problem_, std::ssize(part.blocks))};
    }

    void add_pass(std::int64_t pass, std::vector<graph::Step>& steps) {
        const auto bring = graph_.add_exchange({"bring operands", Role::Bring, kSampledOwner});
        const auto multiply = graph_.add_compute_set(
            {"multiply", Role::Work, kSampledOwner, "products times columns"});
        graph::Bringing bringing{graph_, machine_, bring, multiply};
        const Range slices{pass * split_.parts_n, (pass + 1) * split_.parts_n};
        bring_lines(bringing, dy(), slices);
        bring_lines(bringing, x(), slices);
        Cycles slowest = 0;
        for (std::int64_t number = 0; number < split_.parts(); ++number) {
            const Part& part = partition_.part(number);
            if (part.blocks.empty()) {
                continue;
            }
            std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, Cycles> known;
            std::map<std::int64_t, program::SharedBytes> lists;
            for (std::int64_t in = slices.first; in < slices.last; ++in) {
                const TileId tile = partition_.tile(number, in);
                const std::int64_t width = columns(in);
                auto& list = lists[width];
                if (list == nullptr) {
                    list = list_of(number, width);
                }
                const graph::BufferId buffer = buffer_of(width);
                if (held_.insert({tile, buffer.index}).second) {
                    graph_.hold(buffer, tile, list);
                }
                add_vertex(multiply, tile, number, pass, width, buffer);
                division_.tiles_busy += pass == 0 ? 1 : 0;
                const std::vector<std::int64_t>& words = bringing.copied_words[tile];
                Cycles& cycles = known[{width, words}];
                if (cycles == 0) {
                    cycles = sampled_cycles(machine_, problem_, real(std::ssize(part.blocks)),
                                            width, words);
                }
                slowest = std::max(slowest, cycles);
            }
        }
        if (slowest > 0) {
            division_.predicted.compute += machine_.control.step_cycles + slowest;
        }
        graph::run_next(steps, bring, multiply);
    }

    graph::BufferId buffer_of(std::int64_t width) {
        const auto [at, is_new] = lists_.try_emplace(width);
        if (is_new) {
            at->second =
                graph_.add_buffer({.name = "lists", .kind = program::SegmentKind::Metadata});
        }
        return at->second;
    }

    /// Where each unit's row of dY is, and its first row of X. Units behind the last block fill up a
    /// unit of values.
    [[nodiscard]] program::SharedBytes list_of(std::int64_t number, std::int64_t width) const {
        const Part& part = partition_.part(number);
        const Part& left = dy_homes_.partition().part(number);
        const Bytes row_bytes = width * bytes_of(problem_.types.data);
        const auto at = [&](std::int64_t line, std::int64_t row) {
            return graph::half((line * problem_.block + row) * row_bytes / kRowUnit,
                               "8 bytes of a dense operand");
        };
        std::vector<std::uint16_t> list;
        std::size_t block = 0;
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            const std::int64_t line = left.local_line(part.rows[row]);
            for (std::int32_t i = 0; i < part.row_blocks[row]; ++i, ++block) {
                for (const Run& run : runs_) {
                    list.push_back(at(line, run.row));
                    list.push_back(at(part.local_b[block], run.column));
                }
            }
        }
        list.resize(static_cast<std::size_t>(2 * units_of(problem_, std::ssize(part.blocks))));
        return shared_bytes(list);
    }

    void add_vertex(graph::ComputeSetId set, TileId tile, std::int64_t number, std::int64_t pass,
                    std::int64_t width, graph::BufferId list) {
        const Part& part = partition_.part(number);
        const auto blocks = std::ssize(part.blocks);
        const std::int64_t units = units_of(problem_, blocks);
        const std::int64_t workers = machine_.tile.workers;
        const Bytes line_bytes = problem_.line_bytes_of(width);
        const Bytes row_bytes = line_bytes / problem_.block;
        static_cast<void>(plan::counted_rounds(machine_, row_bytes / kRowUnit, "columns"));
        graph_.add_work(set, tile, blocks * problem_.block * problem_.block * width);
        graph_.add_vertex(
            set, tile, sampled_vertex(problem_), program::VertexKind::MultiWorker,
            {graph::write(sums(part, pass), sums_bytes(problem_, blocks)),
             graph::read({list}, 4 * units),
             graph::read({dy_},
                         std::ssize(dy_homes_.partition().part(number).b_lines) * line_bytes),
             graph::read({x_}, std::ssize(part.b_lines) * line_bytes), graph::word(row_bytes),
             graph::word(run_length(problem_) - 1), graph::word(units / workers),
             graph::word(units % workers)});
    }

    /// Adds up the sums of all slices, or rounds those of one.
    void reduce(std::vector<graph::Step>& steps) {
        if (sums_stay()) {
            return;
        }
        const auto bring = graph_.add_exchange({"reduce: bring sums", Role::Reduce, kSampledOwner});
        const auto set =
            graph_.add_compute_set({"reduce", Role::Reduce, kSampledOwner, "partial results"});
        graph::Bringing bringing{graph_, machine_, bring, set};
        std::map<TileId, std::vector<family::PartialSum>> jobs;
        if (x_homes_.values_stay()) {
            for (std::int64_t number = 0; number < split_.parts(); ++number) {
                const Part& part = partition_.part(number);
                const Bytes bytes = sums_bytes(problem_, std::ssize(part.blocks));
                if (bytes > 0) {
                    jobs[partition_.tile(number, 0)].push_back(
                        {sums(part, 0),
                         split_.passes > 1 ? sums(part, 1) : sums(part, 0),
                         split_.passes - 1,
                         bytes / 16,
                         {made_.of_parts}});
                }
            }
        } else {
            bring_sums(bringing, jobs);
        }
        Cycles slowest = 0;
        for (const auto& [tile, sums] : jobs) {
            plan::StubTimeline stub(machine_, false);
            for (const std::int64_t words : bringing.copied_words[tile]) {
                stub.copy(words);
            }
            for (const family::PartialSum& sum : sums) {
                family::add_sum(graph_, machine_, set, tile, sum_types(problem_), sum);
                stub.reduce(sum_types(problem_), sum.units, sum.slices);
            }
            slowest = std::max(slowest, stub.finish());
        }
        if (slowest > 0) {
            division_.predicted.add_sums(machine_.control.step_cycles + slowest);
        }
        graph::run_next(steps, bring, set);
    }

    /// Each home of values gets what all tiles of the part have of them. Homes begin with other tiles.
    void bring_sums(graph::Bringing& bringing,
                    std::map<TileId, std::vector<family::PartialSum>>& jobs) {
        std::map<TileId, Bytes> filled;
        struct Message {
            TileId from;
            graph::Place place;
            Bytes bytes;
            graph::Receiver to;
        };
        std::vector<std::vector<Message>> turns(static_cast<std::size_t>(split_.slices()));
        std::size_t number_of_home = 0;
        for (const HomeRun& run : x_homes_.values()) {
            const auto number = static_cast<std::int64_t>(run.group);
            const Part& part = partition_.part(number);
            const Bytes bytes = run.units() * unit_sums();
            Bytes& offset = filled[run.tile];
            family::PartialSum sum{
                {}, {slices_, offset}, 0, bytes / 16, {made_.at_home, run.offset}};
            const auto own = [&](std::int64_t in) {
                return sums(part, in / split_.parts_n) + run.first * unit_sums();
            };
            bool has_own = false;
            std::vector<std::int64_t> others;
            for (std::int64_t in = 0; in < split_.slices(); ++in) {
                if (!has_own && partition_.tile(number, in) == run.tile) {
                    has_own = true;
                    sum.own = own(in);
                } else {
                    others.push_back(in);
                }
            }
            for (std::size_t i = 0; i < others.size(); ++i) {
                const std::size_t turn = (i + number_of_home) % others.size();
                turns[turn].push_back({partition_.tile(number, others[i]),
                                       own(others[i]),
                                       bytes,
                                       {run.tile, {slices_, offset}}});
                offset += bytes;
            }
            if (!has_own) {
                sum.own = sum.others;
                sum.others = sum.others + bytes;
            }
            sum.slices = split_.slices() - 1;
            jobs[run.tile].push_back(sum);
            ++number_of_home;
        }
        for (const std::vector<Message>& turn : turns) {
            for (const Message& message : turn) {
                bringing.add(message.from, message.place, message.bytes, message.to);
            }
        }
    }

    void add_dense(const char* name, const Lines& lines, std::int64_t rows) {
        graph::Tensor tensor = graph::given_tensor(name, problem_.types.data, {rows, problem_.n});
        add_pieces(tensor, lines, rows);
        graph_.add_tensor(std::move(tensor));
    }

    void add_values(graph::Tensor tensor, const Values& values) {
        add_values_at_home(tensor, x_homes_, partition_, values.of_parts, values.at_home);
        graph_.add_tensor(std::move(tensor));
    }
    [[nodiscard]] std::vector<std::int64_t> shape() const {
        return {problem_.matrix->blocks(), problem_.block, problem_.block};
    }

    const spec::MachineSpec& machine_;
    const Homes& x_homes_;
    const Homes& dy_homes_;
    const Partition& partition_;
    const Problem& problem_;
    const Split& split_;
    std::vector<Run> runs_;
    family::Planned planned_;
    graph::Graph& graph_;
    family::Division& division_;
    graph::BufferId sums_;
    graph::BufferId x_;
    graph::BufferId dy_;
    graph::BufferId home_x_;
    graph::BufferId home_dy_;
    graph::BufferId slices_;
    Values a_; ///< no vertex reads them
    Values made_;
    std::map<std::int64_t, graph::BufferId> lists_; ///< by columns of a slice
    std::set<std::pair<TileId, std::uint32_t>> held_;
};

} // namespace

Partition left_lines(const Partition& cut, const workload::SparsePattern& transpose,
                     std::span<const std::int64_t> from) {
    Problem problem = cut.problem();
    problem.matrix = &transpose;
    problem.pass = Pass::Transposed;
    return Partition(problem, cut, from);
}

family::Planned emit_sampled(const spec::MachineSpec& machine, const Homes& x, const Homes& dy) {
    family::Planned made = SampledEmitter(machine, x, dy).run();
    static_cast<family::Cuts&>(made.division) = cuts_of(x.partition().split());
    return made;
}

Cycles sampled_cycles(const spec::MachineSpec& machine, const Problem& problem, double blocks,
                      std::int64_t columns, const std::vector<std::int64_t>& copied_words) {
    plan::StubTimeline stub(machine, false);
    for (const std::int64_t words : copied_words) {
        stub.copy(words);
    }
    const std::int64_t units = units_of(problem, static_cast<std::int64_t>(std::ceil(blocks)));
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t words = columns * bytes_of(problem.types.data) / kRowUnit;
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        issues.push_back(codelets::sampled_issues(
            units / workers + (worker < units % workers ? 1 : 0), run_length(problem), words));
    }
    stub.multi_worker(issues);
    return stub.finish();
}

plan::PredictedCycles sampled_reduction(const spec::MachineSpec& machine,
                                        const plan::ExchangeCost& exchange, const Problem& problem,
                                        const Split& split, double blocks) {
    plan::PredictedCycles cycles;
    const std::int64_t slices = split.slices();
    if (slices == 1 && problem.types.data == ElementType::F32) {
        return cycles;
    }
    // values stand on all tiles if several tiles have sums of them
    const double own = split.parts_n == 1
                           ? blocks
                           : std::max(1.0, real(split.parts()) * blocks / real(machine.chip.tiles));
    const Bytes bytes = sums_bytes(problem, static_cast<std::int64_t>(std::ceil(own)));
    plan::StubTimeline stub(machine, false);
    stub.reduce(sum_types(problem), bytes / 16, slices - 1);
    cycles.add_sums(machine.control.step_cycles + stub.finish());
    if (split.parts_n > 1) {
        const double events = real(slices * bytes) / real(4 * machine.exchange.lane_items());
        const auto moves = exchange.to_all_over(split.tiles()) + static_cast<Cycles>(events);
        cycles.exchange += moves;
        cycles.sync += machine.sync.internal_cycles;
        cycles.reduction += moves + machine.sync.internal_cycles;
    }
    return cycles;
}

Bytes sampled_bytes(const Problem& problem, const Split& split, double x_lines, double dy_lines,
                    double blocks) {
    const Bytes line = problem.line_bytes_of(problem.widest_slice(split));
    const auto whole = static_cast<std::int64_t>(std::ceil(blocks));
    const Bytes lines = static_cast<Bytes>((x_lines + dy_lines) * real(line));
    return lines + split.passes * sums_bytes(problem, whole) + 4 * units_of(problem, whole) +
           whole * problem.value_bytes();
}

} // namespace tessera::sparse
