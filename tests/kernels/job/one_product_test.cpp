// SPDX-License-Identifier: MIT
// A workload of kind matmul or spmm and a pipeline of that one step are the same product.
#include "base/element_type.h"
#include "base/error.h"
#include "kernels/job/given_tensors.h"
#include "kernels/job/pipeline_job.h"
#include "kernels/workload/half.h"
#include "kernels/workload/npy.h"
#include "tests/support/run_program.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

using workload::Activation;
using workload::PlanKind;

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

struct Ran {
    test::RunOutcome outcome;
    std::vector<std::byte> c;
    job::CheckOutcome check;
};

constexpr std::pair<bool, bool> kTransposes[] = {{false, true}, {true, false}, {true, true}};

using Operands = std::vector<std::vector<std::byte>>;

Ran run(const spec::MachineSpec& machine, job::Job& job, const Operands* operands = nullptr) {
    const auto& program = job.plan(machine);
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    const auto given = job.operands();
    for (std::size_t i = 0; i < given.size(); ++i) {
        writes[given[i].array] =
            operands != nullptr
                ? operands->at(i)
                : std::vector<std::byte>(given[i].bytes.begin(), given[i].bytes.end());
    }
    Ran ran;
    ran.outcome = test::run_program(machine, program, writes);
    ran.c = ran.outcome.arrays.at(job.results().front().array);
    return ran;
}

Operands operands_of(const job::Job& job) {
    Operands made;
    for (const auto& operand : job.operands()) {
        made.emplace_back(operand.bytes.begin(), operand.bytes.end());
    }
    return made;
}

/// The same as a pipeline that somebody writes.
job::Source written(const job::Source& kind) {
    workload::PipelineWorkload pipeline = kind.pipeline;
    pipeline.steps.front().name = "product";
    return job::source_of(pipeline);
}

/// Equal ones, or none of both.
void check_estimates(const spec::MachineSpec& machine, job::Job& kind, job::Job& pipeline) {
    if (const auto estimate = [&]() -> std::optional<job::Estimate> {
            try {
                return kind.estimate(machine);
            } catch (const NotModelled&) {
                return std::nullopt;
            }
        }()) {
        CHECK(pipeline.estimate(machine)->predicted.total() == estimate->predicted.total());
        CHECK(pipeline.estimate(machine)->plan == estimate->plan);
    } else {
        CHECK_THROWS_AS(pipeline.estimate(machine), NotModelled);
    }
}

/// Both ways with the same operands: equal cycles, step by step, and equal bits.
void check_alike(const spec::MachineSpec& machine, const job::Source& source) {
    const auto kind = job::pipeline_job(source);
    const Ran of_kind = run(machine, *kind);
    const auto check =
        kind->check([&](program::ArrayId array) { return of_kind.outcome.arrays.at(array); }, 1);
    INFO(kind->sentence() << ": " << check.text);
    CHECK(check.passed);
    const Operands operands = operands_of(*kind);
    job::Source other = written(source);
    for (std::size_t i = 0; i < source.pipeline.tensors.size(); ++i) {
        auto& shape = other.pipeline.tensors[i].shape;
        if (shape.empty() || shape.front() == 0) { // as the pattern of the other one says
            shape = i == 0 ? std::vector<std::int64_t>{source.draws[0].sparse->m,
                                                       source.draws[0].sparse->k}
                           : std::vector<std::int64_t>{i == 1 ? source.draws[0].sparse->k
                                                              : source.draws[0].sparse->m,
                                                       shape.back()};
        }
        if (other.draws[i].sparse) {
            other.draws[i].sparse = source.draws[i].sparse;
        }
    }
    const auto pipeline = job::pipeline_job(other);
    const Ran of_pipeline = run(machine, *pipeline, &operands);
    CHECK(of_pipeline.outcome.step_cycles == of_kind.outcome.step_cycles);
    CHECK(of_pipeline.c == of_kind.c);
    check_estimates(machine, *kind, *pipeline);
}

