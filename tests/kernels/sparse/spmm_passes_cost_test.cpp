// SPDX-License-Identifier: MIT
// How passes over one sparse matrix are planned together: what a split is expected to cost them, and
// which split they share. Beside the same written down once more.
#include "base/ceil_div.h"
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/parts.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_planned.h"
#include "kernels/sparse/spmm_sampled.h"
#include "kernels/sparse/spmm_search.h"
#include "kernels/sparse/spmm_shared.h"
#include "models/timing/exchange_latency.h"
#include "tests/kernels/sparse/sparse_operands.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using family::SparseUse;
using sparse::Partition;
using sparse::Pass;
using sparse::Problem;
using sparse::real;
using sparse::Split;

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

sparse::SharedPatterns patterns_of(const test::SparseShape& shape) {
    const auto a = std::make_shared<workload::SparseF16>(test::sparse_operand(shape));
    return {a, workload::transposed(*a)};
}

SparseUse use_of(Pass pass, std::int64_t n, ElementType partials) {
    return {.kind = pass, .n = n, .partials = partials, .accumulates = false};
}

/// Whole cycles of a sum that is taken in another order, and in so many parts.
void check_floor(std::int64_t cycles, double sum, std::int64_t parts = 1) {
    CHECK(real(cycles) <= sum + 1e-6 * (1 + sum));
    CHECK(real(cycles + parts) >= sum - 1e-6 * (1 + sum));
}

/// Blocks thrown at random into so many places meet so many of them.
double met(double places, double thrown) {
    return places > 1 ? places - places * std::pow((places - 1) / places, thrown)
                      : std::min(places, thrown);
}

/// What a sampled product is expected to take, but for the events in which operands come.
struct Sampled {
    double compute = 0;
    double exchange = 0;
    double reduction = 0;
    std::int64_t exchanges = 0; ///< with a barrier before each
};

Bytes sums_of(const Problem& problem, double blocks) {
    const auto whole = static_cast<std::int64_t>(std::ceil(blocks));
    const std::int64_t unit = problem.kind->values_a_unit;
    return (whole + unit - 1) / unit * unit * problem.block * problem.block * 4;
}

Sampled sampled_of(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                   const Problem& problem, const Split& split, double blocks, double events) {
    const std::int64_t slices = split.parts_n * split.passes;
    const double step = real(machine.control.step_cycles);
    const double passes = real(split.passes);
    Sampled made;
    made.compute = passes * (step + real(sparse::sampled_cycles(machine, problem, blocks,
                                                                problem.widest_slice(split), {})));
    if (events > 0) {
        made.exchange =
            passes * (events + real(split.parts_m > 1 ? cost.to_all_over(split.tiles())
                                                      : cost.to_neighbours(split.tiles())));
        made.exchanges += split.passes;
    }
    if (slices > 1 || problem.types.data == ElementType::F16) {
        // values of several tiles are at home on any tile, others where they are summed
        double summed = blocks;
        if (split.parts_n > 1) {
            summed = std::max(1.0, blocks * real(split.parts_m * split.parts_k) /
                                       real(machine.chip.tiles));
        }
        const Bytes bytes = sums_of(problem, summed);
        plan::StubTimeline stub(machine, false);
        stub.reduce({problem.types.data, ElementType::F32}, bytes / 16, slices - 1);
        const double sum = step + real(stub.finish());
        made.compute += sum;
        made.reduction += sum;
        if (split.parts_n > 1) {
            const double moves = real(cost.to_all_over(split.tiles())) +
                                 real(slices * bytes) / real(4 * machine.exchange.lane_items());
            made.exchange += moves;
            made.exchanges += 1;
            made.reduction += moves + real(machine.sync.internal_cycles);
        }
    }
    return made;
}

void check_same(const spec::MachineSpec& machine, const plan::PredictedCycles& got,
                const Sampled& wanted) {
    check_floor(got.compute, wanted.compute);
    check_floor(got.exchange, wanted.exchange, wanted.exchanges);
    check_floor(got.reduction, wanted.reduction);
    CHECK(got.sync == wanted.exchanges * machine.sync.internal_cycles);
}

/// Events in which the lines of an operand come to a part.
double coming(const Partition& partition, std::int64_t number, double line_events) {
    double events = 0;
    for (const std::int32_t line : partition.part(number).b_lines) {
        const auto users = std::ssize(partition.users_of_line(line));
        const double each = std::max(line_events, 3.0);
        if (users == partition.split().parts_m && (users > 1 || partition.split().passes > 1)) {
            events += 1.1 * each;
        } else if (users > 1 || partition.split().passes > 1) {
            events += 1.3 * each;
        }
    }
    return events;
}

