// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"
#include "tests/support/choose_matmul.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using workload::Activation;
using workload::MatmulWorkload;
using workload::Operand;
using workload::PlanKind;
using Kind = workload::ValuesSpec::Kind;

struct Sizes {
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
};
const std::vector<Sizes> kSizes = {{1, 1, 1},    {1, 17, 33},  {17, 1, 16},  {33, 16, 1},
                                   {16, 16, 16}, {33, 17, 40}, {64, 64, 64}, {70, 100, 51}};

struct Types {
    ElementType data;
    ElementType partials;
};
constexpr Types kHalf{ElementType::F16, ElementType::F16};
constexpr Types kMixed{ElementType::F16, ElementType::F32};
constexpr Types kFloat{ElementType::F32, ElementType::F32};

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

MatmulWorkload workload_of(const Sizes& sizes, const Types& types, PlanKind plan, bool bias,
                           Activation activation) {
    MatmulWorkload workload;
    workload.m = sizes.m;
    workload.k = sizes.k;
    workload.n = sizes.n;
    workload.dtype = types.data;
    workload.partials = types.partials;
    workload.plan = plan;
    workload.bias = bias;
    workload.activation = activation;
    workload.values.kind = activation == Activation::Gelu ? Kind::Uniform : Kind::Integer;
    return workload;
}

template <class Element> double number(Element element) {
    if constexpr (sizeof(Element) == 2) {
        return static_cast<double>(f16_to_f32(element));
    } else {
        return static_cast<double>(element);
    }
}

template <class Element> std::vector<std::byte> bytes_of(const std::vector<Element>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

/// Checks `given` with a bias that is `off` more in the reference than on the machine.
template <class Element, class Make>
workload::CheckResult run_as(const spec::MachineSpec& machine, const MatmulWorkload& given,
                             const Make& make, double off) {
    const family::Divided planned = test::choose_matmul(machine, given);
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
    const std::int64_t products = workload::contraction_with_one_more(given.k);
    const workload::Dense<Element> a =
        make(given.m, given.k, given.values, given.seed, Operand::A, products);
    const workload::Dense<Element> b =
        make(given.k, given.n, given.values, given.seed, Operand::B, products);
    std::map<std::string, std::vector<std::byte>> tensors{{"a", bytes_of(a.values)},
                                                          {"b", bytes_of(b.values)}};
    std::vector<double> numbers;
    if (given.bias) {
        const workload::Dense<Element> bias =
            make(1, given.n, given.values, given.seed, Operand::Bias, products);
        tensors.emplace("bias", bytes_of(bias.values));
        for (const Element element : bias.values) {
            numbers.push_back(number(element) + off);
        }
    }
    const auto outcome = test::run_program(machine, planned.lowered.program, tensors);
    if (planned.division.predicted.compute > 0 && given.plan == PlanKind::Fastest &&
        given.dtype == ElementType::F16) {
        CHECK(outcome.cycles.compute == planned.division.predicted.compute);
        CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    }
    const auto& c = outcome.tensors.at("c");
    std::vector<Element> values(c.size() / sizeof(Element));
    std::memcpy(values.data(), c.data(), c.size());
    return workload::check(std::span<const Element>(values), a, b,
                           {.partials = given.partials,
                            .roundings = planned.division.roundings,
                            .exact_required = given.values.kind == Kind::Integer,
                            .after = matmul::after_product(given, numbers),
                            .threads = 1});
}

workload::CheckResult run(const spec::MachineSpec& machine, const MatmulWorkload& given,
                          double off = 0) {
    CAPTURE(given.m, given.k, given.n, machine.chip.tiles, name_of(given.dtype),
            name_of(given.partials), given.plan == PlanKind::Published, given.bias,
            static_cast<int>(given.activation));
    const auto result = given.dtype == ElementType::F32
                            ? run_as<float>(machine, given, workload::make_dense_f32, off)
                            : run_as<std::uint16_t>(machine, given, workload::make_dense, off);
    CHECK(result.elements == given.m * given.n);
    CHECK((off != 0 || result.failed_elements == 0));
    return result;
}

} // namespace

TEST_CASE("products with a bias and an activation are right in every type and plan", "[kernels]") {
    for (const std::int64_t tiles : {1, 4, 7}) {
        for (const Types& types : {kHalf, kMixed, kFloat}) {
            for (const PlanKind plan : {PlanKind::Fastest, PlanKind::Published}) {
                for (const Sizes& sizes : kSizes) {
                    run(machine_of(tiles), workload_of(sizes, types, plan, true, Activation::None));
                    run(machine_of(tiles), workload_of(sizes, types, plan, true, Activation::Relu));
                    run(machine_of(tiles),
                        workload_of(sizes, types, plan, false, Activation::Gelu));
                }
            }
        }
    }
}

TEST_CASE("products with a bias run on 64 tiles, for any number of workers, and on GC2",
          "[kernels][large]") {
    const Sizes sizes{300, 256, 200};
    for (const Types& types : {kHalf, kMixed, kFloat}) {
        for (const PlanKind plan : {PlanKind::Fastest, PlanKind::Published}) {
            run(machine_of(64), workload_of(sizes, types, plan, true, Activation::Gelu));
            for (std::int64_t workers = 1; workers <= 8; workers += 3) {
                spec::MachineSpec machine = machine_of(4);
                machine.tile.workers = workers;
                run(machine, workload_of({45, 70, 40}, types, plan, true, Activation::Relu));
            }
        }
        run(test::gc2_with(8),
            workload_of({70, 100, 50}, types, PlanKind::Published, true, Activation::Relu));
    }
}

TEST_CASE("a bias is added in every step of a published plan", "[kernels][large]") {
    for (const Sizes& sizes : {Sizes{4800, 128, 32}, {64, 64, 6000}}) {
        const auto given = workload_of(sizes, kMixed, PlanKind::Published, true, Activation::Relu);
        CHECK(test::choose_matmul(machine_of(4), given).division.chunks > 1);
        run(machine_of(4), given);
    }
    run(machine_of(64),
        workload_of({1024, 512, 512}, kFloat, PlanKind::Published, true, Activation::Relu));
}

TEST_CASE("the check of a product with a bias sees a wrong one", "[kernels]") {
    for (const Types& types : {kHalf, kMixed, kFloat}) {
        const auto plan = PlanKind::Fastest;
        auto given = workload_of({33, 17, 40}, types, plan, true, Activation::None);
        CHECK(run(machine_of(4), given, 1).failed_elements == 33 * 40);
        // of numbers that are rounded, too
        given.values.kind = Kind::Uniform;
        CHECK(run(machine_of(4), given, 1).failed_elements == 33 * 40);
        given.activation = Activation::Gelu;
        CHECK(run(machine_of(4), given, 1).failed_elements > 33 * 40 / 2);
    }
}

TEST_CASE("a bias and an activation are steps behind the product's, and cost no barrier",
          "[kernels]") {
    for (const Types& types : {kHalf, kMixed}) {
        const auto cycles = [&](bool bias, Activation activation) {
            return test::choose_matmul(
                       machine_of(16),
                       workload_of({128, 64, 64}, types, PlanKind::Fastest, bias, activation))
                .division.predicted;
        };
        const auto plain = cycles(false, Activation::None);
        const auto both = cycles(true, Activation::Gelu);
        CHECK(both.compute > plain.compute);
        CHECK(both.sync == plain.sync);
        const auto activated = cycles(false, Activation::Gelu);
        CHECK(activated.exchange == plain.exchange);
    }
}
