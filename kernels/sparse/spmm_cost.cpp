// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_cost.h"

#include "kernels/codelets/reduce_add_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_sampled.h"
#include "kernels/sparse/spmm_turn.h"
#include "models/timing/exchange_latency.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::sparse {
namespace {

/// Control events of a message at its receiver; they hide behind its words where there are more of
/// these.
constexpr double kEventsPerMessage = 3;
/// What irregular messages cost over the busiest tile's words (planned: 1.1 .. 1.6), and regular
/// ones.
constexpr double kIrregular = 1.3;
constexpr double kRegular = 1.1;
/// Cycles of a reduction's launch.
constexpr double kLaunchCycles = 30;

/// That a message of `bytes` takes on a lane.
double message_events(const spec::MachineSpec& machine, Bytes bytes) {
    return real(timing::LaneTiming{machine.exchange}.events(bytes / 4));
}

double value_events(const spec::MachineSpec& machine, const Problem& problem, const Split& split,
                    double blocks) {
    const auto lane_bytes = real(4 * machine.exchange.lane_items());
    const double events = blocks * real(problem.value_bytes()) / lane_bytes;
    return machine.exchange.pairs() && split.parts_n % 2 == 0 ? events / 2 : events;
}

/// Tiles with the same slice of B are all over the tiles, those with the same values are
/// neighbours.
double bring_overhead(const plan::ExchangeCost& cost, const Split& split) {
    return real(split.parts_m > 1 ? cost.to_all_over(split.tiles())
                                  : cost.to_neighbours(split.tiles()));
}

/// Averages over the parts of a split.
struct Averages : PartMeans {
    double lines = 0;        ///< of B that a part touches
    double band_lines = 0;   ///< of B in a band
    double contributors = 0; ///< of a row with blocks
    double cut_rows = 0;     ///< of a part: rows of the band that are cut, over parts
    double more_pieces = 0; ///< of the part that sums up most: pieces of such rows beyond the first
};

/// How many of `places` are hit by `throws`.
double hit(double places, double throws) {
    return places <= 1 ? std::min(places, throws) : places * (1 - std::pow(1 - 1 / places, throws));
}

Averages averages(const Problem& problem, const Split& split) {
    const workload::SparsePattern& a = *problem.matrix;
    Averages average;
    average.blocks = real(a.blocks()) / real(split.parts());
    average.band_lines = real(a.block_columns()) / real(split.parts_k);
    average.rows = hit(real(a.block_rows()) / real(split.parts_m), average.blocks);
    average.lines = hit(average.band_lines, average.blocks);
    const double rows = hit(real(a.block_rows()), real(a.blocks()));
    average.contributors = average.rows * real(split.parts()) / std::max(rows, 1.0);
    average.columns = real(problem.widest_slice(split));
    average.all_rows = std::ceil(real(a.block_rows()) / real(split.parts_m));
    const auto bands = real(split.parts_k);
    const auto parts_m = real(split.parts_m);
    const double longest =
        problem.row_blocks.empty() ? 0 : real(problem.row_blocks.front()) / bands;
    average.longest_row = longest;
    if (split.cut > 0) {
        const double most = average.blocks / real(split.cut);
        const auto pieces = [&](double blocks) {
            return std::min(std::ceil(blocks / most), parts_m);
        };
        double more = 0;
        for (const std::int64_t blocks : problem.row_blocks) {
            const double in_band = real(blocks) / bands;
            if (in_band <= most) {
                break;
            }
            average.cut_rows += 1 / parts_m;
            more += pieces(in_band) - 1;
        }
        average.longest_row = std::min(longest, std::max(most, longest / parts_m));
        average.more_pieces = std::max(more / parts_m, bands * (pieces(longest) - 1));
    }
    return average;
}

/// Events in which B comes to a part.
double incoming_b(const Partition& partition, const Part& part, double line_events) {
    const auto everybody = static_cast<std::size_t>(partition.split().parts_m);
    double regular = 0;
    double irregular = 0;
    for (const std::int32_t line : part.b_lines) {
        const std::size_t users = partition.users_of_line(line).size();
        if (users > 1 || partition.split().passes > 1) {
            (users == everybody ? regular : irregular) += std::max(line_events, kEventsPerMessage);
        }
    }
    return kRegular * regular + kIrregular * irregular;
}

/// Instructions that bring a pass's lines of B: one at least for each piece that one of them sends or receives.
Bytes row_bytes(const spec::MachineSpec& machine, const Partition& partition) {
    constexpr Bytes kInstruction = 4;
    const Problem& problem = partition.problem();
    const Bytes line = problem.line_bytes_of(problem.widest_slice(partition.split()));
    const Bytes piece = 4 * machine.exchange.max_words_per_sendoff;
    const std::size_t together = gathered(machine, partition);
    std::size_t messages = 0;
    for (std::int64_t at = 0; at < problem.matrix->block_columns(); ++at) {
        messages += messages_to(partition.users_of_line(at).size(), together);
    }
    const auto sent = static_cast<Bytes>(messages) / partition.split().parts();
    return kInstruction * ceil_div(line, piece) * (partition.most_b_lines() + sent);
}

/// Rows of C without blocks, dealt evenly.
Bytes empty_bytes(const Problem& problem, const Split& split) {
    const auto rows = problem.matrix->block_rows() - std::ssize(problem.row_blocks);
    return split.passes * ceil_div(rows, split.parts()) *
           problem.line_bytes_of(problem.widest_slice(split));
}

/// What the tile with most blocks takes to transpose them, as a step of its own.
Cycles turn_step(const spec::MachineSpec& machine, const Problem& problem, std::int64_t blocks) {
    return problem.pass == Pass::Transposed && blocks > 0
               ? machine.control.step_cycles + turn_cycles(machine, problem, blocks, {})
               : 0;
}

/// The same as estimate() of sampled products.
plan::PredictedCycles estimate_sampled(const spec::MachineSpec& machine,
                                       const plan::ExchangeCost& cost, const Problem& problem,
                                       const Split& split) {
    const Averages average = averages(problem, split);
    const std::int64_t columns = problem.widest_slice(split);
    const double line_events = message_events(machine, problem.line_bytes_of(columns));
    double events = 0;
    if (split.parts_m > 1 || split.passes > 1) {
        events += average.lines * std::max(line_events, kEventsPerMessage);
    }
    if (split.parts_k > 1 || split.passes > 1) {
        events += average.rows * std::max(line_events, kEventsPerMessage);
    }
    plan::PredictedCycles cycles = sampled_reduction(machine, cost, problem, split, average.blocks);
    cycles.compute +=
        split.passes * (machine.control.step_cycles +
                        sampled_cycles(machine, problem, average.blocks, columns, {}));
    if (events > 0) {
        cycles.exchange +=
            split.passes * static_cast<Cycles>(bring_overhead(cost, split) + kIrregular * events);
        cycles.sync += split.passes * machine.sync.internal_cycles;
    }
    return cycles;
}

} // namespace

