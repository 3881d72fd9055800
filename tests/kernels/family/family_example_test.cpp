// SPDX-License-Identifier: MIT
// The family that docs/kernels.md shows.
// example begins
#include "kernels/family/family.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/places.h"

namespace tessera::square {
namespace {

using graph::TensorId;

/// A worker takes every CTXT_WORKERS-th unit of 8 bytes. State: from, to, units.
constexpr const char* kCodelet = R"(
        .macro SQUARE TYPE MULTIPLY
        .section .text.square_\TYPE, "ax"
        .worker
        .align 8
        .globl square_\TYPE
square_\TYPE:
        get     $m6, $WSR
        and     $m6, $m6, CSR_W_WSR__CTXTID_M1__MASK
        ld32    $m0, $mvertex_base, $mzero, 0
        ld32    $m1, $mvertex_base, $mzero, 1
        ld32    $m2, $mvertex_base, $mzero, 2
        shl     $m7, $m6, 3
        add     $m0, $m0, $m7
        add     $m1, $m1, $m7
        sub     $m2, $m2, $m6
.Lunit_\TYPE:
        add     $m2, $m2, -1
        brneg   $m2, .Lend_\TYPE
        ld64step $a0:1, $mzero, $m0+=, CTXT_WORKERS
        \MULTIPLY $a0:1, $a0:1, $a0:1
        st64step $a0:1, $mzero, $m1+=, CTXT_WORKERS
        add     $m2, $m2, 1 - CTXT_WORKERS
        bri     .Lunit_\TYPE
.Lend_\TYPE:
        exitz   $mzero
        .endm
        SQUARE f16 f16v4mul
        SQUARE f32 f32v2mul
)";

constexpr Bytes kUnit = 8;

class Square final : public family::Step {
public:
    explicit Square(const family::TensorType& x) : x_(x) {}

    std::vector<family::TensorType> outputs() const override { return {{x_.type, x_.shape}}; }
    double flops() const override { return static_cast<double>(x_.elements()); }

    /// x in whole units over the tiles, in runs; the pipeline brings it there if it stands
    /// elsewhere.
    family::Emitted emit(graph::Graph& graph, const family::Site& site,
                         std::span<const std::optional<TensorId>> /*where*/) override {
        const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
        const TensorId x =
            graph::add_runs(graph, tiles, {.name = "x", .type = x_.type, .shape = x_.shape}, kUnit);
        const TensorId y = graph::add_alike(graph, "y", x_.type, x);
        graph.need_codelet("square", kCodelet);
        const auto set = graph.add_compute_set({"square", program::Role::Work, site.owner});
        const auto pieces = graph.tensors[x.index].pieces; // one a tile, of neighbouring elements
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            const Bytes bytes = pieces[i].dims[0].count * bytes_of(x_.type);
            const Bytes units = (bytes + kUnit - 1) / kUnit;
            const graph::Place to = graph.tensors[y.index].pieces[i].place;
            graph.add_vertex(set, pieces[i].tile,
                             std::string("square_") + std::string(name_of(x_.type)),
                             program::VertexKind::MultiWorker,
                             {graph::read(pieces[i].place, bytes), graph::write(to, units * kUnit),
                              graph::word(units)});
        }
        return {{x}, {y}, graph::run(set)};
    }

    family::Checked check(std::span<const family::Value* const> inputs,
                          std::span<const family::Value> outputs, int /*threads*/) const override {
        return family::compare(outputs[0], [&](std::int64_t i) {
            const double x = family::number_at(*inputs[0], i);
            return family::Expected{x * x, workload::rounding(x_.type, x * x)};
        });
    }

private:
    family::TensorType x_;
};

} // namespace

const family::Family& family() {
    static const family::Family square{
        .name = "square",
        .says = "x x of every element",
        .inputs = {"x"},
        .options = {},
        .make = [](const family::Request& request) -> std::unique_ptr<family::Step> {
            family::require_numbers(request, 0, "x");
            return std::make_unique<Square>(request.inputs[0]);
        }};
    return square;
}

} // namespace tessera::square
// example ends

#include "base/error.h"
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "tests/kernels/pipeline/pipeline_bench.h"

#include <catch2/catch.hpp>

using namespace tessera;

TEST_CASE("the family of the page follows a product", "[kernels][family]") {
    test::PipelineBench bench;
    const auto x = bench.tensor("x", 33, 20);
    const auto w = bench.tensor("w", 20, 19);
    bench.made.steps.push_back(bench.step(matmul::family(), "h", {x, w}));
    bench.made.steps.push_back(
        bench.step(square::family(), "y", {bench.made.steps[0].outputs.at(0).value()}));
    test::run_and_check(test::small_machine(), bench.made);
}

TEST_CASE("the family of the page takes what the host writes", "[kernels][family]") {
    const auto type = GENERATE(ElementType::F16, ElementType::F32);
    const std::int64_t rows = GENERATE(1, 3, 50);
    test::PipelineBench bench;
    const auto x = bench.tensor("x", rows, 17, type);
    bench.made.steps.push_back(bench.step(square::family(), "y", {x}));
    test::run_and_check(test::small_machine(), bench.made);
}

TEST_CASE("a codelet that there is not is told with the nearest", "[kernels][family]") {
    graph::Graph graph("mistaken");
    graph.need_codelet("cpoy");
    const auto set = graph.add_compute_set({"work", program::Role::Work, "test"});
    graph.add_vertex(set, 0, "copy64", program::VertexKind::MultiWorker, {});
    graph.control = graph::run(set);
    CHECK_THROWS_WITH(lower::lower(spec::MachineSpec{}, std::move(graph)),
                      Catch::Matchers::Contains("'cpoy.S'") &&
                          Catch::Matchers::Contains("did you mean 'copy.S'?"));
}
