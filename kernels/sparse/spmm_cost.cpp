// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_cost.h"

#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/codelets/reduce_add_cost.h"
#include "kernels/codelets/spmm_elementwise_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "models/timing/exchange_latency.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::spmm {
namespace {

/// Control events of a message at its receiver; they hide behind its words where there are more of
/// these.
constexpr double kEventsPerMessage = 3;
/// What irregular messages cost over the busiest tile's words (planned: 1.1 .. 1.6), and regular
/// ones.
constexpr double kIrregular = 1.3;
constexpr double kRegular = 1.1;
/// The fullest tile's share over the average one's.
constexpr double kUneven = 1.1;
/// Cycles of a reduction's launch.
constexpr double kLaunchCycles = 30;

/// That a message of `bytes` takes on a lane.
double message_events(const spec::MachineSpec& machine, Bytes bytes) {
    return static_cast<double>(timing::LaneTiming{machine.exchange}.events(bytes / 4));
}

double value_events(const spec::MachineSpec& machine, const Problem& problem, const Split& split,
                    double blocks) {
    const double lane_bytes = static_cast<double>(4 * machine.exchange.lane_items());
    const double events = blocks * static_cast<double>(problem.value_bytes()) / lane_bytes;
    return machine.exchange.pairs() && split.parts_n % 2 == 0 ? events / 2 : events;
}

/// Tiles with the same slice of X are all over the tiles, those with the same values are
/// neighbours.
double bring_overhead(const plan::ExchangeCost& cost, const Split& split) {
    return static_cast<double>(split.parts_m > 1 ? cost.to_all_over(split.tiles())
                                                 : cost.to_neighbours(split.tiles()));
}

double move_overhead(const plan::ExchangeCost& cost, const Split& split) {
    return static_cast<double>(cost.to_neighbours(split.tiles()));
}

/// Averages over the parts of a split.
struct Averages {
    double blocks = 0;       ///< of a part
    double rows = 0;         ///< of a part that have blocks
    double lines = 0;        ///< of X that a part touches
    double band_lines = 0;   ///< of X in a band
    double contributors = 0; ///< of a row with blocks
    double columns = 0;
};

/// How many of `places` are hit by `throws`.
double hit(double places, double throws) {
    return places <= 1 ? std::min(places, throws) : places * (1 - std::pow(1 - 1 / places, throws));
}

Averages averages(const Problem& problem, const Split& split) {
    const workload::SparsePattern& a = *problem.matrix;
    Averages average;
    average.blocks = static_cast<double>(a.blocks()) / static_cast<double>(split.parts());
    average.band_lines =
        static_cast<double>(a.block_columns()) / static_cast<double>(split.parts_k);
    average.rows = hit(static_cast<double>(a.block_rows()) / static_cast<double>(split.parts_m),
                       average.blocks);
    average.lines = hit(average.band_lines, average.blocks);
    const double rows = hit(static_cast<double>(a.block_rows()), static_cast<double>(a.blocks()));
    average.contributors = average.rows * static_cast<double>(split.parts()) / std::max(rows, 1.0);
    average.columns = static_cast<double>(problem.widest_slice(split));
    return average;
}

/// Blocks of the fullest row.
double longest_row(const Problem& problem) {
    const std::vector<std::int64_t>& start = problem.matrix->row_start;
    std::int64_t longest = 0;
    for (std::size_t row = 0; row + 1 < start.size(); ++row) {
        longest = std::max(longest, start[row + 1] - start[row]);
    }
    return static_cast<double>(longest);
}

double multiply(const spec::MachineSpec& machine, const Problem& problem, const Split& split,
                const Averages& average) {
    const auto workers = static_cast<double>(machine.tile.workers);
    const auto turn = static_cast<double>(machine.tile.round_cycles());
    const bool half = problem.partials == ElementType::F16;
    // a row is never cut: neither between tiles nor, for elements, between workers
    const double row = longest_row(problem) / static_cast<double>(split.parts_k);
    if (problem.block == 1) {
        const auto row_issues =
            static_cast<double>(codelets::elementwise_row_issues(problem.partials));
        const auto non_zero_issues = static_cast<double>(codelets::kElementwiseNonZero);
        const double all =
            turn / workers * (non_zero_issues * average.blocks + row_issues * average.rows);
        const double fullest = std::max(kUneven * all, turn * (non_zero_issues * row + row_issues));
        return 40 + static_cast<double>(codelets::kElementwiseFrame) * turn +
               average.columns / 8 *
                   (static_cast<double>(codelets::kElementwiseGroup) * turn + fullest);
    }
    const double mean_row = average.blocks / std::max(average.rows, 1.0);
    const double rows = std::ceil(static_cast<double>(problem.matrix->block_rows()) /
                                  static_cast<double>(split.parts_m));
    const double fullest =
        std::max({average.blocks, row, std::min(rows, average.rows + 1) * mean_row});
    const double rounds = std::ceil(average.columns / workers);
    const double steps = 4 * rounds + 10;
    const auto weights = static_cast<double>(codelets::weight_loads(problem.partials));
    const double load = weights + 25 + turn * (steps / machine.amp.steps_per_issue + 10);
    return 200 + fullest * (half ? 1 : 2) * load;
}

/// Consecutive rows for each team, nearly equal work.
std::vector<Range> deal_rows(const Problem& problem, const Part& part, std::int64_t teams) {
    std::int64_t all = 0;
    for (const std::int32_t blocks : part.row_blocks) {
        all += problem.row_work(blocks);
    }
    std::vector<Range> rows(static_cast<std::size_t>(teams));
    std::int64_t done = 0;
    std::int64_t row = 0;
    for (std::size_t team = 0; team < rows.size(); ++team) {
        rows[team].begin = row;
        const std::int64_t until = 2 * all * static_cast<std::int64_t>(team + 1) / teams;
        while (row < static_cast<std::int64_t>(part.rows.size())) {
            const std::int64_t work =
                problem.row_work(part.row_blocks[static_cast<std::size_t>(row)]);
            if (team + 1 < rows.size() && 2 * done + work > until) {
                break;
            }
            done += work;
            ++row;
        }
        rows[team].end = row;
    }
    return rows;
}

/// Shares of `teams` teams of `team_workers` workers each.
std::vector<Share> shares_of(const Problem& problem, const Part& part, std::int64_t column_groups,
                             std::int64_t teams, std::int64_t team_workers) {
    std::vector<Share> shares;
    std::int64_t first_block = 0;
    for (const Range& rows : deal_rows(problem, part, teams)) {
        std::int64_t blocks = 0;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            blocks += part.row_blocks[static_cast<std::size_t>(row)];
        }
        for (std::int64_t member = 0; member < team_workers; ++member) {
            shares.push_back({rows,
                              {member * column_groups / team_workers,
                               (member + 1) * column_groups / team_workers},
                              first_block,
                              blocks});
        }
        first_block += blocks;
    }
    return shares;
}