constexpr codelets::ProductTypes kHalf{ElementType::F16, ElementType::F16};
constexpr codelets::ProductTypes kSingle{ElementType::F32, ElementType::F32};

std::vector<Split> splits() {
    return {{1, 1, 1}, {4, 1, 1},       {1, 4, 1},       {1, 1, 2},       {3, 2, 1},
            {2, 3, 2}, {1, 1, 1, 0, 2}, {2, 2, 1, 0, 2}, {3, 1, 2, 0, 2}, {1, 2, 2, 0, 1}};
}

/// What a split is expected to cost some passes, as the search says it: cycles of all, bytes and
/// messages of the one that has most.
struct Together {
    plan::PredictedCycles cycles;
    Bytes bytes = 0;
    Bytes over = 0;
    std::size_t messages = 0;
};

struct Asked {
    Problem cut;
    std::vector<Problem> problems;
    const sparse::SharedPatterns& patterns;
};

/// By the parts that the split makes.
Together by_parts(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                  const Asked& asked, const Split& split) {
    const Bytes limit = plan::bytes_for_data(machine);
    const Partition cut(asked.cut, split);
    Together all;
    all.over = -limit;
    for (const Problem& problem : asked.problems) {
        const Partition partition(problem, cut, asked.patterns.transpose.from);
        if (problem.pass == Pass::Sampled) {
            const Partition dy = sparse::left_lines(partition, asked.patterns.transpose.pattern,
                                                    asked.patterns.transpose.from);
            const Bytes bytes = sparse::least_sampled_bytes(partition, dy);
            all.cycles += sparse::refine_sampled(machine, cost, partition, dy);
            all.bytes = std::max(all.bytes, bytes);
            all.over = std::max(all.over, bytes - limit);
            continue;
        }
        const auto reduction = sparse::find_reduction(partition);
        const Bytes bytes = sparse::least_bytes(machine, partition, reduction);
        const Bytes beyond =
            sparse::beyond_reach(problem, partition.split(), real(partition.most_b_lines()));
        all.cycles += sparse::refine(machine, cost, partition, reduction);
        all.bytes = std::max(all.bytes, bytes);
        all.over = std::max({all.over, bytes - limit, beyond});
        all.messages =
            std::max(all.messages, sparse::least_messages(machine, partition, reduction));
    }
    return all;
}

/// By the numbers of blocks, rows and columns.
Together by_means(const spec::MachineSpec& machine, const plan::ExchangeCost& cost,
                  const Asked& asked, const Split& split) {
    const Bytes limit = plan::bytes_for_data(machine);
    Together all;
    all.over = -limit;
    for (const Problem& problem : asked.problems) {
        Split of_pass = split;
        if (problem.pass == Pass::Transposed) {
            std::swap(of_pass.parts_m, of_pass.parts_k);
            of_pass.cut = 0;
        }
        const Bytes bytes = sparse::estimate_bytes(machine, problem, of_pass);
        all.cycles += sparse::estimate(machine, cost, problem, of_pass);
        all.bytes = std::max(all.bytes, bytes);
        all.over =
            std::max({all.over, bytes - limit, sparse::estimate_beyond_reach(problem, of_pass)});
    }
    return all;
}

using Numbers = std::array<std::int64_t, 5>; ///< of a split, one after the other

Numbers numbers_of(const Split& split) {
    return {split.parts_m, split.parts_k, split.parts_n, split.cut, split.passes};
}

/// All splits that are looked at, of products in so many passes. Rows are parted as far as tiles go or not
/// at all, and the longest is cut where it is longer than a share of a part, or of a worker.
void add_splits(const spec::MachineSpec& machine, const Problem& problem, std::int64_t passes,
                std::set<Numbers>& all) {
    const workload::SparsePattern& a = *problem.matrix;
    const std::int64_t tiles = machine.chip.tiles;
    const std::int64_t longest = problem.row_blocks.empty() ? 0 : problem.row_blocks.front();
    for (const std::int64_t pn : plan::useful_parts(problem.column_groups() / passes, tiles)) {
        for (const std::int64_t pk : plan::useful_parts(a.block_columns(), tiles / pn)) {
            const std::int64_t most = std::min(a.block_rows(), tiles / (pn * pk));
            for (const std::int64_t pm : {most, std::int64_t{1}}) {
                all.insert({pm, pk, pn, 0, passes});
                const double share = real(a.blocks()) / real(pm);
                if (pm > 1 && real(longest) > share / 2) {
                    all.insert({pm, pk, pn, 2, passes});
                }
                if (pm > 1 && problem.block == 1 &&
                    real(longest) > share / real(2 * machine.tile.workers)) {
                    all.insert({pm, pk, pn, 2 * machine.tile.workers, passes});
                }
            }
        }
    }
}

