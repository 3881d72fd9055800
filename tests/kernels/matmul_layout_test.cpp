// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_layout.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using matmul::Grid;
using matmul::Layout;
using matmul::Paired;
using matmul::Partition;
using matmul::Problem;

spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

Problem problem_of(std::int64_t m, std::int64_t k, std::int64_t n,
                   workload::PartialsType partials) {
    workload::MatmulWorkload workload;
    workload.m = m;
    workload.k = k;
    workload.n = n;
    workload.partials = partials;
    return Problem(workload);
}

/// Number of the memory element, or of the pair of elements in region 1, at `address`.
std::int64_t granule(const spec::MemorySpec& memory, Address address) {
    const bool in0 = address < memory.region1_begin();
    const auto offset =
        static_cast<Bytes>(address - (in0 ? memory.region0_begin() : memory.region1_begin()));
    return in0 ? offset / memory.element_bytes : 1'000'000 + offset / (2 * memory.element_bytes);
}

} // namespace

TEST_CASE("beside messages of double width only one member of each pair sends, in turn",
          "[kernels]") {
    const spec::MachineSpec machine = machine_with(64);
    const Problem problem = problem_of(256, 1024, 256, workload::PartialsType::F16);
    for (const Paired paired : {Paired::A, Paired::B}) {
        const Grid grid(problem, Partition{8, 1, 8, 4, paired});
        const Layout layout(machine, grid);
        for (std::int64_t chunk = 0; chunk < grid.partition().chunks; ++chunk) {
            REQUIRE_FALSE(layout.homes_a(chunk).empty());
            REQUIRE_FALSE(layout.homes_b(chunk).empty());
            for (const auto* homes : {&layout.homes_a(chunk), &layout.homes_b(chunk)}) {
                CHECK(std::all_of(homes->begin(), homes->end(), [&](const auto& run) {
                    return static_cast<std::int64_t>(run.home.tile % 2) == chunk % 2;
                }));
            }
        }
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
    for (const plan::CodeRoom room :
         {plan::CodeRoom{8000, 4000}, plan::CodeRoom{machine.memory.region0_bytes, 0}}) {
        for (const auto partials : {workload::PartialsType::F16, workload::PartialsType::F32}) {
            for (const std::int64_t size : {150, 400, 600}) {
                const Problem problem = problem_of(size, size, size, partials);
                for (const Partition& partition : partitions) {
                    const Grid grid(problem, partition);
                    Layout layout(machine, grid);
                    if (!layout.place(room)) {
                        continue;
                    }
                    ++placed;
                    const plan::MemoryPlan& memory = layout.memory();
                    const auto first = [&](const std::string& name) {
                        return granule(machine.memory, memory.address(name));
                    };
                    const auto last = [&](const std::string& name) {
                        return granule(machine.memory,
                                       memory.address(name) +
                                           static_cast<Address>(memory.bytes(name)) - 1);
                    };
                    for (const auto& [one, other] : apart) {
                        CAPTURE(size, partition.parts_m, partition.parts_k, one, other);
                        if (memory.bytes(one) > 0 && memory.bytes(other) > 0) {
                            CHECK((last(one) < first(other) || last(other) < first(one)));
                        }
                    }
                }
            }
        }
    }
    CHECK(placed > 40);
}

TEST_CASE("a dense product's sums have a unit behind them, and each of its vertices its state",
          "[kernels]") {
    constexpr Bytes kReadAhead = 16;
    constexpr Bytes kVertexStateBytes = 32;
    const spec::MachineSpec machine = machine_with(64);
    const Problem problem = problem_of(256, 1024, 256, workload::PartialsType::F16);
    for (const Partition& partition :
         {Partition{8, 1, 8, 1, Paired::None}, Partition{4, 4, 4, 1, Paired::None},
          Partition{4, 4, 4, 3, Paired::None}, Partition{8, 1, 8, 5, Paired::A}}) {
        const Grid grid(problem, partition);
        Layout layout(machine, grid);
        REQUIRE(layout.place({8000, 4000}));
        const std::int64_t cells = grid.most_rows() * grid.most_out_groups();
        CHECK(layout.memory().bytes("partials") >= cells * matmul::kCellBytes + kReadAhead);
        const std::int64_t vertices = partition.chunks + (grid.reduces() ? 1 : 0);
        CHECK(layout.memory().bytes("vertex state") >= vertices * kVertexStateBytes);
    }
}
