// SPDX-License-Identifier: MIT
// What a split of a sparse product is expected to cost before it is cut, and how it is cut: beside
// the same written down once more.
#include "base/float16.h"
#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/codelets/reduce_add_cost.h"
#include "kernels/codelets/spmm_elementwise_cost.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/workload/random.h"
#include "models/timing/exchange_latency.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/kernels/sparse/sparse_operands.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace {

using namespace tessera;
using sparse::Partition;
using sparse::Problem;
using sparse::Split;

/// A pattern in which the share of blocks differs from row to row; some rows have none.
workload::SparseF16 random_matrix(std::int64_t rows, std::int64_t columns, std::int64_t block,
                                  double density, std::uint64_t seed) {
    const workload::CounterRandom random(seed, 5);
    workload::SparseF16 a;
    a.rows = rows * block;
    a.columns = columns * block;
    a.block = block;
    a.row_start.push_back(0);
    for (std::int64_t row = 0; row < rows; ++row) {
        const double share = density * static_cast<double>(row % 4);
        for (std::int64_t column = 0; column < columns; ++column) {
            const auto drawn =
                random.below(1000, static_cast<std::uint64_t>(row * columns + column));
            if (static_cast<double>(drawn) < 1000 * share) {
                a.block_column.push_back(static_cast<std::int32_t>(column));
            }
        }
        a.row_start.push_back(static_cast<std::int64_t>(a.block_column.size()));
    }
    a.values.assign(a.block_column.size() * static_cast<std::size_t>(block * block), f32_to_f16(1));
    return a;
}

workload::SpmmWorkload workload_of(std::int64_t n, std::int64_t block, ElementType partials) {
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = block;
    workload.partials = partials;
    return workload;
}

double number(std::int64_t value) {
    return static_cast<double>(value);
}

/// Blocks thrown at random into so many places meet so many of them.
double met(double places, double thrown) {
    return places > 1 ? places - places * std::pow((places - 1) / places, thrown)
                      : std::min(places, thrown);
}

struct Means {
    double blocks, rows, lines, band, contributors;
};

Means means_of(const workload::SparsePattern& a, const Split& split) {
    Means means{};
    means.blocks = number(a.blocks()) / number(split.parts_m * split.parts_k);
    means.band = number(a.block_columns()) / number(split.parts_k);
    means.rows = met(number(a.block_rows()) / number(split.parts_m), means.blocks);
    means.lines = met(means.band, means.blocks);
    const double all = std::max(1.0, met(number(a.block_rows()), number(a.blocks())));
    means.contributors = means.rows * number(split.parts_m * split.parts_k) / all;
    return means;
}

struct Expected {
    double multiply = 0;
    double bring = 0;
    double sum = 0;
    double move = 0;
    bool sums = false;
    double bytes = 0;
};