plan::PredictedCycles refine_sampled(const spec::MachineSpec& machine,
                                     const plan::ExchangeCost& cost, const Partition& x,
                                     const Partition& dy) {
    const Problem& problem = x.problem();
    const Split& split = x.split();
    const std::int64_t columns = problem.widest_slice(split);
    const double line_events = message_events(machine, problem.line_bytes_of(columns));
    double bring = 0;
    for (std::int64_t number = 0; number < split.parts(); ++number) {
        bring = std::max(bring, incoming_b(x, x.part(number), line_events) +
                                    incoming_b(dy, dy.part(number), line_events));
    }
    plan::PredictedCycles cycles =
        sampled_reduction(machine, cost, problem, split, real(x.most_blocks()));
    cycles.compute +=
        split.passes * (machine.control.step_cycles +
                        sampled_cycles(machine, problem, real(x.most_blocks()), columns, {}));
    if (bring > 0) {
        cycles.exchange += split.passes * static_cast<Cycles>(bring_overhead(cost, split) + bring);
        cycles.sync += split.passes * machine.sync.internal_cycles;
    }
    return cycles;
}

Bytes least_sampled_bytes(const Partition& x, const Partition& dy) {
    return sampled_bytes(x.problem(), x.split(), real(x.most_b_lines()), real(dy.most_b_lines()),
                         real(x.most_blocks()));
}

