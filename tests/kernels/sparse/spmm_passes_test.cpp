// SPDX-License-Identifier: MIT
// Passes over one sparse matrix whose pattern is known when planning: they share its values and how
// it is cut.
#include "base/float16.h"
#include "kernels/job/given_tensors.h"
#include "kernels/job/pipeline_job.h"
#include "kernels/sparse/spmm_shared.h"
#include "kernels/workload/values.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using sparse::Split;

spec::MachineSpec machine_of(std::int64_t tiles, std::int64_t workers = 6) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.tile.workers = workers;
    return machine;
}

struct Pattern {
    const char* name;
    std::function<bool(std::int64_t row, std::int64_t column)> has;
};

const std::vector<Pattern> kPatterns{
    {"scattered", [](auto row, auto column) { return (row * 7 + column * 5) % 4 == 0; }},
    {"empty", [](auto, auto) { return false; }},
    {"full", [](auto, auto) { return true; }},
    {"one row", [](auto row, auto) { return row == 1; }},
    {"one column", [](auto, auto column) { return column == 1; }},
    {"one block", [](auto row, auto column) { return row == 0 && column == 0; }},
};

struct Shape {
    std::int64_t m;
    std::int64_t k;
    std::int64_t n;
    std::int64_t block;
};

std::vector<Shape> shapes_of(std::int64_t block) {
    return {{16 * block, 16 * block, 24, block},       // aligned
            {5 * block, 3 * block, 8, block},          // tiny
            {7 * block + 1, 9 * block - 1, 20, block}, // ragged
            {block, 12 * block, 16, block},            // one row
            {12 * block, block, 16, block}};           // one column
}

/// Small whole numbers in the blocks that the pattern has.
std::shared_ptr<workload::SparseF16> matrix_of(const Shape& shape, const Pattern& pattern) {
    auto a = std::make_shared<workload::SparseF16>();
    a->rows = shape.m;
    a->columns = shape.k;
    a->block = shape.block;
    a->row_start.push_back(0);
    for (std::int64_t row = 0; row < a->block_rows(); ++row) {
        for (std::int64_t column = 0; column < a->block_columns(); ++column) {
            if (!pattern.has(row, column)) {
                continue;
            }
            a->block_column.push_back(static_cast<std::int32_t>(column));
            for (std::int64_t i = 0; i < shape.block * shape.block; ++i) {
                const bool inside = row * shape.block + i / shape.block < shape.m &&
                                    column * shape.block + i % shape.block < shape.k;
                a->values.push_back(inside ? f32_to_f16(test::small_integer(a->values.size(), 2))
                                           : std::uint16_t{0});
            }
        }
        a->row_start.push_back(a->blocks());
    }
    return a;
}

std::vector<std::uint16_t> dense(std::int64_t elements, std::size_t seed) {
    std::vector<std::uint16_t> values;
    for (std::int64_t i = 0; i < elements; ++i) {
        values.push_back(f32_to_f16(test::small_integer(static_cast<std::size_t>(i) + seed, 1)));
    }
    return values;
}

/// The product by the transpose, row-major.
std::vector<double> transposed_product(const workload::SparseF16& a,
                                       const std::vector<std::uint16_t>& dy, std::int64_t n) {
    const auto transpose = workload::transposed(a);
    workload::SparseF16 turned;
    static_cast<workload::SparsePattern&>(turned) = transpose.pattern;
    turned.values = workload::transposed_values(a.values, transpose);
    return test::sparse_product(turned, dy, n);
}

/// dy x^T where `a` has blocks, block after block.
std::vector<double> sampled_product(const workload::SparseF16& a,
                                    const std::vector<std::uint16_t>& dy,
                                    const std::vector<std::uint16_t>& x, std::int64_t n) {
    std::vector<double> c;
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for (std::int64_t b = a.first_block(row); b < a.first_block(row + 1); ++b) {
            for (std::int64_t i = 0; i < a.block * a.block; ++i) {
                const std::int64_t r = row * a.block + i / a.block;
                const std::int64_t k = a.column_of(b) * a.block + i % a.block;
                double sum = 0;
                for (std::int64_t j = 0; j < n && r < a.rows && k < a.columns; ++j) {
                    sum += static_cast<double>(f16_to_f32(dy[static_cast<std::size_t>(r * n + j)]) *
                                               f16_to_f32(x[static_cast<std::size_t>(k * n + j)]));
                }
                c.push_back(sum);
            }
        }
    }
    return c;
}

