// SPDX-License-Identifier: MIT
// The division of a dense product that closed forms alone choose.
#include "base/error.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cost.h"
#include "kernels/matmul/matmul_search.h"
#include "kernels/plan/chip_memory.h"
#include "tests/kernels/matmul/problems.h"
#include "tests/support/gc2.h"

#include <catch2/catch.hpp>

#include <limits>

namespace {

using namespace tessera;
using test::machine_with;
using test::product;

/// What choose() and choose_by_estimate() say.
template <class Choose> std::string refusal(const Choose& choose) {
    try {
        choose();
    } catch (const NotModelled& error) {
        return error.what();
    }
    return "chosen";
}

} // namespace

TEST_CASE("closed forms alone choose the partition that the search puts first", "[kernels]") {
    constexpr auto kAll = std::numeric_limits<std::size_t>::max();
    for (const std::int64_t tiles : {1, 8, 64}) {
        for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
            for (const auto& workload :
                 {product(64, 256, 96, partials), product(37, 130, 50, partials),
                  product(1, 1000, 1, partials)}) {
                CAPTURE(tiles, workload.m, workload.k);
                const spec::MachineSpec machine = machine_with(tiles);
                auto other = workload; // C' = B' A'
                std::swap(other.m, other.n);
                const auto got = matmul::choose_by_estimate(machine, workload);
                for (const auto& told : {workload, other}) {
                    for (const auto& one : matmul::search(machine, matmul::Problem(told), kAll)) {
                        CHECK(got.predicted.total() <= one.cycles());
                    }
                }
                const bool turned = got.cuts.is_mirrored;
                const matmul::Problem problem(turned ? other : workload);
                const matmul::Partition best = matmul::search(machine, problem, kAll).front().cuts;
                CHECK(got.cuts.parts_m == (turned ? best.parts_n : best.parts_m));
                CHECK(got.cuts.parts_k == best.parts_k);
                CHECK(got.cuts.parts_n == (turned ? best.parts_m : best.parts_n));
                CHECK(got.cuts.chunks == best.chunks);
                CHECK(got.cuts.paired == (best.paired == matmul::Paired::None ? matmul::Paired::None
                                          : (best.paired == matmul::Paired::A) == !turned
                                              ? matmul::Paired::A
                                              : matmul::Paired::B));
                const matmul::Grid grid(problem, best);
                const auto wanted = matmul::estimate(machine, plan::ExchangeCost(machine), grid);
                CHECK(got.predicted.compute == wanted.compute);
                CHECK(got.predicted.exchange == wanted.exchange);
                CHECK(got.predicted.sync == wanted.sync);
                CHECK(got.predicted.reduction == wanted.reduction);
                CHECK(got.bytes == matmul::estimate_bytes(machine, grid));
            }
        }
    }
}

TEST_CASE("closed forms mirror a product where that is cheaper, fits and may be done",
          "[kernels]") {
    struct Seen {
        int mirrored = 0;
        int kept = 0;      ///< by its bias or its user, though the mirrored one is cheaper
        int too_large = 0; ///< of the mirrored ones that are cheaper
    } seen;
    for (const std::int64_t k : {16, 64, 256}) {
        for (const auto& [m, n] :
             {std::pair<std::int64_t, std::int64_t>{8, 100}, {100, 8}, {40, 70}}) {
            for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
                for (Bytes memory = 4096; memory <= 131072; memory += memory / 8 / 16 * 16) {
                    spec::MachineSpec machine = machine_with(4);
                    machine.memory.region0_bytes = 0;
                    machine.memory.region1_bytes = memory;
                    const auto told = product(m, k, n, partials);
                    const auto own = matmul::search(machine, matmul::Problem(told), 1).front();
                    const auto other =
                        matmul::search(machine, matmul::Problem(product(n, k, m, partials)), 1)
                            .front();
                    const bool cheaper = other.cycles() < own.cycles();
                    const bool fits = other.bytes <= plan::bytes_for_data(machine);
                    CAPTURE(m, k, n, memory, partials == ElementType::F16, cheaper, fits);
                    for (const auto& [bias, unmirrored] :
                         {std::pair{false, false}, {false, true}, {true, false}}) {
                        workload::MatmulWorkload one = told;
                        one.bias = bias;
                        one.unmirrored = unmirrored;
                        const auto first = matmul::search(machine, matmul::Problem(one), 1).front();
                        const bool may = !bias && !unmirrored;
                        if (may && cheaper && fits) {
                            ++seen.mirrored;
                            CHECK(matmul::choose_by_estimate(machine, one).cuts.is_mirrored);
                        } else if (first.bytes <= plan::bytes_for_data(machine)) {
                            seen.kept += !may && cheaper && fits ? 1 : 0;
                            seen.too_large += may && cheaper && !fits ? 1 : 0;
                            CHECK_FALSE(matmul::choose_by_estimate(machine, one).cuts.is_mirrored);
                        }
                    }
                }
            }
        }
    }
    CHECK(seen.mirrored > 0);
    CHECK(seen.kept > 0);
    CHECK(seen.too_large > 0);
}