plan::PredictedCycles estimate(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                               const Problem& problem, const Split& split) {
    if (problem.pass == Pass::Sampled) {
        return estimate_sampled(machine, cost, problem, split);
    }
    const Averages average = averages(problem, split);
    plan::PredictedCycles cycles;
    const double line_events =
        message_events(machine, problem.line_bytes_of(problem.widest_slice(split)));
    double exchange = 0;
    if (split.parts_m > 1) {
        // lines that everybody needs come in few long messages
        const double scattered = 1 - average.lines / average.band_lines;
        exchange += (scattered > 0.25 ? kIrregular : kRegular) * average.lines *
                    std::max(line_events, kEventsPerMessage * scattered);
    }
    const bool brings_b = exchange > 0 || split.passes > 1;
    const double values =
        split.parts_n > 1 ? kRegular * value_events(machine, problem, split, average.blocks) : 0;
    Cycles syncs = brings_b || values > 0 ? 1 : 0;
    exchange += syncs > 0 ? bring_overhead(cost, split) : 0;
    double compute =
        problem.kind->estimate(machine, problem, average) + real(machine.control.step_cycles);
    if (average.contributors > 1.02 || average.cut_rows > 0 || !problem.types.sums_are_results()) {
        const auto line_bytes = real(problem.partial_line_bytes(problem.widest_slice(split)));
        const double more = std::max(average.contributors - 1, 0.0);
        const double own_rows = average.rows / std::max(average.contributors, 1.0);
        // rows of dense parts make long runs; single rows make a job each
        const double scattered = 1 - std::min(1.0, average.rows * real(split.parts_m) /
                                                       real(problem.matrix->block_rows()));
        const double jobs =
            2 + own_rows * scattered * (split.parts_k > 1 ? 1 : 0) + average.cut_rows;
        const double line_units = line_bytes / 16;
        const double units = own_rows * line_units;
        const auto workers = real(machine.tile.workers);
        const auto turn = real(machine.tile.round_cycles());
        const auto unit_issues = real(codelets::reduce_unit_issues(problem.types));
        const double sum =
            jobs * (kLaunchCycles + real(codelets::kReduceFrame) * turn) +
            turn / workers *
                (units * (more + unit_issues) +
                 line_units * (average.more_pieces + average.cut_rows * unit_issues));
        double move = 0;
        if (more > 0.02 || average.cut_rows > 0) {
            const double partial_events = line_bytes / real(4 * machine.exchange.lane_items());
            move =
                real(cost.to_neighbours(split.tiles())) +
                kIrregular * (more * std::max(own_rows * partial_events, kEventsPerMessage * jobs) +
                              average.more_pieces * std::max(partial_events, kEventsPerMessage));
            ++syncs;
        }
        compute += sum + real(machine.control.step_cycles);
        exchange += move;
        cycles.reduction = split.passes * static_cast<Cycles>(sum + move);
    }
    const auto passes = real(split.passes);
    cycles.compute = static_cast<Cycles>(passes * compute);
    cycles.compute +=
        turn_step(machine, problem, static_cast<std::int64_t>(std::ceil(average.blocks)));
    cycles.exchange = static_cast<Cycles>(passes * exchange + values);
    cycles.sync = split.passes * syncs * machine.sync.internal_cycles;
    return cycles;
}

plan::PredictedCycles refine(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                             const Partition& partition, const Reduction& reduction) {
    const Problem& problem = partition.problem();
    const Split& split = partition.split();
    const std::int64_t columns = problem.widest_slice(split);
    const double line_events = message_events(machine, problem.line_bytes_of(columns));
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
        double events = real(split.passes) * incoming_b(partition, part, line_events);
        if (split.parts_n > 1) {
            events += kRegular * value_events(machine, problem, split, real(part.blocks.size()));
        }
        bring = std::max(bring, events);
        plan::StubTimeline stub(machine, false);
        double partials = 0;
        for (const std::size_t job_number :
             reduction.jobs_of_part[static_cast<std::size_t>(number)]) {
            const SumJob& job = reduction.jobs[job_number];
            const auto others = std::ssize(job.others);
            stub.reduce(problem.types, job.rows * problem.partial_line_bytes(columns) / 16, others);
            partials +=
                real(others) *
                std::max(message_events(machine, job.rows * problem.partial_line_bytes(columns)),
                         kEventsPerMessage);
        }
        sum = std::max(sum, stub.finish());
        move = std::max(move, kIrregular * partials);
    }
    plan::PredictedCycles cycles; // the values come once, all else in each pass
    cycles.compute = split.passes * (multiply + machine.control.step_cycles);
    cycles.compute += turn_step(machine, problem, partition.most_blocks());
    if (bring > 0) {
        cycles.exchange +=
            static_cast<Cycles>(real(split.passes) * bring_overhead(cost, split) + bring);
        cycles.sync += split.passes * machine.sync.internal_cycles;
    }
    if (!reduction.jobs.empty()) {
        cycles.reduction = split.passes * (sum + machine.control.step_cycles);
        cycles.compute += cycles.reduction;
    }
    if (move > 0) {
        const auto moves =
            split.passes * static_cast<Cycles>(real(cost.to_neighbours(split.tiles())) + move);
        cycles.exchange += moves;
        cycles.sync += split.passes * machine.sync.internal_cycles;
        cycles.reduction += moves + split.passes * machine.sync.internal_cycles;
    }
    return cycles;
}