Asked asked_of(const sparse::SharedPatterns& patterns, ElementType type,
               const std::vector<SparseUse>& uses) {
    std::vector<Problem> problems;
    for (const SparseUse& use : uses) {
        problems.push_back(sparse::problem_of(patterns, type, use));
    }
    // all passes have as many slices as the one with the fewest groups of columns
    std::size_t fewest = 0;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        fewest = problems[i].column_groups() < problems[fewest].column_groups() ? i : fewest;
    }
    Problem cut = problems[fewest];
    cut.matrix = patterns.matrix.get();
    cut.pass = Pass::Product;
    return {cut, std::move(problems), patterns};
}

std::vector<sparse::Candidate> candidates_of(const spec::MachineSpec& machine, const Asked& asked) {
    return sparse::search(machine, {asked.cut, asked.problems, &asked.patterns.transpose.pattern,
                                    asked.patterns.transpose.from});
}

} // namespace

TEST_CASE("a sampled product is estimated from the numbers of its rows, lines and blocks",
          "[spmm_passes]") {
    for (const auto& types : {kHalf, kSingle}) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const int kept : {0, 10, 40}) {
                for (const std::int64_t n : {16, 72}) {
                    const auto machine = machine_of(16);
                    const plan::ExchangeCost cost(machine);
                    const auto patterns = patterns_of({12 * block, 20 * block - 1, n, block, kept});
                    const Problem problem = sparse::problem_of(
                        patterns, types.data, use_of(Pass::Sampled, n, types.partials));
                    for (const Split& split : splits()) {
                        CAPTURE(block, kept, n, split.parts_m, split.parts_k, split.parts_n,
                                split.passes, name_of(types.data));
                        const workload::SparsePattern& a = *patterns.matrix;
                        const double parts = real(split.parts_m * split.parts_k);
                        const double blocks = real(a.blocks()) / parts;
                        const double rows = met(real(a.block_rows()) / real(split.parts_m), blocks);
                        const double lines =
                            met(real(a.block_columns()) / real(split.parts_k), blocks);
                        const double grain = types.data == ElementType::F16 ? 8 : 4;
                        const double columns =
                            grain * std::ceil(std::ceil(real(n) / grain) /
                                              real(split.parts_n * split.passes));
                        CHECK(real(problem.widest_slice(split)) == columns);
                        const double line_bytes =
                            columns * real(block) * real(bytes_of(types.data));
                        const double line_events = real(timing::LaneTiming{machine.exchange}.events(
                            static_cast<Bytes>(line_bytes) / 4));
                        double messages = 0;
                        messages += split.parts_m > 1 || split.passes > 1 ? lines : 0;
                        messages += split.parts_k > 1 || split.passes > 1 ? rows : 0;
                        const double events = 1.3 * messages * std::max(3.0, line_events);
                        check_same(machine, sparse::estimate(machine, cost, problem, split),
                                   sampled_of(machine, cost, problem, split, blocks, events));

                        // two operands, sums of all passes, where units find theirs, and values
                        const auto whole = static_cast<std::int64_t>(std::ceil(blocks));
                        const Bytes sums = sums_of(problem, blocks);
                        const auto& loops = problem.kind->value_loops;
                        const std::int64_t run =
                            loops.empty() ? 1 : std::min(block, loops.back().count);
                        const double bytes = std::floor((rows + lines) * line_bytes) +
                                             real(split.passes * sums + sums / run +
                                                  whole * block * block * bytes_of(types.data));
                        check_floor(sparse::estimate_bytes(machine, problem, split), bytes);
                    }
                }
            }
        }
    }
}

