// SPDX-License-Identifier: MIT
// Products with a matrix whose pattern comes at run time, run and checked against the host.
#include "base/error.h"
#include "kernels/dynamic/dynamic.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/job/given_tensors.h"
#include "kernels/job/pipeline_job.h"
#include "kernels/workload/element_value.h"
#include "tests/support/run_program.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

using Places = std::set<std::pair<std::int64_t, std::int64_t>>; ///< block row, block column

struct Shape {
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    std::int64_t block = 1;

    [[nodiscard]] std::int64_t rows() const { return (m + block - 1) / block; }
    [[nodiscard]] std::int64_t columns() const { return (k + block - 1) / block; }
};

/// All elements of each block, small whole numbers.
std::string written(const test::ScratchFolder& folder, const Shape& shape, const Places& places) {
    std::string lines;
    std::int64_t elements = 0;
    for (const auto& [block_row, block_column] : places) {
        const std::int64_t rows = std::min(shape.m, (block_row + 1) * shape.block);
        const std::int64_t columns = std::min(shape.k, (block_column + 1) * shape.block);
        for (std::int64_t row = block_row * shape.block; row < rows; ++row) {
            for (std::int64_t column = block_column * shape.block; column < columns; ++column) {
                lines +=
                    fmt::format("{} {} {}\n", row + 1, column + 1, (row * 7 + column * 3) % 5 - 2);
                ++elements;
            }
        }
    }
    return folder.write("pattern.mtx",
                        fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n",
                                    shape.m, shape.k, elements) +
                            lines);
}

workload::SpmmWorkload workload_of(const Shape& shape, ElementType data, ElementType partials) {
    workload::SpmmWorkload spmm;
    spmm.m = shape.m;
    spmm.k = shape.k;
    spmm.n = shape.n;
    spmm.block = shape.block;
    spmm.dtype = data;
    spmm.partials = partials;
    spmm.is_dynamic = true;
    spmm.plan = workload::PlanKind::Published;
    return spmm;
}

job::Source with_transpose(job::Source source, const Shape& shape) {
    source.pipeline.steps.front().options["transpose_a"] = true;
    source.pipeline.tensors[1].shape = {shape.m, shape.n};
    source.draws[1].of_sparse.reset();
    source.draws[1].contraction = shape.m;
    return source;
}

struct Ran {
    test::RunOutcome outcome;
    job::CheckOutcome check;
};

Ran run(const spec::MachineSpec& machine, job::Job& job) {
    const auto& program = job.plan(machine);
    CHECK(test::faults_of(machine, program) == std::vector<std::string>{});
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& given : job.operands()) {
        writes[given.array].assign(given.bytes.begin(), given.bytes.end());
    }
    Ran ran;
    ran.outcome = test::run_program(machine, program, writes);
    ran.check = job.check([&](program::ArrayId array) { return ran.outcome.arrays.at(array); }, 1);
    return ran;
}

struct Pattern {
    const char* name;
    std::function<bool(const Shape& shape, std::int64_t row, std::int64_t column)> has;
};

const std::vector<Pattern>& patterns() {
    static const std::vector<Pattern> all{
        {"scattered",
         [](const Shape&, auto row, auto column) { return (row * 7 + column * 5) % 4 == 0; }},
        {"empty", [](const Shape&, auto, auto) { return false; }},
        {"full", [](const Shape&, auto, auto) { return true; }},
        {"one row", [](const Shape& shape, auto row, auto) { return row == shape.rows() / 2; }},
        {"one column",
         [](const Shape& shape, auto, auto column) { return column == shape.columns() / 2; }},
        {"one corner",
         [](const Shape& shape, auto row, auto column) {
             return row >= shape.rows() * 2 / 3 && column < (shape.columns() + 2) / 3;
         }},
        {"one block", [](const Shape&, auto row, auto column) { return row == 0 && column == 0; }},
    };
    return all;
}

Places places_of(const Shape& shape, const Pattern& pattern) {
    Places places;
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
        for (std::int64_t column = 0; column < shape.columns(); ++column) {
            if (pattern.has(shape, row, column)) {
                places.emplace(row, column);
            }
        }
    }
    return places;
}

