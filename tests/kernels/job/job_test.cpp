// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/float16.h"
#include "kernels/job/job.h"
#include "kernels/workload/npy.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

constexpr std::int64_t kSide = 4;

/// 4 x 4 x 4 with exact values.
workload::Workload small(workload::ValuesSpec::Kind values) {
    workload::MatmulWorkload matmul;
    matmul.m = matmul.k = matmul.n = kSide;
    matmul.values.kind = values;
    return {"small", matmul};
}

/// The product of a job's operands, whole numbers that binary16 holds.
std::vector<std::uint16_t> product(const job::Job& job) {
    const auto operands = job.operands();
    std::vector<std::uint16_t> a(kSide * kSide);
    std::vector<std::uint16_t> b(kSide * kSide);
    std::memcpy(a.data(), operands.at(0).bytes.data(), operands.at(0).bytes.size());
    std::memcpy(b.data(), operands.at(1).bytes.data(), operands.at(1).bytes.size());
    std::vector<std::uint16_t> c(kSide * kSide);
    for (std::size_t row = 0; row < kSide; ++row) {
        for (std::size_t column = 0; column < kSide; ++column) {
            float sum = 0;
            for (std::size_t i = 0; i < kSide; ++i) {
                sum += f16_to_f32(a[row * kSide + i]) * f16_to_f32(b[i * kSide + column]);
            }
            c[row * kSide + column] = f32_to_f16(sum);
        }
    }
    return c;
}

/// What the machine would answer.
job::ReadArray answer(const std::vector<std::uint16_t>& c) {
    return [&c](program::ArrayId array) {
        REQUIRE(array == program::tensor(2));
        const auto bytes = std::as_bytes(std::span(c));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
}

workload::PipelineStep family_step(const std::string& family,
                                   const std::vector<std::string>& inputs,
                                   const std::string& output) {
    workload::PipelineStep step;
    step.family = family;
    step.inputs = inputs;
    step.outputs = {output};
    return step;
}

std::unique_ptr<job::Job> planned(const workload::Workload& workload) {
    auto job = job::make_job(workload);
    static_cast<void>(job->plan(spec::MachineSpec{}));
    return job;
}

} // namespace

TEST_CASE("a job passes the right answer and refuses one that is off by a bit") {
    const auto job = planned(small(workload::ValuesSpec::Kind::Integer));
    auto c = product(*job);
    const auto good = job->check(answer(c), 1);
    CHECK(good.passed);
    CHECK(good.text == "exact: all 16 elements equal the reference");
    CHECK(good.json["exact_required"] == true);
    const double expected = f16_to_f32(c[6]);
    c[6] ^= 1U;
    const double got = f16_to_f32(c[6]);
    auto bad = job->check(answer(c), 1);
    CHECK_FALSE(bad.passed);
    CHECK(bad.text == fmt::format("WRONG: 1 of 16 elements, 0 of them not finite; worst at row 1 "
                                  "column 2: got {}, expected {}",
                                  got, expected));
    for (const char* key : {"tolerance", "max_error_over_tolerance"}) { // of what need not be exact
        bad.json.erase(key);
    }
    CHECK(bad.json == nlohmann::json{{"passed", false},
                                     {"exact_required", true},
                                     {"elements", 16},
                                     {"failed_elements", 1},
                                     {"non_finite_elements", 0},
                                     {"overflowed_elements", 0},
                                     {"roundings", good.json["roundings"]},
                                     {"max_error", std::fabs(got - expected)},
                                     {"worst_row", 1},
                                     {"worst_column", 2},
                                     {"sentence", bad.text}});
}

TEST_CASE("a right answer of values that are no whole numbers is within tolerance") {
    const auto job = planned(small(workload::ValuesSpec::Kind::Uniform));
    const auto c = product(*job);
    const auto good = job->check(answer(c), 1);
    CHECK(good.passed);
    CHECK(good.text == fmt::format("within tolerance: worst error {:.3g}, {:.1f} % of what is "
                                   "allowed",
                                   good.json["max_error"].get<double>(),
                                   100 * good.json["max_error_over_tolerance"].get<double>()));
}

