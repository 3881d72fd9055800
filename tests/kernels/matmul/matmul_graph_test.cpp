// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/lower/lifetimes.h"
#include "kernels/lower/placing.h"
#include "kernels/lower/uses.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_homes.h"
#include "tests/kernels/matmul/problems.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using matmul::Grid;
using matmul::Paired;
using matmul::Partition;
using matmul::Problem;
using test::machine_with;
using test::problem_of;

/// Number of the memory element, or of the pair of elements in region 1, at `address`.
std::int64_t granule(const spec::MemorySpec& memory, Address address) {
    const bool in0 = address < memory.region1_begin();
    const auto offset =
        static_cast<Bytes>(address - (in0 ? memory.region0_begin() : memory.region1_begin()));
    return in0 ? offset / memory.element_bytes : 1'000'000 + offset / (2 * memory.element_bytes);
}

/// The placed buffers of a partition by name; none where it does not fit.
std::map<std::string, lower::MemoryPlan::Buffer>
buffers_of(const spec::MachineSpec& machine, const Grid& grid, const lower::CodeRoom& room) {
    std::map<std::string, lower::MemoryPlan::Buffer> buffers;
    try {
        const graph::Graph graph = matmul::emit(machine, grid, "product").graph;
        const lower::Uses uses(graph);
        const auto placing = lower::place(machine, graph, lower::needs_of(graph, uses), room, {});
        for (std::size_t i = 0; i < graph.buffers.size(); ++i) {
            if (!graph.buffers[i].held.empty()) {
                const TileId tile = graph.buffers[i].held.front().tile;
                buffers[graph.buffers[i].name] =
                    placing.at(tile, graph::BufferId{static_cast<std::uint32_t>(i)});
            } else {
                buffers[graph.buffers[i].name] = {};
            }
        }
    } catch (const DoesNotFit&) {
        buffers.clear();
    }
    return buffers;
}

} // namespace

TEST_CASE("one member of each pair sends at double width, the other member sends the rest, in turn",
          "[kernels]") {
    const spec::MachineSpec machine = machine_with(64);
    const Problem problem = problem_of(256, 1024, 256, ElementType::F16);
    for (const Paired paired : {Paired::A, Paired::B}) {
        const Grid grid(problem, Partition{8, 1, 8, 4, paired});
        for (const bool is_a : {true, false}) {
            const matmul::Operand operand(machine, grid, is_a);
            const std::int64_t first = operand.wide() ? 0 : 1;
            for (std::int64_t chunk = 0; chunk < grid.partition().chunks; ++chunk) {
                const auto& homes = operand.runs(chunk);
                REQUIRE_FALSE(homes.empty());
                CHECK(std::all_of(homes.begin(), homes.end(), [&](const auto& run) {
                    return static_cast<std::int64_t>(run.tile % 2) == (first + chunk) % 2;
                }));
            }
        }
    }
}

TEST_CASE("long homes of rows begin where squares of 16 rows do", "[kernels]") {
    const spec::MachineSpec machine = machine_with(64);
    for (const Paired paired : {Paired::A, Paired::B, Paired::None}) {
        const Problem problem = problem_of(1024, 1536, 256, ElementType::F16);
        const Grid grid(problem, Partition{4, 4, 4, 1, paired});
        const matmul::Operand operand(machine, grid, true);
        std::int64_t units = 0;
        for (const auto& run : operand.runs(0)) {
            CHECK(run.first % 16 == 0);
            CHECK(run.last % 16 == 0);
            units += run.units();
        }
        CHECK(units == problem.m * problem.k_groups);
    }
}

TEST_CASE("buffers of a dense product that an instruction or an exchange uses together are apart",
          "[kernels]") {
    const std::vector<std::pair<std::string, std::string>> apart{
        {"x", "partials"},        {"weights", "partials"},  {"slices", "partials"},
        {"home of a", "x"},       {"home of a", "weights"}, {"home of b", "x"},
        {"home of b", "weights"},
    };
    const spec::MachineSpec machine = machine_with(64);
    const std::vector<Partition> partitions{
        {8, 1, 8, 1, Paired::None},  {4, 4, 4, 2, Paired::None}, {8, 1, 8, 3, Paired::A},
        {2, 16, 2, 1, Paired::None}, {4, 2, 8, 5, Paired::B},    {16, 2, 2, 1, Paired::None}};
    int placed = 0;
    // Where code fills region 0, all of them stand in region 1.
    for (const lower::CodeRoom& room : {lower::CodeRoom{8000, {{4000, program::Lifetime::kEnd}}},
                                        lower::CodeRoom{machine.memory.region0_bytes, {}}}) {
        for (const auto partials : {ElementType::F16, ElementType::F32}) {
            for (const std::int64_t size : {150, 400, 600}) {
                const Problem problem = problem_of(size, size, size, partials);
                for (const Partition& partition : partitions) {
                    const Grid grid(problem, partition);
                    const auto buffers = buffers_of(machine, grid, room);
                    if (buffers.empty()) {
                        continue;
                    }
                    ++placed;
                    const auto first = [&](const std::string& name) {
                        return granule(machine.memory, buffers.at(name).begin);
                    };
                    const auto last = [&](const std::string& name) {
                        const auto& buffer = buffers.at(name);
                        return granule(machine.memory,
                                       buffer.begin + static_cast<Address>(buffer.bytes) - 1);
                    };
                    for (const auto& [one, other] : apart) {
                        CAPTURE(size, partition.parts_m, partition.parts_k, one, other);
                        if (buffers.at(one).bytes > 0 && buffers.at(other).bytes > 0) {
                            CHECK((last(one) < first(other) || last(other) < first(one)));
                        }
                    }
                }
            }
        }
    }
    CHECK(placed > 40);
}

TEST_CASE("a dense product's sums have a unit behind them", "[kernels]") {
    constexpr Bytes kReadAhead = 16;
    const spec::MachineSpec machine = machine_with(64);
    const Problem problem = problem_of(256, 1024, 256, ElementType::F16);
    for (const Partition& partition :
         {Partition{8, 1, 8, 1, Paired::None}, Partition{4, 4, 4, 1, Paired::None},
          Partition{4, 4, 4, 3, Paired::None}, Partition{8, 1, 8, 5, Paired::A}}) {
        const Grid grid(problem, partition);
        const auto buffers = buffers_of(machine, grid, {8000, {{4000, program::Lifetime::kEnd}}});
        const std::int64_t cells = grid.most_rows() * grid.most_out_groups();
        CHECK(buffers.at("partials").bytes >= cells * matmul::kCellBytes + kReadAhead);
    }
}