void check_pattern(const spec::MachineSpec& machine, const Shape& shape, const Pattern& pattern,
                   ElementType data, ElementType partials, bool is_transposed) {
    CAPTURE(machine.chip.tiles, shape.m, shape.k, shape.n, shape.block, pattern.name, name_of(data),
            name_of(partials), is_transposed);
    const test::ScratchFolder folder;
    workload::SpmmWorkload spmm = workload_of(shape, data, partials);
    spmm.pattern.source = workload::PatternSpec::Source::File;
    spmm.pattern.path = written(folder, shape, places_of(shape, pattern));
    const auto source = job::source_of(spmm);
    const auto job = job::pipeline_job(is_transposed ? with_transpose(source, shape) : source);
    const Ran ran = run(machine, *job);
    INFO(job->sentence() << ": " << ran.check.text);
    CHECK(ran.check.passed);
}

struct Types {
    ElementType data;
    ElementType partials;
};

std::vector<Shape> shapes_of(std::int64_t block) {
    return {
        {16 * block, 16 * block, 24, block},       // aligned
        {5 * block, 3 * block, 8, block},          // tiny
        {7 * block + 1, 9 * block - 1, 20, block}, // ragged
        {block, 12 * block, 16, block},            // one row
        {12 * block, block, 16, block},            // one column
    };
}

void check_shapes(std::int64_t block, const Types& types, bool is_transposed) {
    for (const Shape& shape : shapes_of(block)) {
        for (const Pattern& pattern : patterns()) {
            for (const std::int64_t tiles : {4, 24}) {
                check_pattern(machine_of(tiles), shape, pattern, types.data, types.partials,
                              is_transposed);
            }
        }
    }
}

} // namespace

constexpr Types kTypes[] = {{ElementType::F16, ElementType::F32},
                            {ElementType::F16, ElementType::F16},
                            {ElementType::F32, ElementType::F32}};

TEST_CASE("any pattern is multiplied as on the host", "[dynamic_product]") {
    for (const Types& types : kTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            check_shapes(block, types, false);
        }
    }
}

TEST_CASE("the transpose of any pattern is multiplied as on the host", "[dynamic_product]") {
    for (const Types& types : kTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            check_shapes(block, types, true);
        }
    }
}

struct Watched {
    std::size_t arrays = 0; ///< that the host writes
    job::CheckOutcome check;
};

/// A pipeline whose steps are looked at as they end.
Watched watched(const spec::MachineSpec& machine, const workload::PipelineWorkload& workload) {
    const auto job = job::pipeline_job(job::source_of(workload));
    const auto& program = job->plan(machine);
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& given : job->operands()) {
        CHECK(writes.count(given.array) == 0);
        writes[given.array].assign(given.bytes.begin(), given.bytes.end());
    }
    const test::Watcher watcher{
        .begun = [&](const auto& read) { job->begun(read, 1); },
        .ended = [&](const auto& leaf, const auto& read) { job->ended(leaf, read, 1); }};
    const auto outcome = test::run_program(machine, program, writes, watcher);
    return {writes.size(),
            job->check([&](program::ArrayId array) { return outcome.arrays.at(array); }, 1)};
}

void check_values_gradient(std::int64_t block, const Types& types) {
    using Kind = workload::ValuesSpec::Kind;
    for (const Shape& shape : shapes_of(block)) {
        for (const Pattern& pattern : patterns()) {
            CAPTURE(shape.m, shape.k, shape.n, block, pattern.name, name_of(types.data),
                    name_of(types.partials));
            const test::ScratchFolder folder;
            workload::PipelineWorkload workload;
            workload::PatternSpec places;
            places.source = workload::PatternSpec::Source::File;
            places.path = written(folder, shape, places_of(shape, pattern));
            workload.tensors = {{.name = "a",
                                 .shape = {shape.m, shape.k},
                                 .type = types.data,
                                 .pattern = places,
                                 .block = block,
                                 .is_dynamic = true},
                                {.name = "dy", .shape = {shape.m, shape.n}, .type = types.data},
                                {.name = "x", .shape = {shape.k, shape.n}, .type = types.data}};
            for (const std::size_t dense : {1U, 2U}) {
                workload.tensors[dense].values.kind = Kind::Integer; // sums are exact
            }
            auto& step = workload.steps.emplace_back();
            step.family = "sddmm";
            step.inputs = {"a", "dy", "x"};
            step.outputs = {"da"};
            step.options = {{"partials", std::string(name_of(types.partials))},
                            {"plan", std::string("published")}};
            const Watched ran = watched(machine_of(24), workload);
            INFO(ran.check.text);
            CHECK(ran.check.passed);
            CHECK(ran.check.json.at("steps").at(0).at("max_error") == 0);
        }
    }
}

