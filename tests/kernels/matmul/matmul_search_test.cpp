// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_cost.h"
#include "kernels/matmul/matmul_search.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/matmul/problems.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace {

using namespace tessera;
using family::Estimate;
using matmul::Grid;
using matmul::Paired;
using matmul::Partition;
using matmul::Problem;
using test::machine_with;
using test::problem_of;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

/// The machine has as much memory as a tile's data may take to be `limit`.
void set_limit(spec::MachineSpec& machine, Bytes limit) {
    machine.memory.region1_bytes =
        limit + machine.memory.element_bytes - machine.memory.region0_bytes;
}

/// No fewer parts have as small a largest one.
bool is_useful(std::int64_t length, std::int64_t parts) {
    return parts == 1 || ceil_div(length, parts) < ceil_div(length, parts - 1);
}

/// Every partition in one chunk, those in the inner length only where they make parts smaller.
std::vector<Partition> partitions(const spec::MachineSpec& machine, const Problem& problem) {
    std::vector<Partition> all;
    const std::int64_t tiles = machine.chip.tiles;
    for (std::int64_t pm = 1; pm <= std::min(problem.m, tiles); ++pm) {
        for (std::int64_t pn = 1; pn <= std::min(problem.out_groups, tiles / pm); ++pn) {
            for (std::int64_t pk = 1; pk <= std::min(problem.k_groups, tiles / pm / pn); ++pk) {
                if (!is_useful(problem.k_groups, pk)) {
                    continue;
                }
                all.push_back({pm, pk, pn, 1, Paired::None});
                if (machine.exchange.pairs() && pn % 2 == 0 && pm * pk > 1) {
                    all.push_back({pm, pk, pn, 1, Paired::A});
                }
                if (machine.exchange.pairs() && pm % 2 == 0 && pn * pk > 1) {
                    all.push_back({pm, pk, pn, 1, Paired::B});
                }
            }
        }
    }
    return all;
}

Estimate candidate_of(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
                      const Problem& problem, const Partition& partition) {
    const Grid grid(problem, partition);
    return {partition, matmul::estimate(machine, exchange, grid),
            matmul::estimate_bytes(machine, grid)};
}

bool is_as_good(const Estimate& found, const Estimate& other) {
    return found.cycles() <= other.cycles() && found.bytes <= other.bytes &&
           found.cuts.tiles() <= other.cuts.tiles();
}

} // namespace

TEST_CASE("for every partition the search has one as good", "[kernels]") {
    for (const bool pairs : {true, false}) {
        for (const std::int64_t tiles : {1, 6, 8, 12}) {
            spec::MachineSpec machine = machine_with(tiles);
            machine.exchange.pair_double = pairs;
            for (const Problem& problem :
                 {problem_of(9, 64, 144), problem_of(144, 160, 48, ElementType::F32),
                  problem_of(2, 400, 16)}) {
                const auto found = matmul::search(machine, problem, kAll);
                const plan::ExchangeCost exchange(machine);
                for (const Partition& p : partitions(machine, problem)) {
                    CAPTURE(tiles, pairs, problem.m, p.parts_m, p.parts_k, p.parts_n,
                            static_cast<int>(p.paired));
                    const Estimate wanted = candidate_of(machine, exchange, problem, p);
                    CHECK(std::any_of(found.begin(), found.end(), [&](const Estimate& one) {
                        return is_as_good(one, wanted);
                    }));
                }
            }
        }
    }
}

TEST_CASE("pairs are of the useful numbers of parts and of the even ones behind them",
          "[kernels]") {
    using Parts = std::set<std::int64_t>;
    const auto wanted = [](std::int64_t length, std::int64_t most) {
        Parts parts;
        for (std::int64_t p = 1; p <= std::min(length, most); ++p) {
            if (is_useful(length, p) || (p % 2 == 0 && is_useful(length, p - 1))) {
                parts.insert(p);
            }
        }
        return parts;
    };
    for (const std::int64_t tiles : {5, 6, 8, 12}) {
        for (const Problem& problem : {problem_of(9, 16, 144), problem_of(6, 16, 80)}) {
            CAPTURE(tiles, problem.m);
            std::map<std::int64_t, Parts> found; // of outputs, by those of rows
            for (const Estimate& one : matmul::search(machine_with(tiles), problem, kAll)) {
                found[one.cuts.parts_m].insert(one.cuts.parts_n);
            }
            Parts rows;
            for (const auto& [parts_m, parts_n] : found) {
                rows.insert(parts_m);
                CHECK(parts_n == wanted(problem.out_groups, tiles / parts_m));
            }
            CHECK(rows == wanted(problem.m, tiles));
        }
    }
}

