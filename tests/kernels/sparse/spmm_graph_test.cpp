// SPDX-License-Identifier: MIT
// The graph of a sparse product, buffer by buffer and sum by sum, and the cycles that its parts are
// expected to take.
#include "base/float16.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_graph.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/sparse/spmm_tensors.h"
#include "kernels/workload/random.h"
#include "models/timing/exchange_latency.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace {

using namespace tessera;
using graph::Where;
using sparse::Partition;
using sparse::Problem;
using sparse::Split;

/// Some rows have blocks in all columns, some in few, some in none.
workload::SparseF16 random_matrix(std::int64_t rows, std::int64_t columns, std::int64_t block,
                                  std::int64_t cut_off = 0) {
    const workload::CounterRandom random(3, 7);
    workload::SparseF16 a;
    a.rows = rows * block;
    a.columns = columns * block - cut_off;
    a.block = block;
    a.row_start.push_back(0);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            const auto drawn = random.below(8, static_cast<std::uint64_t>(row * columns + column));
            if (static_cast<std::int64_t>(drawn) < row % 5 * 2) {
                a.block_column.push_back(static_cast<std::int32_t>(column));
            }
        }
        a.row_start.push_back(static_cast<std::int64_t>(a.block_column.size()));
    }
    a.values.assign(a.block_column.size() * static_cast<std::size_t>(block * block), f32_to_f16(1));
    return a;
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

constexpr codelets::ProductTypes kHalf = codelets::of_f16(ElementType::F16);

template <class Visit> void for_problems(const Visit& visit) {
    spec::MachineSpec machine;
    machine.chip.tiles = 24;
    for (const std::int64_t block : {1, 16}) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            const auto a = random_matrix(17, 23, block);
            for (const std::int64_t n : {24, 27}) {
                const Problem problem(workload_of(n, block, types), a);
                for (const Split split : {Split{1, 1, 1}, Split{4, 1, 1}, Split{3, 2, 1},
                                          Split{2, 3, 3}, Split{4, 2, 2}, Split{1, 5, 3}}) {
                    CAPTURE(block, codelets::suffix(types), n, split.parts_m, split.parts_k,
                            split.parts_n);
                    visit(machine, problem, Partition(problem, split));
                }
            }
        }
    }
}

std::int64_t most(const std::vector<std::int64_t>& all) {
    return *std::max_element(all.begin(), all.end());
}

} // namespace