/// Runs a pass by a split: exact, without faults, as long as predicted.
void check_pass(const spec::MachineSpec& machine, const Shape& shape, const Pattern& pattern,
                const codelets::ProductTypes& types, const Split& split, sparse::Pass pass) {
    CAPTURE(shape.m, shape.k, shape.n, shape.block, pattern.name, codelets::suffix(types),
            split.parts_m, split.parts_k, split.parts_n, split.cut, split.passes,
            machine.tile.workers, static_cast<int>(pass));
    const auto a = matrix_of(shape, pattern);
    const sparse::SharedPatterns patterns{a, workload::transposed(*a)};
    const family::SparseUse use{
        .kind = pass, .n = shape.n, .partials = types.partials, .accumulates = false};
    exchange_plan::KnownSchedules known;
    const auto planned = family::lowered(
        machine, plan_pass(machine, patterns, problem_of(patterns, types.data, use), split),
        workload::Accumulate::None, known);
    CHECK(test::faults_of(machine, planned.lowered.program) == std::vector<std::string>{});
    const bool is_sampled = pass == sparse::Pass::Sampled;
    const auto dy = dense(shape.m * shape.n, 99);
    const auto x = dense(shape.k * shape.n, 7);
    std::map<std::string, std::vector<std::byte>> given{
        {"a", test::operand(a->values, types.data)},
        {is_sampled ? "dy" : "b", test::operand(dy, types.data)}};
    if (is_sampled) {
        given["x"] = test::operand(x, types.data);
    }
    const auto outcome = test::run_program(machine, planned.lowered.program, given);
    const auto expected =
        is_sampled ? sampled_product(*a, dy, x, shape.n) : transposed_product(*a, dy, shape.n);
    CHECK((test::elements(outcome.tensors.at("c"), types.data) == expected)); // not printed
    CHECK(outcome.cycles.compute == planned.division.predicted.compute);
    CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    CHECK(outcome.cycles.sync == planned.division.predicted.sync);
}

struct Ran {
    std::size_t arrays = 0; ///< that the host writes
    std::set<std::string> rearranged;
    job::CheckOutcome check;
};

struct Asked {
    Shape shape;
    double density = 0.2;
    codelets::ProductTypes types = test::kProductTypes[0];
    const char* plan = "fastest";
    bool updates = false; ///< a += da / 2, the gradient of its values, behind the others
};

/// y = a x, then dx = a^T dy.
Ran run_passes(const spec::MachineSpec& machine, const Asked& asked) {
    const Shape& shape = asked.shape;
    const codelets::ProductTypes& types = asked.types;
    workload::PipelineWorkload workload;
    workload::PatternSpec pattern;
    pattern.density = asked.density;
    workload.tensors = {{.name = "a",
                         .shape = {shape.m, shape.k},
                         .type = types.data,
                         .pattern = pattern,
                         .block = shape.block},
                        {.name = "x", .shape = {shape.k, shape.n}, .type = types.data},
                        {.name = "dy", .shape = {shape.m, shape.n}, .type = types.data}};
    using Options = decltype(workload::PipelineStep::options);
    const auto add_step = [&](const char* family, std::vector<std::string> inputs,
                              const char* output, Options options) {
        auto& step = workload.steps.emplace_back();
        step.family = family;
        step.inputs = std::move(inputs);
        step.outputs = {output};
        step.options = std::move(options);
    };
    const Options plan{{"partials", std::string(name_of(types.partials))},
                       {"plan", std::string(asked.plan)}};
    add_step("spmm", {"a", "x"}, "y", plan);
    Options transposed = plan;
    transposed["transpose_a"] = true;
    add_step("spmm", {"a", "dy"}, "dx", transposed);
    if (asked.updates) {
        add_step("sddmm", {"a", "dy", "x"}, "da", plan);
        add_step("scale", {"da"}, "half", {{"factor", 0.5}});
        add_step("add", {"a", "half"}, "a", {});
        workload.steps.back().name = "update";
    }
    const auto job = job::pipeline_job(job::source_of(workload));
    const auto& program = job->plan(machine);
    CHECK(test::faults_of(machine, program) == std::vector<std::string>{});
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& given : job->operands()) {
        writes[given.array].assign(given.bytes.begin(), given.bytes.end());
    }
    const test::Watcher watcher{
        .begun = [&](const auto& read) { job->begun(read, 1); },
        .ended = [&](const auto& leaf, const auto& read) { job->ended(leaf, read, 1); }};
    const auto outcome = test::run_program(machine, program, writes, watcher);
    Ran ran;
    ran.arrays = writes.size();
    for (const auto& set : program.compute_sets) {
        if (set.role == program::Role::Rearrange) {
            ran.rearranged.insert(set.owner);
        }
    }
    ran.check = job->check([&](program::ArrayId array) { return outcome.arrays.at(array); }, 1);
    return ran;
}

} // namespace

