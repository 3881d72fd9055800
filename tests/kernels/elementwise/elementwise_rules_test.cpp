// SPDX-License-Identifier: MIT
// Where functions of elements change what they do: rows against a row, blocks of one row, numbers
// that are zero to the machine, and how far off a result may be.
#include "kernels/codelets/elementwise_cost.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <cmath>
#include <limits>
#include <string>

namespace {

using namespace tessera;
using family::Family;
using family::Request;
using test::Stand;

constexpr double kPi = 3.14159265358979323846;

Request request_of(const Family& family, ElementType type, std::vector<std::int64_t> shape) {
    Request request;
    for (std::size_t i = 0; i < family.inputs.size(); ++i) {
        request.inputs.push_back({type, shape});
    }
    if (family.name == "cast") {
        request.options["to"] = std::string(type == ElementType::F16 ? "f32" : "f16");
    }
    return request;
}

} // namespace

TEST_CASE("rows are one vertex where that is no slower than a vertex for each, and a repeat "
          "counts their units",
          "[kernels][elementwise]") {
    struct Case {
        const Family* family;
        ElementType type;
        codelets::MapLoop loop;
    };
    const std::vector<Case> cases = {
        {&elementwise::relu(), ElementType::F16, codelets::kReluLoop},
        {&elementwise::scale(), ElementType::F32, codelets::kScaleLoop},
        {&elementwise::cast(), ElementType::F16, codelets::kWidenLoop},
        {&elementwise::cast(), ElementType::F32, codelets::kNarrowLoop},
        {&elementwise::gelu(), ElementType::F16, codelets::kGeluF16Loop},
        {&elementwise::gelu(), ElementType::F32, codelets::kGeluF32Loop},
        {&elementwise::add(), ElementType::F16, codelets::kAddLoop},
        {&elementwise::multiply(), ElementType::F32, codelets::kMultiplyLoop},
    };
    for (const Case& one : cases) {
        spec::MachineSpec machine;
        const std::int64_t workers = machine.tile.workers;
        const auto cycles = [&](const codelets::MapRows& work) {
            std::vector<std::int64_t> issues;
            for (std::int64_t w = 0; w < workers; ++w) {
                issues.push_back(codelets::map_issues(one.loop, work, w, workers));
            }
            return plan::multi_worker_cycles(machine, issues);
        };
        const std::int64_t unit = 8 / bytes_of(one.type);
        for (const std::int64_t rows : {2, 3, 4, 5, 7, 8}) {
            for (const std::int64_t units : {1, 2, 5, 6, 7, 11, 12, 13, 20, 40, 80}) {
                CAPTURE(one.family->name, name_of(one.type), rows, units);
                // a row alone: its units are the workers' rows
                const std::int64_t share = (units + workers - 1) / workers;
                const std::int64_t shares = (units + share - 1) / share;
                const Cycles alone = cycles({shares, share, units - (shares - 1) * share});
                const bool together = cycles({rows, units, units}) <= rows * alone;
                const auto request = request_of(*one.family, one.type, {rows, units * unit});
                graph::Graph graph("test");
                machine.chip.tiles = 1;
                exchange_plan::KnownSchedules known;
                const family::Site site{machine, known, 0, "step"};
                std::vector<std::optional<graph::TensorId>> where;
                for (std::size_t i = 0; i < request.inputs.size(); ++i) {
                    where.emplace_back(test::add_standing(graph, site, Stand::PaddedRows,
                                                          "x" + std::to_string(i),
                                                          request.inputs[i]));
                }
                const auto step = one.family->make(request);
                static_cast<void>(step->emit(graph, site, where));
                REQUIRE(graph.compute_sets.size() == 1);
                CHECK(graph.compute_sets[0].vertices.size() ==
                      static_cast<std::size_t>(together ? 1 : rows));
                Bytes written = 0;
                for (const auto& vertex : graph.compute_sets[0].vertices) {
                    for (const auto& field : graph.fields_of(vertex.fields)) {
                        const bool all = field.kind == graph::Field::Kind::Use &&
                                         field.access == graph::Access::Write;
                        written += all ? field.bytes : 0;
                    }
                }
                const Bytes out = 8 * bytes_of(step->output().type) / bytes_of(one.type);
                CHECK(written == rows * units * out);
                CHECK(step->flops() == (one.family->name == "cast"   ? 0.0
                                        : one.family->name == "gelu" ? 9.0
                                                                     : 1.0) *
                                           static_cast<double>(rows * units * unit));
            }
        }
    }
    // one worker takes rows as they are, as long as a repeat counts
    spec::MachineSpec machine;
    machine.chip.generation = spec::Generation::Ipu1;
    machine.tile.workers = 1;
    const std::int64_t most = plan::most_rounds(machine);
    for (const auto& [units, vertices] :
         {std::pair<std::int64_t, std::size_t>{most, 1}, {most + 1, 4}}) {
        const family::TensorType x{ElementType::F16, {2, 4 * units}};
        const auto run = test::run_step(elementwise::relu(), {{x}, {}}, {Stand::PaddedRows},
                                        {test::random_value(x, 1)}, machine, 1);
        CHECK(run.checked.passed);
        CHECK(run.vertices == vertices);
    }
}

