// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/float16.h"
#include "base/float8.h"
#include "kernels/matmul/matmul_groups.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/workload/values.h"
#include "models/timing/tile_position.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/support/choose_matmul.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using workload::MatmulWorkload;
using workload::PlanKind;

struct Types {
    ElementType data;
    ElementType partials;
};
constexpr Types kHalf{ElementType::F16, ElementType::F16};
constexpr Types kMixed{ElementType::F16, ElementType::F32};
constexpr Types kFloat{ElementType::F32, ElementType::F32};

struct Sizes {
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
};

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

MatmulWorkload workload_of(std::int64_t groups, const Sizes& sizes, const Types& types,
                           PlanKind plan) {
    MatmulWorkload workload;
    workload.groups = groups;
    workload.m = sizes.m;
    workload.k = sizes.k;
    workload.n = sizes.n;
    workload.dtype = types.data;
    workload.partials = types.partials;
    workload.plan = plan;
    return workload;
}

std::vector<std::byte> operand(const std::vector<double>& values, ElementType type) {
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(type)));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto wide = static_cast<float>(values[i]);
        const std::uint16_t narrow = f32_to_f16(wide);
        const auto size = static_cast<std::size_t>(bytes_of(type));
        const std::uint8_t code = size == 1 ? f32_to_f8(wide, type) : std::uint8_t{0};
        std::memcpy(bytes.data() + i * size,
                    size == 4   ? static_cast<const void*>(&wide)
                    : size == 2 ? static_cast<const void*>(&narrow)
                                : &code,
                    size);
    }
    return bytes;
}

std::vector<double> elements(const std::vector<std::byte>& bytes, ElementType type) {
    const auto size = static_cast<std::size_t>(bytes_of(type));
    std::vector<double> values(bytes.size() / size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        float wide = 0;
        std::uint16_t narrow = 0;
        std::memcpy(type == ElementType::F32 ? static_cast<void*>(&wide) : &narrow,
                    bytes.data() + i * size, size);
        values[i] = static_cast<double>(type == ElementType::F32 ? wide : f16_to_f32(narrow));
    }
    return values;
}

std::vector<double> integers(std::int64_t count, int range, std::size_t seed) {
    std::vector<double> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        values.push_back(static_cast<double>(test::small_integer(i + seed, range)));
    }
    return values;
}

/// Whole numbers, so that every sum is exact: relu(a b + bias) of each group.
std::vector<double> expected(const MatmulWorkload& given, const std::vector<double>& a,
                             const std::vector<double>& b, const std::vector<double>& bias) {
    std::vector<double> c;
    const auto at = [](const std::vector<double>& of, std::int64_t index) {
        return of[static_cast<std::size_t>(index)];
    };
    for (std::int64_t row = 0; row < given.groups * given.m; ++row) {
        const std::int64_t group = row / given.m;
        for (std::int64_t column = 0; column < given.n; ++column) {
            double sum = given.bias ? at(bias, group * given.n + column) : 0;
            for (std::int64_t i = 0; i < given.k; ++i) {
                sum += at(a, row * given.k + i) * at(b, (group * given.k + i) * given.n + column);
            }
            c.push_back(given.activation == workload::Activation::Relu && sum < 0 ? 0 : sum);
        }
    }
    return c;
}

family::Division check_groups(const spec::MachineSpec& machine, const MatmulWorkload& given) {
    CAPTURE(machine.chip.tiles, given.groups, given.m, given.k, given.n, name_of(given.dtype),
            name_of(given.partials), given.plan == PlanKind::Published);
    const family::Divided planned = test::choose_matmul(machine, given);
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
    const auto a = integers(given.groups * given.m * given.k, 2, 3);
    const auto b = integers(given.groups * given.k * given.n, 1, 77);
    const auto bias = integers(given.groups * given.n, 3, 5);
    std::map<std::string, std::vector<std::byte>> tensors{{"a", operand(a, given.dtype)},
                                                          {"b", operand(b, given.dtype)}};
    if (given.bias) {
        tensors.emplace("bias", operand(bias, workload::result_type(given.dtype)));
    }
    const auto outcome = test::run_program(machine, planned.lowered.program, tensors);
    CHECK(elements(outcome.tensors.at("c"), workload::result_type(given.dtype)) ==
          expected(given, a, b, bias));
    CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    CHECK(outcome.cycles.sync == planned.division.predicted.sync);
    CHECK(planned.lowered.program.tensors.at(0).type == given.dtype);
    CHECK(planned.division.groups_at_once <= std::min(given.groups, machine.chip.tiles));
    return planned.division;
}

} // namespace

