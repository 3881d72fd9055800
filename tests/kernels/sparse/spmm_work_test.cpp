// SPDX-License-Identifier: MIT
// What is told of our sparse products beside their programs: kinds of blocks, the work of tiles, roundings,
// and which of the splits that fit is taken.
#include "base/ceil_div.h"
#include "base/error.h"
#include "kernels/codelets/spmm_blocks_cost.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_elements.h"
#include "kernels/sparse/spmm_graph.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/sparse/spmm_search.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/gc2.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using sparse::Partition;
using sparse::Problem;
using sparse::Split;

constexpr codelets::ProductTypes kHalf{ElementType::F16, ElementType::F16};
constexpr codelets::ProductTypes kMixed{ElementType::F16, ElementType::F32};
constexpr codelets::ProductTypes kSingle{ElementType::F32, ElementType::F32};

spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

workload::SpmmWorkload workload_of(std::int64_t n, std::int64_t block,
                                   const codelets::ProductTypes& types) {
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = block;
    workload.dtype = types.data;
    workload.partials = types.partials;
    return workload;
}

const graph::ComputeSet* set_of(const graph::Graph& graph, const std::string& name) {
    const auto found = std::find_if(graph.compute_sets.begin(), graph.compute_sets.end(),
                                    [&](const auto& set) { return set.name == name; });
    return found == graph.compute_sets.end() ? nullptr : &*found;
}

std::int64_t work_of(const graph::Graph& graph, const std::string& name) {
    const graph::ComputeSet* set = set_of(graph, name);
    return set == nullptr ? 0
                          : std::accumulate(set->work.begin(), set->work.end(), std::int64_t{0});
}

/// Blocks of the fullest row.
std::int64_t longest_row(const workload::SparsePattern& a) {
    std::int64_t longest = 0;
    for (std::size_t row = 0; row + 1 < a.row_start.size(); ++row) {
        longest = std::max(longest, a.row_start[row + 1] - a.row_start[row]);
    }
    return longest;
}

} // namespace

TEST_CASE("each kind of block has its vertex, its grain and its roundings", "[kernels]") {
    struct Kind {
        std::int64_t block;
        codelets::ProductTypes types;
        std::string vertex;     ///< begins so; its types follow
        std::int64_t grain;     ///< columns of X: sums go by 16 bytes of a line
        std::int64_t roundings; ///< of a block
        std::string unit;
        std::int64_t values_a_unit = 1;
    };
    const std::vector<Kind> kinds{
        {1, kHalf, "spmm_elementwise_", 8, 0, "non-zeros", 8},
        {1, kMixed, "spmm_elementwise_", 8, 0, "non-zeros", 8},
        {1, kSingle, "spmm_elementwise_", 4, 1, "non-zeros", 4},
        {4, kHalf, "spmm_block4_", 2, 1, "blocks"},
        {4, kMixed, "spmm_block4_", 2, 1, "blocks"},
        {4, kSingle, "spmm_block4_", 1, 4, "blocks"},
        {8, kHalf, "spmm_block8_", 1, 1, "blocks"},
        {8, kMixed, "spmm_block8_", 1, 2, "blocks"},
        {8, kSingle, "spmm_block8_", 1, 8, "blocks"},
        {16, kHalf, "spmm_block16_", 1, 1, "blocks"},
        {16, kMixed, "spmm_block16_", 1, 4, "blocks"},
        {16, kSingle, "spmm_block16_", 1, 16, "blocks"},
    };
    for (const Kind& kind : kinds) {
        const sparse::BlockKind& made = sparse::kind_of(kind.block, kind.types);
        CAPTURE(kind.vertex);
        CHECK(made.column_grain == kind.grain);
        CHECK(made.block_roundings == kind.roundings);
        CHECK(made.unit == kind.unit);
        CHECK(made.values_a_unit == kind.values_a_unit);
        CHECK(made.vertex.rfind(kind.vertex, 0) == 0);
        CHECK(made.reach.has_value() == (kind.block == 1));
        CHECK(made.by_halves == (kind.block == 16 && kind.types.data == ElementType::F16 &&
                                 kind.types.partials == ElementType::F32));
        // a kind is made once
        CHECK(&made == &sparse::kind_of(kind.block, kind.types));
        for (const Kind& other : kinds) {
            CHECK((&sparse::kind_of(other.block, other.types) == &made) ==
                  (other.block == kind.block && other.types.data == kind.types.data &&
                   other.types.partials == kind.types.partials));
        }
    }
}

