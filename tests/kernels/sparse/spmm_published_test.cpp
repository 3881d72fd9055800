// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/sparse/spmm.h"
#include "tests/kernels/sparse/sparse_operands.h"
#include "tests/support/gc2.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <string>

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
void check_published(const spec::MachineSpec& machine, const workload::SparseF16& a,
                     std::int64_t n) {
    CAPTURE(machine.chip.tiles, machine.tile.workers, a.rows, a.columns, n, a.block, a.blocks());
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = a.block;
    workload.plan = workload::PlanKind::Published;
    const family::Divided planned = spmm::choose(machine, workload, a);
    const auto faults = test::faults_of(machine, planned.lowered.program);
    CAPTURE(faults.empty() ? std::string() : faults.front());
    CHECK(faults.empty());
    std::vector<std::uint16_t> x;
    for (std::int64_t i = 0; i < a.columns * n; ++i) {
        x.push_back(f32_to_f16(test::small_integer(static_cast<std::size_t>(i) + 99, 1)));
    }
    const auto outcome =
        test::run_program(machine, planned.lowered.program, {{"a", a.values}, {"b", x}});
    const std::vector<double> wanted = test::sparse_product(a, x, n);
    REQUIRE(outcome.result.size() == wanted.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        wrong += static_cast<double>(f16_to_f32(outcome.result[i])) == wanted[i] ? 0 : 1;
    }
    CHECK(wrong == 0);
    CHECK(outcome.cycles.exchange == planned.division.predicted.exchange);
    CHECK(outcome.cycles.sync == planned.division.predicted.sync);
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
                if (a.blocks() > 0) {
                    check_published(machine_with(tiles), a, shape.n);
                }
            }
        }
    }
}

TEST_CASE("published plans of sparse products are exact on 64 tiles", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        const Shape shape{40 * block, 30 * block + 3, 100, block, 15};
        const auto a = test::sparse_operand(shape);
        check_published(machine_with(64), a, shape.n);
        if (block == 1) { // docs/deviations.md: blocks have no codelet for its instruction set
            check_published(test::gc2_with(64), a, shape.n);
        }
        spec::MachineSpec alone = machine_with(64);
        alone.exchange.pair_double = false;
        check_published(alone, a, shape.n);
    }
}

TEST_CASE("published plans of sparse products are exact for any number of workers", "[kernels]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        for (const std::int64_t block : {1, 8}) {
            const Shape shape{10 * block, 9 * block, 24, block, 40};
            check_published(machine_with(8, workers), test::sparse_operand(shape), shape.n);
        }
    }
}

TEST_CASE("published plans take patterns that are far from uniform", "[kernels]") {
    for (const std::int64_t block : kBlockSides) {
        const Shape shape{30 * block, 30 * block, 20, block, 0};
        for (const std::int64_t line : {0, 13, 29}) {
            check_published(machine_with(16),
                            kept(shape, [line](auto row, auto) { return row == line; }), shape.n);
            check_published(machine_with(16),
                            kept(shape, [line](auto, auto column) { return column == line; }),
                            shape.n);
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

TEST_CASE("published plans of sparse products say what they do not have", "[kernels]") {
    workload::SpmmWorkload workload;
    workload.n = 8;
    workload.block = 4;
    workload.partials = ElementType::F32;
    const auto a = test::sparse_operand({32, 32, 8, 4, 50});
    CHECK_THROWS_AS(spmm::choose(machine_with(4), workload, a), NotModelled);
    workload.partials = ElementType::F16;
    workload.n = 1'000'000;
    CHECK_THROWS_AS(spmm::choose(machine_with(4), workload, a), DoesNotFit);
    // without blocks there is nothing to cut: a plan of ours writes the zeros
    workload.n = 8;
    const auto empty = test::sparse_operand({32, 32, 8, 4, 0});
    const auto planned = spmm::choose(machine_with(4), workload, empty);
    const auto outcome =
        test::run_program(machine_with(4), planned.lowered.program,
                          {{"a", {}}, {"b", std::vector<std::uint16_t>(32 * 8, f32_to_f16(1))}});
    CHECK(std::all_of(outcome.result.begin(), outcome.result.end(),
                      [](std::uint16_t value) { return value == 0; }));
}
