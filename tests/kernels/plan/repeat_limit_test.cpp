// SPDX-License-Identifier: MIT
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"

#include <catch2/catch.hpp>

#include <cstdint>

namespace {

using namespace tessera;

spec::MachineSpec machine_of(std::int64_t workers,
                             spec::Generation generation = spec::Generation::Ipu2) {
    spec::MachineSpec machine;
    machine.tile.workers = workers;
    machine.chip.generation = generation;
    return machine;
}

} // namespace

TEST_CASE("shares by a product are those of a division up to the most rounds", "[kernels]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        CAPTURE(workers);
        const auto divisor = static_cast<std::uint32_t>(workers);
        const std::uint32_t reciprocal = ((1U << 18U) + divisor - 1) / divisor;
        const auto share = [&](std::uint32_t x) { return (x * reciprocal) >> 18U; };
        const std::int64_t most = plan::most_shared_rounds(machine_of(workers));
        // SHARE_OF_WORKER divides items + workers - 1 - number
        const auto items = static_cast<std::uint32_t>(workers * most);
        bool equal = true;
        for (std::uint32_t x = 0; x < items + divisor; ++x) {
            equal = equal && share(x) == x / divisor;
        }
        CHECK(equal);
        std::uint32_t wrong = items;
        while (share(wrong) == wrong / divisor) {
            ++wrong;
        }
        CHECK(wrong < items + 3 * divisor); // no fewer than need be
    }
    CHECK(plan::most_shared_rounds(machine_of(6)) == 16382);
    CHECK(plan::most_shared_rounds(machine_of(6, spec::Generation::Ipu1)) == 4095);
}

TEST_CASE("a loop that is not cut has no more rounds than rpt can count", "[kernels]") {
    const auto ipu1 = machine_of(6, spec::Generation::Ipu1);
    CHECK(plan::counted_rounds(ipu1, 4095, "columns") == 4095);
    CHECK_THROWS_AS(plan::counted_rounds(ipu1, 4096, "columns"), DoesNotFit);
    CHECK_THROWS_WITH(plan::counted_rounds(ipu1, 4096, "columns"),
                      "a worker's loop over columns has 4096 rounds, expected at most 4095, which "
                      "rpt can count; with more tiles (chip.tiles) or workers (tile.workers) each "
                      "has less to do");
    CHECK(plan::counted_rounds(machine_of(6), 65535, "columns") == 65535);
    CHECK_THROWS_AS(plan::counted_rounds(machine_of(6), 65536, "columns"), DoesNotFit);
}

TEST_CASE("numbers of 16 bits in vertex state fit or are refused", "[kernels]") {
    CHECK(graph::half(65535, "columns") == 65535);
    CHECK(graph::halves(1, 65535, "columns").word == 0xffff0001U);
    CHECK(graph::halves(65535, 0, "columns").word == 0xffffU);
    CHECK_THROWS_AS(graph::halves(65536, 0, "columns"), DoesNotFit);
    CHECK_THROWS_AS(graph::halves(0, 65536, "columns"), DoesNotFit);
    CHECK_THROWS_AS(graph::half(-1, "columns"), DoesNotFit);
    CHECK_THROWS_WITH(graph::half(65536, "columns"),
                      "a tile's vertex state has 16 bits for columns: got 65536, expected at most "
                      "65535; with more tiles (chip.tiles) each has less to do");
}