TEST_CASE("small blocks are expected to take their loads, columns and rows", "[kernels]") {
    for (const auto& machine : {machine_with(4), test::gc2_with(4)}) {
        for (const std::int64_t block : {4, 8, 16}) {
            for (const codelets::ProductTypes& types : {kHalf, kMixed, kSingle}) {
                if (block == 16 && types.data == ElementType::F16) {
                    continue; // not one of these
                }
                const workload::SparsePattern pattern{0, 0, block, {0}, {}};
                workload::SpmmWorkload workload;
                workload.dtype = types.data;
                workload.partials = types.partials;
                const sparse::Problem problem(workload, pattern);
                for (const double columns : {1.0, 6.0, 7.0, 40.0}) {
                    for (const double longest : {1.0, 30.0}) {
                        sparse::PartMeans means;
                        means.blocks = 20;
                        means.rows = 5;
                        means.all_rows = 6;
                        means.columns = columns;
                        means.longest_row = longest;
                        // a row is not cut, and some part has a row more than the mean
                        const double fullest =
                            std::max({20.0, longest, 20.0 / 5 * std::min(6.0, 5.0 + 1)});
                        const auto mine = static_cast<std::int64_t>(
                            std::ceil(columns / static_cast<double>(machine.tile.workers)));
                        const double passes = static_cast<double>(codelets::blocks_passes(block));
                        const auto turn = static_cast<double>(machine.tile.round_cycles());
                        const double load =
                            static_cast<double>(codelets::blocks_weights(block, types)) + 20 +
                            turn * static_cast<double>(
                                       codelets::blocks_issues(machine.amp, block, types, mine));
                        CAPTURE(block, name_of(types.data), name_of(types.partials), columns,
                                longest);
                        CHECK(problem.kind->estimate(machine, problem, means) ==
                              Approx(150 + fullest * passes * load + 2 * turn * 5).epsilon(1e-12));
                    }
                }
            }
        }
    }
}

TEST_CASE("the work of a sparse product's tiles is all of its blocks and sums", "[kernels]") {
    const auto machine = machine_with(64);
    for (const std::int64_t block : {1, 4, 16}) {
        for (const codelets::ProductTypes& types : {kHalf, kMixed, kSingle}) {
            const std::int64_t n = 50;
            const auto a = test::sparse_operand({20 * block, 30 * block, n, block, 30});
            const Problem problem(workload_of(n, block, types), a);
            for (const Split split :
                 {Split{1, 1, 1}, Split{6, 1, 2}, Split{2, 5, 1}, Split{4, 3, 3}, Split{1, 7, 1}}) {
                const Partition partition(problem, split);
                const auto reduction = sparse::find_reduction(partition);
                const auto emitted =
                    sparse::emit(machine, sparse::Homes(machine, partition), reduction, "test");
                std::int64_t columns = 0;
                bool even = true;
                for (std::int64_t in = 0; in < split.parts_n; ++in) {
                    columns += problem.slice(split, in).size();
                    even =
                        even && problem.slice(split, in).size() == problem.slice(split, 0).size();
                }
                CAPTURE(block, name_of(types.data), name_of(types.partials), split.parts_m,
                        split.parts_k, split.parts_n);
                CHECK(work_of(emitted.graph, "multiply") == a.blocks() * columns);
                const std::string unit = block == 1 ? "non-zeros" : "blocks";
                CHECK(set_of(emitted.graph, "multiply")->work_unit ==
                      unit + (even ? "" : " times columns"));
                // 16 bytes a unit, of each part that has some of a row
                std::int64_t lines = 0;
                for (std::int64_t row = 0; row < a.block_rows(); ++row) {
                    const auto parts =
                        static_cast<std::int64_t>(partition.contributors(row).size());
                    lines += parts > 1 || types.data != types.partials ? parts : 0;
                }
                CHECK(work_of(emitted.graph, "reduce") ==
                      lines * block * columns * bytes_of(types.partials) / 16);
                CHECK(emitted.division.tiles_busy == [&] {
                    std::int64_t busy = 0;
                    for (std::int64_t part = 0; part < split.parts(); ++part) {
                        busy += partition.part(part).blocks.empty() ? 0 : split.parts_n;
                    }
                    return busy;
                }());
            }
        }
    }
}