TEST_CASE("passes are exact in the predicted cycles for any pattern", "[spmm_passes]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const Shape& shape : shapes_of(block)) {
                for (const Pattern& pattern : kPatterns) {
                    for (const auto pass : {sparse::Pass::Transposed, sparse::Pass::Sampled}) {
                        check_pass(machine_of(8), shape, pattern, types, {2, 2, 1}, pass);
                        check_pass(machine_of(4), shape, pattern, types, {1, 2, 1}, pass);
                        // slices of sampled products have whole 16 bytes of a row
                        check_pass(machine_of(8), shape, pattern, types,
                                   {2, 1, shape.n < 16 ? 1 : 2}, pass);
                    }
                }
            }
        }
    }
}

TEST_CASE("passes take pieces of rows, columns one after another and any workers",
          "[spmm_passes]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const auto pass : {sparse::Pass::Transposed, sparse::Pass::Sampled}) {
                const Shape shape{9 * block, 7 * block, 48, block};
                check_pass(machine_of(8), shape, kPatterns[3], types, {4, 1, 2, 4}, pass);
                check_pass(machine_of(6), shape, kPatterns[0], types, {3, 2, 1, 0, 2}, pass);
                check_pass(machine_of(4), shape, kPatterns[0], types, {2, 1, 2, 0, 3}, pass);
                check_pass(machine_of(4, 1), shape, kPatterns[0], types, {2, 1, 2}, pass);
                check_pass(machine_of(4, 8), shape, kPatterns[0], types, {1, 2, 2}, pass);
            }
        }
    }
}

TEST_CASE("all passes over a sparse matrix read one array of it, which is updated where it stands",
          "[spmm_passes]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const std::int64_t tiles : {4, 32, 64}) {
                for (const bool updates : {false, true}) {
                    CAPTURE(codelets::suffix(types), block, tiles, updates);
                    const Ran ran = run_passes(
                        machine_of(tiles),
                        {.shape = {130, 200, 40, block}, .types = types, .updates = updates});
                    INFO(ran.check.text);
                    CHECK(ran.check.passed);
                    CHECK(ran.arrays == 3); // the values once, x and dy
                    if (block > 1) {        // single elements stand in units with others
                        CHECK(ran.rearranged.count("update") == 0);
                    }
                }
            }
        }
    }
}

TEST_CASE("products by the published plan have arrays of their own", "[spmm_passes]") {
    const Ran ran = run_passes(
        machine_of(32),
        {.shape = {130, 200, 40, 4}, .types = test::kProductTypes[1], .plan = "published"});
    INFO(ran.check.text);
    CHECK(ran.check.passed);
    CHECK(ran.arrays == 4);
}

TEST_CASE("operands of a sampled product have pads where blocks or columns reach beyond them",
          "[spmm_passes]") {
    constexpr std::int64_t kBlock = 8;
    const auto machine = machine_of(4);
    for (const std::int64_t m : {3 * kBlock, 3 * kBlock - 1}) {
        for (const std::int64_t k : {5 * kBlock, 5 * kBlock - 1}) {
            for (const std::int64_t n : {16, 18}) {
                CAPTURE(m, k, n);
                const auto a = matrix_of({m, k, n, kBlock}, kPatterns[2]);
                const sparse::SharedPatterns patterns{a, workload::transposed(*a)};
                const auto types = test::kProductTypes[0];
                const family::SparseUse use{.kind = sparse::Pass::Sampled,
                                            .n = n,
                                            .partials = types.partials,
                                            .accumulates = false};
                const auto problem = problem_of(patterns, types.data, use);
                const auto planned = plan_pass(machine, patterns, problem, {});
                const bool of_columns = n % problem.column_grain() != 0;
                int found = 0;
                for (const graph::Buffer& buffer : planned.graph.buffers) {
                    const bool of_x = buffer.name == "x" || buffer.name == "home of x";
                    const bool of_dy = buffer.name == "dy" || buffer.name == "home of dy";
                    CAPTURE(buffer.name);
                    if (of_x || of_dy) {
                        CHECK(buffer.padded == (of_columns || (of_x ? k : m) % kBlock != 0));
                        ++found;
                    }
                }
                CHECK(found >= 2);
            }
        }
    }
}
