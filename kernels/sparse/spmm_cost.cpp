// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_cost.h"

#include "kernels/plan/vertex_cost.h"

#include <algorithm>
#include <cmath>

namespace tessera::spmm {
namespace {

/// Typical route and the events that a row stays alive behind its last word.
constexpr double kExchangeLatency = 130;
/// Events that a short message costs a receiver beside its words: controls and waiting for the
/// others of a multicast.
constexpr double kEventsPerMessage = 14;
/// The fullest tile's share over the average one's.
constexpr double kUneven = 1.1;
/// Issues around a reduction's loop, and cycles of its launch.
constexpr double kReduceIssues = 24;
constexpr double kLaunchCycles = 30;

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
    const workload::SparseF16& a = *problem.matrix;
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

double multiply(const spec::MachineSpec& machine, const Problem& problem, const Averages& average) {
    const auto workers = static_cast<double>(machine.tile.workers);
    if (problem.block == 1) {
        const double row_issues = problem.partials == workload::PartialsType::F16 ? 6 : 7;
        return 40 + 11 * workers +
               average.columns / 8 *
                   (12 * workers + kUneven * (3 * average.blocks + row_issues * average.rows));
    }
    const bool half = problem.partials == workload::PartialsType::F16;
    const double rounds = std::ceil(average.columns / workers);
    const double load = (half ? 32 : 16) + 25 + workers * (4 * rounds + 20);
    return 200 + kUneven * average.blocks * (half ? 1 : 2) * load;
}

} // namespace

plan::PredictedCycles estimate(const spec::MachineSpec& machine, const Problem& problem,
                               const Split& split) {
    const Averages average = averages(problem, split);
    plan::PredictedCycles cycles;
    const auto line_words =
        static_cast<double>(problem.x_line_bytes(problem.widest_slice(split))) / 4;
    double words = 0;
    double messages = 0;
    if (split.parts_m > 1) {
        words += average.lines * line_words;
        // lines that everybody needs come in few long messages
        messages += average.lines * (1 - average.lines / average.band_lines) + 4;
    }
    if (split.parts_n > 1) {
        const double values = average.blocks * static_cast<double>(problem.value_bytes()) / 4;
        words += machine.exchange.pair_double && split.parts_n % 2 == 0 ? values / 2 : values;
        messages += 2;
    }
    const double fixed =
        static_cast<double>(machine.exchange.prologue_cycles + machine.exchange.row_return_cycles) +
        kExchangeLatency;
    double exchange = words > 0 ? fixed + kUneven * (words + kEventsPerMessage * messages) : 0;
    double compute =
        multiply(machine, problem, average) + static_cast<double>(machine.control.step_cycles);
    Cycles syncs = words > 0 ? 1 : 0;
    const bool half = problem.partials == workload::PartialsType::F16;
    if (average.contributors > 1.02 || !half) {
        const auto line_bytes =
            static_cast<double>(problem.partial_line_bytes(problem.widest_slice(split)));
        const double more = average.contributors - 1;
        const double own_rows = average.rows / std::max(average.contributors, 1.0);
        // rows of dense parts make long runs; single rows make a job each
        const double scattered =
            1 - std::min(1.0, average.rows * static_cast<double>(split.parts_m) /
                                  static_cast<double>(problem.matrix->block_rows()));
        const double jobs = 2 + own_rows * scattered * (split.parts_k > 1 ? 1 : 0);
        const double units = own_rows * line_bytes / 16;
        const double sum =
            jobs * (kLaunchCycles + kReduceIssues * static_cast<double>(machine.tile.workers)) +
            units * (more + (half ? 8 : 6));
        double move = 0;
        if (more > 0.02) {
            move = fixed +
                   kUneven * (own_rows * more * line_bytes / 4 + kEventsPerMessage * jobs * more);
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

Bytes estimate_bytes(const spec::MachineSpec& machine, const Problem& problem, const Split& split) {
    const Averages average = averages(problem, split);
    const std::int64_t columns = problem.widest_slice(split);
    const double own_rows = average.rows / std::max(average.contributors, 1.0);
    const double tiles = static_cast<double>(machine.chip.tiles);
    const workload::SparseF16& a = *problem.matrix;
    double bytes = average.lines * static_cast<double>(problem.x_line_bytes(columns));
    bytes += average.rows * static_cast<double>(problem.partial_line_bytes(columns));
    bytes += average.blocks * static_cast<double>(problem.value_bytes() + 12);
    bytes += own_rows * std::max(average.contributors - 1, 0.0) *
             static_cast<double>(problem.partial_line_bytes(columns));
    bytes += static_cast<double>(a.block_columns() * problem.block * 2 * problem.n) / tiles;
    bytes += static_cast<double>(a.blocks() * problem.value_bytes()) / tiles;
    return static_cast<Bytes>(bytes);
}

std::vector<Range> deal_rows(const Problem& problem, const Part& part, std::int64_t workers) {
    std::int64_t all = 0;
    for (const std::int32_t blocks : part.row_blocks) {
        all += problem.row_work(blocks);
    }
    std::vector<Range> rows(static_cast<std::size_t>(workers));
    std::int64_t done = 0;
    std::int64_t row = 0;
    for (std::size_t worker = 0; worker < rows.size(); ++worker) {
        rows[worker].begin = row;
        const std::int64_t until = 2 * all * static_cast<std::int64_t>(worker + 1) / workers;
        while (row < static_cast<std::int64_t>(part.rows.size())) {
            const std::int64_t work =
                problem.row_work(part.row_blocks[static_cast<std::size_t>(row)]);
            if (worker + 1 < rows.size() && 2 * done + work > until) {
                break;
            }
            done += work;
            ++row;
        }
        rows[worker].end = row;
    }
    return rows;
}

Cycles multiply_cycles(const spec::MachineSpec& machine, const Problem& problem, const Part& part,
                       std::int64_t columns, const std::vector<std::int64_t>& copied_words) {
    plan::StubTimeline stub(machine, problem.block == 16);
    for (const std::int64_t words : copied_words) {
        stub.copy(words);
    }
    if (problem.block == 16) {
        std::vector<bool> fresh;
        const std::size_t halves = problem.partials == workload::PartialsType::F16 ? 1 : 2;
        for (const std::int32_t blocks : part.row_blocks) {
            for (std::int32_t b = 0; b < blocks; ++b) {
                fresh.insert(fresh.end(), halves, b == 0);
            }
        }
        stub.block16(problem.partials, columns, fresh);
        return stub.finish();
    }
    std::vector<std::int64_t> issues;
    for (const Range& rows : deal_rows(problem, part, machine.tile.workers)) {
        std::int64_t non_zeros = 0;
        for (std::int64_t row = rows.begin; row < rows.end; ++row) {
            non_zeros += part.row_blocks[static_cast<std::size_t>(row)];
        }
        issues.push_back(
            plan::elementwise_issues(problem.partials, rows.length(), non_zeros, columns / 8));
    }
    stub.multi_worker(issues);
    return stub.finish();
}

} // namespace tessera::spmm