TEST_CASE("an answer that is not finite is refused and has JSON all the same") {
    const auto job = planned(small(workload::ValuesSpec::Kind::Uniform));
    auto c = product(*job);
    c[0] = 0x7e00;
    const auto bad = job->check(answer(c), 1);
    CHECK_FALSE(bad.passed);
    CHECK(bad.json["non_finite_elements"] == 1);
    CHECK_THAT(bad.text,
               Catch::StartsWith("WRONG: 1 of 16 elements, 1 of them not finite; worst at "
                                 "row 0 column 0: got nan, expected "));
    CHECK_FALSE(bad.json.dump().empty());
}

TEST_CASE("a dense job counts its flops and says what it is") {
    const auto job = planned(small(workload::ValuesSpec::Kind::Integer));
    CHECK(job->product().value().flops == 2 * 4 * 4 * 4);
    CHECK_FALSE(job->product().value().flops_dense_equivalent);
    CHECK(job->sentence() == "matmul 4 x 4 x 4, f16 partials");
    const auto keys_of = [](const nlohmann::json& plan) {
        std::set<std::string> keys;
        for (const auto& [key, value] : plan.items()) {
            keys.insert(key);
        }
        return keys;
    };
    std::set<std::string> keys{"parts_m",    "parts_k",         "parts_n",
                               "chunks",     "paired",          "predicted_cycles",
                               "tiles_busy", "bytes_by_buffer", "bytes_used"};
    CHECK(keys_of(job->plan_json()) == keys);
    CHECK(job->plan_json()["tiles_busy"] == 1); // one square of the matrix unit
    CHECK(job->useful_bytes() == 0);
    // of several groups it says how many there are at once
    workload::MatmulWorkload matmul;
    matmul.m = matmul.k = matmul.n = kSide;
    matmul.groups = 2;
    const auto groups = planned({"groups", matmul});
    keys.insert("groups_at_once");
    CHECK(keys_of(groups->plan_json()) == keys);
    CHECK(groups->plan_json()["groups_at_once"] == 2);
    CHECK(groups->product().value().flops == 2 * 2 * 4 * 4 * 4);
}

TEST_CASE("a sparse job counts what it stores") {
    workload::SpmmWorkload spmm;
    spmm.m = spmm.k = 32;
    spmm.n = 8;
    spmm.block = 16;
    spmm.pattern.density = 0.5;
    const auto job = planned({"sparse", spmm});
    CHECK(job->product().value().flops == 2 * (2 * 16 * 16) * 8);
    CHECK(job->product().value().flops_dense_equivalent == 2 * 32 * 32 * 8);
    CHECK(job->product().value().vector_flops == 0);
    spmm.block = 1;
    const auto single = planned({"sparse", spmm})->product().value();
    CHECK(single.vector_flops == single.flops);
    CHECK(job->sentence() ==
          "spmm 32 x 32 x 8, 512 stored elements in 16 x 16 blocks, f16 partials");
}

TEST_CASE("a product without non-zeros is noted, with the reason") {
    workload::SpmmWorkload spmm;
    spmm.m = 32;
    spmm.k = 64;
    spmm.n = 8;
    spmm.block = 16; // 2 x 4 blocks: a density of 1/16 is half of one
    const auto notes = [&](double density) {
        spmm.pattern.density = density;
        const auto job = job::make_job({"sparse", spmm});
        static_cast<void>(job->plan(spec::MachineSpec{}, job::Operands::None));
        CHECK((job->product().value().flops == 0) == !job->notes().empty());
        const auto estimated = job::make_job({"sparse", spmm});
        static_cast<void>(estimated->estimate(spec::MachineSpec{}));
        CHECK(estimated->notes() == job->notes());
        CHECK(job->empty_matrices() == (job->notes().empty() ? 0 : 1));
        CHECK(estimated->empty_matrices() == job->empty_matrices());
        return job->notes();
    };
    CHECK(notes(1.0 / 16).empty());
    CHECK(notes(0.0624) ==
          std::vector<std::string>{"a has no non-zeros: density 0.0624 rounds to no "
                                   "block of 16 x 16 in 32 x 64"});
    CHECK(notes(0) == std::vector<std::string>{
                          "a has no non-zeros: density 0 keeps no block of 16 x 16 in 32 x 64"});
    const test::ScratchFolder folder;
    spmm.pattern.source = workload::PatternSpec::Source::File;
    spmm.pattern.path =
        folder.write("none.mtx", "%%MatrixMarket matrix coordinate pattern general\n"
                                 "32 64 0\n");
    CHECK(notes(1) ==
          std::vector<std::string>{"a has no non-zeros: " + spmm.pattern.path + " has no entries"});
    CHECK(planned(small(workload::ValuesSpec::Kind::Integer))->notes().empty());
    CHECK(planned(small(workload::ValuesSpec::Kind::Integer))->empty_matrices() == 0);
}