TEST_CASE("the gradient of the values of any pattern is that of the host", "[dynamic_product]") {
    for (const Types& types : kTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            check_values_gradient(block, types);
        }
    }
}

TEST_CASE("values that may travel along a side come back along it", "[dynamic_product]") {
    std::set<std::string> sides;
    for (const std::int64_t tiles : {2, 3, 4, 6, 9, 24}) { // of two tiles a side has two parts
        for (const auto& [m, k] :
             {std::pair<std::int64_t, std::int64_t>{512, 16}, {16, 512}, {64, 64}}) {
            CAPTURE(tiles, m, k);
            workload::PipelineWorkload workload;
            workload::PatternSpec pattern;
            pattern.density = 0.25;
            workload.tensors = {{.name = "a",
                                 .shape = {m, k},
                                 .type = ElementType::F16,
                                 .pattern = pattern,
                                 .is_dynamic = true},
                                {.name = "dy", .shape = {m, 16}},
                                {.name = "x", .shape = {k, 16}}};
            auto& step = workload.steps.emplace_back();
            step.family = "sddmm";
            step.inputs = {"a", "dy", "x"};
            step.outputs = {"da"};
            step.options = {{"plan", std::string("published")}};
            const auto job = job::pipeline_job(job::source_of(workload));
            std::set<std::string> there;
            std::set<std::string> back;
            for (const auto& exchange : job->plan(machine_of(tiles)).exchanges) {
                const auto at = exchange.name.find("along ");
                if (at != std::string::npos) {
                    const bool has_values_alone = exchange.name.starts_with("da: bring values ");
                    (has_values_alone ? back : there).insert(exchange.name.substr(at, 7));
                }
            }
            CHECK(there == back);
            sides.insert(there.begin(), there.end());
        }
    }
    CHECK(sides == std::set<std::string>{"along x", "along y", "along z"});
}

/// A pass of a pipeline over a sparse tensor "a".
struct PassOptions {
    ElementType partials;
    const char* plan;
};

/// The product y = a x, then dx, the gradient of x.
Watched run_passes(const spec::MachineSpec& machine, const Shape& shape, double density,
                   std::uint64_t seed, ElementType data, const PassOptions& product,
                   const PassOptions& gradient) {
    workload::PipelineWorkload workload;
    workload.seed = 666;
    workload::PatternSpec pattern;
    pattern.density = density;
    pattern.seed = seed;
    workload.tensors = {{.name = "a",
                         .shape = {shape.m, shape.k},
                         .type = data,
                         .pattern = pattern,
                         .block = shape.block,
                         .is_dynamic = true},
                        {.name = "x", .shape = {shape.k, shape.n}, .type = data},
                        {.name = "dy", .shape = {shape.m, shape.n}, .type = data}};
    for (const bool is_gradient : {false, true}) {
        const PassOptions& pass = is_gradient ? gradient : product;
        auto& step = workload.steps.emplace_back();
        step.family = "spmm";
        step.inputs = {"a", is_gradient ? "dy" : "x"};
        step.outputs = {is_gradient ? "dx" : "y"};
        step.options = {{"partials", std::string(name_of(pass.partials))},
                        {"plan", std::string(pass.plan)},
                        {"transpose_a", is_gradient}};
    }
    return watched(machine, workload);
}