std::int64_t issues_of(const Problem& problem, const Share& share) {
    return codelets::elementwise_issues(problem.partials, share.rows.length(), share.blocks,
                                        share.groups.length());
}

std::int64_t slowest_issues(const Problem& problem, const std::vector<Share>& shares) {
    std::int64_t most = 0;
    for (const Share& share : shares) {
        most = std::max(most, issues_of(problem, share));
    }
    return most;
}

} // namespace

plan::PredictedCycles estimate(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                               const Problem& problem, const Split& split) {
    const Averages average = averages(problem, split);
    plan::PredictedCycles cycles;
    const double line_events =
        message_events(machine, problem.x_line_bytes(problem.widest_slice(split)));
    double exchange = 0;
    if (split.parts_m > 1) {
        // lines that everybody needs come in few long messages
        const double scattered = 1 - average.lines / average.band_lines;
        exchange += (scattered > 0.25 ? kIrregular : kRegular) * average.lines *
                    std::max(line_events, kEventsPerMessage * scattered);
    }
    if (split.parts_n > 1) {
        exchange += kRegular * value_events(machine, problem, split, average.blocks);
    }
    Cycles syncs = exchange > 0 ? 1 : 0;
    exchange += exchange > 0 ? bring_overhead(cost, split) : 0;
    double compute = multiply(machine, problem, split, average) +
                     static_cast<double>(machine.control.step_cycles);
    const bool half = problem.partials == ElementType::F16;
    if (average.contributors > 1.02 || !half) {
        const auto line_bytes =
            static_cast<double>(problem.partial_line_bytes(problem.widest_slice(split)));
        const double more = std::max(average.contributors - 1, 0.0);
        const double own_rows = average.rows / std::max(average.contributors, 1.0);
        // rows of dense parts make long runs; single rows make a job each
        const double scattered =
            1 - std::min(1.0, average.rows * static_cast<double>(split.parts_m) /
                                  static_cast<double>(problem.matrix->block_rows()));
        const double jobs = 2 + own_rows * scattered * (split.parts_k > 1 ? 1 : 0);
        const double units = own_rows * line_bytes / 16;
        const auto workers = static_cast<double>(machine.tile.workers);
        const auto turn = static_cast<double>(machine.tile.round_cycles());
        const auto unit_issues =
            static_cast<double>(codelets::reduce_unit_issues(problem.partials));
        const double sum =
            jobs * (kLaunchCycles + static_cast<double>(codelets::kReduceFrame) * turn) +
            turn / workers * units * (more + unit_issues);
        double move = 0;
        if (more > 0.02) {
            move = move_overhead(cost, split) +
                   kIrregular * more *
                       std::max(own_rows * line_bytes /
                                    static_cast<double>(4 * machine.exchange.lane_items()),
                                kEventsPerMessage * jobs);
            ++syncs;
        }
        compute += sum + static_cast<double>(machine.control.step_cycles);
        exchange += move;
        cycles.reduction = static_cast<Cycles>(sum + move);
    }
    cycles.compute = static_cast<Cycles>(compute);
    cycles.exchange = static_cast<Cycles>(exchange);
    cycles.sync = syncs * machine.sync.internal_cycles;
    return cycles;
}