TEST_CASE("the largest row of a tile is told with the worker that has it") {
    const test::ScratchFolder folder;
    workload::SpmmWorkload spmm;
    spmm.n = 8; // one group of columns: a row is one worker's
    spmm.pattern.source = workload::PatternSpec::Source::File;
    std::string rows = "%%MatrixMarket matrix coordinate pattern general\n16 32 55\n";
    for (int row = 1; row <= 16; ++row) {
        for (int column = 1; column <= (row == 6 ? 25 : 2); ++column) {
            rows += fmt::format("{} {}\n", row, column);
        }
    }
    spmm.pattern.path = folder.write("hub.mtx", rows);
    for (const auto plan : {workload::PlanKind::Fastest, workload::PlanKind::Published}) {
        spmm.plan = plan;
        spec::MachineSpec machine;
        machine.chip.tiles = 2;
        const auto job = job::make_job({"hub", spmm});
        const auto& sets = job->plan(machine, job::Operands::None).compute_sets;
        const auto multiply = std::find_if(sets.begin(), sets.end(),
                                           [](const auto& set) { return set.name == "multiply"; });
        REQUIRE(multiply != sets.end());
        CHECK(multiply->item_word == "row");
        std::int64_t all = 0;
        std::int64_t of_hub = 0; // which the published plan divides among tiles
        program::WorkItem largest;
        for (std::size_t tile = 0; tile < multiply->work.size(); ++tile) {
            all += multiply->work[tile];
            const program::WorkItem& item = multiply->items.at(tile);
            CHECK(item.amount <= multiply->work[tile]);
            CHECK((item.worker >= 0 && item.worker < 6));
            largest = item.amount > largest.amount ? item : largest;
            of_hub += item.number == 5 ? item.amount : 0;
        }
        CHECK(largest.number == 5); // from 0
        CHECK(of_hub * 55 == all * 25);
    }
}

TEST_CASE("products have closed forms, by which their jobs know themselves without a plan") {
    const spec::MachineSpec machine;
    const auto dense = job::make_job(small(workload::ValuesSpec::Kind::Integer));
    const auto of_dense = dense->estimate(machine);
    REQUIRE(of_dense);
    CHECK(of_dense->family == "matmul");
    CHECK(of_dense->uses_matrix_unit);
    CHECK(of_dense->predicted.total() > 0);
    CHECK(of_dense->plan["predicted_cycles"]["total"] == of_dense->predicted.total());
    CHECK(dense->product().value().flops == 2 * 4 * 4 * 4);

    workload::SpmmWorkload spmm;
    spmm.m = spmm.k = 32;
    spmm.n = 8;
    spmm.pattern.density = 0.5;
    for (const std::int64_t block : {1, 16}) {
        spmm.block = block;
        const auto sparse = job::make_job({"sparse", spmm});
        const auto estimate = sparse->estimate(machine);
        REQUIRE(estimate);
        CHECK(estimate->family == "spmm");
        CHECK(estimate->uses_matrix_unit == (block == 16));
        const auto before = *estimate;
        CHECK(sparse->product().value().flops == 2 * (2 * 16 * 16) * 8);
        // the same job plans, and has the pattern already
        static_cast<void>(sparse->plan(machine, job::Operands::None));
        CHECK(sparse->estimate(machine)->plan == before.plan);
        for (const auto& [key, value] : before.plan.items()) {
            CHECK((key == "bytes_estimated" || sparse->plan_json().contains(key)));
        }
    }
}