/// The product added to a tensor: as a workload and as a pipeline, which may also leave that tensor as
/// it is and make another one.
template <class Kind> void check_sums(const spec::MachineSpec& machine, Kind kind) {
    kind.accumulate = workload::Accumulate::Over;
    const job::Source source = job::source_of(kind);
    check_alike(machine, source);
    job::Source apart = source;
    apart.pipeline.steps.front().outputs = {"sum"};
    const auto over = job::pipeline_job(source);
    const auto beside = job::pipeline_job(apart);
    const Ran of_over = run(machine, *over);
    const Ran of_beside = run(machine, *beside);
    CHECK(of_beside.c == of_over.c);
    CHECK(of_beside.outcome.step_cycles == of_over.outcome.step_cycles);
    const auto before = beside->operands().back();
    const auto& left = of_beside.outcome.arrays.at(before.array);
    CHECK(std::equal(left.begin(), left.end(), before.bytes.begin(), before.bytes.end()));
    if (kind.plan == PlanKind::Fastest) { // the sum may make another plan the fastest
        return;
    }
    // the sum is a step of its own behind the product's
    kind.accumulate = workload::Accumulate::None;
    const auto alone = job::pipeline_job(job::source_of(kind));
    const Ran product = run(machine, *alone);
    auto steps = of_over.outcome.step_cycles;
    REQUIRE(steps.size() == product.outcome.step_cycles.size() + 1);
    steps.pop_back();
    CHECK(steps == product.outcome.step_cycles);
}

/// The matrices of the tensor, one behind the other, as their transposes. Its sizes are exchanged.
std::vector<std::byte> turn(workload::PipelineTensor& tensor,
                            const std::vector<std::byte>& before) {
    auto& shape = tensor.shape;
    const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]);
    const auto columns = static_cast<std::size_t>(shape.back());
    const auto bytes = static_cast<std::size_t>(bytes_of(tensor.type));
    std::swap(shape[shape.size() - 2], shape.back());
    auto after = before;
    for (std::size_t at = 0; at < before.size() / bytes; ++at) {
        const std::size_t matrix = at / (rows * columns);
        const std::size_t row = at / columns % rows;
        const std::size_t to = (matrix * columns + at % columns) * rows + row;
        std::copy_n(&before[at * bytes], bytes, &after[to * bytes]);
    }
    return after;
}

/// The same of a sparse matrix, whose stored blocks stand in the order of its transpose's then.
std::vector<std::byte> turn(job::Source& source, const std::vector<std::byte>& before) {
    const auto stored = workload::transposed(*job::given_matrix(source.draws[0]).pattern);
    const std::int64_t block = stored.pattern.block;
    workload::PipelineTensor blocks;
    blocks.type = source.pipeline.tensors[0].type;
    blocks.shape = {stored.pattern.blocks(), block, block};
    const auto turned = turn(blocks, before);
    std::vector<std::byte> after;
    const std::int64_t bytes = block * block * bytes_of(blocks.type);
    for (const std::int64_t from : stored.from) {
        after.insert(after.end(), turned.begin() + from * bytes,
                     turned.begin() + (from + 1) * bytes);
    }
    workload::SpmmWorkload& made = *source.draws[0].sparse;
    std::swap(made.m, made.k);
    made.transpose_a = true;
    return after;
}

/// A product whose operands are given as their transposes is the product with equal cycles, step by step.
template <class Kind>
void check_turned(const spec::MachineSpec& machine, const Kind& kind, bool left, bool right) {
    const auto source = job::source_of(kind);
    const auto plain = job::pipeline_job(source);
    const Ran expected = run(machine, *plain);
    job::Source turned = written(source);
    turned.draws = source.draws;
    Operands operands = operands_of(*plain);
    for (std::size_t i = 1; i < turned.draws.size(); ++i) {
        if (turned.draws[i].of_sparse) { // its rows would be those of what is given
            const bool is_c = turned.draws[i].operand == workload::Operand::C;
            turned.pipeline.tensors[i].shape.front() = is_c ? kind.m : kind.k;
            turned.draws[i].of_sparse.reset();
        }
    }
    auto& options = turned.pipeline.steps.front().options;
    if (left) {
        operands[0] = turned.draws[0].sparse ? turn(turned, operands[0])
                                             : turn(turned.pipeline.tensors[0], operands[0]);
        options["transpose_a"] = true;
    }
    if (right) {
        operands[1] = turn(turned.pipeline.tensors[1], operands[1]);
        options["transpose_b"] = true;
    }
    const auto pipeline = job::pipeline_job(turned);
    const Ran ran = run(machine, *pipeline, &operands);
    CHECK(ran.c == expected.c);
    CHECK(ran.outcome.step_cycles == expected.outcome.step_cycles);
    check_estimates(machine, *plain, *pipeline);
}

} // namespace