namespace {

/// Events in which X comes to a part.
double incoming_x(const Partition& partition, const Part& part, double line_events) {
    const auto everybody = static_cast<std::size_t>(partition.split().parts_m);
    double regular = 0;
    double irregular = 0;
    for (const std::int32_t line : part.x_lines) {
        const std::size_t users = partition.users_of_line(line).size();
        if (users > 1) {
            (users == everybody ? regular : irregular) += std::max(line_events, kEventsPerMessage);
        }
    }
    return kRegular * regular + kIrregular * irregular;
}

} // namespace

plan::PredictedCycles refine(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                             const Partition& partition, const Reduction& reduction) {
    const Problem& problem = partition.problem();
    const Split& split = partition.split();
    const std::int64_t columns = problem.widest_slice(split);
    const double line_events = message_events(machine, problem.x_line_bytes(columns));
    Cycles multiply = 0;
    Cycles sum = 0;
    double bring = 0;
    double move = 0;
    for (std::int64_t number = 0; number < split.parts(); ++number) {
        const Part& part = partition.part(number);
        if (part.blocks.empty()) {
            continue;
        }
        multiply = std::max(multiply, multiply_cycles(machine, problem, part, columns, {}));
        double events = incoming_x(partition, part, line_events);
        if (split.parts_n > 1) {
            events += kRegular * value_events(machine, problem, split,
                                              static_cast<double>(part.blocks.size()));
        }
        bring = std::max(bring, events);
        plan::StubTimeline stub(machine, false);
        double partials = 0;
        for (const std::size_t job_number :
             reduction.jobs_of_part[static_cast<std::size_t>(number)]) {
            const SumJob& job = reduction.jobs[job_number];
            const auto others = static_cast<std::int64_t>(job.others.size());
            stub.reduce(problem.partials, job.rows * problem.partial_line_bytes(columns) / 16,
                        others);
            partials +=
                static_cast<double>(others) *
                std::max(message_events(machine, job.rows * problem.partial_line_bytes(columns)),
                         kEventsPerMessage);
        }
        sum = std::max(sum, stub.finish());
        move = std::max(move, kIrregular * partials);
    }
    plan::PredictedCycles cycles;
    cycles.compute = multiply + machine.control.step_cycles;
    if (bring > 0) {
        cycles.exchange += static_cast<Cycles>(bring_overhead(cost, split) + bring);
        cycles.sync += machine.sync.internal_cycles;
    }
    if (!reduction.jobs.empty()) {
        cycles.reduction = sum + machine.control.step_cycles;
        cycles.compute += cycles.reduction;
    }
    if (move > 0) {
        const auto moves = static_cast<Cycles>(move_overhead(cost, split) + move);
        cycles.exchange += moves;
        cycles.sync += machine.sync.internal_cycles;
        cycles.reduction += moves + machine.sync.internal_cycles;
    }
    return cycles;
}

