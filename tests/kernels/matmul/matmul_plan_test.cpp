// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "kernels/lower/lower.h"
#include "kernels/matmul/matmul_cost.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_search.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/support/choose_matmul.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>

namespace {

using namespace tessera;

struct Product {
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
};

std::vector<std::uint16_t> integers(std::int64_t elements, int range, std::size_t seed) {
    std::vector<std::uint16_t> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
        values.push_back(f32_to_f16(test::small_integer(i + seed, range)));
    }
    return values;
}

/// Elements of the result that differ from the product in double.
std::size_t wrong_elements(const Product& p, const std::vector<std::uint16_t>& a,
                           const std::vector<std::uint16_t>& b,
                           const std::vector<std::uint16_t>& c) {
    std::size_t wrong = 0;
    for (std::int64_t i = 0; i < p.m; ++i) {
        for (std::int64_t j = 0; j < p.n; ++j) {
            double sum = 0;
            for (std::int64_t l = 0; l < p.k; ++l) {
                sum += static_cast<double>(f16_to_f32(a[static_cast<std::size_t>(i * p.k + l)])) *
                       static_cast<double>(f16_to_f32(b[static_cast<std::size_t>(l * p.n + j)]));
            }
            wrong +=
                static_cast<double>(f16_to_f32(c[static_cast<std::size_t>(i * p.n + j)])) == sum
                    ? 0
                    : 1;
        }
    }
    return wrong;
}

spec::MachineSpec machine_with(std::int64_t tiles, std::int64_t workers = 6) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.tile.workers = workers;
    return machine;
}

workload::MatmulWorkload product(const Product& p, ElementType partials) {
    workload::MatmulWorkload workload;
    workload.m = p.m;
    workload.k = p.k;
    workload.n = p.n;
    workload.partials = partials;
    return workload;
}

void check_product(const spec::MachineSpec& machine, const Product& p, ElementType partials) {
    CAPTURE(machine.chip.tiles, machine.tile.workers, machine.exchange.pair_double, p.m, p.k, p.n,
            partials == ElementType::F16);
    const family::Divided planned = test::choose_matmul(machine, product(p, partials));
    CAPTURE(planned.division.parts_m, planned.division.parts_k, planned.division.parts_n,
            planned.division.chunks, family::name_of(planned.division.paired));
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
    const auto a = integers(p.m * p.k, 2, 3);
    const auto b = integers(p.k * p.n, 1, 77);
    const auto outcome = test::run_program(machine, planned.lowered.program, {{"a", a}, {"b", b}});
    CHECK(wrong_elements(p, a, b, outcome.result) == 0);
    CHECK(outcome.cycles.compute == planned.division.predicted.compute);
    CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    CHECK(outcome.cycles.sync == planned.division.predicted.sync);
}

/// Whether the plan that is chosen, of whoever, is right.
bool exact(const spec::MachineSpec& machine, const Product& p, ElementType partials) {
    const family::Divided planned = test::choose_matmul(machine, product(p, partials));
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
    const auto a = integers(p.m * p.k, 2, 3);
    const auto b = integers(p.k * p.n, 1, 77);
    const auto outcome = test::run_program(machine, planned.lowered.program, {{"a", a}, {"b", b}});
    return wrong_elements(p, a, b, outcome.result) == 0;
}

const std::vector<Product> kProducts = {{1, 1, 1},    {1, 17, 33},  {17, 1, 16},
                                        {33, 16, 1},  {16, 16, 16}, {33, 17, 40},
                                        {64, 64, 64}, {5, 200, 7},  {70, 100, 50}};

} // namespace

TEST_CASE("dense products are exact in the predicted cycles on few tiles", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t tiles : {1, 2, 4, 7}) {
            for (const Product& p : kProducts) {
                check_product(machine_with(tiles), p, partials);
            }
        }
    }
}

TEST_CASE("dense products are exact for any number of workers", "[kernels]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        check_product(machine_with(4, workers), {45, 70, 40}, ElementType::F16);
        check_product(machine_with(4, workers), {45, 70, 40}, ElementType::F32);
    }
}