TEST_CASE("a product and the gradient of its dense operand read the same buckets",
          "[dynamic_product]") {
    for (const Types& types : kTypes) {
        CAPTURE(name_of(types.data), name_of(types.partials));
        const PassOptions both{types.partials, "published"};
        // so few blocks that some have to be kept by other parts
        const Watched ran =
            run_passes(machine_of(32), {17, 10, 6, 4}, 0.3, 942, types.data, both, both);
        INFO(ran.check.text);
        CHECK(ran.check.passed);
        CHECK(ran.arrays == 5); // values, metadata and codes once for both, and x and dy
        for (const auto& step : ran.check.json.at("steps")) {
            CHECK(step.at("rounds") == 1); // looked at when it is complete
        }
    }
}

TEST_CASE("passes whose partial results have other types have plans and buckets of their own",
          "[dynamic_product]") {
    constexpr std::int64_t kTiles = 128; // for which the plans differ
    const Watched ran = run_passes(machine_of(kTiles), {300, 260, 48, 4}, 0.1, 1, ElementType::F16,
                                   {ElementType::F32, "published"}, {ElementType::F16, "fastest"});
    INFO(ran.check.text);
    CHECK(ran.check.passed);
    CHECK(ran.arrays == 8); // values, metadata and codes for each, and x and dy
}

TEST_CASE("a product, its gradients and an update of its values read and write the same buckets",
          "[dynamic_product]") {
    for (const Types& types : kTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            CAPTURE(block, name_of(types.data), name_of(types.partials));
            workload::PipelineWorkload workload;
            workload::PatternSpec pattern;
            pattern.density = 0.3;
            workload.tensors = {{.name = "w",
                                 .shape = {6 * block + 1, 5 * block},
                                 .type = types.data,
                                 .pattern = pattern,
                                 .block = block,
                                 .is_dynamic = true},
                                {.name = "x", .shape = {5 * block, 6}, .type = types.data},
                                {.name = "dy", .shape = {6 * block + 1, 6}, .type = types.data}};
            const auto add_step = [&](const char* family, std::vector<std::string> inputs,
                                      const char* output, bool is_product) {
                auto& step = workload.steps.emplace_back();
                step.family = family;
                step.inputs = std::move(inputs);
                step.outputs = {output};
                if (is_product) {
                    step.options = {{"partials", std::string(name_of(types.partials))}};
                }
            };
            add_step("spmm", {"w", "x"}, "y", true);
            add_step("spmm", {"w", "dy"}, "dx", true);
            workload.steps.back().options["transpose_a"] = true;
            add_step("sddmm", {"w", "dy", "x"}, "dw", true);
            add_step("scale", {"dw"}, "update", false);
            workload.steps.back().options["factor"] = -0.125;
            add_step("add", {"w", "update"}, "w", false);
            workload::PipelineStep repeat;
            repeat.kind = workload::PipelineStep::Kind::Repeat;
            repeat.repeats = 2; // the second one reads what the first has written
            repeat.children = std::move(workload.steps);
            workload.steps = {repeat};
            const Watched ran = watched(machine_of(32), workload);
            INFO(ran.check.text);
            CHECK(ran.check.passed);
            CHECK(ran.arrays <= 5); // values, metadata, codes where some may travel, x and dy
            for (const auto& step : ran.check.json.at("steps")) {
                CHECK(step.at("rounds") == 2);
            }
        }
    }
}