Bytes beyond_reach(const Problem& problem, const Split& split, double lines) {
    const auto furthest = problem.kind->reach;
    const auto line = real(problem.line_bytes_of(problem.widest_slice(split)));
    return furthest ? std::max<Bytes>(0, static_cast<Bytes>((lines - 1) * line) - *furthest) : 0;
}

Bytes estimate_beyond_reach(const Problem& problem, const Split& split) {
    return problem.kind->reach ? beyond_reach(problem, split, averages(problem, split).lines) : 0;
}

Bytes estimate_bytes(const spec::MachineSpec& machine, const Problem& problem, const Split& split) {
    const Averages average = averages(problem, split);
    if (problem.pass == Pass::Sampled) {
        return sampled_bytes(problem, split, average.lines, average.rows, average.blocks);
    }
    const std::int64_t columns = problem.widest_slice(split);
    const double own_rows = average.rows / std::max(average.contributors, 1.0);
    const auto tiles = real(machine.chip.tiles);
    const workload::SparsePattern& a = *problem.matrix;
    double bytes = average.lines * real(problem.line_bytes_of(columns));
    bytes += average.rows * real(problem.partial_line_bytes(columns));
    bytes += average.blocks * real(problem.value_bytes() + 12);
    if (problem.pass == Pass::Transposed) {
        bytes += average.blocks * real(problem.value_bytes());
    }
    bytes += own_rows * std::max(average.contributors - 1, 0.0) *
             real(problem.partial_line_bytes(columns));
    if (split.passes > 1) { // results of all passes stay
        bytes += (problem.types.sums_are_results() ? average.rows : own_rows) *
                 real((split.passes - 1) * problem.line_bytes_of(columns));
    }
    bytes += real(empty_bytes(problem, split));
    bytes += real(a.block_columns() * problem.line_bytes_of(problem.n)) / tiles;
    bytes += real(a.blocks() * problem.value_bytes()) / tiles;
    return static_cast<Bytes>(bytes);
}

Bytes least_bytes(const spec::MachineSpec& machine, const Partition& partition,
                  const Reduction& reduction) {
    const Problem& problem = partition.problem();
    const Split& split = partition.split();
    const std::int64_t columns = problem.widest_slice(split);
    const Bytes partials = (problem.types.sums_are_results() ? split.passes : 1) *
                           partition.most_rows() * problem.partial_line_bytes(columns);
    const Bytes results = split.passes * reduction.most_results() * problem.line_bytes_of(columns);
    const Bytes empty = empty_bytes(problem, split);
    Bytes multiply = empty + partials + partition.most_b_lines() * problem.line_bytes_of(columns) +
                     partition.most_blocks() * (problem.value_bytes() + problem.kind->list_bytes);
    if (problem.pass == Pass::Transposed) { // the other passes read the values as they were
        multiply += partition.most_blocks() * problem.value_bytes();
    }
    if (split.passes > 1) { // B of the passes to come, results of those before, and rows of all
        multiply += results + static_cast<Bytes>(problem.matrix->block_columns()) *
                                  problem.line_bytes_of(problem.n) / machine.chip.tiles;
        multiply += split.passes * row_bytes(machine, partition);
    }
    const Bytes reduce =
        empty + partials + results + reduction.most_slices() * problem.partial_line_bytes(columns);
    return std::max(multiply, reduce);
}

Cycles multiply_cycles(const spec::MachineSpec& machine, const Problem& problem, const Part& part,
                       std::int64_t columns, const std::vector<std::int64_t>& copied_words) {
    plan::StubTimeline stub(machine, problem.kind->vertex_kind == program::VertexKind::Supervisor);
    for (const std::int64_t words : copied_words) {
        stub.copy(words);
    }
    problem.kind->run(stub, problem, part, columns, machine.tile.workers);
    return stub.finish();
}

} // namespace tessera::sparse