TEST_CASE("dense products are exact on 64 tiles with and without double width",
          "[kernels][large]") {
    for (const bool pairs : {true, false}) {
        spec::MachineSpec machine = machine_with(64);
        machine.exchange.pair_double = pairs;
        check_product(machine, {300, 256, 200}, ElementType::F16);
        check_product(machine, {64, 700, 96}, ElementType::F32);
        check_product(machine, {512, 512, 512}, ElementType::F16);
    }
}

TEST_CASE("dense products are exact on wider lanes, and faster", "[kernels]") {
    spec::MachineSpec machine = machine_with(64);
    const auto cycles_of = [&](const Product& p) {
        return test::choose_matmul(machine, product(p, ElementType::F16))
            .division.predicted.total();
    };
    Cycles before = cycles_of({512, 512, 512});
    for (const Bytes lane_bytes : {8, 16}) {
        machine.exchange.lane_bytes = lane_bytes;
        check_product(machine, {300, 256, 200}, ElementType::F16);
        check_product(machine, {64, 700, 96}, ElementType::F32);
        const Cycles now = cycles_of({512, 512, 512});
        CHECK(now < before);
        before = now;
    }
}

TEST_CASE("the cost model counts the words of a lane's width as one event", "[kernels]") {
    spec::MachineSpec machine;
    const matmul::Problem problem(product({1024, 1024, 1024}, ElementType::F16));
    const auto exchange_of = [&](matmul::Partition partition, Bytes lane_bytes) {
        machine.exchange.lane_bytes = lane_bytes;
        return matmul::estimate(machine, plan::ExchangeCost(machine),
                                matmul::Grid(problem, partition))
            .exchange;
    };
    // 1024 inputs of 64 rows and of 64 outputs come to a tile, two bytes each; a round's cost
    // beside its words does not depend on the lane.
    for (const matmul::Paired paired : {matmul::Paired::None, matmul::Paired::A}) {
        const matmul::Partition partition{16, 1, 16, 1, paired};
        const Bytes words = 64 * 1024 / 2 * (paired == matmul::Paired::None ? 2 : 1) +
                            (paired == matmul::Paired::None ? 0 : 64 * 1024 / 4);
        for (const Bytes lane_bytes : {8, 16})
            CHECK(exchange_of(partition, 4) - exchange_of(partition, lane_bytes) ==
                  words - 4 * words / lane_bytes);
    }
    // Partial sums: of 4 parts each tile takes a quarter of 64 x 64 results from three others.
    const matmul::Partition parts{16, 4, 16, 1, matmul::Paired::None};
    const Bytes brought = 64 * 256 / 2 * 2;
    const Bytes summed = 3 * 64 * 64 / 4 / 2;
    CHECK(exchange_of(parts, 4) - exchange_of(parts, 8) == (brought + summed) / 2);
}

TEST_CASE("exchanges of dense products take the estimated cycles", "[kernels]") {
    constexpr Cycles kOff = 30; // of a message's way, in the mean of an exchange
    for (const std::int64_t tiles : {16, 64, 1472}) {
        const spec::MachineSpec machine = machine_with(tiles);
        const plan::ExchangeCost exchange(machine);
        for (const Product& p : {Product{64, 64, 64}, {128, 512, 256}, {256, 1024, 512}}) {
            const matmul::Problem problem(product(p, ElementType::F16));
            const auto best = matmul::search(machine, problem, 1).front();
            const matmul::Grid grid(problem, best.cuts);
            const auto lowered =
                lower::lower(machine, matmul::emit(machine, grid, "product").graph);
            const Cycles planned = lower::predicted_exchanges(machine, lowered).exchange;
            const Cycles estimated = matmul::estimate(machine, exchange, grid).exchange;
            CAPTURE(tiles, p.m, planned, estimated);
            CHECK(std::abs(planned - estimated) <=
                  kOff * static_cast<Cycles>(lowered.exchanges.size()));
        }
    }
}