TEST_CASE("what stands in buckets is read behind a product that makes them, and moves to no others",
          "[dynamic_product]") {
    using Step = workload::PipelineStep;
    const auto step = [](const char* family, std::vector<std::string> inputs, const char* output,
                         std::map<std::string, Step::OptionValue> options = {}) {
        Step made;
        made.family = family;
        made.inputs = std::move(inputs);
        made.outputs = {output};
        made.options = std::move(options);
        return made;
    };
    // "momentum" stands in the buckets of "w"
    const auto refusal = [](std::int64_t tiles, const std::vector<Step>& steps) {
        workload::PipelineWorkload workload;
        workload::PatternSpec pattern;
        pattern.density = 0.1;
        workload.tensors = {{.name = "w",
                             .shape = {300, 260},
                             .pattern = pattern,
                             .block = 4,
                             .is_dynamic = true,
                             .sequence = workload::Sequence{}},
                            {.name = "momentum", .like = "w"},
                            {.name = "x", .shape = {260, 48}},
                            {.name = "dy", .shape = {300, 48}}};
        std::erase_if(workload.tensors, [&](const workload::PipelineTensor& tensor) {
            return std::ranges::none_of(steps, [&](const Step& reader) {
                return std::ranges::find(reader.inputs, tensor.name) != reader.inputs.end();
            });
        });
        workload.steps = steps;
        try {
            static_cast<void>(job::pipeline_job(job::source_of(workload))->plan(machine_of(tiles)));
        } catch (const NotModelled& error) {
            const std::string said = error.what();
            const std::size_t begin = said.find("step '");
            return said.substr(begin, said.rfind("; see docs/kernels.md#pipelines") - begin);
        }
        return std::string();
    };
    const Step product = step("spmm", {"w", "x"}, "y", {{"partials", std::string("f32")}});
    const Step scaled = step("scale", {"w"}, "u", {{"factor", 0.5}});
    CHECK(refusal(4, {product, scaled}).empty());
    CHECK(refusal(4, {scaled, product}) ==
          "step 'u' is the first to read 'w', whose pattern comes at run time: not modelled: "
          "before a product with it");
    const Step moved = step("scale", {"momentum"}, "momentum", {{"factor", 0.5}});
    CHECK(refusal(4, {product, moved}).empty());
    CHECK(refusal(4, {moved, product}) ==
          "step 'momentum' reads 'momentum' before a product reads 'w', in whose buckets it is: "
          "not modelled");
    Step next;
    next.kind = Step::Kind::Next;
    next.inputs = {"w"};
    CHECK(refusal(4, {next, product}).empty());
    CHECK(refusal(4, {next, scaled}) ==
          "step 'next_w' brings patterns of 'w', which no product reads: not modelled");
    // so many tiles that products with other partial results have other plans
    const std::int64_t tiles = 128;
    const Step gradient = step("spmm", {"w", "dy"}, "dx",
                               {{"partials", std::string("f16")},
                                {"plan", std::string("fastest")},
                                {"transpose_a", true}});
    Step published = product;
    published.options["plan"] = std::string("published");
    CHECK(refusal(tiles, {published, gradient}).empty()); // the host gives it in both
    CHECK(refusal(tiles, {published, step("scale", {"w"}, "w"), gradient}) ==
          "step 'dx' has another plan for 'w' than the steps before: not modelled: moving it "
          "between buckets");
}

TEST_CASE("the program of one pattern multiplies another one", "[dynamic_product]") {
    const auto machine = machine_of(24);
    const auto job_of = [&](std::uint64_t seed) {
        workload::SpmmWorkload spmm =
            workload_of({256, 256, 32, 4}, ElementType::F16, ElementType::F32);
        spmm.capacity = 0.1;
        spmm.pattern.density = 0.08;
        spmm.pattern.seed = seed;
        return job::pipeline_job(job::source_of(spmm));
    };
    const auto one = job_of(1);
    const auto other = job_of(2);
    const auto& program = one->plan(machine);
    static_cast<void>(other->plan(machine));
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& given : other->operands()) {
        writes[given.array].assign(given.bytes.begin(), given.bytes.end());
    }
    const auto outcome = test::run_program(machine, program, writes);
    const auto check =
        other->check([&](program::ArrayId array) { return outcome.arrays.at(array); }, 1);
    INFO(check.text);
    CHECK(check.passed);
}