TEST_CASE("the search lists what fits by cycles, then tiles, chunks and parts", "[kernels]") {
    spec::MachineSpec machine = machine_with(12);
    const auto key = [](const Estimate& c) {
        return std::make_tuple(c.cycles(), c.cuts.tiles(), c.cuts.chunks, c.cuts.parts_m,
                               c.cuts.parts_k);
    };
    for (const Problem& problem : {problem_of(9, 640, 144), problem_of(64, 64, 64)}) {
        const auto found = matmul::search(machine, problem, kAll);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const Estimate& one = found[i];
            const Partition& p = one.cuts;
            const Estimate again = candidate_of(machine, plan::ExchangeCost(machine), problem, p);
            CHECK(one.cycles() == again.cycles());
            CHECK(one.bytes == again.bytes);
            CHECK((i == 0 || key(found[i - 1]) <= key(one)));
            // the homes of paired data are pairs that another group has
            CHECK((p.paired != Paired::A || (p.parts_n % 2 == 0 && p.parts_m * p.parts_k > 1)));
            CHECK((p.paired != Paired::B || (p.parts_m % 2 == 0 && p.parts_n * p.parts_k > 1)));
        }
        const auto few = matmul::search(machine, problem, 5);
        REQUIRE(few.size() == 5);
        for (std::size_t i = 0; i < few.size(); ++i) {
            CHECK(key(few[i]) == key(found[i]));
        }
    }
}

TEST_CASE("each cut has the four fewest numbers of chunks that make its largest smaller",
          "[kernels]") {
    constexpr std::size_t kKept = 4;
    const Problem problem = problem_of(64, 16 * 24, 64);
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::set<std::int64_t>> chunks;
    for (const Estimate& one : matmul::search(machine_with(8), problem, kAll)) {
        const Partition& p = one.cuts;
        chunks[{p.parts_m, p.parts_k, p.parts_n}].insert(p.chunks);
    }
    for (const auto& [cut, given] : chunks) {
        const auto [parts_m, parts_k, parts_n] = cut;
        CAPTURE(parts_m, parts_k, parts_n);
        std::set<std::int64_t> wanted;
        const std::int64_t groups = problem.k_groups / parts_k;
        const bool moves = parts_m > 1 || parts_n > 1;
        for (std::int64_t c = 1; c <= groups && wanted.size() < (moves ? kKept : 1); ++c) {
            if (is_useful(groups, c)) {
                wanted.insert(c);
            }
        }
        CHECK(given == wanted);
    }
}

TEST_CASE("a partition fits whose bytes leave one memory element, and none larger", "[kernels]") {
    const Problem problem = problem_of(64, 256, 64);
    spec::MachineSpec machine = machine_with(8);
    const auto all = matmul::search(machine, problem, kAll);
    Bytes least = all.front().bytes;
    for (const Estimate& one : all) {
        least = std::min(least, one.bytes);
    }
    const Bytes bytes = all.front().bytes;
    REQUIRE(bytes > least);
    set_limit(machine, bytes);
    CHECK(matmul::search(machine, problem, 1).front().cycles() == all.front().cycles());
    set_limit(machine, bytes - 1);
    for (const Estimate& one : matmul::search(machine, problem, kAll)) {
        CHECK(one.bytes < bytes);
    }
    // Where nothing fits, what needs the fewest bytes is told.
    set_limit(machine, 1);
    const auto smallest = matmul::search(machine, problem, kAll);
    REQUIRE(smallest.size() == 1);
    CHECK(smallest.front().bytes <= least);
    for (const Partition& p : partitions(machine, problem)) {
        CHECK(smallest.front().bytes <= matmul::estimate_bytes(machine, Grid(problem, p)));
    }
}

TEST_CASE("double width halves the words of the operand that it carries", "[kernels]") {
    const spec::MachineSpec machine = machine_with(64);
    const std::int64_t rows = 96;
    const std::int64_t outputs = 32;
    const std::int64_t k = 256;
    const Problem problem = problem_of(8 * rows, k, 8 * outputs);
    const auto exchange_of = [&](Paired paired) {
        return matmul::estimate(machine, plan::ExchangeCost(machine),
                                Grid(problem, {8, 1, 8, 1, paired}))
            .exchange;
    };
    const Bytes words_of_a = rows * k * 2 / 4;
    const Bytes words_of_b = outputs * k * 2 / 4;
    CHECK(exchange_of(Paired::None) - exchange_of(Paired::A) == words_of_a / 2);
    CHECK(exchange_of(Paired::None) - exchange_of(Paired::B) == words_of_b / 2);
}

TEST_CASE(
    "another weight load is estimated to the cycle for whole rounds of rows, and little above "
    "the others",
    "[kernels]") {
    const Cycles most_above = 3; // the barrier, where one worker's last row holds up nobody
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const spec::MachineSpec machine = machine_with(1);
        const std::int64_t workers = machine.tile.workers;
        for (std::int64_t rows = 1; rows <= 4 * workers + 1; ++rows) {
            CAPTURE(rows);
            const auto estimated = [&](std::int64_t groups) {
                const Problem problem =
                    problem_of(rows, 16 * groups, problem_of(1, 1, 1, partials).group, partials);
                return matmul::estimate(machine, plan::ExchangeCost(machine), Grid(problem, {}))
                    .compute;
            };
            const auto exact = [&](std::int64_t groups) {
                return plan::matmul_vertex_cycles(
                    machine, partials,
                    {.rows = rows, .out_groups = 1, .k_groups = groups, .fresh = true});
            };
            const Cycles above = estimated(9) - estimated(8) - (exact(9) - exact(8));
            CHECK(above >= 0);
            CHECK(above <= (rows % workers == 0 ? 0 : most_above));
        }
    }
}