TEST_CASE("other workloads have no closed forms") {
    workload::SyncWorkload sync;
    CHECK_FALSE(job::make_job({"sync", sync})->estimate(spec::MachineSpec{}));
    CHECK_FALSE(
        job::make_job({"pipeline", workload::PipelineWorkload{}})->estimate(spec::MachineSpec{}));
}

TEST_CASE("each operand takes the values that are named for it") {
    using Kind = workload::ValuesSpec::Kind;
    const test::ScratchFolder scratch;
    workload::MatmulWorkload matmul;
    matmul.m = 2;
    matmul.k = 3;
    matmul.n = 4;
    const auto file_of = [&](const char* name, std::int64_t rows, std::int64_t columns) {
        const std::vector<std::uint16_t> ones(static_cast<std::size_t>(rows * columns), 0x3c00);
        return workload::ValuesSpec{
            .kind = Kind::File,
            .path = scratch.write(name, workload::npy_bytes_f16(ones, {rows, columns})),
            .key = "/values_b"};
    };
    const auto ones_in = [](const job::Job& job, std::size_t operand) {
        const auto bytes = job.operands().at(operand).bytes;
        std::vector<std::uint16_t> halves(bytes.size() / 2);
        std::memcpy(halves.data(), bytes.data(), bytes.size());
        return std::count(halves.begin(), halves.end(), std::uint16_t{0x3c00}) ==
               static_cast<std::ptrdiff_t>(halves.size());
    };
    matmul.values_b = file_of("b.npy", 3, 4);
    const auto right = planned({"right", matmul});
    CHECK_FALSE(ones_in(*right, 0));
    CHECK(ones_in(*right, 1));
    matmul.values_a = file_of("a.npy", 2, 3);
    const auto both = planned({"both", matmul});
    CHECK(ones_in(*both, 0));
    CHECK(ones_in(*both, 1));
}

TEST_CASE("an operand that is given as its transpose is turned if it comes from a file, and else "
          "the same") {
    using Kind = workload::ValuesSpec::Kind;
    const test::ScratchFolder scratch;
    const auto halves_of = [](const job::Job& job, std::size_t operand) {
        const auto bytes = job.operands().at(operand).bytes;
        std::vector<std::uint16_t> halves(bytes.size() / 2);
        std::memcpy(halves.data(), bytes.data(), bytes.size());
        return halves;
    };
    for (const std::int64_t groups : {1, 3}) {
        workload::MatmulWorkload matmul;
        matmul.m = 2;
        matmul.k = 3;
        matmul.n = 5;
        matmul.groups = groups;
        const std::array<std::pair<std::int64_t, std::int64_t>, 2> shapes{
            {{matmul.m, matmul.k}, {matmul.k, matmul.n}}};
        const auto generated = planned({"generated", matmul});
        matmul.transpose_a = matmul.transpose_b = true;
        const auto turned = planned({"turned", matmul});
        for (std::size_t operand = 0; operand < shapes.size(); ++operand) {
            CHECK(halves_of(*turned, operand) == halves_of(*generated, operand));
        }
        for (std::size_t operand = 0; operand < shapes.size(); ++operand) {
            CAPTURE(groups, operand);
            const auto [rows, columns] = shapes[operand];
            std::vector<std::uint16_t> numbers(static_cast<std::size_t>(groups * rows * columns));
            std::iota(numbers.begin(), numbers.end(), std::uint16_t{1});
            std::vector<std::int64_t> shape{columns, rows};
            if (groups > 1) {
                shape.insert(shape.begin(), groups);
            }
            workload::MatmulWorkload given = matmul;
            (operand == 0 ? given.values_a : given.values_b) = workload::ValuesSpec{
                .kind = Kind::File,
                .path = scratch.write(
                    fmt::format("{}_{}.npy", groups, operand),
                    workload::npy_bytes(
                        "<f2", shape,
                        std::string_view(reinterpret_cast<const char*>(numbers.data()),
                                         2 * numbers.size()))),
                .key = "/values"};
            const auto got = halves_of(*planned({"given", given}), operand);
            REQUIRE(got.size() == numbers.size());
            for (std::int64_t group = 0; group < groups; ++group) {
                for (std::int64_t row = 0; row < rows; ++row) {
                    for (std::int64_t column = 0; column < columns; ++column) {
                        const std::int64_t first = group * rows * columns;
                        CHECK(got[static_cast<std::size_t>(first + row * columns + column)] ==
                              numbers[static_cast<std::size_t>(first + column * rows + row)]);
                    }
                }
            }
        }
    }
}