TEST_CASE("a dense product is the same as a workload and as a pipeline of one step",
          "[kernels][job]") {
    auto machine = machine_of(16);
    machine.chip.generation = spec::Generation::Ipu21; // has FP8
    workload::MatmulWorkload matmul;
    matmul.m = 40;
    matmul.k = 64;
    matmul.n = 24;
    for (const auto plan : {PlanKind::Fastest, PlanKind::Published}) {
        matmul.plan = plan;
        for (const auto dtype :
             {ElementType::F16, ElementType::F32, ElementType::F143, ElementType::F152}) {
            workload::MatmulWorkload typed = matmul;
            typed.dtype = dtype;
            typed.partials = workload::result_type(dtype);
            check_alike(machine, job::source_of(typed));
            typed.groups = 3;
            check_alike(machine, job::source_of(typed));
            check_sums(machine, typed);
        }
        workload::MatmulWorkload wide = matmul;
        wide.partials = ElementType::F32;
        check_alike(machine, job::source_of(wide));
        for (const auto& [left, right] : kTransposes) {
            for (const auto dtype : {ElementType::F16, ElementType::F32, ElementType::F143}) {
                workload::MatmulWorkload turned = matmul;
                turned.dtype = dtype;
                turned.partials = workload::result_type(dtype);
                turned.transpose_a = left;
                turned.transpose_b = right;
                turned.groups = left == right ? 2 : 1;
                check_alike(machine, job::source_of(turned));
            }
        }
        for (const auto activation : {Activation::None, Activation::Relu, Activation::Gelu}) {
            for (const bool bias : {false, true}) {
                for (const std::int64_t groups : {1, 2}) {
                    workload::MatmulWorkload more = matmul;
                    more.activation = activation;
                    more.bias = bias;
                    more.groups = groups;
                    check_alike(machine, job::source_of(more));
                    check_sums(machine, more);
                }
            }
        }
    }
}

TEST_CASE("a sparse product is the same as a workload and as a pipeline of one step",
          "[kernels][job]") {
    const auto machine = machine_of(16);
    workload::SpmmWorkload spmm;
    spmm.m = 64;
    spmm.k = 96;
    spmm.n = 16;
    spmm.pattern.density = 0.3;
    for (const auto plan : {PlanKind::Fastest, PlanKind::Published}) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            spmm.plan = plan;
            spmm.block = block;
            for (const auto& [dtype, partials] : {std::pair{ElementType::F16, ElementType::F16},
                                                  std::pair{ElementType::F16, ElementType::F32},
                                                  std::pair{ElementType::F32, ElementType::F32}}) {
                spmm.dtype = dtype;
                spmm.partials = partials;
                check_alike(machine, job::source_of(spmm));
                check_sums(machine, spmm);
                for (const auto& [left, right] : kTransposes) {
                    workload::SpmmWorkload turned = spmm;
                    turned.transpose_a = left;
                    turned.transpose_b = right;
                    check_alike(machine, job::source_of(turned));
                }
            }
        }
    }
}