TEST_CASE("a sparse product's buffers are as long as its fullest part, where its code wants them",
          "[kernels]") {
    for_problems([](const spec::MachineSpec& machine, const Problem& problem,
                    const Partition& partition) {
        const auto& split = partition.split();
        const sparse::Homes homes(machine, partition);
        const auto reduction = sparse::find_reduction(partition);
        const auto made = sparse::emit(machine, homes, reduction, "test");
        const bool elements = problem.block == 1;
        const bool single = problem.types.data == ElementType::F32;
        const Bytes element = bytes_of(problem.types.data);
        const std::int64_t grain = elements ? 16 / element : 1;
        const std::int64_t groups = (problem.n + grain - 1) / grain;
        const std::int64_t width = (groups + split.parts_n - 1) / split.parts_n * grain;
        const Bytes b_line = element * problem.block * width;
        const Bytes c_line = bytes_of(problem.types.partials) * problem.block * width;
        std::size_t lines = 0;
        std::size_t rows = 0;
        std::size_t blocks = 0;
        for (std::int64_t part = 0; part < split.parts(); ++part) {
            lines = std::max(lines, partition.part(part).b_lines.size());
            rows = std::max(rows, partition.part(part).rows.size());
            blocks = std::max(blocks, partition.part(part).blocks.size());
        }
        const auto of = [](std::size_t number) { return static_cast<Bytes>(number); };
        const Bytes values = elements ? (of(blocks) + grain - 1) / grain * 16
                                      : of(blocks) * element * problem.block * problem.block;
        // vertices of FP32 blocks read farther ahead
        const Bytes beyond = single && !elements ? 128 : 0;
        struct Expected {
            Bytes bytes;
            Where where;
            Bytes beyond;
        };
        const auto empty = static_cast<std::int64_t>(reduction.empty_rows.size());
        const std::map<std::string, Expected> expected{
            {"partials", {of(rows) * c_line, Where::Region1, std::max<Bytes>(16, beyond)}},
            {"b", {of(lines) * b_line, elements ? Where::Region1 : Where::Any, beyond}},
            {"values", {values, elements || single ? Where::Any : Where::Region1, 16}},
            {"slices", {most(reduction.slices_lines) * c_line, Where::Region1, 0}},
            {"result", {most(reduction.result_lines) * b_line, Where::Any, 0}},
            {"empty rows", {(empty + split.parts() - 1) / split.parts() * b_line, Where::Any, 0}},
            {"home of b", {homes.most_b_bytes(), Where::Any, 0}},
            {"home of values", {homes.most_values_bytes(), Where::Any, 0}}};
        for (const auto& buffer : made.graph.buffers) {
            CAPTURE(buffer.name);
            CHECK(buffer.zeroed == (buffer.name == "empty rows"));
            CHECK(buffer.padded ==
                  ((buffer.name == "b" || buffer.name == "home of b") && problem.n % grain != 0));
            const auto wanted = expected.find(buffer.name);
            if (wanted == expected.end()) {
                CHECK(buffer.name == "lists");
                continue;
            }
            CHECK(buffer.where == wanted->second.where);
            CHECK(buffer.read_beyond == wanted->second.beyond);
            const bool home = buffer.name.starts_with("home");
            const std::int64_t tiles = home ? machine.chip.tiles : split.tiles();
            CHECK(static_cast<std::int64_t>(buffer.held.size()) ==
                  (wanted->second.bytes > 0 ? tiles : 0));
            for (const auto& held : buffer.held) {
                CHECK(held.bytes == wanted->second.bytes);
            }
        }
        std::int64_t busy = 0;
        for (std::int64_t part = 0; part < split.parts(); ++part) {
            busy += partition.part(part).blocks.empty() ? 0 : split.parts_n;
        }
        CHECK(made.division.tiles_busy == busy);
    });
    // the last blocks reach beyond the columns: x is padded whatever n is
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    for (const std::int64_t cut_off : {0, 1, 15}) {
        const auto a = random_matrix(5, 6, 16, cut_off);
        const Problem problem(workload_of(24, 16, kHalf), a);
        const Partition partition(problem, {2, 1, 1});
        const sparse::Homes homes(machine, partition);
        const auto made = sparse::emit(machine, homes, sparse::find_reduction(partition), "test");
        for (const auto& buffer : made.graph.buffers) {
            CHECK(buffer.padded ==
                  (cut_off > 0 && (buffer.name == "b" || buffer.name == "home of b")));
        }
    }
}

