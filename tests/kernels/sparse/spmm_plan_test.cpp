// SPDX-License-Identifier: MIT
#include "base/float16.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_graph.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/workload/values.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/choose_spmm.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace {

using namespace tessera;

using Shape = test::SparseShape;

constexpr codelets::ProductTypes kHalf = test::kProductTypes[0];
constexpr codelets::ProductTypes kMixed = test::kProductTypes[1];
constexpr codelets::ProductTypes kSingle = test::kProductTypes[2];

/// Runs a plan of our own: exact, without faults, and as long as predicted.
void check_planned(const spec::MachineSpec& machine, const workload::SparseF16& a, std::int64_t n,
                   const codelets::ProductTypes& types, const family::Divided& planned) {
    const auto faults = test::faults_of(machine, planned.lowered.program);
    CAPTURE(faults.empty() ? std::string() : faults.front());
    CHECK(faults.empty());
    std::vector<std::uint16_t> x;
    for (std::int64_t i = 0; i < a.columns * n; ++i) {
        x.push_back(f32_to_f16(test::small_integer(static_cast<std::size_t>(i) + 99, 1)));
    }
    const auto outcome = test::run_program(
        machine, planned.lowered.program,
        {{"a", test::operand(a.values, types.data)}, {"b", test::operand(x, types.data)}});
    CHECK((test::elements(outcome.tensors.at("c"), types.data) ==
           test::sparse_product(a, x, n))); // not printed
    CHECK(outcome.cycles.compute == planned.division.predicted.compute);
    CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    CHECK(outcome.cycles.sync == planned.division.predicted.sync);
}

family::Division check_product(const spec::MachineSpec& machine, const workload::SparseF16& a,
                               std::int64_t n, const codelets::ProductTypes& types) {
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = a.block;
    workload.dtype = types.data;
    workload.partials = types.partials;
    exchange_plan::KnownSchedules known;
    const family::Divided planned = sparse::choose_ours(machine, workload, a, known);
    CAPTURE(planned.division.parts_m, planned.division.parts_k, planned.division.parts_n);
    check_planned(machine, a, n, types, planned);
    return planned.division;
}

void check_spmm(const spec::MachineSpec& machine, const Shape& shape,
                const codelets::ProductTypes& types) {
    CAPTURE(machine.chip.tiles, machine.tile.workers, shape.rows, shape.columns, shape.n,
            shape.block, shape.kept_of_100, codelets::suffix(types));
    check_product(machine, test::sparse_operand(shape), shape.n, types);
}

spec::MachineSpec machine_with(std::int64_t tiles, std::int64_t workers = 6) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.tile.workers = workers;
    return machine;
}

const std::vector<Shape> kElements = {{1, 1, 1, 1, 100},  {17, 33, 9, 1, 20},  {40, 40, 16, 1, 10},
                                      {8, 100, 5, 1, 50}, {100, 8, 64, 1, 30}, {30, 30, 8, 1, 0}};
const std::vector<Shape> kBlocks = {
    {16, 16, 1, 16, 100}, {33, 50, 7, 16, 60}, {100, 64, 20, 16, 40}, {160, 160, 33, 16, 25},
    {48, 48, 4, 16, 0},   {4, 4, 1, 4, 100},   {33, 50, 7, 4, 40},    {100, 64, 24, 4, 15},
    {8, 8, 1, 8, 100},    {33, 50, 7, 8, 60},  {100, 64, 50, 8, 25}};

} // namespace

TEST_CASE("sparse products are exact in the predicted cycles on few tiles", "[kernels]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        for (const std::int64_t tiles : {1, 2, 4, 7}) {
            for (const Shape& shape : kElements) {
                check_spmm(machine_with(tiles), shape, types);
            }
            for (const Shape& shape : kBlocks) {
                check_spmm(machine_with(tiles), shape, types);
            }
        }
    }
}

