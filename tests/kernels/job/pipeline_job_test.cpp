// SPDX-License-Identifier: MIT
// A pipeline's job: the values of its tensors, and when it looks at its steps.
#include "base/error.h"
#include "base/float16.h"
#include "kernels/job/job.h"
#include "kernels/workload/values.h"
#include "tests/support/run_program.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace tessera;
using Kind = workload::ValuesSpec::Kind;

namespace {

/// Streams of a pipeline's tensors are so far apart.
constexpr std::uint64_t kApart = 1ULL << 32U;

workload::PipelineTensor tensor(const std::string& name, std::vector<std::int64_t> shape,
                                Kind values = Kind::Uniform) {
    workload::PipelineTensor made;
    made.name = name;
    made.shape = std::move(shape);
    made.values.kind = values;
    return made;
}

workload::PipelineTensor sparse(const std::string& name, std::vector<std::int64_t> shape,
                                double density, Kind values = Kind::Uniform) {
    auto made = tensor(name, std::move(shape), values);
    made.pattern.emplace();
    made.pattern->density = density;
    return made;
}

workload::PipelineStep step(const std::string& family, std::vector<std::string> inputs,
                            const std::string& output) {
    workload::PipelineStep made;
    made.family = family;
    made.inputs = std::move(inputs);
    made.output = output;
    return made;
}

template <class T> std::vector<T> elements(std::span<const std::byte> bytes) {
    std::vector<T> made(bytes.size() / sizeof(T));
    std::memcpy(made.data(), bytes.data(), bytes.size());
    return made;
}

spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = 8;
    return machine;
}

/// A job beside what its program comes to.
struct Ran {
    std::unique_ptr<job::Job> job;
    const program::Program* program = nullptr;
    std::map<std::string, std::vector<std::byte>> tensors;
};

Ran run(const workload::PipelineWorkload& pipeline) {
    Ran ran{job::make_job({"test", pipeline}), nullptr, {}};
    ran.program = &ran.job->plan(small_machine());
    std::map<std::string, std::vector<std::byte>> writes;
    for (const auto& operand : ran.job->operands()) {
        writes[operand.tensor].assign(operand.bytes.begin(), operand.bytes.end());
    }
    ran.tensors = test::run_program(small_machine(), *ran.program, writes).tensors;
    return ran;
}

/// Tells the job of each compute set and exchange that ends.
void run_leaves(job::Job& job, const program::Step& step, const job::ReadTensor& read) {
    if (step.kind == program::Step::Kind::ComputeSet ||
        step.kind == program::Step::Kind::Exchange) {
        job.ended(step, read, 1);
    }
    for (const program::Step& child : step.children) {
        run_leaves(job, child, read);
    }
}

} // namespace

TEST_CASE("the tensors of a pipeline draw from streams of their own, none that of its seed") {
    workload::PipelineWorkload pipeline;
    pipeline.seed = 11;
    pipeline.tensors = {sparse("a", {12, 10}, 0.5), tensor("b", {10, 6}), tensor("c", {9, 5})};
    pipeline.tensors[2].type = ElementType::F32;
    pipeline.steps = {step("spmm", {"a", "b"}, "y"), step("relu", {"c"}, "z")};
    const auto job = job::make_job({"test", pipeline});
    static_cast<void>(job->plan(small_machine()));
    const auto operands = job->operands();
    REQUIRE(operands.size() == 3);
    const auto seed_of = [&](std::uint64_t number) {
        return pipeline.seed + kApart * (number + 1);
    };
    workload::SpmmWorkload spmm;
    spmm.m = 12;
    spmm.k = 10;
    spmm.n = 1;
    spmm.pattern.density = 0.5;
    spmm.values.kind = Kind::Uniform;
    spmm.seed = seed_of(0);
    CHECK(elements<std::uint16_t>(operands[0].bytes) == workload::make_sparse(spmm).values);
    CHECK(elements<std::uint16_t>(operands[1].bytes) ==
          workload::make_dense(10, 6, {.kind = Kind::Uniform, .path = {}}, seed_of(1),
                               workload::Operand::B, 10)
              .values);
    const auto halves = workload::make_dense(9, 5, {.kind = Kind::Uniform, .path = {}}, seed_of(2),
                                             workload::Operand::B, 9)
                            .values;
    std::vector<float> wide(halves.size());
    std::transform(halves.begin(), halves.end(), wide.begin(), f16_to_f32);
    CHECK(elements<float>(operands[2].bytes) == wide);
}