TEST_CASE("a better machine is never estimated to be slower", "[kernels]") {
    const auto cycles = [](const spec::MachineSpec& machine) {
        return matmul::choose_by_estimate(machine, product(256, 512, 192)).predicted.total();
    };
    const auto falls = [&](const auto& set, const std::vector<std::int64_t>& values) {
        Cycles before = std::numeric_limits<Cycles>::max();
        for (const std::int64_t value : values) {
            CAPTURE(value);
            spec::MachineSpec machine = machine_with(32);
            set(machine, value);
            const Cycles now = cycles(machine);
            CHECK(now <= before);
            before = now;
        }
        return before;
    };
    const Cycles usual = cycles(machine_with(32));
    CHECK(falls([](auto& machine, auto value) { machine.exchange.lane_bytes = value; },
                {4, 8, 16}) < usual);
    CHECK(falls([](auto& machine, auto value) { machine.sync.internal_cycles = value; },
                {500, 126, 20, 0}) < usual);
    CHECK(falls([](auto& machine, auto value) { machine.control.step_cycles = value; },
                {300, 11, 0}) < usual);
    CHECK(falls([](auto& machine, auto value) { machine.memory.region1_bytes = value; },
                {0x4000, 0x8000, 0x10000, 0x68000}) == usual);
    CHECK(falls([](auto& machine, auto value) { machine.chip.tiles = value; }, {8, 16, 32, 64}) <
          usual);
}

TEST_CASE("a product fits whose estimated bytes leave one memory element, and none larger",
          "[kernels]") {
    spec::MachineSpec machine = machine_with(2);
    const auto workload = product(64, 64, 64);
    machine.memory.region0_bytes = machine.memory.region1_bytes = 0;
    const Bytes least = matmul::search(machine, matmul::Problem(workload), 1).front().bytes;
    machine.memory.region1_bytes = least + machine.memory.element_bytes;
    CHECK(plan::bytes_for_data(machine) == least);
    CHECK(matmul::choose_by_estimate(machine, workload).bytes == least);
    machine.memory.region1_bytes -= 1;
    CHECK_THROWS_AS(matmul::choose_by_estimate(machine, workload), DoesNotFit);
    CHECK_THROWS_WITH(matmul::choose_by_estimate(machine_with(4), product(4096, 4096, 4096)),
                      Catch::StartsWith("matmul 4096 x 4096 x 4096: by estimate the division that "
                                        "takes the fewest bytes, ") &&
                          Catch::EndsWith(" bytes of a tile, which has 622,592 for data"));
}

TEST_CASE("closed forms refuse what they know nothing of, and what planning refuses", "[kernels]") {
    const auto workload = product(70, 100, 50);
    spec::MachineSpec machine = machine_with(8);
    for (const auto& [fabric, word] :
         {std::pair{spec::Fabric::Mesh, "mesh"}, {spec::Fabric::Ring, "ring"}}) {
        machine.exchange.fabric = fabric;
        CHECK(refusal([&] { (void)matmul::choose_by_estimate(machine, workload); })
                  .starts_with(std::string("matmul 70 x 100 x 50: not modelled: an estimate with "
                                           "exchange.fabric ") +
                               word + ","));
    }
    machine.exchange.fabric = spec::Fabric::Bound;
    CHECK(matmul::choose_by_estimate(machine, workload).predicted.total() > 0);

    const spec::MachineSpec gc2 = test::gc2_with(8);
    // what is planned there is the published plan
    CHECK_THROWS_WITH(matmul::choose_by_estimate(gc2, workload),
                      Catch::Contains("not modelled: its published plan"));
    const auto f32 = product(70, 100, 50, ElementType::F32);
    CHECK(matmul::choose_by_estimate(gc2, f32).predicted.total() > 0);
}