Expected expected_of(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                     const Problem& problem, const Split& split) {
    const workload::SparsePattern& a = *problem.matrix;
    const Means mean = means_of(a, split);
    const bool elements = problem.block == 1;
    const bool half = problem.types.partials == ElementType::F16;
    const double grain = elements ? 8 : 1;
    const double columns =
        std::ceil(std::ceil(number(problem.n) / grain) / number(split.parts_n)) * grain;
    const double lane = number(4 * machine.exchange.lane_items());
    const double turn = number(machine.tile.round_cycles());
    const double workers = number(machine.tile.workers);
    const double side = number(problem.block);
    const double b_line = 2 * side * columns;
    const double c_line = (half ? 2 : 4) * side * columns;
    const double value = 2 * side * side;
    std::int64_t longest = 0;
    std::int64_t empty = 0;
    for (std::size_t row = 0; row + 1 < a.row_start.size(); ++row) {
        longest = std::max(longest, a.row_start[row + 1] - a.row_start[row]);
        empty += a.row_start[row + 1] == a.row_start[row] ? 1 : 0;
    }
    const double row = number(longest) / number(split.parts_k);
    Expected made;
    if (elements) {
        const double of_row = half ? 6 : 7;
        const double of_block = 3;
        const double shared = 1.1 * turn / workers * (of_block * mean.blocks + of_row * mean.rows);
        const double own = turn * (of_block * row + of_row);
        made.multiply = 40 + 11 * turn + columns / 8 * (12 * turn + std::max(shared, own));
    } else {
        const double rows = std::ceil(number(a.block_rows()) / number(split.parts_m));
        const double of_row = mean.blocks / std::max(1.0, mean.rows);
        const double fullest =
            std::max(std::max(mean.blocks, row), of_row * std::min(rows, mean.rows + 1));
        const double steps = 4 * std::ceil(columns / workers) + 10;
        const double load =
            (half ? 32 : 16) + 25 + turn * (10 + steps / machine.amp.steps_per_issue);
        made.multiply = 200 + (half ? 1 : 2) * fullest * load;
    }
    if (split.parts_m > 1) {
        const double own = 1 - mean.lines / mean.band;
        const double events =
            number(timing::LaneTiming{machine.exchange}.events(static_cast<Bytes>(b_line) / 4));
        made.bring += (own > 0.25 ? 1.3 : 1.1) * mean.lines * std::max(events, 3 * own);
    }
    if (split.parts_n > 1) {
        const bool wide = machine.exchange.pairs() && split.parts_n % 2 == 0;
        made.bring += 1.1 * mean.blocks * value / lane / (wide ? 2 : 1);
    }
    if (made.bring > 0) {
        made.bring += number(split.parts_m > 1 ? cost.to_all_over(split.tiles())
                                               : cost.to_neighbours(split.tiles()));
    }
    const double more = std::max(0.0, mean.contributors - 1);
    const double own_rows = mean.rows / std::max(1.0, mean.contributors);
    made.sums = mean.contributors > 1.02 || !half;
    if (made.sums) {
        const double single =
            std::max(0.0, 1 - mean.rows * number(split.parts_m) / number(a.block_rows()));
        const double jobs = split.parts_k > 1 ? 2 + own_rows * single : 2;
        made.sum = jobs * (30 + 24 * turn) +
                   turn / workers * own_rows * c_line / 16 * (more + (half ? 8 : 6));
        if (more > 0.02) {
            made.move = number(cost.to_neighbours(split.tiles())) +
                        1.3 * more * std::max(own_rows * c_line / lane, 3 * jobs);
        }
    }
    const double tiles = number(machine.chip.tiles);
    made.bytes = mean.lines * b_line + mean.rows * c_line + mean.blocks * (value + 12) +
                 own_rows * more * c_line + number(ceil_div(empty, split.parts())) * b_line +
                 number(a.block_columns()) * side * 2 * number(problem.n) / tiles +
                 number(a.blocks()) * value / tiles;
    return made;
}

} // namespace