TEST_CASE("a reduction sums the slices of the other parts, a message of each", "[kernels]") {
    spec::MachineSpec machine = machine_with(8);
    // One cell of 32 bytes for each of four parts: shorter than the controls of its message where
    // the lane is wide.
    const Problem problem = problem_of(4, 64, 16);
    const std::int64_t parts = 4;
    const Cycles controls = 3;
    for (const Bytes lane_bytes : {4, 8, 16}) {
        machine.exchange.lane_bytes = lane_bytes;
        const plan::ExchangeCost exchange(machine);
        const auto cycles =
            matmul::estimate(machine, exchange, Grid(problem, {1, parts, 1, 1, Paired::None}));
        const Cycles sum = machine.control.step_cycles +
                           plan::reduce_cycles(machine, codelets::of_f16(ElementType::F16), 2,
                                               parts - 1); // two units a cell
        const Cycles move = exchange.to_neighbours(parts) +
                            std::max(matmul::kCellBytes / lane_bytes, controls) * (parts - 1);
        CHECK(cycles.reduction == sum + move + machine.sync.internal_cycles);
        CHECK(cycles.exchange == move); // neither operand moves
        CHECK(cycles.sync == machine.sync.internal_cycles);
    }
}

TEST_CASE("a tile's bytes are its operands, its sums, its homes and what it reduces", "[kernels]") {
    const spec::MachineSpec machine = machine_with(8);
    const std::int64_t rows = 20;
    const std::int64_t outs = 2;
    const std::int64_t groups = 12;
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        Problem problem = problem_of(1, 1, 1, partials);
        problem = problem_of(2 * rows, 2 * groups * 16, 2 * outs * problem.group, partials);
        const auto bytes_of = [&](const Partition& p) {
            return matmul::estimate_bytes(machine, Grid(problem, p));
        };
        const Bytes sums = rows * outs * matmul::kCellBytes;
        const Bytes a = rows * groups * matmul::kCellBytes;
        const Bytes b = outs * groups * problem.block_bytes();
        const Bytes homes = (4 * a + 4 * b) / machine.chip.tiles;
        CHECK(bytes_of({2, 2, 2, 1, Paired::None}) == a + b + sums + homes + sums / 2);
        CHECK(bytes_of({2, 2, 2, 3, Paired::None}) == a / 3 + b / 3 + sums + homes + sums / 2);
        // one part in the other operand's length: this one stays where it is, whatever the chunks
        const Bytes wide = 2 * outs * groups * problem.block_bytes();
        CHECK(bytes_of({2, 2, 1, 3, Paired::None}) ==
              a + wide / 3 + 2 * sums + 2 * wide / machine.chip.tiles + sums);
    }
}

TEST_CASE("no candidate of a search is there twice", "[kernels]") {
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;
    for (const std::int64_t tiles : {6, 12}) {
        for (const Problem& problem : {problem_of(9, 640, 144), problem_of(7, 64, 80)}) {
            const auto found = matmul::search(machine_with(tiles), problem, kAll);
            std::set<Key> keys;
            for (const Estimate& one : found) {
                const Partition& p = one.cuts;
                keys.insert(
                    {p.parts_m, p.parts_k, p.parts_n, p.chunks, static_cast<int>(p.paired)});
            }
            CHECK(keys.size() == found.size());
        }
    }
}

TEST_CASE("no more than 96 chunks are tried, whatever would fit then", "[kernels]") {
    constexpr std::int64_t kMostChunks = 96;
    const std::int64_t groups = 200; // of inputs: 100 chunks have two each, 67 chunks three
    const Problem problem = problem_of(40, 16 * groups, 32);
    spec::MachineSpec machine = machine_with(2);
    const auto bytes_of = [&](const Partition& p) {
        return matmul::estimate_bytes(machine, Grid(problem, p));
    };
    Bytes least = bytes_of({1, 1, 1, 1, Paired::None});
    Bytes with_more = least;
    for (const auto& [pm, pk, pn] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{2, 1, 1},
                                     {1, 1, 2},
                                     {1, 2, 1},
                                     {1, 1, 1}}) {
        for (std::int64_t chunks = 1; chunks <= groups / pk; ++chunks) {
            const Bytes bytes = bytes_of({pm, pk, pn, chunks, Paired::None});
            Bytes& where = chunks <= kMostChunks ? least : with_more;
            where = std::min(where, bytes);
        }
    }
    REQUIRE(with_more < least);
    set_limit(machine, least);
    CHECK(matmul::search(machine, problem, kAll).front().bytes == least);
    set_limit(machine, least - 1);
    const auto found = matmul::search(machine, problem, kAll);
    REQUIRE(found.size() == 1); // it does not fit, and is told
    CHECK(found.front().bytes == least);
    CHECK(found.front().cuts.chunks <= kMostChunks);
}