TEST_CASE("sparse products go by the published plan where that is expected to be faster",
          "[kernels]") {
    const spec::MachineSpec machine = machine_with(64);
    std::size_t ours_wins = 0;
    std::size_t published_wins = 0;
    for (const std::int64_t block : {1, 4, 8, 16}) {
        // few columns of X and many of A: multiplying outweighs what sums cost
        for (const auto& [k, n] : {std::pair{512, 4}, {512, 16}, {512, 256}, {2048, 4}, {208, 8}}) {
            const auto a = test::sparse_operand({512, k, n, block, 20});
            workload::SpmmWorkload workload;
            workload.n = n;
            workload.block = block;
            exchange_plan::KnownSchedules known;
            const auto ours = sparse::choose_ours(machine, workload, a, known).division.predicted;
            const auto chosen = test::choose_spmm(machine, workload, a).division.predicted;
            workload.plan = workload::PlanKind::Published;
            const auto published = test::choose_spmm(machine, workload, a).division.predicted;
            CAPTURE(block, k, n, ours.total(), published.total());
            CHECK(chosen.total() == std::min(ours.total(), published.total()));
            ++(published.total() < ours.total() ? published_wins : ours_wins);
        }
    }
    CHECK(published_wins > 0);
    CHECK(ours_wins > 0);
}

TEST_CASE("sparse products are exact for any number of workers", "[kernels]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        check_spmm(machine_with(4, workers), {50, 60, 24, 1, 15}, kHalf);
        check_spmm(machine_with(4, workers), {64, 96, 24, 16, 50}, kHalf);
        check_spmm(machine_with(4, workers), {64, 96, 22, 4, 20}, kHalf);
        check_spmm(machine_with(4, workers), {64, 96, 23, 8, 30}, kMixed);
        check_spmm(machine_with(4, workers), {50, 60, 22, 1, 15}, kSingle);
        check_spmm(machine_with(4, workers), {64, 96, 23, 16, 40}, kSingle);
    }
}

TEST_CASE("sparse products are exact on 64 tiles with and without double width", "[kernels]") {
    for (const bool pairs : {true, false}) {
        spec::MachineSpec machine = machine_with(64);
        machine.exchange.pair_double = pairs;
        check_spmm(machine, {300, 300, 64, 1, 5}, kHalf);
        check_spmm(machine, {300, 300, 64, 1, 5}, kMixed);
        check_spmm(machine, {512, 512, 64, 16, 20}, kHalf);
        check_spmm(machine, {512, 512, 64, 16, 20}, kMixed);
        check_spmm(machine, {64, 1000, 8, 1, 30}, kHalf);
        check_spmm(machine, {512, 512, 64, 4, 10}, kHalf);
        check_spmm(machine, {512, 512, 30, 4, 10}, kMixed);
        check_spmm(machine, {512, 512, 33, 8, 20}, kHalf);
        check_spmm(machine, {512, 512, 64, 8, 20}, kMixed);
        check_spmm(machine, {300, 300, 64, 1, 5}, kSingle);
        check_spmm(machine, {512, 512, 30, 4, 10}, kSingle);
        check_spmm(machine, {512, 512, 64, 8, 20}, kSingle);
        check_spmm(machine, {512, 512, 33, 16, 20}, kSingle);
    }
}

TEST_CASE("sparse products are exact on wider lanes", "[kernels]") {
    for (const Bytes lane_bytes : {8, 16}) {
        spec::MachineSpec machine = machine_with(64);
        machine.exchange.lane_bytes = lane_bytes;
        check_spmm(machine, {300, 300, 64, 1, 5}, kHalf);
        check_spmm(machine, {64, 1000, 8, 1, 30}, kMixed);
        check_spmm(machine, {512, 512, 64, 16, 20}, kHalf);
        check_spmm(machine, {512, 512, 64, 4, 10}, kHalf);
        check_spmm(machine, {512, 512, 64, 16, 10}, kSingle);
    }
}

TEST_CASE("the cost model of sparse products counts events of a lane", "[kernels]") {
    spec::MachineSpec machine = machine_with(64);
    const auto a = test::sparse_operand({512, 512, 64, 16, 40});
    workload::SpmmWorkload workload;
    workload.n = 64;
    workload.block = 16;
    const sparse::Problem problem(workload, a);
    const sparse::Split split{16, 1, 4};
    const auto exchange_of = [&](Bytes lane_bytes, bool refined) {
        machine.exchange.lane_bytes = lane_bytes;
        const plan::ExchangeCost exchange(machine);
        const sparse::Partition partition(problem, split);
        return refined ? sparse::refine(machine, exchange, partition, find_reduction(partition))
                             .exchange
                       : sparse::estimate(machine, exchange, problem, split).exchange;
    };
    for (const bool refined : {false, true}) {
        // Long lines: what is not a fixed cost halves with the lane's width.
        const auto words = exchange_of(4, refined) - exchange_of(8, refined);
        CHECK(words > 1000);
        CHECK(std::abs(2 * (exchange_of(8, refined) - exchange_of(16, refined)) - words) <= 4);
    }
}