TEST_CASE("operands may stand as their transposes, in groups too", "[kernels][job]") {
    auto machine = machine_of(16);
    machine.chip.generation = spec::Generation::Ipu21; // has FP8
    for (const std::int64_t groups : {1, 3}) {
        for (const auto& [left, right] :
             {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
            for (const auto dtype : {ElementType::F16, ElementType::F32, ElementType::F143}) {
                workload::MatmulWorkload matmul;
                matmul.groups = groups;
                matmul.m = 24;
                matmul.k = 40;
                matmul.n = 16;
                matmul.dtype = dtype;
                matmul.partials = workload::result_type(dtype);
                CAPTURE(groups, left, right, name_of(dtype));
                check_turned(machine, matmul, left, right);
            }
        }
    }
}

TEST_CASE("operands of a sparse product may stand as their transposes", "[kernels][job]") {
    const auto machine = machine_of(16);
    workload::SpmmWorkload spmm;
    spmm.m = 60; // no whole blocks
    spmm.k = 90;
    spmm.n = 20;
    spmm.pattern.density = 0.3;
    for (const auto plan : {PlanKind::Fastest, PlanKind::Published}) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const auto& [dtype, partials] : {std::pair{ElementType::F16, ElementType::F16},
                                                  std::pair{ElementType::F16, ElementType::F32},
                                                  std::pair{ElementType::F32, ElementType::F32}}) {
                spmm.plan = plan;
                spmm.block = block;
                spmm.dtype = dtype;
                spmm.partials = partials;
                for (const auto& [left, right, accumulate] :
                     {std::tuple{true, false, workload::Accumulate::None},
                      std::tuple{false, true, workload::Accumulate::Over},
                      std::tuple{true, true, workload::Accumulate::Over}}) {
                    spmm.accumulate = accumulate;
                    CAPTURE(name_of(dtype), name_of(partials), block, left, right);
                    check_turned(machine, spmm, left, right);
                }
            }
        }
    }
}

TEST_CASE("a file has a bias as a row for each product", "[kernels][job]") {
    const test::ScratchFolder scratch;
    workload::MatmulWorkload matmul;
    matmul.groups = 3;
    matmul.m = 8;
    matmul.k = 16;
    matmul.n = 12;
    matmul.bias = true;
    std::vector<std::uint16_t> bias(static_cast<std::size_t>(matmul.groups * matmul.n));
    std::iota(bias.begin(), bias.end(), workload::f64_to_f16(1)); // all different
    const auto bytes = std::as_bytes(std::span(bias));
    for (const auto& shape :
         {std::vector{matmul.groups, std::int64_t{1}, matmul.n}, {matmul.groups, matmul.n}}) {
        workload::ValuesSpec& values = matmul.values_bias.emplace();
        values.kind = workload::ValuesSpec::Kind::File;
        values.path = scratch.write(
            "bias.npy",
            workload::npy_bytes("<f2", shape,
                                {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
        const auto job = job::pipeline_job(job::source_of(matmul));
        static_cast<void>(job->plan(machine_of(16)));
        const auto given = job->operands();
        CHECK(std::ranges::any_of(
            given, [&](const auto& operand) { return std::ranges::equal(operand.bytes, bytes); }));
    }
}

TEST_CASE("a product is multiplied as it is told or mirrored, whichever takes less",
          "[kernels][job]") {
    const auto machine = machine_of(8);
    int mirrored = 0;
    for (const auto& [m, k, n] : {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 256, 64},
                                  {64, 256, 1},
                                  {5, 40, 90},
                                  {90, 40, 5},
                                  {16, 16, 64},
                                  {33, 17, 70},
                                  {128, 32, 48}}) {
        for (const std::int64_t groups : {1, 2}) {
            workload::MatmulWorkload matmul;
            matmul.groups = groups;
            matmul.m = m;
            matmul.k = k;
            matmul.n = n;
            const auto cycles_of = [&](const workload::MatmulWorkload& told) {
                const auto job = job::pipeline_job(job::source_of(told));
                const Ran ran = run(machine, *job);
                const auto check = job->check(
                    [&](program::ArrayId array) { return ran.outcome.arrays.at(array); }, 1);
                INFO(job->sentence() << ": " << check.text);
                CHECK(check.passed);
                mirrored += job->plan_json().contains("mirrored") ? 1 : 0;
                return ran.outcome.cycles.total();
            };
            const Cycles fastest = cycles_of(matmul);
            matmul.unmirrored = true;
            const Cycles told = cycles_of(matmul);
            std::swap(matmul.m, matmul.n);
            const Cycles other = cycles_of(matmul);
            CAPTURE(m, k, n, groups);
            CHECK(static_cast<double>(fastest) <=
                  1.01 * static_cast<double>(std::min(told, other))); // see kWorthPlanning
        }
    }
    CHECK(mirrored > 0);
}