TEST_CASE("groups of products are exact, however many there are for a tile", "[kernels]") {
    for (const Types& types : {kHalf, kMixed, kFloat}) {
        for (const PlanKind plan : {PlanKind::Fastest, PlanKind::Published}) {
            for (const Sizes& sizes : {Sizes{1, 1, 1}, {17, 20, 33}, {1, 40, 9}, {40, 33, 1}}) {
                for (const std::int64_t groups : {2, 3, 4, 9}) {
                    check_groups(machine_of(4), workload_of(groups, sizes, types, plan));
                }
                check_groups(machine_of(1), workload_of(3, sizes, types, plan));
                check_groups(machine_of(7), workload_of(5, sizes, types, plan));
            }
        }
    }
}

TEST_CASE("groups of products are exact on 64 tiles and on GC2, with a bias each",
          "[kernels][large]") {
    for (const Types& types : {kHalf, kMixed, kFloat}) {
        for (const std::int64_t groups : {2, 6, 100}) {
            auto given = workload_of(groups, {48, 40, 36}, types, PlanKind::Fastest);
            given.bias = true;
            given.activation = workload::Activation::Relu;
            check_groups(machine_of(64), given);
            given.plan = PlanKind::Published;
            check_groups(test::gc2_with(16), given);
        }
    }
}

TEST_CASE("few large groups take turns on all tiles, many small ones run side by side",
          "[kernels]") {
    const auto at_once = [](std::int64_t groups, const Sizes& sizes) {
        return check_groups(machine_of(16), workload_of(groups, sizes, kHalf, PlanKind::Fastest))
            .groups_at_once;
    };
    CHECK(at_once(16, {16, 16, 16}) == 16);
    CHECK(at_once(2, {160, 64, 128}) <= 2);
}

namespace {

/// What a plan of groups asks of one group: tiles and memory of its share.
struct Share {
    std::int64_t tiles;
    Bytes bytes;
};
std::vector<Share> asked; // a function pointer has no memory of its own

Cycles cost_of_share(const spec::MachineSpec& machine, const MatmulWorkload& /*workload*/) {
    asked.push_back({machine.chip.tiles, machine.memory.bytes()});
    return 1;
}
family::Planned no_plan(const spec::MachineSpec& /*machine*/, const MatmulWorkload& /*workload*/) {
    throw DoesNotFit("no plan in this test");
}
std::vector<Share> shares_of(const spec::MachineSpec& machine, std::int64_t groups) {
    asked.clear();
    exchange_plan::KnownSchedules known;
    CHECK_THROWS_AS(
        matmul::choose_groups(machine, workload_of(groups, {64, 64, 64}, kHalf, PlanKind::Fastest),
                              known, {cost_of_share, no_plan}),
        DoesNotFit);
    return asked;
}

} // namespace

TEST_CASE("each of several groups begins at a pair of tiles", "[kernels]") {
    for (const std::int64_t tiles : {16, 22, 61, 64}) {
        for (const std::int64_t groups : {2, 3, 5, 7, 20}) {
            const auto machine = machine_of(tiles);
            const std::int64_t pair = 2 * timing::pair_bit(machine.chip);
            for (const Share& share : shares_of(machine, groups)) {
                CAPTURE(tiles, groups, share.tiles);
                // one that has no whole pair shares one with its neighbour
                CHECK((share.tiles % pair == 0 || share.tiles <= pair));
            }
        }
    }
}

