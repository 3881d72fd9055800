// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/choose_spmm.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using Shape = test::SparseShape;

spec::MachineSpec machine_with(std::int64_t tiles, std::int64_t workers = 6) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.tile.workers = workers;
    return machine;
}

/// The blocks of a grid that `keep` wants, values small whole numbers.
workload::SparseF16 kept(const Shape& shape,
                         const std::function<bool(std::int64_t row, std::int64_t column)>& keep) {
    workload::SparseF16 a;
    a.rows = shape.rows;
    a.columns = shape.columns;
    a.block = shape.block;
    a.row_start.push_back(0);
    for (std::int64_t row = 0; row < a.block_rows(); ++row) {
        for (std::int64_t column = 0; column < a.block_columns(); ++column) {
            if (!keep(row, column)) {
                continue;
            }
            a.block_column.push_back(static_cast<std::int32_t>(column));
            for (std::int64_t i = 0; i < a.block * a.block; ++i) {
                const bool inside = row * a.block + i / a.block < a.rows &&
                                    column * a.block + i % a.block < a.columns;
                a.values.push_back(inside ? f32_to_f16(test::small_integer(a.values.size(), 2))
                                          : std::uint16_t{0});
            }
        }
        a.row_start.push_back(a.blocks());
    }
    return a;
}

/// Runs the published plan of a product and compares every element with the exact one.
family::Division
check_published(const spec::MachineSpec& machine, const workload::SparseF16& a, std::int64_t n,
                const codelets::ProductTypes& types = test::kProductTypes.front()) {
    CAPTURE(machine.chip.tiles, machine.tile.workers, a.rows, a.columns, n, a.block, a.blocks(),
            name_of(types.data), name_of(types.partials));
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = a.block;
    workload.dtype = types.data;
    workload.partials = types.partials;
    workload.plan = workload::PlanKind::Published;
    const family::Divided planned = test::choose_spmm(machine, workload, a);
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
    CHECK(test::elements(outcome.tensors.at("c"), types.data) == test::sparse_product(a, x, n));
    CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    CHECK(outcome.cycles.sync == planned.division.predicted.sync);
    return planned.division;
}

const std::vector<std::int64_t> kBlockSides{1, 4, 8, 16};

/// About so many blocks each way.
std::vector<Shape> shapes(std::int64_t block) {
    const std::int64_t b = block;
    return {{b, b, 1, b, 100},                // one block
            {6 * b, 5 * b, 16, b, 40},        // aligned
            {6 * b + 1, 5 * b + 1, 9, b, 40}, // ragged
            {1, 20 * b, 5, b, 60},            // one row
            {20 * b, 1, 5, b, 60},            // one column
            {7 * b, 9 * b, 70, b, 100},       // nothing left out
            {12 * b, 12 * b, 44, b, 20}};
}

} // namespace

TEST_CASE("published plans of sparse products are exact on few tiles", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        for (const Shape& shape : shapes(block)) {
            for (const std::int64_t tiles : {4, 16}) {
                const auto a = test::sparse_operand(shape);
                for (const codelets::ProductTypes& types : test::kProductTypes) {
                    if (a.blocks() > 0) {
                        check_published(machine_with(tiles), a, shape.n, types);
                    }
                }
            }
        }
    }
}

TEST_CASE("published plans of sparse products are exact on 64 tiles", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        const Shape shape{40 * block, 30 * block + 3, 100, block, 15};
        const auto a = test::sparse_operand(shape);
        spec::MachineSpec alone = machine_with(64);
        alone.exchange.pair_double = false;
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            check_published(machine_with(64), a, shape.n, types);
            check_published(alone, a, shape.n, types);
            check_published(test::gc2_with(64), a, shape.n, types);
        }
    }
}

TEST_CASE("published plans of sparse products are exact for any number of workers", "[kernels]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        for (const std::int64_t block : {1, 8}) {
            const Shape shape{10 * block, 9 * block, 24, block, 40};
            for (const codelets::ProductTypes& types : test::kProductTypes) {
                check_published(machine_with(8, workers), test::sparse_operand(shape), shape.n,
                                types);
            }
        }
    }
}

TEST_CASE("published plans of sparse products are exact on one set of matrix units", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        for (const Shape& shape : shapes(block)) {
            for (const codelets::ProductTypes& types : test::kProductTypes) {
                check_published(test::gc2_with(4), test::sparse_operand(shape), shape.n, types);
            }
        }
    }
    // a worker with 0 to 9 columns
    for (const std::int64_t n : {1, 5, 8, 13, 24, 30, 50}) {
        for (const std::int64_t block : {4, 8, 16}) {
            const Shape shape{3 * block, 4 * block, n, block, 60};
            for (const codelets::ProductTypes& types : test::kProductTypes) {
                check_published(test::gc2_with(4), test::sparse_operand(shape), n, types);
            }
        }
    }
}