TEST_CASE("lists of 16-bit offsets reach lines that begin within 64 KiB of B", "[kernels]") {
    // One tile holds all of B, in lines of 16 bytes for 8 columns: 4096 lines begin below 0x10000.
    const auto planned = [](std::int64_t lines) {
        workload::SparseF16 a;
        a.rows = 1;
        a.columns = lines;
        a.block = 1;
        a.row_start = {0, lines};
        for (std::int64_t column = 0; column < lines; ++column) {
            a.block_column.push_back(static_cast<std::int32_t>(column));
            a.values.push_back(f32_to_f16(1));
        }
        workload::SpmmWorkload workload;
        workload.n = 8;
        return test::choose_spmm(machine_with(1), workload, a);
    };
    CHECK_NOTHROW(planned(4096));
    for (const std::int64_t lines : {4097, 6000, 8191, 8192})
        CHECK_THROWS_AS(planned(lines), DoesNotFit);
}

TEST_CASE("a division that fits is taken though all behind it are too large", "[kernels]") {
    // few rows of blocks have few divisions; the last ones are known not to fit, and are passed over
    spec::MachineSpec machine = machine_with(4);
    machine.memory.region0_bytes = 3 * machine.memory.element_bytes;
    machine.memory.region1_bytes = 2 * machine.memory.element_bytes;
    workload::SpmmWorkload workload;
    const auto planned = [&](const Shape& shape) {
        workload.n = shape.n;
        workload.block = shape.block;
        return test::choose_spmm(machine, workload, test::sparse_operand(shape));
    };
    workload.dtype = kSingle.data;
    workload.partials = kSingle.partials;
    for (const std::int64_t columns : {2688, 2816, 3008}) {
        CHECK_NOTHROW(planned({4, columns, 16, 4, 30}));
    }
    for (const std::int64_t columns : {1120, 1280, 1408}) {
        CHECK_NOTHROW(planned({16, columns, 32, 16, 30}));
    }
    workload.dtype = kMixed.data;
    workload.partials = kMixed.partials;
    CHECK_NOTHROW(planned({8, 4800, 16, 8, 30}));
}

TEST_CASE("sparse products run on the other generations, or say what these lack", "[kernels]") {
    spec::MachineSpec c600 = machine_with(8);
    c600.chip.generation = spec::Generation::Ipu21;
    const spec::MachineSpec gc2 = test::gc2_with(8);
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        check_spmm(c600, {50, 60, 24, 1, 15}, types);
        for (const std::int64_t block : {4, 8, 16}) {
            check_spmm(c600, {64, 96, 24, block, 50}, types);
        }
        check_spmm(gc2, {50, 60, 24, 1, 15}, types);
    }
    for (const std::int64_t block : {4, 8, 16}) {
        check_spmm(gc2, {64, 96, 24, block, 50}, kMixed);
    }
    // partials of blocks as wide as the data go by the published plan: tests/kernels/sparse/spmm_published_test.cpp
    workload::SpmmWorkload halves;
    halves.n = 24;
    halves.block = 16;
    CHECK_NOTHROW(test::choose_spmm(gc2, halves, test::sparse_operand({64, 96, 24, 16, 50})));
}

TEST_CASE("a citation graph with a row of many non-zeros uses more than 1000 tiles",
          "[kernels][large]") {
    spec::MachineSpec machine;
    workload::SpmmWorkload workload;
    workload.n = 64;
    workload.pattern.source = workload::PatternSpec::Source::File;
    workload.pattern.path = tessera::test::source_path("configs/data/cora.mtx");
    workload.pattern.file_values = workload::PatternSpec::FileValues::Gcn;
    const workload::SparseF16 a = workload::make_sparse(workload);
    const family::Divided planned = test::choose_spmm(machine, workload, a);
    CHECK(planned.division.tiles_busy > 1000);
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
}