TEST_CASE("a split's cost is estimated from the numbers of its rows, lines and blocks",
          "[kernels]") {
    for (const std::int64_t block : {1, 16}) {
        for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
            for (const double density : {0.0, 0.02, 0.1, 0.33}) {
                for (const std::int64_t n : {5, 33, 100}) {
                    for (const Bytes lane_bytes : {4, 8}) {
                        spec::MachineSpec machine;
                        machine.chip.tiles = 64;
                        machine.exchange.lane_bytes = lane_bytes;
                        const plan::ExchangeCost cost(machine);
                        const auto a = random_matrix(30, 41, block, density, 7);
                        const Problem problem(workload_of(n, block, partials), a);
                        for (const Split split :
                             {Split{1, 1, 1}, Split{7, 1, 1}, Split{1, 5, 1}, Split{1, 1, 4},
                              Split{3, 4, 5}, Split{30, 1, 2}, Split{4, 8, 2}}) {
                            CAPTURE(block, partials == ElementType::F16, density, n, lane_bytes,
                                    split.parts_m, split.parts_k, split.parts_n);
                            const auto wanted = expected_of(machine, cost, problem, split);
                            const auto got = sparse::estimate(machine, cost, problem, split);
                            const double steps = number(machine.control.step_cycles);
                            // whole cycles of sums that are taken in another order
                            const auto close = [](std::int64_t cycles, double sum) {
                                CHECK(number(cycles) <= sum + 1e-6 * (1 + sum));
                                CHECK(number(cycles) + 1 >= sum - 1e-6 * (1 + sum));
                            };
                            close(got.compute,
                                  wanted.multiply + steps + (wanted.sums ? wanted.sum + steps : 0));
                            close(got.exchange, wanted.bring + wanted.move);
                            close(got.reduction, wanted.sum + wanted.move);
                            CHECK(got.sync ==
                                  ((wanted.bring > 0 ? 1 : 0) + (wanted.move > 0 ? 1 : 0)) *
                                      machine.sync.internal_cycles);
                            close(sparse::estimate_bytes(machine, problem, split), wanted.bytes);
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE("bands have equal shares of the blocks, and parts of a band equal shares of its work",
          "[kernels]") {
    for (const std::int64_t block : {1, 16}) {
        for (const double density : {0.02, 0.2}) {
            const auto a = random_matrix(23, 37, block, density, 3);
            const Problem problem(workload_of(16, block, ElementType::F16), a);
            // columns of the blocks, row by row
            const auto columns_of = [&](std::int64_t row) {
                const auto at = static_cast<std::size_t>(row);
                return std::vector<std::int64_t>(a.block_column.begin() + a.row_start[at],
                                                 a.block_column.begin() + a.row_start[at + 1]);
            };
            for (const Split split : {Split{1, 1, 1}, Split{4, 1, 2}, Split{1, 6, 1},
                                      Split{5, 3, 1}, Split{23, 9, 1}, Split{2, 37, 1}}) {
                CAPTURE(block, density, split.parts_m, split.parts_k);
                const Partition partition(problem, split);
                // a column is in the band that the middle of its blocks is in
                std::vector<std::int64_t> band(37);
                std::int64_t before = 0;
                for (std::int64_t column = 0; column < 37; ++column) {
                    const auto own = std::count(a.block_column.begin(), a.block_column.end(),
                                                static_cast<std::int32_t>(column));
                    const double middle = number(before) + number(own) / 2;
                    band[static_cast<std::size_t>(column)] =
                        std::min(split.parts_k - 1,
                                 static_cast<std::int64_t>(std::floor(
                                     middle * number(split.parts_k) / number(a.blocks()) + 1e-9)));
                    before += own;
                }
                const auto work_of = [&](std::int64_t blocks) {
                    return blocks == 0 ? 0.0 : block == 1 ? 3 * number(blocks) + 6 : number(blocks);
                };
                std::map<std::int64_t, std::set<std::int64_t>> parts_of_row;
                std::vector<std::set<std::int64_t>> lines(
                    static_cast<std::size_t>(split.parts_m * split.parts_k));
                for (std::int64_t ik = 0; ik < split.parts_k; ++ik) {
                    std::vector<double> work;
                    for (std::int64_t row = 0; row < 23; ++row) {
                        const auto columns = columns_of(row);
                        work.push_back(work_of(
                            std::count_if(columns.begin(), columns.end(), [&](std::int64_t column) {
                                return band[static_cast<std::size_t>(column)] == ik;
                            })));
                    }
                    const double all = std::accumulate(work.begin(), work.end(), 0.0);
                    double done = 0;
                    for (std::int64_t row = 0; row < 23; ++row) {
                        const double own = work[static_cast<std::size_t>(row)];
                        if (own == 0) {
                            continue;
                        }
                        const auto im =
                            std::min(split.parts_m - 1,
                                     static_cast<std::int64_t>(std::floor(
                                         (done + own / 2) * number(split.parts_m) / all + 1e-9)));
                        done += own;
                        const std::int64_t part = im * split.parts_k + ik;
                        parts_of_row[row].insert(part);
                        for (const std::int64_t column : columns_of(row)) {
                            if (band[static_cast<std::size_t>(column)] == ik) {
                                lines[static_cast<std::size_t>(part)].insert(column);
                            }
                        }
                    }
                }
                std::size_t most_lines = 0;
                std::size_t most_rows = 0;
                std::size_t most_blocks = 0;
                std::set<std::int64_t> blocks;
                for (std::int64_t number = 0; number < split.parts(); ++number) {
                    const auto& part = partition.part(number);
                    most_lines = std::max(most_lines, part.b_lines.size());
                    most_rows = std::max(most_rows, part.rows.size());
                    most_blocks = std::max(most_blocks, part.blocks.size());
                    blocks.insert(part.blocks.begin(), part.blocks.end());
                    REQUIRE(part.local_b.size() == part.blocks.size());
                    std::size_t at = 0;
                    REQUIRE(part.rows.size() == part.row_blocks.size());
                    for (std::size_t i = 0; i < part.rows.size(); ++i) {
                        CHECK(parts_of_row[part.rows[i]].count(number) == 1);
                        CHECK(part.local_row(part.rows[i]) == static_cast<std::int64_t>(i));
                        for (std::int32_t b = 0; b < part.row_blocks[i]; ++b, ++at) {
                            const auto block_at = static_cast<std::size_t>(part.blocks.at(at));
                            const auto row = static_cast<std::size_t>(part.rows[i]);
                            CHECK(part.blocks[at] >= a.row_start[row]);
                            CHECK(part.blocks[at] < a.row_start[row + 1]);
                            CHECK(part.b_lines.at(static_cast<std::size_t>(part.local_b[at])) ==
                                  a.block_column[block_at]);
                        }
                    }
                    CHECK(at == part.blocks.size());
                    for (const std::int64_t line : lines[static_cast<std::size_t>(number)]) {
                        const auto at_line = part.local_line(static_cast<std::int32_t>(line));
                        CHECK(part.b_lines.at(static_cast<std::size_t>(at_line)) == line);
                    }
                }
                CHECK(static_cast<std::int64_t>(blocks.size()) == a.blocks());
                CHECK(static_cast<std::size_t>(partition.most_b_lines()) == most_lines);
                CHECK(static_cast<std::size_t>(partition.most_rows()) == most_rows);
                CHECK(static_cast<std::size_t>(partition.most_blocks()) == most_blocks);
                for (std::int64_t row = 0; row < 23; ++row) {
                    const auto& contributors = partition.contributors(row);
                    CHECK(std::is_sorted(contributors.begin(), contributors.end()));
                    CHECK(std::set<std::int64_t>(contributors.begin(), contributors.end()) ==
                          parts_of_row[row]);
                }
            }
        }
    }
}

TEST_CASE(
    "neighbouring rows of the same parts are summed together, in equal shares by each of them",
    "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const double density : {0.03, 0.2, 0.33}) {
            const auto a = random_matrix(40, 37, 1, density, 9);
            const Problem problem(workload_of(16, 1, partials), a);
            for (const Split split :
                 {Split{1, 1, 1}, Split{3, 2, 1}, Split{2, 5, 1}, Split{1, 8, 1}}) {
                CAPTURE(partials == ElementType::F16, density, split.parts_m, split.parts_k);
                const Partition partition(problem, split);
                const auto reduction = sparse::find_reduction(partition);
                const std::size_t least = partials == ElementType::F16 ? 2 : 1;
                // rows whose contributors are the same and many enough
                std::vector<std::pair<std::int64_t, std::int64_t>> runs;
                std::vector<std::int32_t> empty;
                for (std::int64_t row = 0; row < 40; ++row) {
                    const auto& parts = partition.contributors(row);
                    if (parts.empty()) {
                        empty.push_back(static_cast<std::int32_t>(row));
                    }
                    if (parts.size() < least) {
                        continue;
                    }
                    if (!runs.empty() && runs.back().second == row &&
                        partition.contributors(row - 1) == parts) {
                        ++runs.back().second;
                    } else {
                        runs.emplace_back(row, row + 1);
                    }
                }
                CHECK(reduction.empty_rows == empty);
                std::vector<std::int64_t> slices(static_cast<std::size_t>(split.parts()));
                std::vector<std::int64_t> results(slices.size());
                std::vector<std::vector<std::size_t>> jobs(slices.size());
                std::size_t at = 0;
                for (std::size_t run = 0; run < runs.size(); ++run) {
                    const auto [first, last] = runs[run];
                    const auto& parts = partition.contributors(first);
                    const auto shares = static_cast<std::int64_t>(parts.size());
                    for (std::int64_t share = 0; share < shares; ++share) {
                        const std::int64_t begin = first + share * (last - first) / shares;
                        const std::int64_t end = first + (share + 1) * (last - first) / shares;
                        if (begin == end) {
                            continue;
                        }
                        REQUIRE(at < reduction.jobs.size());
                        const auto& job = reduction.jobs[at];
                        // who begins changes from run to run
                        const auto who =
                            parts[(static_cast<std::size_t>(share) + run) % parts.size()];
                        CHECK(job.reducer == who);
                        CHECK(job.first_row == begin);
                        CHECK(job.rows == end - begin);
                        std::vector<std::int32_t> others(parts.begin(), parts.end());
                        std::erase(others, who);
                        CHECK(job.others == others);
                        const auto reducer = static_cast<std::size_t>(who);
                        CHECK(job.slices_offset == slices[reducer]);
                        CHECK(job.result_offset == results[reducer]);
                        slices[reducer] += static_cast<std::int64_t>(others.size()) * job.rows;
                        results[reducer] += job.rows;
                        jobs[reducer].push_back(at++);
                    }
                }
                CHECK(at == reduction.jobs.size());
                CHECK(reduction.slices_lines == slices);
                CHECK(reduction.result_lines == results);
                CHECK(reduction.jobs_of_part == jobs);
            }
        }
    }
}

TEST_CASE("blocks are estimated near to what their vertex takes where rows have equally many",
          "[kernels]") {
    for (const std::int64_t block : {4, 8, 16}) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            if (block == 16 && types.data == ElementType::F16) {
                continue; // first blocks are cheaper there, which the estimate does not know
            }
            for (const std::int64_t rows : {1, 6, 30}) {
                for (const std::int64_t row_blocks : {1, 4, 20}) {
                    for (const std::int64_t columns : {6, 24, 96}) {
                        workload::SpmmWorkload workload;
                        workload.n = columns;
                        workload.dtype = types.data;
                        workload.partials = types.partials;
                        workload::SparseF16 a;
                        a.rows = rows * block;
                        a.columns = row_blocks * block;
                        a.block = block;
                        a.row_start.push_back(0);
                        for (std::int64_t row = 0; row < rows; ++row) {
                            for (std::int32_t column = 0; column < row_blocks; ++column) {
                                a.block_column.push_back(column);
                            }
                            a.row_start.push_back(static_cast<std::int64_t>(a.block_column.size()));
                        }
                        const Problem problem(workload, a);
                        const Partition partition(problem, {1, 1, 1});
                        const spec::MachineSpec machine;
                        const Cycles exact = sparse::multiply_cycles(
                            machine, problem, partition.part(0), columns, {});
                        const double all = number(rows * row_blocks);
                        const double got =
                            problem.kind->estimate(machine, problem,
                                                   {.blocks = all,
                                                    .rows = number(rows),
                                                    .all_rows = number(rows),
                                                    .columns = number(columns),
                                                    .longest_row = number(row_blocks)});
                        CAPTURE(block, codelets::suffix(types), rows, row_blocks, columns, exact,
                                got);
                        CHECK(got > 0.9 * number(exact) - 100);
                        CHECK(got < 1.1 * number(exact) + 100);
                    }
                }
            }
        }
    }
}

TEST_CASE("passes over columns cost what products of their columns do, but that values come once",
          "[kernels]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 64;
    const plan::ExchangeCost exchange(machine);
    for (const std::int64_t block : {1, 4, 16}) {
        for (const std::int64_t passes : {2, 4}) {
            for (const Split split :
                 {Split{4, 1, 1}, Split{2, 3, 2}, Split{1, 5, 4}, Split{6, 2, 1}}) {
                CAPTURE(block, passes, split.parts_m, split.parts_k, split.parts_n);
                const auto a = test::sparse_operand({160, 160, 0, block, 20});
                workload::SpmmWorkload workload;
                workload.block = block;
                workload.n = 32 * split.parts_n;
                const sparse::Problem one(workload, a);
                workload.n *= passes;
                const sparse::Problem all(workload, a);
                Split in_passes = split;
                in_passes.passes = passes;
                const auto of_one = sparse::estimate(machine, exchange, one, split);
                const auto of_all = sparse::estimate(machine, exchange, all, in_passes);
                CHECK(std::abs(of_all.compute - passes * of_one.compute) <= passes);
                CHECK(of_all.exchange <= passes * of_one.exchange + passes);
                CHECK((split.parts_n == 1) ==
                      (of_all.exchange >= passes * of_one.exchange - passes));
                CHECK(of_all.sync >= passes * of_one.sync);
                CHECK(sparse::estimate_bytes(machine, all, in_passes) >
                      sparse::estimate_bytes(machine, one, split));
            }
        }
    }
}