TEST_CASE("each part sums up its rows and those of the others that it was brought", "[kernels]") {
    for_problems([](const spec::MachineSpec& machine, const Problem& problem,
                    const Partition& partition) {
        const auto& split = partition.split();
        const auto reduction = sparse::find_reduction(partition);
        const sparse::Homes homes(machine, partition);
        const auto made = sparse::emit(machine, homes, reduction, "test");
        if (reduction.jobs.empty()) {
            CHECK(made.graph.compute_sets.size() == 1);
            CHECK(made.division.predicted.reduction == 0);
            return;
        }
        const auto& graph = made.graph;
        REQUIRE(graph.compute_sets.size() == 2);
        const auto& vertices = graph.compute_sets.back().vertices;
        std::size_t at = 0;
        Cycles slowest = 0;
        for (std::int64_t part = 0; part < split.parts(); ++part) {
            const auto& jobs = reduction.jobs_of_part[static_cast<std::size_t>(part)];
            for (std::int64_t in = 0; in < split.parts_n && !jobs.empty(); ++in) {
                const std::int64_t width = problem.slice(split, in).size();
                const Bytes line = bytes_of(problem.types.partials) * problem.block * width;
                plan::StubTimeline stub(machine, false);
                for (const std::size_t number : jobs) {
                    const auto& job = reduction.jobs[number];
                    const auto others = static_cast<std::int64_t>(job.others.size());
                    REQUIRE(at < vertices.size());
                    const auto& vertex = vertices[at++];
                    CHECK(vertex.tile == partition.tile(part, in));
                    const auto fields = graph.fields_of(vertex.fields);
                    const std::int64_t units = job.rows * line / 16;
                    CHECK(fields[0].bytes == job.rows * line);
                    CHECK(fields[0].place.offset ==
                          partition.part(part).local_row(job.first_row) * line);
                    if (others > 0) {
                        CHECK(fields[1].bytes == others * job.rows * line);
                        CHECK(fields[1].place.offset == job.slices_offset * line);
                    }
                    CHECK(fields[2].word == units);
                    CHECK(fields[3].word == others);
                    const Bytes result = bytes_of(problem.types.data) * problem.block * width;
                    CHECK(fields[4].bytes == job.rows * result);
                    CHECK(fields[4].place.offset == job.result_offset * result);
                    CHECK(fields[5].word == units / machine.tile.workers);
                    CHECK(fields[6].word == units % machine.tile.workers);
                    stub.reduce(problem.types, units, others);
                }
                slowest = std::max(slowest, stub.finish());
            }
        }
        CHECK(at == vertices.size());
        CHECK(made.division.predicted.reduction == machine.control.step_cycles + slowest);
        // every other's line comes once to where it is summed up
        std::map<std::pair<TileId, Bytes>, Bytes> brought;
        const auto& bring = graph.exchanges.back();
        for (const auto& message : bring.messages) {
            REQUIRE(message.receivers == 1);
            const auto& to = bring.to[message.first_to];
            CHECK(brought.emplace(std::pair{to.tile, Bytes{to.offset}}, message.bytes).second);
        }
        std::size_t wanted = 0;
        for (const auto& job : reduction.jobs) {
            for (std::int64_t in = 0; in < split.parts_n; ++in) {
                const Bytes line = bytes_of(problem.types.partials) * problem.block *
                                   problem.slice(split, in).size();
                for (std::size_t other = 0; other < job.others.size(); ++other, ++wanted) {
                    const Bytes where =
                        (job.slices_offset + static_cast<std::int64_t>(other) * job.rows) * line;
                    CHECK(brought[{partition.tile(job.reducer, in), where}] == job.rows * line);
                }
            }
        }
        CHECK(brought.size() == wanted);
    });
}