TEST_CASE("a sampled product is expected to take what its fullest part does", "[spmm_passes]") {
    for (const auto& types : {kHalf, kSingle}) {
        for (const std::int64_t block : {1, 4, 16}) {
            for (const int kept : {0, 15, 100}) {
                const std::int64_t n = 48;
                const auto machine = machine_of(16);
                const plan::ExchangeCost cost(machine);
                const auto patterns = patterns_of({12 * block, 20 * block, n, block, kept});
                const Problem problem = sparse::problem_of(
                    patterns, types.data, use_of(Pass::Sampled, n, types.partials));
                for (const Split& split : splits()) {
                    CAPTURE(block, kept, split.parts_m, split.parts_k, split.parts_n, split.passes,
                            name_of(types.data));
                    const Partition x(problem, split);
                    const Partition dy =
                        sparse::left_lines(x, patterns.transpose.pattern, patterns.transpose.from);
                    CHECK(dy.split().parts_m == split.parts_k);
                    const Bytes line = problem.widest_slice(split) * block * bytes_of(types.data);
                    const double line_events =
                        real(timing::LaneTiming{machine.exchange}.events(line / 4));
                    double events = 0;
                    for (std::int64_t part = 0; part < split.parts(); ++part) {
                        events = std::max(events, coming(x, part, line_events) +
                                                      coming(dy, part, line_events));
                    }
                    const std::int64_t blocks = x.most_blocks();
                    check_same(machine, sparse::refine_sampled(machine, cost, x, dy),
                               sampled_of(machine, cost, problem, split, real(blocks), events));
                    const Bytes sums = sums_of(problem, real(blocks));
                    const auto& loops = problem.kind->value_loops;
                    const std::int64_t run =
                        loops.empty() ? 1 : std::min(block, loops.back().count);
                    CHECK(sparse::least_sampled_bytes(x, dy) ==
                          (x.most_b_lines() + dy.most_b_lines()) * line + split.passes * sums +
                              sums / run + blocks * block * block * bytes_of(types.data));
                }
            }
        }
    }
}

TEST_CASE("a split costs some passes what it costs each, and bytes of the one that has most",
          "[spmm_passes]") {
    constexpr ElementType kPartials = ElementType::F32;
    const std::vector<std::vector<SparseUse>> some{
        {use_of(Pass::Product, 24, kPartials), use_of(Pass::Transposed, 24, kPartials)},
        {use_of(Pass::Transposed, 40, kPartials), use_of(Pass::Sampled, 64, kPartials)},
        {use_of(Pass::Sampled, 32, kPartials), use_of(Pass::Product, 80, kPartials),
         use_of(Pass::Transposed, 8, kPartials)}};
    bool has_tail = false;
    bool has_passes = false;
    bool leaves_none = false;
    for (const std::vector<SparseUse>& uses : some) {
        for (const std::int64_t block : {1, 4, 16}) {
            for (const bool is_small : {false, true}) {
                if (!is_small && (block != 4 || &uses != &some.front())) {
                    continue; // it takes a second
                }
                spec::MachineSpec machine = machine_of(is_small ? 6 : 100);
                if (is_small) {
                    machine.memory.region0_bytes = 0x4000 / 16 * block;
                    machine.memory.region1_bytes = 0x4000 / 16 * block;
                }
                const plan::ExchangeCost cost(machine);
                const std::int64_t side = (is_small ? 20 : 80) * block;
                const auto patterns =
                    patterns_of({side, side + side / 2, 0, block, is_small ? 30 : 100});
                const Asked asked = asked_of(patterns, ElementType::F16, uses);
                const auto candidates = candidates_of(machine, asked);
                std::int64_t ranked = 0;
                bool in_passes = false;
                for (const sparse::Candidate& candidate : candidates) {
                    const Split& split = candidate.split;
                    CAPTURE(block, is_small, split.parts_m, split.parts_k, split.parts_n, split.cut,
                            split.passes, candidate.ranked);
                    const Together wanted = candidate.ranked
                                                ? by_parts(machine, cost, asked, split)
                                                : by_means(machine, cost, asked, split);
                    CHECK(candidate.predicted.compute == wanted.cycles.compute);
                    CHECK(candidate.predicted.exchange == wanted.cycles.exchange);
                    CHECK(candidate.predicted.sync == wanted.cycles.sync);
                    CHECK(candidate.predicted.reduction == wanted.cycles.reduction);
                    CHECK(candidate.bytes == wanted.bytes);
                    CHECK(candidate.over == wanted.over);
                    CHECK(candidate.least_messages == wanted.messages);
                    ranked += candidate.ranked ? 1 : 0;
                    in_passes = in_passes || split.passes > 1;
                }
                // those that fit come first, then the shortest; others are ordered by means
                for (std::size_t i = 1; i < candidates.size(); ++i) {
                    const auto& one = candidates[i - 1];
                    const auto& next = candidates[i];
                    if (one.ranked && next.ranked) {
                        CHECK((one.over > 0) <= (next.over > 0));
                        if ((one.over > 0) == (next.over > 0)) {
                            CHECK(one.cycles() <= next.cycles());
                        }
                    }
                }
                std::set<Numbers> expected;
                add_splits(machine, asked.cut, 1, expected);
                for (std::int64_t passes = 2;
                     in_passes && passes <= std::min<std::int64_t>(64, asked.cut.column_groups());
                     passes *= 2) {
                    add_splits(machine, asked.cut, passes, expected);
                }
                std::set<Numbers> looked_at;
                for (const sparse::Candidate& candidate : candidates) {
                    CHECK(looked_at.insert(numbers_of(candidate.split)).second);
                }
                CHECK((looked_at == expected));
                // passes are of use where memory keeps from a faster split
                const bool is_cramped =
                    candidates.front().over > 0 ||
                    std::ranges::any_of(candidates, [&](const sparse::Candidate& one) {
                        return one.over > 0 && one.cycles() < candidates.front().cycles();
                    });
                CHECK((in_passes || !is_cramped || asked.cut.column_groups() == 1));
                const auto all = std::ssize(candidates);
                if (!in_passes) {
                    const std::int64_t looks = patterns.matrix->blocks() +
                                               patterns.matrix->block_rows() +
                                               patterns.matrix->block_columns();
                    CHECK(ranked == std::min(all, std::max<std::int64_t>(100, 1'000'000 / looks)));
                }
                has_tail = has_tail || ranked < all;
                has_passes = has_passes || in_passes;
                leaves_none = leaves_none || ranked == all;
            }
        }
    }
    CHECK(has_tail);
    CHECK(has_passes);
    CHECK(leaves_none);
}