TEST_CASE("a pipeline's product is exact up to the longest contraction of whole numbers") {
    const bool dense = GENERATE(true, false);
    for (const std::int64_t length :
         {workload::kExactSum - 1, workload::kExactSum, workload::kExactSum + 1}) {
        for (const Kind left : {Kind::Integer, Kind::Uniform}) {
            CAPTURE(dense, length, left == Kind::Integer);
            workload::PipelineWorkload pipeline;
            pipeline.tensors = {dense ? tensor("a", {1, length}, left)
                                      : sparse("a", {1, length}, 1, left),
                                tensor("b", {length, 1}, Kind::Integer)};
            pipeline.steps = {step(dense ? "matmul" : "spmm", {"a", "b"}, "c")};
            const auto ran = run(pipeline);
            auto tensors = ran.tensors;
            const auto read = [&](const std::string& name) { return tensors.at(name); };
            tensors.at(ran.job->answer()).front() ^= std::byte{1}; // a little off
            run_leaves(*ran.job, ran.program->control, read);
            const bool exact = left == Kind::Integer && length <= workload::kExactSum;
            CHECK(ran.job->check(read, 1).passed == !exact);
        }
    }
}

TEST_CASE("what is there from the start is looked at once, before anything runs") {
    constexpr std::int64_t kRows = 6;
    constexpr std::int64_t kColumns = 4;
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {tensor("x", {kRows, kColumns})};
    pipeline.steps = {step("transpose", {"x"}, "t"), step("relu", {"t"}, "h"),
                      step("scale", {"h"}, "y")};
    const auto ran = run(pipeline);
    const auto x = elements<std::uint16_t>(ran.job->operands().at(0).bytes);
    const auto made = [&](const std::string& name) {
        std::vector<std::uint16_t> turned;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::uint16_t one = x[i % kRows * kColumns + i / kRows];
            turned.push_back(name[0] == 't' || f16_to_f32(one) > 0 ? one : std::uint16_t{0});
        }
        const auto bytes = std::as_bytes(std::span(turned));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    std::vector<std::vector<std::string>> looked; // by leaf
    const auto read = [&](const std::string& name) {
        looked.back().push_back(name);
        return made(name);
    };
    std::function<void(const program::Step&)> walk = [&](const program::Step& at) {
        if (at.children.empty()) {
            looked.emplace_back();
            ran.job->ended(at, read, 1);
        }
        std::for_each(at.children.begin(), at.children.end(), walk);
    };
    looked.emplace_back();
    ran.job->begun(read, 1);
    walk(ran.program->control);
    REQUIRE(looked.size() >= 2);
    CHECK(looked.front().size() == 1);
    CHECK(looked.front().front().find("t:") == 0);
    looked.emplace_back();
    const auto outcome = ran.job->check(read, 1);
    CHECK(looked.back().empty());
    std::multiset<std::string> all;
    for (const auto& names : looked) {
        all.insert(names.begin(), names.end());
    }
    CHECK(all.size() == 3);
    CHECK(std::set(all.begin(), all.end()).size() == 3);
    CHECK(outcome.passed);
    for (const auto& told : outcome.json.at("steps")) {
        CHECK(told.at("rounds") == 1);
    }
    CHECK(outcome.text.find("all 3 steps on the inputs that they met") != std::string::npos);
}

TEST_CASE("where nothing runs, what is there from the start is looked at too") {
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {tensor("x", {6, 4})};
    pipeline.steps = {step("transpose", {"x"}, "t")};
    const auto ran = run(pipeline);
    int reads = 0;
    const auto read = [&](const std::string& name) {
        ++reads;
        return ran.tensors.at(name);
    };
    ran.job->begun(read, 1);
    CHECK(ran.job->looks().empty());
    const auto outcome = ran.job->check(read, 1);
    CHECK(outcome.passed);
    CHECK(reads == 1);
    CHECK(outcome.json.at("steps").at(0).at("rounds") == 1);
    CHECK(outcome.json.at("steps").at(0).at("elements") == 24);
}

TEST_CASE("a sentence names the families in the order of the steps, with what is around them") {
    using StepKind = workload::PipelineStep::Kind;
    const auto around = [](StepKind kind, std::vector<workload::PipelineStep> children) {
        workload::PipelineStep made;
        made.kind = kind;
        made.children = std::move(children);
        return made;
    };
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {tensor("x", {6, 4})};
    const auto sentence = [&] { return job::make_job({"test", pipeline})->sentence(); };
    pipeline.steps = {step("relu", {"x"}, "y")};
    CHECK(sentence() == "pipeline of 1 tensor: relu");
    pipeline.tensors.push_back(tensor("z", {6, 4}));
    pipeline.steps.push_back(step("gelu", {"z"}, "w"));
    CHECK(sentence() == "pipeline of 2 tensors: relu, gelu");
    auto loop = around(StepKind::Repeat, pipeline.steps);
    loop.repeats = 3;
    const auto side = around(StepKind::Parallel, {around(StepKind::Branch, pipeline.steps),
                                                  around(StepKind::Branch, {loop})});
    pipeline.steps = {loop, side, step("softmax", {"w"}, "v"), loop};
    CHECK(sentence() == "pipeline of 2 tensors: 3 times (relu, gelu), side by side ((relu, gelu), "
                        "(3 times (relu, gelu))), softmax, 3 times (relu, gelu)");
}

