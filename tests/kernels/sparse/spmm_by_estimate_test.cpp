// SPDX-License-Identifier: MIT
// The division of a sparse product that closed forms alone choose.
#include "base/error.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_search.h"
#include "kernels/workload/values.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

using namespace tessera;

spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

workload::SpmmWorkload product(std::int64_t block, std::int64_t n,
                               ElementType partials = ElementType::F16) {
    workload::SpmmWorkload workload;
    workload.m = 16 * 20;
    workload.k = 16 * 12;
    workload.n = n;
    workload.block = block;
    workload.partials = partials;
    workload.pattern.density = 0.2;
    return workload;
}

} // namespace

TEST_CASE("closed forms alone choose the sparse split that the search puts first", "[kernels]") {
    for (const std::int64_t block : {1, 16}) {
        for (const std::int64_t tiles : {1, 8, 64}) {
            for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
                CAPTURE(block, tiles, partials == ElementType::F16);
                const auto workload = product(block, 40, partials);
                const auto matrix = workload::make_sparse(workload);
                const spec::MachineSpec machine = machine_with(tiles);
                const sparse::Problem problem(workload, matrix);
                const auto got = sparse::choose_by_estimate(machine, workload, matrix);
                const auto best = sparse::search(machine, problem).front();
                CHECK(got.cuts.parts_m == best.split.parts_m);
                CHECK(got.cuts.parts_k == best.split.parts_k);
                CHECK(got.cuts.parts_n == best.split.parts_n);
                CHECK(got.cuts.chunks == 1);
                CHECK(got.cuts.paired == family::Paired::None);
                CHECK(got.bytes == best.bytes);
                // cut out, as the best by averages are
                const sparse::Partition partition(problem, best.split);
                const auto wanted = sparse::refine(machine, plan::ExchangeCost(machine), partition,
                                                   sparse::find_reduction(partition));
                CHECK(got.predicted.total() == best.cycles());
                CHECK(got.predicted.compute == wanted.compute);
                CHECK(got.predicted.exchange == wanted.exchange);
                CHECK(got.predicted.sync == wanted.sync);
                CHECK(got.predicted.reduction == wanted.reduction);
            }
        }
    }
}

TEST_CASE("summing partial results of a sparse split is part of what it costs", "[kernels]") {
    const auto workload = product(1, 40);
    const auto matrix = workload::make_sparse(workload);
    const spec::MachineSpec machine = machine_with(16);
    const sparse::Problem problem(workload, matrix);
    const plan::ExchangeCost exchange(machine);
    for (const std::int64_t bands : {1, 2, 4}) {
        CAPTURE(bands);
        const sparse::Partition partition(problem, {4, bands, 1});
        auto reduction = sparse::find_reduction(partition);
        const auto whole = sparse::refine(machine, exchange, partition, reduction);
        reduction.jobs.clear();
        for (auto& jobs : reduction.jobs_of_part) {
            jobs.clear();
        }
        const auto without = sparse::refine(machine, exchange, partition, reduction);
        CHECK(without.reduction == 0);
        CHECK(whole.total() - without.total() == whole.reduction);
        CHECK((whole.reduction > 0) == (bands > 1));
    }
}

TEST_CASE("a sparse product on a better machine is never estimated to be slower", "[kernels]") {
    for (const std::int64_t block : {1, 16}) {
        const auto workload = product(block, 40);
        const auto matrix = workload::make_sparse(workload);
        const auto cycles = [&](std::int64_t sync, std::int64_t step) {
            spec::MachineSpec machine = machine_with(16);
            machine.sync.internal_cycles = sync;
            machine.control.step_cycles = step;
            return sparse::choose_by_estimate(machine, workload, matrix).predicted.total();
        };
        CHECK(cycles(20, 11) < cycles(126, 11));
        CHECK(cycles(126, 11) < cycles(500, 11));
        CHECK(cycles(126, 0) < cycles(126, 11));
    }
}

TEST_CASE("a sparse product fits whose estimated bytes leave one memory element, and none larger",
          "[kernels]") {
    const auto workload = product(16, 40);
    const auto matrix = workload::make_sparse(workload);
    spec::MachineSpec machine = machine_with(2);
    machine.memory.region0_bytes = machine.memory.region1_bytes = 0;
    Bytes least = 0;
    for (const auto& one : sparse::search(machine, sparse::Problem(workload, matrix))) {
        least = least == 0 ? one.bytes : std::min(least, one.bytes);
    }
    machine.memory.region1_bytes = least + machine.memory.element_bytes;
    CHECK(sparse::choose_by_estimate(machine, workload, matrix).bytes == least);
    machine.memory.region1_bytes -= 1;
    CHECK_THROWS_AS(sparse::choose_by_estimate(machine, workload, matrix), DoesNotFit);
    CHECK_THROWS_WITH(sparse::choose_by_estimate(machine, workload, matrix),
                      Catch::StartsWith("spmm 320 x 192 x 40: by estimate the division that takes "
                                        "the fewest bytes, "));
}

TEST_CASE("closed forms of sparse products know nothing of links that messages wait for",
          "[kernels]") {
    const auto workload = product(1, 40);
    const auto matrix = workload::make_sparse(workload);
    spec::MachineSpec machine = machine_with(8);
    for (const auto fabric : {spec::Fabric::Mesh, spec::Fabric::Ring}) {
        machine.exchange.fabric = fabric;
        CHECK_THROWS_AS(sparse::choose_by_estimate(machine, workload, matrix), NotModelled);
    }
    machine.exchange.fabric = spec::Fabric::Bound;
    CHECK(sparse::choose_by_estimate(machine, workload, matrix).predicted.total() > 0);
}