TEST_CASE("a bias is added where x stands if each tile has one row, however far the next would be",
          "[kernels][elementwise]") {
    for (const std::int64_t rows : {4, 8}) {
        constexpr std::int64_t kTiles = 4;
        constexpr std::int64_t kColumns = 5;
        spec::MachineSpec machine;
        machine.chip.tiles = kTiles;
        exchange_plan::KnownSchedules known;
        const family::Site site{machine, known, 0, "step"};
        graph::Graph graph("test");
        graph::Tensor x{.name = "x", .type = ElementType::F16, .shape = {rows, kColumns}};
        const auto buffer = graph.add_buffer({.name = "x"});
        const std::int64_t here = rows / kTiles;
        for (std::int64_t part = 0; part < kTiles; ++part) {
            const auto tile = static_cast<TileId>(part);
            graph.hold(buffer, tile, 32);
            x.pieces.push_back({tile,
                                {buffer},
                                part * here * kColumns,
                                {{here, kColumns, 2 * kColumns}, {kColumns, 1, 2}}});
        }
        const graph::TensorId standing = graph.add_tensor(std::move(x));
        const family::TensorType type{ElementType::F16, {rows, kColumns}};
        const auto step = elementwise::bias().make({{type, {ElementType::F16, {kColumns}}}, {}});
        const auto made = step->emit(
            graph, site, std::vector<std::optional<graph::TensorId>>{standing, std::nullopt});
        CHECK((made.inputs.at(0) == standing) == (here == 1));
    }
}

TEST_CASE("a factor below the least normal number is zero to the machine",
          "[kernels][elementwise]") {
    constexpr double kLeast = std::numeric_limits<float>::min();
    for (const auto& [factor, zero] : {std::pair{kLeast, false},
                                       {-kLeast, false},
                                       {std::nextafter(kLeast, 0), true},
                                       {-std::nextafter(kLeast, 0), true}}) {
        const family::TensorType x{ElementType::F32, {2}};
        Request request{{x}, {{"factor", factor}}};
        const auto run = test::run_step(elementwise::scale(), request, {Stand::Host},
                                        {test::value_of(x, [](std::int64_t) { return 0x1p100; })});
        CHECK(run.checked.passed);
        float got = 0;
        std::memcpy(&got, run.output.bytes.data(), 4);
        CHECK(double{got} == (zero ? 0 : factor * 0x1p100));
    }
}

TEST_CASE("a gelu may be as far off as its roundings, written down once more",
          "[kernels][elementwise]") {
    const auto of_x = [](double x) { return std::sqrt(2 / kPi) * (x + 0.044715 * x * x * x); };
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const bool half = type == ElementType::F16;
        for (const double at : {-12.0, -3.5, -1.0, -0.125, 0.25, 0.75, 2.0, 5.5, 20.0}) {
            CAPTURE(half, at);
            const family::TensorType shape{type, {1}};
            const auto x = test::value_of(shape, [&](std::int64_t) { return at; });
            const auto step = elementwise::gelu().make({{shape}, {}});
            const double w = of_x(at);
            const double exact = at / (1 + std::exp(-2 * w));
            double tolerance = 0;
            if (half) {
                const double u = 0x1p-11;
                const double slope = std::pow(std::cosh((1 - 6 * u) * std::fabs(w)), -2);
                tolerance = 1.02 * (std::fabs(at) / 2 * (5 * u * std::fabs(w) * slope + u / 2) +
                                    2 * u * std::fabs(exact)) +
                            0x1p-24;
            } else {
                const double v = 2 * w;
                tolerance =
                    1.02 * 0x1p-24 * (5 * std::fabs(v) / (1 + std::exp(v)) + 6) * std::fabs(exact) +
                    (std::fabs(at) + 1) * 0x1p-126;
            }
            // any number that is off tells the tolerance
            const double off = exact + 0.5;
            const auto y = test::value_of(shape, [&](std::int64_t) { return off; });
            const auto checked = step->check(std::vector{&x}, y, 1);
            const double got = half ? double{f16_to_f32(f32_to_f16(static_cast<float>(off)))}
                                    : double{static_cast<float>(off)};
            CHECK(checked.max_error == Approx(std::fabs(got - exact)).epsilon(1e-6));
            CHECK(checked.max_error_over_tolerance ==
                  Approx(std::fabs(got - exact) / tolerance).epsilon(1e-6));
        }
    }
}
