// SPDX-License-Identifier: MIT
// A pipeline's job: the values of its tensors, and when it looks at its steps.
#include "base/error.h"
#include "base/float16.h"
#include "kernels/job/job.h"
#include "kernels/workload/values.h"
#include "tests/support/run_program.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
    made.outputs = {output};
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
    std::map<program::ArrayId, std::vector<std::byte>> arrays;
};

Ran run(const workload::PipelineWorkload& pipeline) {
    Ran ran{job::make_job({"test", pipeline}), nullptr, {}};
    ran.program = &ran.job->plan(small_machine());
    CHECK(test::faults_of(small_machine(), *ran.program) == std::vector<std::string>{});
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& operand : ran.job->operands()) {
        writes[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    ran.arrays = test::run_program(small_machine(), *ran.program, writes).arrays;
    return ran;
}

/// Tells the job of each leaf that ends.
void run_leaves(job::Job& job, const program::Step& step, const job::ReadArray& read) {
    if (step.children.empty()) {
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
            auto arrays = ran.arrays;
            const auto read = [&](program::ArrayId array) { return arrays.at(array); };
            arrays.at(ran.job->results().front().array).front() ^= std::byte{1}; // a little off
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
    const auto read = [&](program::ArrayId array) {
        const std::string& name = ran.program->tensors.at(array.index).name;
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
    CHECK(looked.back().size() == 1); // the result, as it is when all has run
    looked.pop_back();
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
    const auto read = [&](program::ArrayId array) {
        ++reads;
        return ran.arrays.at(array);
    };
    ran.job->begun(read, 1);
    CHECK(ran.job->looks().empty());
    CHECK(reads == 1);
    const auto outcome = ran.job->check(read, 1);
    CHECK(outcome.passed);
    CHECK(outcome.json.at("steps").at(0).at("rounds") == 1);
    CHECK(outcome.json.at("steps").at(0).at("elements") == 24);
}

TEST_CASE("elements of a row that are not as they were are counted, and the first one is named") {
    constexpr std::int64_t kElements = 20;
    constexpr std::int64_t kRow = 1;
    constexpr std::int64_t kBytes = 2;
    for (const std::vector<std::int64_t>& wrong : std::vector<std::vector<std::int64_t>>{
             {}, {0}, {1}, {kElements - 1}, {3, 7}, {0, kElements - 1}, {4, 5, 6}}) {
        for (const std::int64_t byte : {0, 1}) {
            workload::PipelineWorkload pipeline;
            pipeline.tensors = {tensor("data", {3, 4, 5})};
            pipeline.tensors.front().place = workload::Place::Remote;
            workload::PipelineStep load;
            load.kind = workload::PipelineStep::Kind::Load;
            load.inputs = {"data"};
            load.outputs = {"x"};
            load.row = kRow;
            pipeline.steps = {load, step("transpose", {"x"}, "y")};
            const auto job = job::make_job({"test", pipeline});
            const program::Program& program = job->plan(small_machine());
            const auto data = job->operands().front().bytes;
            const auto first = data.begin() + kRow * kElements * kBytes;
            std::vector<std::byte> row(first, first + kElements * kBytes);
            for (const std::int64_t element : wrong) {
                row[static_cast<std::size_t>(element * kBytes + byte)] ^= std::byte{1};
            }
            const auto read = [&](program::ArrayId array) {
                auto got = row;
                if (program.tensors.at(array.index).name.find("y:") == 0) {
                    for (std::int64_t i = 0; i < kElements; ++i) {
                        const std::int64_t from = i % 4 * 5 + i / 4;
                        std::copy_n(row.begin() + from * kBytes, kBytes, got.begin() + i * kBytes);
                    }
                }
                return got;
            };
            job->begun(read, 1);
            run_leaves(*job, program.control, read);
            const auto outcome = job->check(read, 1);
            CAPTURE(wrong.size(), byte);
            const auto& told = outcome.json.at("steps").at(0);
            CHECK(told.at("rounds") == 1);
            CHECK(told.at("elements") == kElements);
            CHECK(told.at("failed_elements") == wrong.size());
            CHECK(told.at("sentence") ==
                  (wrong.empty()
                       ? fmt::format("exact: all {} elements as they were", kElements)
                       : fmt::format("WRONG: {} of {} elements are not as they were, the first of "
                                     "them number {}",
                                     wrong.size(), kElements, wrong.front())));
            CHECK(outcome.passed == wrong.empty());
        }
    }
}

/// The verdict of a job whose steps are looked at as they end, and what the run leaves of the first tensor.
struct Watched {
    job::CheckOutcome check;
    std::vector<std::uint16_t> given;
    std::vector<std::uint16_t> left;
    std::map<std::string, std::vector<std::int64_t>> results; ///< shapes
};

/// `spoilt`: a tensor that is read with the last bit of its largest element turned.
Watched watched(const workload::PipelineWorkload& pipeline, const std::string& spoilt = {}) {
    Watched made;
    const auto job = job::make_job({"test", pipeline});
    const auto& program = job->plan(small_machine());
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& operand : job->operands()) {
        writes[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    const auto first = job->operands().front().array;
    made.given = elements<std::uint16_t>(writes.at(first));
    const auto spoil = [&](program::ArrayId array, std::vector<std::byte> bytes) {
        if (array.kind == program::ArrayId::Kind::Tensor && !spoilt.empty() &&
            program.tensors.at(array.index).name.starts_with(spoilt + ":")) {
            const auto halves = elements<std::uint16_t>(bytes);
            const auto largest = std::ranges::max_element(
                halves, {}, [](std::uint16_t half) { return std::fabs(f16_to_f32(half)); });
            bytes[2 * static_cast<std::size_t>(largest - halves.begin())] ^= std::byte{1};
        }
        return bytes;
    };
    const test::Watcher watcher{
        .begun = [&](const auto& read) { job->begun(read, 1); },
        .ended =
            [&](const auto& leaf, const auto& read) {
                job->ended(
                    leaf, [&](program::ArrayId array) { return spoil(array, read(array)); }, 1);
            }};
    const auto outcome = test::run_program(small_machine(), program, writes, watcher);
    made.left = elements<std::uint16_t>(outcome.arrays.at(first));
    for (const job::Result& result : job->results()) {
        made.results[result.name] = result.shape;
    }
    made.check = job->check(
        [&](program::ArrayId array) { return spoil(array, outcome.arrays.at(array)); }, 1);
    return made;
}

workload::PipelineStep moving(workload::PipelineStep::Kind kind, const std::string& input,
                              const std::string& output, std::int64_t row) {
    workload::PipelineStep made;
    made.kind = kind;
    made.inputs = {input};
    made.outputs = {output};
    made.name = input + " to " + output;
    made.row = row;
    made.row_a_round = 0;
    return made;
}

TEST_CASE("rows are stored and loaded again, and only the one that a store names is another then") {
    using Step = workload::PipelineStep::Kind;
    constexpr std::size_t kRow = 8;
    for (const auto place : {workload::Place::Remote, workload::Place::TileRows}) {
        CAPTURE(static_cast<int>(place));
        workload::PipelineWorkload pipeline;
        pipeline.tensors = {tensor("rows", {3, 2, 4}, Kind::Integer)};
        pipeline.tensors.front().place = place;
        // row 1 becomes half of row 0, then row 2 half of row 1
        pipeline.steps = {
            moving(Step::Load, "rows", "x", 0),     step("scale", {"x"}, "half"),
            moving(Step::Store, "half", "rows", 1), moving(Step::Load, "rows", "z", 1),
            step("scale", {"z"}, "quarter"),        moving(Step::Store, "quarter", "rows", 2)};
        for (const std::size_t scale : {1U, 4U}) {
            pipeline.steps[scale].options["factor"] = 0.5;
        }
        const Watched ran = watched(pipeline);
        INFO(ran.check.text);
        CHECK(ran.check.passed);
        for (const auto& one : ran.check.json.at("steps")) {
            CHECK(one.at("rounds") == 1);
            CHECK(one.at("elements") == kRow);
        }
        CHECK(ran.results.at("rows") == std::vector<std::int64_t>{3, 2, 4}); // not the row alone
        REQUIRE(ran.left.size() == 3 * kRow);
        for (std::size_t i = 0; i < kRow; ++i) {
            CHECK(ran.left[i] == ran.given[i]);
            CHECK(f16_to_f32(ran.left[kRow + i]) == f16_to_f32(ran.given[i]) / 2);
            CHECK(f16_to_f32(ran.left[2 * kRow + i]) == f16_to_f32(ran.given[i]) / 4);
        }
    }
}

TEST_CASE(
    "a product with a row is exact where all that stood and was stored there are whole numbers") {
    using Step = workload::PipelineStep::Kind;
    for (const Kind of_rows : {Kind::Integer, Kind::Uniform}) {
        for (const Kind of_x : {Kind::Integer, Kind::Uniform}) {
            workload::PipelineWorkload pipeline;
            pipeline.tensors = {tensor("rows", {2, 8, 8}, of_rows), tensor("x", {8, 8}, of_x),
                                tensor("whole", {8, 8}, Kind::Integer)};
            pipeline.tensors.front().place = workload::Place::Remote;
            pipeline.steps = {moving(Step::Store, "x", "rows", 1),
                              moving(Step::Load, "rows", "h", 1),
                              step("matmul", {"h", "whole"}, "y")};
            CHECK(watched(pipeline).check.passed);
            // a bit is within the tolerance of sums that are rounded
            const bool is_exact = of_rows == Kind::Integer && of_x == Kind::Integer;
            CHECK(watched(pipeline, "y").check.passed != is_exact);
        }
    }
}

TEST_CASE("a result that changes behind its step is told with its first byte that did") {
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {tensor("x", {6, 4})};
    pipeline.steps = {step("transpose", {"x"}, "t")};
    const auto ran = run(pipeline);
    const auto read = [&](program::ArrayId array) { return ran.arrays.at(array); };
    ran.job->begun(read, 1);
    const std::size_t bytes = ran.job->operands().front().bytes.size();
    for (const std::size_t changed : {std::size_t{0}, std::size_t{1}, bytes - 1}) {
        const auto later = [&](program::ArrayId array) {
            auto got = ran.arrays.at(array);
            got.at(changed) ^= std::byte{4};
            got.at(std::max(changed, bytes - 2)) ^= std::byte{8};
            return got;
        };
        const auto outcome = ran.job->check(later, 1);
        CHECK_FALSE(outcome.passed);
        CHECK(outcome.text ==
              fmt::format("WRONG: result t: byte {} has changed since its step left it", changed));
    }
    CHECK(ran.job->check(read, 1).passed);
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
    CHECK(run(pipeline).job->empty_matrices() == 1);
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

namespace {

workload::PipelineTensor whole(const std::string& name, std::vector<std::int64_t> shape,
                               double constant) {
    auto made = tensor(name, std::move(shape), Kind::Constant);
    made.type = ElementType::I32;
    made.values.constant = constant;
    return made;
}

workload::PipelineStep deciding(workload::PipelineStep::Kind kind, const std::string& word,
                                std::vector<workload::PipelineStep> children) {
    workload::PipelineStep made;
    made.kind = kind;
    made.word = word;
    made.children = std::move(children);
    return made;
}

workload::PipelineStep add(const std::string& name, std::vector<std::string> inputs,
                           const std::string& output) {
    auto made = step("add", std::move(inputs), output);
    made.name = name;
    return made;
}

std::vector<std::int32_t> result_of(const Ran& ran, const std::string& name) {
    for (const auto& result : ran.job->results()) {
        if (result.name == name) {
            return elements<std::int32_t>(ran.arrays.at(result.array));
        }
    }
    return {};
}

} // namespace

TEST_CASE("a while goes round until the word that its steps write is 0") {
    for (const std::int32_t rounds : {0, 1, 5}) {
        CAPTURE(rounds);
        constexpr std::int32_t kBegin = 100;
        constexpr std::int32_t kStep = 7;
        workload::PipelineWorkload pipeline;
        pipeline.tensors = {whole("down", {1}, -1), whole("left", {1}, rounds),
                            whole("x", {3, 5}, kBegin), whole("y", {3, 5}, kStep)};
        pipeline.steps = {
            deciding(workload::PipelineStep::Kind::While, "left",
                     {add("count", {"left", "down"}, "left"), add("sum", {"x", "y"}, "x")})};
        const auto ran = run(pipeline);
        CHECK(ran.job->sentence() == "pipeline of 4 tensors: while left (add, add)");
        CHECK_FALSE(ran.job->product()); // nobody knows how often
        CHECK(result_of(ran, "x") == std::vector<std::int32_t>(15, kBegin + rounds * kStep));
    }
}

TEST_CASE("an if goes one way or the other by any element of a tensor") {
    for (const std::int32_t element : {0, 1, 2}) {
        for (const std::int32_t flag : {0, 3}) {
            CAPTURE(element, flag);
            workload::PipelineWorkload pipeline;
            // all elements are the flag less one but for what is added to them
            pipeline.tensors = {whole("base", {3}, flag - 1), whole("one", {3}, 1),
                                whole("x", {4}, 10), whole("y", {4}, 1)};
            auto condition =
                deciding(workload::PipelineStep::Kind::If, "flags", {add("then", {"x", "x"}, "z")});
            condition.otherwise = {add("else", {"x", "y"}, "z")};
            condition.element = element;
            pipeline.steps = {add("flag", {"base", "one"}, "flags"), condition,
                              add("last", {"z", "y"}, "result")};
            const auto ran = run(pipeline);
            CHECK(ran.job->sentence() ==
                  "pipeline of 4 tensors: add, if flags (add) else (add), add");
            CHECK(result_of(ran, "result") == std::vector<std::int32_t>(4, flag != 0 ? 21 : 12));
        }
    }
}

TEST_CASE("a given tensor is what the host gave where no decision led to a step that writes it") {
    using StepKind = workload::PipelineStep::Kind;
    for (const auto kind : {StepKind::If, StepKind::While}) {
        for (const bool in_rows : {false, true}) {
            for (const std::int32_t flag : {0, 1}) {
                CAPTURE(kind == StepKind::If, in_rows, flag);
                workload::PipelineWorkload pipeline;
                pipeline.tensors = {whole("down", {1}, -1), whole("flag", {1}, flag),
                                    whole("given", {20}, 5), whole("x", {20}, 10)};
                pipeline.tensors[2].row_major = in_rows;
                pipeline.steps = {deciding(kind, "flag",
                                           {add("inside", {"x", "x"}, "given"),
                                            add("d", {"flag", "down"}, "flag")}),
                                  add("behind", {"given", "x"}, "result")};
                const auto ran = run(pipeline);
                CHECK(result_of(ran, "result") ==
                      std::vector<std::int32_t>(20, flag != 0 ? 30 : 15));
            }
        }
    }
}

TEST_CASE("steps that no decision led to are right, and what they alone write is no result") {
    workload::PipelineWorkload pipeline;
    pipeline.tensors = {whole("flag", {1}, 0), whole("x", {4}, 10)};
    pipeline.steps = {
        add("before", {"x", "x"}, "y"),
        deciding(workload::PipelineStep::Kind::If, "flag", {add("then", {"x", "y"}, "z")})};
    const auto ran = run(pipeline);
    REQUIRE(ran.job->results().size() == 0);
    const auto read = [&](program::ArrayId array) { return ran.arrays.at(array); };
    const auto& leaf = ran.program->control.children.at(0);
    run_leaves(*ran.job, leaf, [&](program::ArrayId) {
        std::vector<std::byte> twenty;
        for (int i = 0; i < 4; ++i) {
            const std::int32_t word = 20;
            const auto bytes = std::as_bytes(std::span(&word, 1));
            twenty.insert(twenty.end(), bytes.begin(), bytes.end());
        }
        return twenty;
    });
    const auto outcome = ran.job->check(read, 1);
    CHECK(outcome.passed);
    CHECK(outcome.json["steps"][1]["rounds"] == 0);
    CHECK(outcome.json["steps"][1]["sentence"] == "it has not run");
}

TEST_CASE("whole numbers are drawn, small and of their type, or filled in") {
    workload::PipelineWorkload pipeline;
    auto x = tensor("x", {1000});
    x.type = ElementType::I32;
    auto y = tensor("y", {1000}, Kind::Integer);
    y.type = ElementType::U32;
    auto z = tensor("z", {3}, Kind::Constant);
    z.values.constant = 2.5;
    pipeline.tensors = {x, y, z};
    pipeline.steps = {step("add", {"x", "x"}, "a"), step("add", {"y", "y"}, "b"),
                      step("relu", {"z"}, "c")};
    const auto job = job::make_job({"test", pipeline});
    static_cast<void>(job->plan(small_machine()));
    const auto operands = job->operands();
    REQUIRE(operands.size() == 3);
    const auto signed_ones = elements<std::int32_t>(operands[0].bytes);
    const auto unsigned_ones = elements<std::uint32_t>(operands[1].bytes);
    CHECK(*std::min_element(signed_ones.begin(), signed_ones.end()) == -8);
    CHECK(*std::max_element(signed_ones.begin(), signed_ones.end()) == 8);
    CHECK(*std::min_element(unsigned_ones.begin(), unsigned_ones.end()) == 0);
    CHECK(*std::max_element(unsigned_ones.begin(), unsigned_ones.end()) == 8);
    CHECK(elements<std::uint16_t>(operands[2].bytes) ==
          std::vector<std::uint16_t>(3, f32_to_f16(2.5F)));
}

TEST_CASE("whole numbers below a bound take every value below it, and no other") {
    for (const std::int64_t below : {1, 2, 7}) {
        workload::PipelineWorkload pipeline;
        auto x = tensor("x", {1000});
        x.type = ElementType::U32;
        x.below = below;
        pipeline.tensors = {x};
        pipeline.steps = {step("add", {"x", "x"}, "a")};
        const auto job = job::make_job({"test", pipeline});
        static_cast<void>(job->plan(small_machine()));
        const auto drawn = elements<std::uint32_t>(job->operands().front().bytes);
        std::set<std::int64_t> expected;
        for (std::int64_t value = 0; value < below; ++value) {
            expected.insert(value);
        }
        CHECK(std::set<std::int64_t>(drawn.begin(), drawn.end()) == expected);
    }
}