TEST_CASE("rows that two bands contribute to are reduced", "[kernels]") {
    // a wide matrix of few rows: more tiles than rows are busy only if the columns are cut
    const Shape shape{8, 2000, 8, 1, 40};
    workload::SpmmWorkload workload;
    workload.n = shape.n;
    const workload::SparseF16 a = test::sparse_operand(shape);
    const auto planned = test::choose_spmm(machine_with(64), workload, a);
    CHECK(planned.division.parts_k > 1);
    CHECK(planned.division.predicted.reduction > 0);
    check_spmm(machine_with(64), shape, kHalf);
    check_spmm(machine_with(64), {48, 1600, 5, 16, 40}, kHalf);
    check_spmm(machine_with(64), {48, 1600, 5, 16, 40}, kMixed);
}

TEST_CASE("a sparse product in passes over its columns is exact, and as fast as predicted",
          "[kernels]") {
    using sparse::Split;
    const spec::MachineSpec machine = machine_with(32);
    for (const auto& types : {kHalf, kMixed, kSingle}) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            const Shape shape{96, 128, 83, block, 30};
            const workload::SparseF16 a = test::sparse_operand(shape);
            for (const Split& split : {Split{2, 1, 2, 0, 2}, Split{1, 2, 3, 0, 2},
                                       Split{3, 1, 1, 2, 4}, Split{2, 2, 2, 12, 3}}) {
                CAPTURE(codelets::suffix(types), block, split.parts_m, split.parts_k, split.parts_n,
                        split.cut, split.passes);
                workload::SpmmWorkload workload;
                workload.n = shape.n;
                workload.block = block;
                workload.dtype = types.data;
                workload.partials = types.partials;
                const sparse::Problem problem(workload, a);
                const sparse::Partition partition(problem, split);
                const sparse::Homes homes(machine, partition);
                const sparse::Reduction reduction = sparse::find_reduction(partition);
                auto emitted = sparse::emit(machine, homes, reduction, "passes");
                exchange_plan::KnownSchedules known;
                check_planned(
                    machine, a, shape.n, types,
                    family::lowered(machine, family::placed(machine, std::move(emitted)), known));
            }
        }
    }
}

TEST_CASE("a sparse product of which lists do not reach a slice goes over its columns in passes",
          "[kernels]") {
    // a line of X more than a list's offsets reach in the narrowest slice that two tiles can have
    constexpr std::int64_t kColumns = 2200;
    constexpr std::int64_t kN = 64;
    const Shape shape{24, kColumns, kN, 1, 20};
    const family::Division division =
        check_product(machine_with(2), test::sparse_operand(shape), kN, kHalf);
    CHECK(division.chunks > 1);
    CHECK(division.chunks * division.parts_n * 16 >= kN);
}

TEST_CASE("a row with most of the non-zeros is cut between tiles, exactly", "[kernels]") {
    for (const auto& types : {kHalf, kMixed, kSingle}) {
        for (const std::int64_t block : {1, 4, 16}) {
            CAPTURE(codelets::suffix(types), block);
            constexpr std::int64_t kRows = 40;
            constexpr std::int64_t kColumns = 640;
            workload::SparseF16 a;
            a.rows = kRows * block;
            a.columns = kColumns * block;
            a.block = block;
            a.row_start.push_back(0);
            for (std::int32_t row = 0; row < kRows; ++row) {
                for (std::int32_t column = 0; column < kColumns; ++column) {
                    if (row == 5 || column % kRows == row) {
                        a.block_column.push_back(column);
                        a.values.insert(a.values.end(), static_cast<std::size_t>(block * block),
                                        f32_to_f16(test::small_integer(a.values.size(), 2)));
                    }
                }
                a.row_start.push_back(a.blocks());
            }
            const family::Division division = check_product(machine_with(32), a, 8, types);
            CHECK(division.predicted.reduction > 0);
        }
    }
}

TEST_CASE("a sparse product that is too big says what takes the memory", "[kernels]") {
    workload::SpmmWorkload workload;
    workload.n = 100'000;
    try {
        (void)test::choose_spmm(machine_with(1), workload,
                                test::sparse_operand({100, 100, 1, 1, 50}));
        FAIL("it fits");
    } catch (const DoesNotFit& error) {
        const std::string text = error.what();
        CAPTURE(text);
        CHECK(text.find("does not fit in tile memory") != std::string::npos);
        CHECK(text.find("bytes over") != std::string::npos);
    }
}