Bytes estimate_bytes(const spec::MachineSpec& machine, const Problem& problem, const Split& split) {
    const Averages average = averages(problem, split);
    const std::int64_t columns = problem.widest_slice(split);
    const double own_rows = average.rows / std::max(average.contributors, 1.0);
    const double tiles = static_cast<double>(machine.chip.tiles);
    const workload::SparsePattern& a = *problem.matrix;
    double bytes = average.lines * static_cast<double>(problem.x_line_bytes(columns));
    bytes += average.rows * static_cast<double>(problem.partial_line_bytes(columns));
    bytes += average.blocks * static_cast<double>(problem.value_bytes() + 12);
    bytes += own_rows * std::max(average.contributors - 1, 0.0) *
             static_cast<double>(problem.partial_line_bytes(columns));
    bytes += static_cast<double>(a.block_columns() * problem.block * 2 * problem.n) / tiles;
    bytes += static_cast<double>(a.blocks() * problem.value_bytes()) / tiles;
    return static_cast<Bytes>(bytes);
}

std::vector<Share> deal_work(const Problem& problem, const Part& part, std::int64_t column_groups,
                             std::int64_t workers) {
    std::vector<Share> best;
    for (std::int64_t team_workers = 1; team_workers <= std::min(workers, column_groups);
         ++team_workers) {
        std::vector<Share> shares =
            shares_of(problem, part, column_groups, workers / team_workers, team_workers);
        // Workers that make no whole team have no rows.
        shares.resize(static_cast<std::size_t>(workers));
        if (best.empty() || slowest_issues(problem, shares) < slowest_issues(problem, best)) {
            best = std::move(shares);
        }
    }
    return best;
}

Cycles multiply_cycles(const spec::MachineSpec& machine, const Problem& problem, const Part& part,
                       std::int64_t columns, const std::vector<std::int64_t>& copied_words) {
    plan::StubTimeline stub(machine, problem.block == 16);
    for (const std::int64_t words : copied_words) {
        stub.copy(words);
    }
    if (problem.block == 16) {
        std::vector<bool> fresh;
        const std::size_t halves = problem.partials == ElementType::F16 ? 1 : 2;
        for (const std::int32_t blocks : part.row_blocks) {
            for (std::int32_t b = 0; b < blocks; ++b) {
                fresh.insert(fresh.end(), halves, b == 0);
            }
        }
        stub.block16(problem.partials, columns, fresh);
        return stub.finish();
    }
    std::vector<std::int64_t> issues;
    for (const Share& share : deal_work(problem, part, columns / 8, machine.tile.workers)) {
        issues.push_back(issues_of(problem, share));
    }
    stub.multi_worker(issues);
    return stub.finish();
}

} // namespace tessera::spmm