TEST_CASE("a product is exact where both its operands are small whole numbers") {
    using Kind = workload::ValuesSpec::Kind;
    const auto exact = [](Kind all, std::optional<Kind> a, std::optional<Kind> b) {
        auto workload = small(all);
        auto& matmul = std::get<workload::MatmulWorkload>(workload.kind);
        if (a) {
            matmul.values_a = workload::ValuesSpec{.kind = *a, .path = {}, .key = "/values_a"};
        }
        if (b) {
            matmul.values_b = workload::ValuesSpec{.kind = *b, .path = {}, .key = "/values_b"};
        }
        const auto job = planned(workload);
        return job->check(answer(std::vector<std::uint16_t>(kSide * kSide)), 1)
            .json["exact_required"]
            .get<bool>();
    };
    CHECK(exact(Kind::Integer, {}, {}));
    CHECK(exact(Kind::Uniform, Kind::Integer, Kind::Integer));
    CHECK_FALSE(exact(Kind::Integer, Kind::Uniform, {}));
    CHECK_FALSE(exact(Kind::Integer, {}, Kind::Uniform));
    CHECK_FALSE(exact(Kind::Uniform, Kind::Integer, {}));
}

TEST_CASE("what no host could hold is refused before it is made", "[large]") {
    // Fits neither: the machine is asked first.
    workload::MatmulWorkload matmul;
    matmul.m = matmul.k = matmul.n = 1'000'000;
    const auto job = job::make_job({"vast", matmul});
    CHECK_THROWS_AS(job->plan(spec::MachineSpec{}), DoesNotFit);

    workload::SpmmWorkload spmm;
    spmm.m = spmm.k = 1 << 20;
    spmm.n = 1'000'000;
    spmm.block = 16;
    spmm.pattern.density = 1e-6;
    const auto sparse = job::make_job({"thin", spmm});
    CHECK_THROWS_AS(sparse->plan(spec::MachineSpec{}), DoesNotFit);

    workload::PipelineWorkload pipeline;
    auto& x = pipeline.tensors.emplace_back();
    x.name = "x";
    x.shape = {1 << 20, 1 << 20};
    pipeline.steps.push_back(family_step("relu", {"x"}, "y"));
    CHECK_THROWS_AS(job::make_job({"wide", pipeline})->plan(spec::MachineSpec{}), DoesNotFit);

    workload::RemoteBufferWorkload buffer;
    buffer.rows = 1'000'000;
    buffer.row_bytes = std::int64_t{1} << 28;
    buffer.chunk_rows = 1;
    auto machine = spec::MachineSpec{};
    machine.streaming.capacity_bytes = std::int64_t{1} << 49;
    const auto stream = job::make_job({"streamed", buffer});
    CHECK_THROWS_AS(stream->plan(machine), OutOfHostMemory);
}

namespace {

/// A product that is done `kRounds` times, with values that are no whole numbers.
constexpr std::int64_t kRounds = 3;

workload::PipelineWorkload repeated_product() {
    workload::PipelineWorkload pipeline;
    for (const char* name : {"a", "b"}) {
        auto& tensor = pipeline.tensors.emplace_back();
        tensor.name = name;
        tensor.shape = {kSide, kSide};
        tensor.values.kind = workload::ValuesSpec::Kind::Uniform;
    }
    auto& loop = pipeline.steps.emplace_back();
    loop.kind = workload::PipelineStep::Kind::Repeat;
    loop.repeats = kRounds;
    loop.children.push_back(family_step("matmul", {"a", "b"}, "c"));
    return pipeline;
}

/// Tells the job of each compute set and exchange that ends.
void run_leaves(job::Job& job, const program::Step& step, const job::ReadArray& read) {
    if (step.kind == program::Step::Kind::ComputeSet ||
        step.kind == program::Step::Kind::Exchange) {
        job.ended(step, read, 1);
    }
    for (const program::Step& child : step.children) {
        run_leaves(job, child, read);
    }
}

} // namespace