TEST_CASE("sparse tensors of a pipeline without non-zeros are noted by their names") {
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {sparse("full", {12, 10}, 0.5), sparse("empty", {9, 12}, 0.001),
                        tensor("x", {10, 6})};
    pipeline.steps = {step("spmm", {"full", "x"}, "y"), step("spmm", {"empty", "y"}, "z")};
    CHECK(run(pipeline).job->notes() ==
          std::vector<std::string>{
              "empty has no non-zeros: density 0.001 rounds to no block of 1 x 1 in 9 x 12"});
}

TEST_CASE("a pipeline counts what its steps compute, as often as they are repeated") {
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {tensor("x", {1, 1}), tensor("y", {6, 4})};
    const auto flops = [&]() -> std::int64_t {
        const auto job = job::make_job({"test", pipeline});
        static_cast<void>(job->plan(small_machine()));
        const auto product = job->product();
        CHECK((!product || !product->flops_dense_equivalent));
        return product ? product->flops : -1;
    };
    pipeline.tensors.pop_back();
    pipeline.steps = {step("transpose", {"x"}, "t")};
    CHECK(flops() == -1);
    pipeline.steps = {step("relu", {"x"}, "t")};
    CHECK(flops() == 1);
    pipeline.tensors.push_back(tensor("y", {6, 4}));
    pipeline.steps.push_back(step("relu", {"y"}, "z"));
    CHECK(flops() == 1 + 6 * 4);
    workload::PipelineStep loop;
    loop.kind = workload::PipelineStep::Kind::Repeat;
    loop.repeats = 5;
    loop.children = {step("add", {"y", "z"}, "w")};
    pipeline.steps.push_back(loop);
    CHECK(flops() == 1 + 6 * 4 + 5 * 6 * 4);
}

TEST_CASE("a pipeline counts what its products of single non-zeros compute") {
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {sparse("a", {16, 16}, 0.5), tensor("x", {16, 8}),
                        sparse("b", {16, 16}, 0.5)};
    pipeline.tensors[2].block = 16;
    pipeline.tensors[2].pattern->density = 1;
    pipeline.steps = {step("spmm", {"a", "x"}, "y"), step("spmm", {"b", "y"}, "z")};
    const auto job = job::make_job({"test", pipeline});
    static_cast<void>(job->plan(small_machine()));
    CHECK(job->product().value().flops == 2 * (128 + 256) * 8);
    CHECK(job->product().value().vector_flops == 2 * 128 * 8);
}

TEST_CASE("what is wrong with a sparse tensor when its values are made is told at the tensor") {
    const test::ScratchFolder scratch;
    const auto pattern = scratch.write("a.mtx", "%%MatrixMarket matrix coordinate pattern "
                                                "general\n4 6 1\n1 1\n");
    const auto broken = scratch.write("b.mtx", "%%MatrixMarket matrix coordinate pattern "
                                               "general\n4 6 1\n1 7\n");
    const auto refusal = [&](const std::string& path, std::vector<std::int64_t> shape) {
        workload::PipelineWorkload pipeline;
        pipeline.tensors = {sparse("a", std::move(shape), 1), tensor("b", {6, 4})};
        pipeline.tensors[0].pattern->source = workload::PatternSpec::Source::File;
        pipeline.tensors[0].pattern->file_values = workload::PatternSpec::FileValues::Ones;
        pipeline.tensors[0].pattern->path = path;
        pipeline.steps = {step("spmm", {"a", "b"}, "c")};
        const auto job = job::make_job({"test", pipeline});
        try {
            static_cast<void>(job->plan(small_machine()));
        } catch (const ConfigError& error) {
            REQUIRE(error.diagnostics().size() == 1);
            return error.diagnostics().front().file + error.diagnostics().front().pointer;
        }
        return std::string("taken");
    };
    CHECK(refusal(pattern, {4, 6}) == "taken");
    CHECK(refusal(pattern, {5, 6}) == "/tensors/a/shape/0");
    CHECK(refusal(pattern, {4, 7}) == "/tensors/a/shape/1");
    CHECK(refusal(broken, {4, 6}) == broken); // in the file, not in the workload
}

TEST_CASE("the dense operand of a sparse product is as small as its longest row wants") {
    for (const double density : {0.01, 0.6}) { // none, and most
        workload::SpmmWorkload spmm;
        spmm.m = 2;
        spmm.k = 600;
        spmm.n = 3;
        spmm.pattern.density = density < 0.1 ? 1e-6 : density;
        spmm.values.kind = Kind::Integer;
        spmm.seed = 5;
        const auto job = job::make_job({"test", spmm});
        static_cast<void>(job->plan(small_machine()));
        const auto length = workload::contraction_length(workload::make_sparse(spmm));
        CHECK((length == 0) == (density < 0.1));
        CHECK(elements<std::uint16_t>(job->operands().at(1).bytes) ==
              workload::make_dense(600, 3, spmm.values, spmm.seed, workload::Operand::B,
                                   std::max<std::int64_t>(length, 1))
                  .values);
    }
}