TEST_CASE("the longest row of a worker is told with what the worker has of it", "[kernels]") {
    const auto machine = machine_with(16);
    for (const std::int64_t n : {8, 24, 100}) {
        const auto a = test::sparse_operand({60, 70, n, 1, 40});
        const Problem problem(workload_of(n, 1, kHalf), a);
        for (const Split split : {Split{1, 1, 1}, Split{4, 2, 1}, Split{12, 1, 1}}) {
            const Partition partition(problem, split);
            const auto emitted = sparse::emit(machine, sparse::Homes(machine, partition),
                                              sparse::find_reduction(partition), "test");
            const auto& items = set_of(emitted.graph, "multiply")->items;
            for (std::int64_t number = 0; number < split.parts(); ++number) {
                const sparse::Part& part = partition.part(number);
                const auto shares = sparse::deal_work(problem, part, ceil_div(n, std::int64_t{8}),
                                                      machine.tile.workers);
                program::WorkItem longest;
                for (std::size_t worker = 0; worker < shares.size(); ++worker) {
                    const sparse::Share& share = shares[worker];
                    for (std::int64_t row = share.rows.first; row < share.rows.last; ++row) {
                        const auto at = static_cast<std::size_t>(row);
                        const std::int64_t amount = 8 * part.row_blocks[at] * share.groups.size();
                        if (amount > longest.amount) {
                            longest = {part.rows[at], amount, static_cast<int>(worker)};
                        }
                    }
                }
                CAPTURE(n, split.parts_m, split.parts_k, number);
                const auto& item = items.at(partition.tile(number, 0));
                CHECK(item.number == longest.number);
                CHECK(item.amount == longest.amount);
                CHECK(item.worker == longest.worker);
            }
        }
    }
}

TEST_CASE("a sparse product is rounded for each block of its fullest row and each other part",
          "[kernels]") {
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const codelets::ProductTypes& types : {kHalf, kMixed, kSingle}) {
            for (const std::int64_t tiles : {1, 12}) {
                const auto a = test::sparse_operand({3 * block, 40 * block, 16, block, 60});
                exchange_plan::KnownSchedules known;
                const auto divided = sparse::choose_ours(machine_with(tiles),
                                                         workload_of(16, block, types), a, known);
                const auto& division = divided.division;
                const Problem problem(workload_of(16, block, types), a);
                const Partition partition(problem,
                                          {division.parts_m, division.parts_k, division.parts_n});
                std::size_t parts = 0;
                for (std::int64_t row = 0; row < a.block_rows(); ++row) {
                    parts = std::max(parts, partition.contributors(row).size());
                }
                const std::int64_t of_block = sparse::kind_of(block, types).block_roundings;
                const std::int64_t of_sum = types.partials == ElementType::F16
                                                ? (parts > 1 ? 1 : 0)
                                                : static_cast<std::int64_t>(parts);
                CAPTURE(block, name_of(types.data), name_of(types.partials), tiles, parts);
                CHECK(division.roundings == of_block * longest_row(a) + of_sum);
            }
        }
    }
}

TEST_CASE("of the three splits that the search puts first the one with the fewest cycles is taken",
          "[kernels]") {
    int not_first = 0;
    for (const std::int64_t block : {1, 16}) {
        for (const std::int64_t tiles : {8, 30}) {
            for (const int kept : {10, 40}) {
                for (const std::int64_t n : {16, 72}) {
                    const auto machine = machine_with(tiles);
                    const auto a = test::sparse_operand({24 * block, 30 * block, n, block, kept});
                    const auto workload = workload_of(n, block, kHalf);
                    const Problem problem(workload, a);
                    const auto candidates = sparse::search(machine, problem);
                    REQUIRE(candidates.size() >= 3);
                    std::size_t best = 0;
                    std::optional<Cycles> least;
                    for (std::size_t at = 0; at < 3; ++at) {
                        const Partition partition(problem, candidates[at].split);
                        auto emitted = sparse::emit(machine, sparse::Homes(machine, partition),
                                                    sparse::find_reduction(partition), "test");
                        exchange_plan::KnownSchedules known;
                        const auto planned = family::lowered(
                            machine, family::placed(machine, std::move(emitted)), known);
                        const Cycles cycles = planned.division.predicted.total();
                        if (!least || cycles < *least) {
                            least = cycles;
                            best = at;
                        }
                    }
                    exchange_plan::KnownSchedules known;
                    const auto found = sparse::choose_ours(machine, workload, a, known).division;
                    CAPTURE(block, tiles, kept, n, best);
                    CHECK(found.predicted.total() == *least);
                    CHECK(found.parts_m == candidates[best].split.parts_m);
                    CHECK(found.parts_k == candidates[best].split.parts_k);
                    CHECK(found.parts_n == candidates[best].split.parts_n);
                    CHECK(found.chunks == 1);
                    not_first += best > 0 ? 1 : 0;
                }
            }
        }
    }
    CHECK(not_first > 0); // the estimate alone would have taken another
}