TEST_CASE("operands of a gradient of values that do not go together are refused",
          "[dynamic_product]") {
    auto pattern = std::make_shared<workload::SparsePattern>();
    *pattern = {
        .rows = 16, .columns = 8, .block = 4, .row_start = {0, 0, 0, 0, 0}, .block_column = {}};
    const family::TensorType a{ElementType::F16, {16, 8}, pattern, workload::Capacity{.block = 4}};
    const auto refusal = [&](const family::TensorType& sparse, const family::TensorType& dy,
                             const family::TensorType& x, const char* partials = "f32") {
        try {
            static_cast<void>(
                dynamic::sampled().make({{sparse, dy, x}, {{"partials", std::string(partials)}}}));
        } catch (const family::Refused& refused) {
            return fmt::format("{}{}: {}", refused.input, refused.option, refused.what());
        }
        return std::string();
    };
    const auto dense = [](std::int64_t rows, std::int64_t columns,
                          ElementType type = ElementType::F16) {
        return family::TensorType{type, {rows, columns}};
    };
    CHECK(refusal(a, dense(16, 4), dense(8, 4)).empty());
    CHECK(refusal(a, dense(15, 4), dense(8, 4)) == "1: got 15 x 4, expected 16 rows as a has rows");
    CHECK(refusal(a, dense(16, 4), dense(9, 4)) ==
          "2: got 9 x 4, expected 8 rows as a has columns");
    CHECK(refusal(a, dense(16, 4), dense(8, 5)) == "2: got 8 x 5, expected 4 columns as dy has");
    CHECK(refusal(a, dense(16, 4, ElementType::F32), dense(8, 4)) ==
          "1: got f32, expected f16 as a has");
    CHECK(refusal(dense(16, 8), dense(16, 4), dense(8, 4)) ==
          "0: got a dense matrix, expected a sparse one");
    family::TensorType of_floats = a;
    of_floats.type = ElementType::F32;
    CHECK(refusal(of_floats, dense(16, 4, ElementType::F32), dense(8, 4, ElementType::F32),
                  "f16") == "-1partials: got f16, expected at least f32");
}

TEST_CASE("the gradient of the values is sampled by the matrix unit where squares make its groups",
          "[dynamic_product]") {
    for (const auto& [data, block, n, is_matrix] :
         {std::tuple{ElementType::F16, 16, 32, true}, std::tuple{ElementType::F16, 16, 20, false},
          std::tuple{ElementType::F16, 8, 32, false}, std::tuple{ElementType::F32, 8, 32, true},
          std::tuple{ElementType::F32, 16, 32, true}, std::tuple{ElementType::F32, 4, 32, false}}) {
        CAPTURE(name_of(data), block, n);
        workload::PipelineWorkload workload;
        workload::PatternSpec pattern;
        pattern.density = 0.5;
        workload.tensors = {{.name = "a",
                             .shape = {4 * block, 4 * block},
                             .type = data,
                             .pattern = pattern,
                             .block = block,
                             .is_dynamic = true},
                            {.name = "dy", .shape = {4 * block, n}, .type = data},
                            {.name = "x", .shape = {4 * block, n}, .type = data}};
        auto& step = workload.steps.emplace_back();
        step.family = "sddmm";
        step.inputs = {"a", "dy", "x"};
        step.outputs = {"da"};
        const auto machine = machine_of(2); // so that columns are not cut into odd parts
        const auto job = job::pipeline_job(job::source_of(workload));
        const auto& codelets = job->plan(machine).codelets;
        const auto samples = [](const program::Codelet& codelet) {
            return std::ranges::any_of(codelet.symbols, [](const auto& symbol) {
                return symbol.first.find("amp_values") != std::string::npos;
            });
        };
        CHECK(std::ranges::any_of(codelets, samples) == is_matrix);
        const Watched ran = watched(machine, workload);
        INFO(ran.check.text);
        CHECK(ran.check.passed);
    }
}