TEST_CASE("passes share the split that is shortest for all of them, of three that can be placed",
          "[spmm_passes]") {
    int not_first = 0;
    for (const std::int64_t block : {4, 16}) {
        for (const std::int64_t tiles : {8, 13}) {
            for (const int kept : {5, 40}) {
                for (const std::int64_t n : {8, 40}) {
                    CAPTURE(block, tiles, kept, n);
                    const auto machine = machine_of(tiles);
                    const auto patterns = patterns_of({20 * block, 24 * block, 0, block, kept});
                    const std::vector<SparseUse> uses{
                        use_of(Pass::Product, n, ElementType::F16),
                        use_of(Pass::Transposed, 64, ElementType::F16)};
                    const Asked asked = asked_of(patterns, ElementType::F16, uses);
                    const auto candidates = candidates_of(machine, asked);
                    REQUIRE(candidates.size() >= 3);
                    std::size_t best = 0;
                    std::optional<Cycles> least;
                    for (std::size_t at = 0; at < 3; ++at) {
                        Cycles cycles = 0;
                        for (const Problem& problem : asked.problems) {
                            cycles += family::placed(machine,
                                                     sparse::plan_pass(machine, patterns, problem,
                                                                       candidates[at].split))
                                          .least;
                        }
                        if (!least || cycles < *least) {
                            least = cycles;
                            best = at;
                        }
                    }
                    const auto chosen =
                        sparse::choose_split(machine, patterns, ElementType::F16, uses);
                    REQUIRE(chosen);
                    const Split& wanted = candidates[best].split;
                    CHECK(chosen->parts_m == wanted.parts_m);
                    CHECK(chosen->parts_k == wanted.parts_k);
                    CHECK(chosen->parts_n == wanted.parts_n);
                    CHECK(chosen->cut == wanted.cut);
                    CHECK(chosen->passes == wanted.passes);
                    not_first += best > 0 ? 1 : 0;
                }
            }
        }
    }
    CHECK(not_first > 0); // the search alone would have taken another
}