TEST_CASE("groups of one turn have all the memory, of more turns what the others leave",
          "[kernels]") {
    const auto machine = machine_of(64);
    constexpr std::int64_t kGroups = 8;
    const Bytes operands = 2 * (64 * 64 + 64 * 64 + 64 * 64); // of one group, FP16
    std::size_t of_one_turn = 0;
    for (const Share& share : shares_of(machine, kGroups)) {
        const std::int64_t at_once = 64 / share.tiles;
        const std::int64_t turns = (kGroups + at_once - 1) / at_once;
        CAPTURE(share.tiles, turns);
        const double left = 1 - static_cast<double>((turns - 1) * operands) /
                                    static_cast<double>(share.tiles) /
                                    static_cast<double>(plan::bytes_for_data(machine));
        const Bytes unit = 2 * machine.memory.element_bytes;
        Bytes expected = 0;
        for (const Bytes region : {machine.memory.region0_bytes, machine.memory.region1_bytes}) {
            expected += static_cast<Bytes>(left * static_cast<double>(region)) / unit * unit;
        }
        CHECK(share.bytes == expected);
        of_one_turn += turns == 1 ? 1 : 0;
    }
    CHECK(of_one_turn > 0);
}

TEST_CASE("the predicted compute of groups is that of all turns", "[kernels]") {
    for (const std::int64_t groups : {2, 3, 9}) {
        const auto given = workload_of(groups, {17, 20, 33}, kHalf, PlanKind::Fastest);
        const auto machine = machine_of(4);
        const family::Divided planned = test::choose_matmul(machine, given);
        const auto a = integers(given.groups * given.m * given.k, 2, 3);
        const auto b = integers(given.groups * given.k * given.n, 1, 77);
        const auto outcome =
            test::run_program(machine, planned.lowered.program,
                              {{"a", operand(a, given.dtype)}, {"b", operand(b, given.dtype)}});
        CAPTURE(groups, planned.division.groups_at_once);
        CHECK(outcome.cycles.compute == planned.division.predicted.compute);
    }
}

TEST_CASE("groups that do not fit say so", "[kernels]") {
    const auto fits = [](std::int64_t groups) {
        try {
            static_cast<void>(test::choose_matmul(
                machine_of(4), workload_of(groups, {128, 128, 128}, kHalf, PlanKind::Fastest)));
            return true;
        } catch (const DoesNotFit& error) {
            CHECK(std::string(error.what()).find("does not fit") != std::string::npos);
            return false;
        }
    };
    // operands and results alone: 3 x 32 KiB of 4 x 624 KiB
    constexpr std::int64_t kMost = 4 * 624 / (3 * 32);
    std::int64_t good = 1;
    while (good < kMost && fits(good + 1)) {
        ++good;
    }
    CAPTURE(good);
    CHECK_FALSE(fits(kMost + 1));
    CHECK(2 * good > kMost);
    check_groups(machine_of(4), workload_of(good, {128, 128, 128}, kHalf, PlanKind::Fastest));
}

TEST_CASE("groups have no estimate", "[kernels]") {
    CHECK_THROWS_WITH(matmul::choose_by_estimate(
                          machine_of(4), workload_of(2, {16, 16, 16}, kHalf, PlanKind::Fastest)),
                      Catch::Contains("not modelled: an estimate of several groups"));
}

TEST_CASE("products of FP8 are exact in both formats, in groups and with a bias",
          "[kernels][large]") {
    for (const ElementType type : {ElementType::F143, ElementType::F152}) {
        const Types types{type, ElementType::F16};
        for (const std::int64_t tiles : {1, 4, 7, 64}) {
            spec::MachineSpec c600 = machine_of(tiles);
            c600.chip.generation = spec::Generation::Ipu21;
            for (const Sizes& sizes : {Sizes{1, 1, 1},
                                       {17, 20, 33},
                                       {1, 40, 9},
                                       {40, 33, 1},
                                       {64, 64, 64},
                                       {45, 300, 20}}) {
                for (const std::int64_t groups : {1, 3}) {
                    auto given = workload_of(groups, sizes, types, PlanKind::Fastest);
                    check_groups(c600, given);
                    given.bias = true;
                    given.activation = workload::Activation::Relu;
                    check_groups(c600, given);
                }
            }
        }
        const auto given = workload_of(1, {16, 16, 16}, types, PlanKind::Fastest);
        CHECK_THROWS_WITH(test::choose_matmul(machine_of(4), given),
                          Catch::Contains("not modelled: FP8 on a machine"));
        CHECK_THROWS_AS(matmul::choose_by_estimate(machine_of(4), given), NotModelled);
        auto wide = given;
        wide.partials = ElementType::F32;
        REQUIRE(wide.mistakes().size() == 1);
        CHECK(wide.mistakes().front().message ==
              "got f32, expected f16 for dtype " + std::string(name_of(type)));
    }
}