TEST_CASE("the gradient of the values may be off by the roundings of products where these are FP16",
          "[dynamic_product]") {
    for (const auto& [data, block, n, rounds] :
         {std::tuple{ElementType::F16, 8, 32, true}, std::tuple{ElementType::F16, 16, 20, true},
          std::tuple{ElementType::F16, 16, 32, false}, std::tuple{ElementType::F16, 1, 32, false},
          std::tuple{ElementType::F32, 4, 32, false}, std::tuple{ElementType::F32, 8, 32, false}}) {
        CAPTURE(name_of(data), block, n);
        auto pattern = std::make_shared<workload::SparsePattern>();
        *pattern = {.rows = block,
                    .columns = block,
                    .block = block,
                    .row_start = {0, 1},
                    .block_column = {0}};
        if (block == 1) {
            pattern->rows = pattern->columns = 16;
            pattern->row_start.assign(17, 1);
            pattern->row_start[0] = 0;
        }
        const std::int64_t side = pattern->rows;
        const family::TensorType a{
            data, {side, side}, pattern, workload::Capacity{.block = block, .density = 1, .n = n}};
        const auto step = dynamic::sampled().make(
            {{a, {data, {side, n}}, {data, {side, n}}}, {{"partials", std::string("f32")}}});
        const auto machine = machine_of(1);
        exchange_plan::KnownSchedules known;
        graph::Graph graph("test");
        static_cast<void>(step->emit(graph, {machine, known, 0, "step"},
                                     std::vector<std::optional<graph::TensorId>>(3)));
        // products of one size whose sum is 0
        const auto value = [&](bool turns) {
            family::Value made{{data, {side, n}}, {}, false};
            for (std::int64_t i = 0; i < side * n; ++i) {
                const double number = (1 + 0x1p-10) * (turns && i % 2 == 1 ? -1 : 1);
                workload::append_element(data, number, made.bytes);
            }
            return made;
        };
        const family::Value dy = value(true);
        const family::Value x = value(false);
        const family::Value unread;
        const auto passes = [&](double result) {
            family::Value output{a, {}, false};
            for (std::int64_t i = 0; i < std::ssize(pattern->block_column) * block * block; ++i) {
                workload::append_element(data, result, output.bytes);
            }
            const std::array<const family::Value*, 3> inputs{&unread, &dy, &x};
            return step->check(inputs, std::span(&output, 1), 1).passed;
        };
        CHECK(passes(0));
        CHECK(passes(0.005) == rounds); // each rounding is of 0.0005 at most
        CHECK_FALSE(passes(0.05));
    }
}

TEST_CASE("the gradient of the values has memory for its elements, and only partial results that "
          "tiles add to are cleared",
          "[dynamic_product]") {
    std::set<bool> divided; // along the columns that are summed over
    for (const auto& [data, block, tiles] :
         {std::tuple{ElementType::F16, 1, 1}, std::tuple{ElementType::F16, 4, 24},
          std::tuple{ElementType::F16, 16, 2}, std::tuple{ElementType::F32, 1, 24},
          std::tuple{ElementType::F32, 16, 24}}) {
        CAPTURE(name_of(data), block, tiles);
        const std::int64_t side = 4 * block;
        const std::int64_t n = 256;
        auto pattern = std::make_shared<workload::SparsePattern>();
        *pattern = {.rows = side,
                    .columns = side,
                    .block = block,
                    .row_start = {0, 1, 2, 3, 4},
                    .block_column = {0, 1, 2, 3}};
        const family::TensorType a{
            data, {side, side}, pattern, workload::Capacity{.block = block, .density = 1, .n = n}};
        const auto step = dynamic::sampled().make(
            {{a, {data, {side, n}}, {data, {side, n}}}, {{"partials", std::string("f32")}}});
        const auto machine = machine_of(tiles);
        exchange_plan::KnownSchedules known;
        graph::Graph graph("test");
        const auto emitted = step->emit(graph, {machine, known, 0, "step"},
                                        std::vector<std::optional<graph::TensorId>>(3));
        constexpr Bytes kAligned = 16;
        for (const graph::Piece& piece : graph.tensors[emitted.outputs.front().index].pieces) {
            Bytes bytes = bytes_of(data);
            for (const program::PieceDim& dim : piece.dims) {
                bytes *= dim.count;
            }
            for (const graph::Held& held : graph.buffers[piece.place.buffer.index].held) {
                if (held.tile == piece.tile) {
                    CHECK(held.bytes >= bytes);
                    CHECK(held.bytes < bytes + kAligned);
                }
            }
        }
        const auto is_called = [](const char* name) {
            return [name](const auto& one) { return one.name.find(name) != std::string::npos; };
        };
        const bool has_others =
            std::ranges::any_of(graph.exchanges, is_called("bring partial gradients"));
        divided.insert(has_others);
        const auto zeroing = std::ranges::find_if(graph.compute_sets, is_called("zero partials"));
        REQUIRE(zeroing != graph.compute_sets.end());
        std::map<TileId, int> cleared;
        for (const graph::Vertex& vertex : zeroing->vertices) {
            ++cleared[vertex.tile];
        }
        for (const auto& [tile, times] : cleared) {
            CHECK(times == (has_others ? 2 : 1));
        }
    }
    CHECK(divided.size() == 2);
}