TEST_CASE("steps share a split where they make different things with equal partial results",
          "[spmm_passes]") {
    const auto machine = machine_of(16);
    const auto patterns = patterns_of({64, 96, 0, 4, 30});
    const auto half = ElementType::F16;
    const auto single = ElementType::F32;
    const auto shared = [&](family::SharedMatrix& matrix, const spec::MachineSpec& on,
                            ElementType partials) {
        return sparse::shared_split(on, matrix, patterns, half, partials);
    };
    const auto same = [](const std::optional<Split>& one, const std::optional<Split>& other) {
        return one && other && one->parts_m == other->parts_m && one->parts_k == other->parts_k &&
               one->parts_n == other->parts_n && one->cut == other->cut &&
               one->passes == other->passes;
    };
    const auto product = use_of(Pass::Product, 32, half);
    const auto transposed = use_of(Pass::Transposed, 64, half);
    const auto wide = use_of(Pass::Transposed, 64, single);

    family::SharedMatrix none;
    CHECK_FALSE(shared(none, machine, half));
    family::SharedMatrix one{{product}};
    CHECK_FALSE(shared(one, machine, half));
    family::SharedMatrix alike{{transposed, transposed}};
    CHECK_FALSE(shared(alike, machine, half));
    family::SharedMatrix others{{product, wide}};
    CHECK_FALSE(shared(others, machine, half));
    CHECK_FALSE(shared(others, machine, single));

    const auto chosen = [&](const spec::MachineSpec& on, const std::vector<SparseUse>& uses) {
        return sparse::choose_split(on, patterns, half, uses);
    };
    family::SharedMatrix both{{product, wide, transposed}};
    CHECK(same(shared(both, machine, half), chosen(machine, {product, transposed})));
    CHECK_FALSE(shared(both, machine, single));
    // the first that asks on a machine chooses for all
    const auto large = use_of(Pass::Product, 2048, half);
    REQUIRE_FALSE(
        same(chosen(machine, {product, transposed}), chosen(machine, {large, transposed})));
    both.uses = {large, transposed};
    CHECK(same(shared(both, machine, half), chosen(machine, {product, transposed})));
    const auto small = machine_of(4);
    CHECK(same(shared(both, small, half), chosen(small, {large, transposed})));

    // no division fits where operands are larger than the chip
    spec::MachineSpec tiny = machine_of(2);
    tiny.memory.region0_bytes = 0x2000;
    tiny.memory.region1_bytes = 0x2000;
    family::SharedMatrix too_large{{large, transposed}};
    CHECK_FALSE(shared(too_large, tiny, half));
}

TEST_CASE("operands that just fill tile memory fit", "[spmm_passes]") {
    const auto patterns = patterns_of({64, 64, 40, 8, 40});
    for (const Pass pass : {Pass::Product, Pass::Transposed}) {
        const Problem problem =
            sparse::problem_of(patterns, kHalf.data, use_of(pass, 40, kHalf.partials));
        const Partition partition(problem, Split{2, 2, 1});
        const auto reduction = sparse::find_reduction(partition);
        spec::MachineSpec machine = machine_of(4);
        const Bytes bytes = sparse::least_bytes(machine, partition, reduction);
        machine.memory.region1_bytes = bytes - machine.memory.region0_bytes;
        REQUIRE(sparse::least_bytes(machine, partition, reduction) == bytes);
        CHECK_NOTHROW(sparse::check_bytes(machine, partition, reduction));
        machine.memory.region1_bytes -= 1;
        CHECK_THROWS_WITH(sparse::check_bytes(machine, partition, reduction),
                          Catch::Contains("the fullest tile is 1 bytes over"));
    }
}

TEST_CASE("where there are no blocks none are turned", "[spmm_passes]") {
    const plan::ExchangeCost cost(machine_of(4));
    for (const int kept : {0, 40}) {
        const auto patterns = patterns_of({64, 64, 40, 8, kept});
        const auto estimate = [&](Pass pass) {
            const Problem problem =
                sparse::problem_of(patterns, kHalf.data, use_of(pass, 40, kHalf.partials));
            const Partition partition(problem, Split{2, 1, 1});
            const Cycles parts =
                sparse::refine(machine_of(4), cost, partition, sparse::find_reduction(partition))
                    .compute;
            return std::pair(sparse::estimate(machine_of(4), cost, problem, {2, 1, 1}).compute,
                             parts);
        };
        const auto [by_means, by_parts] = estimate(Pass::Product);
        const auto [turned_by_means, turned_by_parts] = estimate(Pass::Transposed);
        if (kept == 0) {
            CHECK(turned_by_means == by_means);
            CHECK(turned_by_parts == by_parts);
        } else {
            CHECK(turned_by_means > by_means);
            CHECK(turned_by_parts > by_parts);
        }
    }
}