TEST_CASE("published plans take patterns that are far from uniform", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        const Shape shape{30 * block, 30 * block, 20, block, 0};
        for (const std::int64_t line : {0, 13, 29}) {
            for (const codelets::ProductTypes& types : test::kProductTypes) {
                check_published(machine_with(16),
                                kept(shape, [line](auto row, auto) { return row == line; }),
                                shape.n, types);
                check_published(machine_with(16),
                                kept(shape, [line](auto, auto column) { return column == line; }),
                                shape.n, types);
            }
        }
        check_published(
            machine_with(16),
            kept(shape, [](auto row, auto column) { return std::abs(row - column) < 2; }), shape.n);
        check_published(
            machine_with(16),
            kept(shape, [](auto row, auto column) { return (row + 1) * (column + 1) <= 30; }),
            shape.n);
    }
}

TEST_CASE("published plans of sparse products move blocks where parts of the columns share them",
          "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        const Shape shape{20 * block, 20 * block, 640, block, 30};
        const auto a = test::sparse_operand(shape);
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            workload::SpmmWorkload workload;
            workload.n = shape.n;
            workload.block = block;
            workload.dtype = types.data;
            workload.partials = types.partials;
            workload.plan = workload::PlanKind::Published;
            CAPTURE(block, name_of(types.data));
            CHECK(test::choose_spmm(machine_with(64), workload, a).division.parts_n > 1);
            check_published(machine_with(64), a, shape.n, types);
        }
    }
}

TEST_CASE("published plans of sparse products zero what FP32 block codelets add to", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        workload::SpmmWorkload workload;
        workload.n = 8;
        workload.block = block;
        workload.plan = workload::PlanKind::Published;
        const auto a = test::sparse_operand({4 * block, 4 * block, 8, block, 60});
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            workload.dtype = types.data;
            workload.partials = types.partials;
            const auto planned = test::choose_spmm(machine_with(4), workload, a);
            const auto& sets = planned.lowered.program.compute_sets;
            const bool zeroes = std::any_of(sets.begin(), sets.end(),
                                            [](const auto& set) { return set.name == "zero"; });
            CAPTURE(block, name_of(types.data));
            CHECK(zeroes == (types.data == ElementType::F32 && block >= 8));
        }
    }
}

TEST_CASE("FP32 sparse products have FP32 partials", "[kernels]") {
    workload::SpmmWorkload workload;
    workload.dtype = ElementType::F32;
    workload.partials = ElementType::F16;
    REQUIRE(workload.mistakes().size() == 1);
    CHECK(workload.mistakes().front().message == "got f16, expected f32 for dtype f32");
}

TEST_CASE("published plans of sparse products say what they do not have", "[kernels]") {
    workload::SpmmWorkload workload;
    workload.n = 8;
    workload.block = 4;
    const auto a = test::sparse_operand({32, 32, 8, 4, 50});
    workload.n = 1'000'000;
    CHECK_THROWS_AS(test::choose_spmm(machine_with(4), workload, a), DoesNotFit);
}

TEST_CASE("published plans of sparse products without blocks give zeros", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            for (const Shape& shape : shapes(block)) {
                const auto none = kept(shape, [](auto, auto) { return false; });
                check_published(machine_with(4), none, shape.n, types);
                check_published(machine_with(64), none, shape.n, types);
            }
        }
    }
}

TEST_CASE("published plans of sparse products that do not fit go over the columns in passes",
          "[kernels][large]") {
    // X and C take about two thirds of the memory; the last pass is narrower than the others
    const spec::MachineSpec machine = machine_with(4);
    bool moved = false; // blocks that several parts of a pass' columns share: they come once
    for (const std::int64_t block : kBlockSides) {
        for (const codelets::ProductTypes& types : test::kProductTypes) {
            const std::int64_t n = (types.data == ElementType::F32 ? 680 : 1350) + block % 3;
            const auto a = test::sparse_operand({256, 250, n, block, block == 1 ? 5 : 20});
            const auto division = check_published(machine, a, n, types);
            CHECK(division.chunks > 1);
            moved = moved || division.parts_n > 1;
        }
    }
    CHECK(moved);
    // whatever is asked for
    workload::SpmmWorkload workload;
    workload.n = 1500;
    workload.block = 16;
    workload.plan = workload::PlanKind::Fastest;
    const auto a = test::sparse_operand({256, 250, 1500, 16, 20});
    CHECK_NOTHROW(test::choose_spmm(machine, workload, a));
    workload.n = 4000; // no number of passes helps
    CHECK_THROWS_AS(test::choose_spmm(machine, workload, a), DoesNotFit);
    // the product that is asked for is named, not one of its passes
    workload.plan = workload::PlanKind::Published;
    CHECK_THROWS_WITH(test::choose_spmm(machine, workload, a),
                      Catch::StartsWith("spmm 256 x 250 x 4000"));
    workload.n = 16; // the stored elements leave no room for a pass of 8 columns
    const auto full = test::sparse_operand({1024, 1024, 16, 16, 100});
    CHECK_THROWS_WITH(test::choose_spmm(machine, workload, full),
                      Catch::StartsWith("spmm 1024 x 1024 x 16 in 2 passes: one of them"));
}