TEST_CASE("the parts' cycles are those of their fullest, and the busiest tile's words",
          "[kernels]") {
    for_problems([](const spec::MachineSpec& machine, const Problem& problem,
                    const Partition& partition) {
        const auto& split = partition.split();
        const plan::ExchangeCost cost(machine);
        const auto reduction = sparse::find_reduction(partition);
        const std::int64_t width = problem.widest_slice(split);
        const timing::LaneTiming lane{machine.exchange};
        const Bytes c_line = bytes_of(problem.types.partials) * problem.block * width;
        const auto events = [&](Bytes bytes) {
            return std::max(3.0, static_cast<double>(lane.events(bytes / 4)));
        };
        Cycles multiply = 0;
        Cycles sum = 0;
        double bring = 0;
        double move = 0;
        for (std::int64_t number = 0; number < split.parts(); ++number) {
            const auto& part = partition.part(number);
            if (part.blocks.empty()) {
                continue;
            }
            multiply =
                std::max(multiply, sparse::multiply_cycles(machine, problem, part, width, {}));
            double words = 0;
            for (const std::int32_t line : part.b_lines) {
                const auto users = partition.users_of_line(line).size();
                const bool all = users == static_cast<std::size_t>(split.parts_m);
                words += users == 1 ? 0 : (all ? 1.1 : 1.3) * events(problem.line_bytes_of(width));
            }
            if (split.parts_n > 1) {
                const bool wide = machine.exchange.pairs() && split.parts_n % 2 == 0;
                words += 1.1 * static_cast<double>(part.blocks.size()) *
                         static_cast<double>(problem.value_bytes()) /
                         static_cast<double>(4 * machine.exchange.lane_items()) / (wide ? 2 : 1);
            }
            bring = std::max(bring, words);
            plan::StubTimeline stub(machine, false);
            double partials = 0;
            for (const std::size_t job : reduction.jobs_of_part[static_cast<std::size_t>(number)]) {
                const auto others = static_cast<std::int64_t>(reduction.jobs[job].others.size());
                const Bytes bytes = reduction.jobs[job].rows * c_line;
                stub.reduce(problem.types, bytes / 16, others);
                partials += static_cast<double>(others) * events(bytes);
            }
            sum = std::max(sum, stub.finish());
            move = std::max(move, 1.3 * partials);
        }
        const auto got = sparse::refine(machine, cost, partition, reduction);
        const Cycles step = machine.control.step_cycles;
        CHECK(got.compute == multiply + step + (reduction.jobs.empty() ? 0 : sum + step));
        const auto far =
            split.parts_m > 1 ? cost.to_all_over(split.tiles()) : cost.to_neighbours(split.tiles());
        const double brings = bring > 0 ? static_cast<double>(far) + bring : 0;
        const double moves =
            move > 0 ? static_cast<double>(cost.to_neighbours(split.tiles())) + move : 0;
        CHECK(static_cast<double>(got.exchange) <= brings + moves + 1e-6);
        CHECK(static_cast<double>(got.exchange) + 2 > brings + moves - 1e-6);
        CHECK(got.sync ==
              ((bring > 0 ? 1 : 0) + (move > 0 ? 1 : 0)) * machine.sync.internal_cycles);
    });
}

TEST_CASE("a sparse sum is rounded for each block of its longest row and each other part",
          "[kernels]") {
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            for (const std::int64_t tiles : {1, 12}) {
                // two rows, so that most tiles have columns of their own
                workload::SparseF16 a;
                a.rows = 2 * block;
                a.columns = 60 * block;
                a.block = block;
                a.row_start = {0, 60, 67};
                for (std::int32_t i = 0; i < 67; ++i) {
                    a.block_column.push_back(i < 60 ? i : (i - 60) * 7);
                }
                a.values.assign(static_cast<std::size_t>(67 * block * block), f32_to_f16(1));
                spec::MachineSpec machine;
                machine.chip.tiles = tiles;
                const auto workload = workload_of(8, block, types);
                exchange_plan::KnownSchedules known;
                const auto division = sparse::choose_ours(machine, workload, a, known).division;
                const Problem problem(workload, a);
                const Partition partition(problem,
                                          {division.parts_m, division.parts_k, division.parts_n});
                const auto parts = static_cast<std::int64_t>(
                    std::max(partition.contributors(0).size(), partition.contributors(1).size()));
                const bool half = types.partials == ElementType::F16;
                const bool single = types.data == ElementType::F32;
                CAPTURE(block, codelets::suffix(types), tiles, parts);
                CHECK((tiles == 1) == (parts == 1));
                const std::int64_t again = parts > 1 ? 1 : 0;
                CHECK(division.roundings == (single       ? block * 60 + parts
                                             : block == 1 ? (half ? again : parts)
                                             : half       ? 60 + again
                                                          : block / 4 * 60 + parts));
            }
        }
    }
}

TEST_CASE("a part of nothing has no rows, lines or blocks", "[kernels]") {
    workload::SparseF16 nothing;
    nothing.rows = 3;
    nothing.columns = 4;
    nothing.block = 1;
    nothing.row_start = {0, 0, 0, 0};
    const Problem problem(workload_of(8, 1, kHalf), nothing);
    const Partition partition(problem, {2, 1, 1});
    CHECK(partition.most_rows() == 0);
    CHECK(partition.most_b_lines() == 0);
    CHECK(partition.most_blocks() == 0);
    spec::MachineSpec machine;
    machine.chip.tiles = 2;
    const auto made = sparse::emit(machine, sparse::Homes(machine, partition),
                                   sparse::find_reduction(partition), "test");
    CHECK(made.division.predicted.compute == 0);
    CHECK(made.division.tiles_busy == 0);
}