TEST_CASE("who sums a row of a sparse product takes turns among its parts", "[kernels]") {
    const auto machine = machine_with(64);
    const auto a = test::sparse_operand({40, 60, 16, 1, 70});
    const Problem problem(workload_of(16, 1, kHalf), a);
    for (const Split split : {Split{1, 4, 1}, Split{2, 5, 2}, Split{3, 3, 1}}) {
        const Partition partition(problem, split);
        const auto reduction = sparse::find_reduction(partition);
        const auto emitted =
            sparse::emit(machine, sparse::Homes(machine, partition), reduction, "test");
        const auto exchange =
            std::find_if(emitted.graph.exchanges.begin(), emitted.graph.exchanges.end(),
                         [](const auto& one) { return one.name == "reduce: bring partial rows"; });
        REQUIRE(exchange != emitted.graph.exchanges.end());
        // the first message of every sum, then the second: each begins with another part
        std::vector<std::pair<TileId, TileId>> wanted;
        for (std::size_t turn = 0; turn < static_cast<std::size_t>(split.parts_k); ++turn) {
            for (const sparse::SumJob& job : reduction.jobs) {
                if (turn >= job.others.size()) {
                    continue;
                }
                const std::size_t other =
                    (turn + static_cast<std::size_t>(job.reducer)) % job.others.size();
                for (std::int64_t in = 0; in < split.parts_n; ++in) {
                    wanted.emplace_back(partition.tile(job.others[other], in),
                                        partition.tile(job.reducer, in));
                }
            }
        }
        std::vector<std::pair<TileId, TileId>> sent;
        for (const graph::Message& message : exchange->messages) {
            REQUIRE(message.receivers == 1);
            sent.emplace_back(message.from.tile, exchange->to[message.first_to].tile);
        }
        CAPTURE(split.parts_m, split.parts_k, split.parts_n);
        CHECK((sent == wanted));
    }
}

TEST_CASE("rows with the same parts are dealt evenly to these, beginning with another each time",
          "[kernels]") {
    for (const codelets::ProductTypes& types : {kHalf, kMixed}) {
        const auto a = test::sparse_operand({61, 50, 16, 1, 30});
        const Problem problem(workload_of(16, 1, types), a);
        for (const Split split : {Split{1, 3, 1}, Split{4, 4, 1}, Split{2, 1, 1}}) {
            const Partition partition(problem, split);
            const auto reduction = sparse::find_reduction(partition);
            std::vector<std::int64_t> slices(static_cast<std::size_t>(split.parts()));
            std::vector<std::int64_t> results(static_cast<std::size_t>(split.parts()));
            std::size_t job = 0;
            std::size_t turn = 0;
            std::vector<std::int32_t> empty;
            for (std::int64_t first = 0; first < a.block_rows();) {
                const auto& parts = partition.contributors(first);
                std::int64_t last = first;
                while (last < a.block_rows() && partition.contributors(last) == parts) {
                    if (parts.empty()) {
                        empty.push_back(static_cast<std::int32_t>(last));
                    }
                    ++last;
                }
                const auto count = static_cast<std::int64_t>(parts.size());
                if (count > (types.data == types.partials ? 1 : 0)) {
                    for (std::int64_t share = 0; share < count; ++share) {
                        const std::int64_t begin = first + share * (last - first) / count;
                        const std::int64_t end = first + (share + 1) * (last - first) / count;
                        if (begin == end) {
                            continue;
                        }
                        REQUIRE(job < reduction.jobs.size());
                        const sparse::SumJob& made = reduction.jobs[job];
                        const auto reducer = static_cast<std::size_t>(
                            parts[(static_cast<std::size_t>(share) + turn) % parts.size()]);
                        CHECK(static_cast<std::size_t>(made.reducer) == reducer);
                        CHECK(made.first_row == begin);
                        CHECK(made.rows == end - begin);
                        CHECK(static_cast<std::int64_t>(made.others.size()) == count - 1);
                        CHECK(std::count(made.others.begin(), made.others.end(), made.reducer) ==
                              0);
                        CHECK(made.slices_offset == slices[reducer]);
                        CHECK(made.result_offset == results[reducer]);
                        slices[reducer] += (count - 1) * made.rows;
                        results[reducer] += made.rows;
                        const auto& of_part = reduction.jobs_of_part[reducer];
                        CHECK(std::count(of_part.begin(), of_part.end(), job) == 1);
                        ++job;
                    }
                    ++turn;
                }
                first = last;
            }
            CAPTURE(name_of(types.partials), split.parts_m, split.parts_k);
            CHECK(job == reduction.jobs.size());
            CHECK(reduction.slices_lines == slices);
            CHECK(reduction.result_lines == results);
            CHECK(reduction.empty_rows == empty);
            CHECK(!empty.empty());
        }
    }
}