TEST_CASE("dense products run on the other generations, or say what these lack", "[kernels]") {
    spec::MachineSpec c600 = machine_with(8);
    c600.chip.generation = spec::Generation::Ipu21;
    check_product(c600, {70, 100, 50}, ElementType::F16);
    check_product(c600, {70, 100, 50}, ElementType::F32);
    const spec::MachineSpec gc2 = test::gc2_with(8);
    check_product(gc2, {70, 100, 50}, ElementType::F32);
    // one set of the matrix unit: by the published plan
    CHECK(exact(gc2, {70, 100, 50}, ElementType::F16));
}

TEST_CASE("a large square product uses the chip within the expected cycles", "[kernels][large]") {
    spec::MachineSpec machine;
    const auto workload = product({4096, 4096, 4096}, ElementType::F16);
    const family::Divided paired = test::choose_matmul(machine, workload);
    CHECK(test::faults_of(machine, paired.lowered.program).empty());
    CHECK(paired.division.tiles_busy >= 1400);
    CHECK(paired.division.predicted.total() >= 960'000);
    CHECK(paired.division.predicted.total() <= 1'330'000);

    machine.exchange.pair_double = false;
    const family::Divided single = test::choose_matmul(machine, workload);
    const double ideal = std::pow(4096.0, 3) / 64 / 1472;
    const double with_pairs = ideal / static_cast<double>(paired.division.predicted.total());
    const double without = ideal / static_cast<double>(single.division.predicted.total());
    CHECK(with_pairs - without > 0.02);
    CHECK(with_pairs - without < 0.06);
}

TEST_CASE("the cost model of dense products is near the plan that it chooses", "[kernels][large]") {
    const spec::MachineSpec machine;
    for (const Product& p : {Product{4096, 4096, 4096}, Product{1024, 1024, 1024},
                             Product{4096, 4096, 64}, Product{300, 5000, 700}}) {
        CAPTURE(p.m, p.k, p.n);
        const auto workload = product(p, ElementType::F16);
        const auto planned = test::choose_matmul(machine, workload);
        const auto best = matmul::search(machine, matmul::Problem(workload), 1);
        CHECK(static_cast<double>(best.front().cycles()) ==
              Approx(static_cast<double>(planned.division.predicted.total())).epsilon(0.2));
    }
}

TEST_CASE("a product that is too big says what takes the memory", "[kernels]") {
    const spec::MachineSpec machine = machine_with(1);
    try {
        (void)test::choose_matmul(machine, product({320, 320, 320}, ElementType::F16));
        FAIL("it fits");
    } catch (const DoesNotFit& error) {
        const std::string text = error.what();
        CAPTURE(text);
        CHECK(text.find("does not fit in tile memory") != std::string::npos);
        CHECK(text.find("bytes over") != std::string::npos);
        CHECK(text.find("partials") != std::string::npos);
    }
}

TEST_CASE("a product that does not fit in our plan has steps over its rows", "[kernels]") {
    // FP32 partials of all of the result beside the result and the operands are too much
    const spec::MachineSpec machine = machine_with(4);
    const Product p{9600, 32, 64};
    const auto planned = test::choose_matmul(machine, product(p, ElementType::F32));
    CHECK(Catch::Contains("published plan").match(planned.lowered.program.name));
    CHECK(exact(machine, p, ElementType::F32));
}

TEST_CASE("a product that fits neither way is told as it is, not mirrored", "[kernels]") {
    int told = 0;
    for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{16, 400}, {400, 16}}) {
        for (Bytes memory = 16384; memory <= 65536; memory *= 2) {
            spec::MachineSpec machine = machine_with(4);
            machine.memory.region0_bytes = memory / 2;
            machine.memory.region1_bytes = memory / 2;
            const auto misfit = [&](bool may_mirror) {
                exchange_plan::KnownSchedules known;
                try {
                    static_cast<void>(matmul::choose(machine, product({m, 64, n}, ElementType::F16),
                                                     known, may_mirror));
                } catch (const DoesNotFit& error) {
                    return std::string(error.what());
                }
                return std::string();
            };
            const std::string either = misfit(true);
            CAPTURE(m, n, memory, either);
            if (!either.empty()) {
                CHECK(either == misfit(false));
                told +=
                    either.find(" tiles and ") != std::string::npos ? 1 : 0; // divisions of ours
            }
        }
    }
    CHECK(told > 0);
}