TEST_CASE("lines that all parts need come at once, others to two parts at a time or to so many as "
          "homes have the time for",
          "[kernels]") {
    int at_most_two = 0;
    int more = 0;
    for_problems([&](const spec::MachineSpec& machine, const Problem& problem,
                     const Partition& partition) {
        const sparse::Homes homes(machine, partition);
        // A home has lines for a message of 256 bytes, or its share; each goes out once for each message.
        std::int64_t lines = 0;
        std::int64_t users_of_all = 0;
        for (std::int64_t line = 0; line < problem.matrix->block_columns(); ++line) {
            const auto users = static_cast<std::int64_t>(partition.users_of_line(line).size());
            lines += users > 0 ? 1 : 0;
            users_of_all += users;
        }
        const auto& some = partition.split();
        const std::int64_t candidates = some.parts_n > 1 ? some.parts() : machine.chip.tiles;
        const std::int64_t of_home = std::min(
            lines, std::max(ceil_div(256, problem.line_bytes_of(problem.widest_slice(some))),
                            ceil_div(lines, candidates)));
        const std::int64_t mean = lines == 0 ? 0 : ceil_div(users_of_all, lines);
        std::int64_t together = 2;
        while (together < mean && of_home * ceil_div(mean, together) > partition.most_b_lines()) {
            together *= 2;
        }
        (together == 2 ? at_most_two : more) += 1;
        std::size_t messages = homes.values().size();
        for (const auto& run : homes.runs()) {
            const auto users = homes.users(run).size();
            const bool all = users == static_cast<std::size_t>(partition.split().parts_m);
            CHECK(homes.together(run) == (all ? users : static_cast<std::size_t>(together)));
        }
        for (std::int64_t in = 0; in < partition.split().parts_n; ++in) {
            for (const auto& run : homes.b(in)) {
                messages += static_cast<std::size_t>(
                    ceil_div(static_cast<std::int64_t>(homes.users(homes.runs()[run.group]).size()),
                             together));
            }
        }
        CHECK(homes.messages() == messages);
        // the deal of the values of parts that several slices have
        const auto& split = partition.split();
        if (split.parts_n == 1 || homes.values_wide()) {
            return;
        }
        std::vector<std::int64_t> units;
        std::vector<TileId> tiles;
        for (std::int64_t part = 0; part < split.parts(); ++part) {
            const auto blocks = static_cast<std::int64_t>(partition.part(part).blocks.size());
            units.push_back(ceil_div(blocks, homes.values_a_unit()));
        }
        for (TileId tile = 0; tile < machine.chip.tiles; ++tile) {
            tiles.push_back(tile);
        }
        const auto wanted =
            plan::deal_homes(units, tiles, ceil_div(256, homes.value_unit_bytes()),
                             [&](TileId tile, std::size_t part) {
                                 return static_cast<std::int64_t>(tile) / split.parts_n ==
                                        static_cast<std::int64_t>(part);
                             });
        using Run = std::tuple<std::size_t, std::int64_t, std::int64_t, TileId>;
        std::multiset<Run> expected;
        std::multiset<Run> got;
        for (const auto& home : wanted) {
            expected.emplace(home.group, home.first, home.last, home.tile);
        }
        std::pair<std::int64_t, std::size_t> last{-1, 0};
        for (const auto& run : homes.values()) {
            got.emplace(run.group, run.first, run.last, run.tile);
            CHECK(std::pair(run.turn, run.group) > last);
            last = {run.turn, run.group};
        }
        CHECK((got == expected));
    });
    CHECK(at_most_two > 0);
    CHECK(more > 0);
}