TEST_CASE("a step's verdict is that of its worst round") {
    // Answers that are off by so many bits in one element: kGood and kFair within tolerance.
    constexpr std::uint16_t kGood = 0;
    constexpr std::uint16_t kFair = 1;
    constexpr std::uint16_t kBad = 0x100;
    constexpr std::uint16_t kAwful = 0x400;
    const auto verdict_of = [](const std::vector<std::uint16_t>& rounds) {
        const auto job = job::make_job({"rounds", repeated_product()});
        const program::Program& program = job->plan(spec::MachineSpec{});
        const auto c = product(*job);
        auto made = c;
        const auto read = [&](program::ArrayId) {
            const auto bytes = std::as_bytes(std::span(made));
            return std::vector<std::byte>(bytes.begin(), bytes.end());
        };
        for (const std::uint16_t off : rounds) {
            made[5] = static_cast<std::uint16_t>(c[5] ^ off);
            run_leaves(*job, program.control, read);
        }
        return job->check(read, 1); // what the last round left is there in the end
    };
    const auto of = [&](const std::vector<std::uint16_t>& rounds) {
        const auto json = verdict_of(rounds).json.at("steps").at(0);
        CHECK(json.at("rounds") == rounds.size());
        return std::pair(json.at("passed").get<bool>(), json.at("max_error").get<double>());
    };
    const auto told = verdict_of({kFair});
    const auto share = told.json.at("steps").at(0).at("max_error_over_tolerance").get<double>();
    CHECK(told.text == fmt::format("within tolerance: the step on the inputs that it met, worst at "
                                   "{:.1f} % of what is allowed",
                                   100 * share));
    const double off = told.json.at("steps").at(0).at("max_error");
    CHECK(
        told.json ==
        nlohmann::json{{"passed", true},
                       {"steps",
                        {{{"name", "c"},
                          {"family", "matmul"},
                          {"passed", true},
                          {"rounds", 1},
                          {"elements", 16},
                          {"failed_elements", 0},
                          {"overflowed_rounds", 0},
                          {"max_error", off},
                          {"max_error_over_tolerance", share},
                          {"sentence", fmt::format("{:.1f} % of what is allowed", 100 * share)}}}},
                       {"sentence", told.text}});
    const auto good = of({kGood});
    const auto fair = of({kFair});
    const auto bad = of({kBad});
    const auto awful = of({kAwful});
    REQUIRE((good.first && fair.first && !bad.first && !awful.first));
    REQUIRE((good.second < fair.second && fair.second < bad.second && bad.second < awful.second));
    for (const auto& [rounds, worst] :
         {std::pair<std::vector<std::uint16_t>, std::pair<bool, double>>{{kGood, kFair}, fair},
          {{kFair, kGood}, fair},
          {{kGood, kFair, kGood}, fair},
          {{kBad, kGood}, bad},
          {{kBad, kFair}, bad},
          {{kFair, kBad}, bad},
          {{kFair, kBad, kFair}, bad}}) {
        CAPTURE(rounds);
        CHECK(of(rounds) == worst);
    }
}

TEST_CASE("a step that has not run is wrong, however good it would be") {
    const auto job = job::make_job({"none", repeated_product()});
    static_cast<void>(job->plan(spec::MachineSpec{}));
    const auto outcome = job->check([](program::ArrayId) { return std::vector<std::byte>{}; }, 1);
    CHECK_FALSE(outcome.passed);
    CHECK(outcome.text == "WRONG: step c: it has not run");
    const auto a = job->operands().at(0).bytes;
    const auto b = job->operands().at(1).bytes;
    CHECK_FALSE(std::equal(a.begin(), a.end(), b.begin(), b.end())); // of streams of their own
    CHECK(outcome.json.at("steps").at(0).at("rounds") == 0);
    CHECK(job->product().value().flops == kRounds * 2 * kSide * kSide * kSide);
    CHECK(job->sentence() == "pipeline of 2 tensors: 3 times (matmul)");
}