namespace {

/// Host number and byte of the elements of a tensor on one tile.
std::map<std::int64_t, Bytes> elements_of(const graph::Tensor& tensor) {
    std::map<std::int64_t, Bytes> all;
    for (const auto& piece : tensor.pieces) {
        std::map<std::int64_t, Bytes> made{{piece.host_offset, piece.place.offset}};
        for (const auto& dim : piece.dims) {
            std::map<std::int64_t, Bytes> nested;
            for (const auto& [host, at] : made) {
                for (std::int64_t i = 0; i < dim.count; ++i) {
                    CHECK(nested.emplace(host + i * dim.host_stride, at + i * dim.tile_stride)
                              .second);
                }
            }
            made = std::move(nested);
        }
        for (const auto& one : made) {
            CHECK(all.insert(one).second);
        }
    }
    return all;
}

} // namespace

TEST_CASE("values stand in the order of a part's blocks, those that follow each other in a piece",
          "[kernels]") {
    for (const std::int64_t block : {1, 16}) {
        const auto a = random_matrix(4, 9, block);
        const Problem problem(workload_of(8, block, codelets::of_f16(ElementType::F32)), a);
        sparse::Part part;
        part.blocks = {2, 3, 4, 6, 8, 9, 12, 13, 20};
        for (const auto& [first, last, pieces] :
             {std::tuple{0, 9, 5}, std::tuple{1, 9, 5}, std::tuple{3, 4, 1}, std::tuple{2, 8, 4},
              std::tuple{5, 5, 0}}) {
            graph::Tensor tensor;
            sparse::add_values(tensor, 0, {graph::BufferId{}, 64}, problem, part, first, last);
            CAPTURE(block, first, last);
            CHECK(tensor.pieces.size() == static_cast<std::size_t>(pieces));
            std::map<std::int64_t, Bytes> wanted;
            for (std::int64_t at = first; at < last; ++at) {
                for (std::int64_t i = 0; i < block * block; ++i) {
                    wanted[part.blocks[static_cast<std::size_t>(at)] * block * block + i] =
                        64 + ((at - first) * block * block + i) * 2;
                }
            }
            CHECK((elements_of(tensor) == wanted));
        }
    }
}

TEST_CASE("lines stand one behind the other, with the loops that make more than one round",
          "[kernels]") {
    for (const std::int64_t block : {1, 16}) {
        for (const bool halves : {false, true}) {
            for (const std::int64_t rows : {3 * block, 3 * block - 1, 2 * block + 1}) {
                for (const std::int64_t first : {0, 1, 2}) {
                    for (std::int64_t count = 1; first + count <= 3; ++count) {
                        if (halves && block == 1) {
                            continue;
                        }
                        CAPTURE(block, halves, rows, first, count);
                        constexpr std::int64_t kColumns = 11;
                        const auto a = random_matrix(4, 4, block);
                        const Problem problem(
                            workload_of(kColumns, block, codelets::of_f16(ElementType::F32)), a);
                        const graph::CellGrid cells =
                            sparse::cells_of(problem, rows, {8, 16}, halves);
                        graph::Tensor tensor;
                        sparse::add_lines(tensor, 0, {graph::BufferId{}, 32}, cells, block, first,
                                          count);
                        std::map<std::int64_t, Bytes> wanted;
                        const std::int64_t group = halves ? 8 : block;
                        for (std::int64_t row = first * block;
                             row < std::min(rows, (first + count) * block); ++row) {
                            for (std::int64_t column = 8; column < kColumns; ++column) {
                                // column by column of each group of rows
                                const std::int64_t inside = row - first * block;
                                wanted[row * kColumns + column] =
                                    32 + 2 * (inside / group * group * 8 + (column - 8) * group +
                                              inside % group);
                            }
                        }
                        CHECK((elements_of(tensor) == wanted));
                        for (const auto& piece : tensor.pieces) {
                            const auto rounds =
                                std::count_if(piece.dims.begin(), piece.dims.end(),
                                              [](const auto& dim) { return dim.count > 1; });
                            CHECK(rounds == static_cast<std::ptrdiff_t>(piece.dims.size()));
                        }
                    }
                }
            }
        }
    }
}
