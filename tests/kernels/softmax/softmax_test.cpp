// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/graph/places.h"
#include "kernels/softmax/softmax.h"
#include "kernels/softmax/softmax_rows.h"
#include "tests/kernels/family/matrix_step.h"

#include <array>
#include <limits>
#include <optional>
#include <set>
#include <vector>

namespace {

using namespace tessera;

std::unique_ptr<family::Step> softmax_of(const family::TensorType& type) {
    return softmax::family().make({{type}, {}});
}

/// Of each row, where x has no place yet.
std::int64_t slices_of(const spec::MachineSpec& machine, const family::TensorType& type) {
    return softmax::slices_of(
        machine, type.type, {},
        {type.elements() / type.shape.back(), type.shape.back(), machine.chip.tiles, 0, true});
}

} // namespace

TEST_CASE("a softmax of any shape is right in the predicted cycles", "[kernels][softmax]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [m, n] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
                 {1, 1}, {1, 2}, {5, 3}, {4, 4}, {3, 5}, {7, 6}, {13, 7}, {40, 8}, {23, 65}}) {
            for (const std::int64_t tiles : {1, 6}) {
                for (const std::int64_t workers : {1, 2, 3, 4, 5, 6}) {
                    CAPTURE(name_of(type), m, n, tiles, workers);
                    const auto machine = test::machine_of(tiles, workers);
                    // sizes before the last one count rows
                    const family::TensorType shape{
                        type, m % 4 == 0 ? std::vector<std::int64_t>{2, m / 4, 2, n}
                                         : std::vector<std::int64_t>{m, n}};
                    const auto step = softmax_of(shape);
                    const auto run =
                        test::run_step(machine, *step,
                                       test::random_value(shape, 6, static_cast<std::uint64_t>(n)));
                    INFO(run.checked.sentence);
                    CHECK(run.checked.passed);
                    CHECK(run.checked.elements == m * n);
                    REQUIRE(run.step_cycles.size() == 1);
                    CHECK(run.step_cycles[0] ==
                          softmax::cycles(machine, type, (m + tiles - 1) / tiles, n));
                }
            }
        }
    }
}

TEST_CASE("workers share the rows that would leave some of them idle", "[kernels][softmax]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t workers : {1, 2, 6, 8}) {
            for (const std::int64_t n : {64, 65, 66, 67, 511, 512, 513}) {
                for (const auto& [m, tiles] : std::initializer_list<std::pair<int, int>>{
                         {1, 1}, {3, 1}, {6, 1}, {7, 1}, {11, 1}, {2, 6}, {13, 6}}) {
                    CAPTURE(name_of(type), workers, n, m, tiles);
                    const auto machine = test::machine_of(tiles, workers);
                    const family::TensorType shape{type, {m, n}};
                    const auto step = softmax_of(shape);
                    const auto run = test::run_step(
                        machine, *step, test::random_value(shape, 12, static_cast<unsigned>(n)));
                    INFO(run.checked.sentence);
                    CHECK(run.checked.passed);
                    if (slices_of(machine, shape) > 1) {
                        continue; // below
                    }
                    REQUIRE(run.step_cycles.size() == 1);
                    const std::int64_t most = (m + tiles - 1) / tiles;
                    CHECK(run.step_cycles[0] == softmax::cycles(machine, type, most, n));
                    // rows are never slower than with as many as there are workers in each round
                    const Cycles round = softmax::cycles(machine, type, workers, n);
                    const std::int64_t rounds = (most + workers - 1) / workers;
                    CHECK(run.step_cycles[0] <= rounds * round);
                    if (n > 500 && workers > 1 && most % workers == 1) {
                        CHECK(run.step_cycles[0] < (rounds - 1) * round + round * 4 / 5);
                    }
                }
            }
        }
    }
}

TEST_CASE("tiles share the rows that would leave most of them idle", "[kernels][softmax]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t workers : {1, 6}) {
            for (const auto& [m, n, tiles] :
                 std::initializer_list<std::array<std::int64_t, 3>>{{1, 512, 2},
                                                                    {1, 1024, 8},
                                                                    {2, 1536, 6},
                                                                    {3, 2048, 11},
                                                                    {5, 1008, 40},
                                                                    {1, 4096, 64},
                                                                    {7, 1000, 64}}) {
                CAPTURE(name_of(type), workers, m, n, tiles);
                const auto machine = test::machine_of(tiles, workers);
                const family::TensorType shape{type, {m, n}};
                const std::int64_t slices = slices_of(machine, shape);
                const auto step = softmax_of(shape);
                const auto run = test::run_step(
                    machine, *step, test::random_value(shape, 12, static_cast<unsigned>(n)));
                INFO(run.checked.sentence);
                CHECK(run.checked.passed);
                CHECK(m * slices <= tiles);
                CHECK(n % slices == 0);
                CHECK(n / slices >= 64);
                const Cycles whole = softmax::cycles(machine, type, (m + tiles - 1) / tiles, n);
                Cycles all = 0;
                for (const Cycles one : run.step_cycles) {
                    all += one;
                }
                CHECK(all <= whole);
                if (slices == 1) {
                    CHECK(run.step_cycles == std::vector{whole});
                    continue;
                }
                REQUIRE(run.step_cycles.size() == 3);
                const auto cycles = softmax::slice_cycles(machine, type, {}, n, slices);
                CHECK(run.step_cycles[0] == cycles.parts);
                CHECK(run.step_cycles[2] == cycles.join);
            }
        }
    }
}

TEST_CASE("a long row takes less time on more tiles, whoever reads it", "[kernels][softmax]") {
    constexpr std::int64_t kColumns = 8192;
    const family::TensorType shape{ElementType::F16, {2, kColumns}};
    Cycles before = softmax::cycles(test::machine_of(2), shape.type, 1, kColumns);
    for (const std::int64_t tiles : {8, 16, 64}) {
        CAPTURE(tiles);
        const auto machine = test::machine_of(tiles);
        const std::int64_t slices = slices_of(machine, shape);
        CHECK(slices > 1);
        const auto cycles = softmax::slice_cycles(machine, shape.type, {}, kColumns, slices);
        CHECK(cycles.parts + cycles.join < before);
        before = cycles.parts + cycles.join;
    }
    // short rows that stand whole stay so, and rows that share a tile do not
    const auto machine = test::machine_of(64);
    CHECK(softmax::slices_of(machine, ElementType::F32, {}, {2, 256, 64}) > 1);
    CHECK(softmax::slices_of(machine, ElementType::F32, {}, {2, 256, 64, 1, true}) == 1);
    CHECK(softmax::slices_of(machine, ElementType::F16, {}, {8, 160, 64, 8, true}) > 1);
    // a whole row that no repeat counts
    CHECK(softmax::slices_of(machine, shape.type, {}, {1, 131072, 64}) > 1);
    CHECK(softmax::slices_of(test::machine_of(64), shape.type, {.is_causal = true},
                             {2, kColumns, 64}) == 1);
    CHECK(softmax::slices_of(test::machine_of(64), shape.type, {}, {2, kColumns + 1, 64}) == 1);
}

TEST_CASE("rows are sliced by how many stand together on the fullest tile", "[kernels][softmax]") {
    constexpr std::int64_t kRows = 8;
    constexpr std::int64_t kSize = 160;
    const auto machine = test::machine_of(64);
    const auto sliced = [&](std::int64_t together) {
        return softmax::slices_of(machine, ElementType::F16, {},
                                  {kRows, kSize, 64, together, true});
    };
    REQUIRE(sliced(kRows) > sliced(1));
    exchange_plan::KnownSchedules known;
    const auto tiles_with = [&](const std::vector<std::int64_t>& rows_of_tile) {
        graph::Graph graph("g");
        const auto buffer = graph.add_buffer({.name = "x"});
        graph::Tensor x{.name = "x", .type = ElementType::F16, .shape = {kRows, kSize}};
        std::int64_t first = 0;
        for (std::size_t tile = 0; tile < rows_of_tile.size(); ++tile) {
            const std::int64_t elements = rows_of_tile[tile] * kSize;
            graph.hold(buffer, static_cast<TileId>(tile), 2 * elements);
            x.pieces.push_back(graph::run_of(static_cast<TileId>(tile), {buffer, 0}, first,
                                             elements, ElementType::F16));
            first += elements;
        }
        const auto there = graph.add_tensor(std::move(x));
        const auto made =
            softmax_of({ElementType::F16, {kRows, kSize}})
                ->emit(graph, {machine, known, 0, "softmax"}, std::vector{std::optional(there)});
        std::set<TileId> tiles;
        for (const graph::Piece& piece : graph.tensors.at(made.outputs.front().index).pieces) {
            tiles.insert(piece.tile);
        }
        return tiles.size();
    };
    CHECK(tiles_with({1, 1, 1, 1, 1, 1, 1, 1}) == static_cast<std::size_t>(kRows * sliced(1)));
    CHECK(tiles_with({8}) == static_cast<std::size_t>(kRows * sliced(kRows)));
    for (const std::vector<std::int64_t>& uneven : {std::vector<std::int64_t>{7, 1}, {1, 7}}) {
        CHECK(tiles_with(uneven) == static_cast<std::size_t>(kRows * sliced(7)));
    }
}

TEST_CASE("a row whose slices are infinite is the reference's", "[kernels][softmax]") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr std::int64_t kColumns = 1024;
    const auto machine = test::machine_of(64);
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const family::TensorType shape{type, {5, kColumns}};
        const std::int64_t slices = slices_of(machine, shape);
        REQUIRE(slices > 1);
        std::vector<double> elements;
        for (std::int64_t row = 0; row < 5; ++row) {
            for (std::int64_t column = 0; column < kColumns; ++column) {
                const double finite = static_cast<double>(column % 7) - 3;
                const bool last_slice = column >= kColumns - kColumns / slices;
                elements.push_back(row == 0   ? (last_slice ? -kInfinity : finite)
                                   : row == 1 ? (last_slice ? finite : -kInfinity)
                                   : row == 2 ? (column == 8 ? kNan : finite)
                                   : row == 3 ? (column == 8 ? kInfinity : finite)
                                              : -60000 + 32.0 * static_cast<double>(column));
            }
        }
        const auto step = softmax_of(shape);
        const auto run = test::run_step(machine, *step, test::value_of(shape, elements));
        INFO(run.checked.sentence);
        CHECK(run.checked.passed);
    }
}

TEST_CASE("a shared row of one worker's infinities is the reference's", "[kernels][softmax]") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr std::int64_t kColumns = 512;
    const auto machine = test::machine_of(1);
    // a worker has every sixth pair of elements
    const auto of_worker = [&](std::int64_t column) { return column / 2 % machine.tile.workers; };
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const family::TensorType shape{type, {5, kColumns}};
        std::vector<double> elements;
        for (std::int64_t row = 0; row < 5; ++row) {
            for (std::int64_t column = 0; column < kColumns; ++column) {
                const double finite = static_cast<double>(column % 7) - 3;
                const bool masked = of_worker(column) == 2;
                elements.push_back(row == 0   ? (masked ? -kInfinity : finite)
                                   : row == 1 ? (masked ? finite : -kInfinity)
                                   : row == 2 ? (column == 8 ? kNan : finite)
                                   : row == 3 ? (column == 8 ? kInfinity : finite)
                                              : -60000 + 32.0 * static_cast<double>(column));
            }
        }
        const auto step = softmax_of(shape);
        const auto run = test::run_step(machine, *step, test::value_of(shape, elements));
        INFO(run.checked.sentence);
        CHECK(run.checked.passed);
        CHECK(run.step_cycles == std::vector{softmax::cycles(machine, type, 5, kColumns)});
    }
}

TEST_CASE("a softmax reads rows where they stand, and has others brought", "[kernels][softmax]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t n : {6, 7}) {
            CAPTURE(name_of(type), n);
            const family::TensorType shape{type, {11, n}};
            const auto x = test::random_value(shape, 3);
            const auto machine = test::machine_of(4);
            const auto step = softmax_of(shape);
            const Bytes row = n * bytes_of(type);
            const Bytes alignment = 2 * bytes_of(type);
            const auto in_place =
                test::run_step(machine, *step, x, test::in_turn((16 - row % 8) % 8, 4));
            CHECK(in_place.read_in_place);
            CHECK(in_place.checked.passed);
            CHECK(in_place.step_cycles == std::vector{softmax::cycles(machine, type, 3, n)});

            const auto packed = test::run_step(machine, *step, x, test::in_turn(0, 4));
            CHECK(packed.read_in_place == (row % alignment == 0));
            CHECK(packed.checked.passed);

            const auto runs = test::run_step(machine, *step, x, test::in_runs(16, 4));
            CHECK_FALSE(runs.read_in_place);
            CHECK(runs.checked.passed);
        }
    }
}

TEST_CASE("several blocks of rows of a tile are several vertices of a softmax",
          "[kernels][softmax]") {
    const family::TensorType shape{ElementType::F16, {12, 8}};
    const auto step = softmax_of(shape);
    const auto run = test::run_step(test::machine_of(2), *step, test::random_value(shape, 3),
                                    test::in_runs(16, 2));
    CHECK(run.read_in_place);
    CHECK(run.rows.blocks.size() == 6);
    CHECK(run.checked.passed);
}

TEST_CASE("a softmax keeps to the tiles of its site", "[kernels][softmax]") {
    const family::TensorType shape{ElementType::F16, {5, 8}};
    const auto step = softmax_of(shape);
    const auto x = test::random_value(shape, 3);
    const auto alone = test::run_step(test::machine_of(6), *step, x, {}, 4);
    CHECK(alone.checked.passed);
    for (const auto& block : alone.rows.blocks) {
        CHECK(block.tile >= 4);
    }
    const auto elsewhere = test::run_step(test::machine_of(6), *step, x, test::in_turn(0, 6), 4);
    CHECK_FALSE(elsewhere.read_in_place);
    CHECK(elsewhere.checked.passed);
}

TEST_CASE("a softmax of extremes is the reference's", "[kernels][softmax]") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const family::TensorType shape{type, {6, 3}};
        const auto x = test::value_of(shape, {60000, -60000, 59968,               //
                                              -kInfinity, 0, -1e-6,               //
                                              kInfinity, 1, 2,                    //
                                              1, kNan, 2,                         //
                                              -kInfinity, -kInfinity, -kInfinity, //
                                              0, -88, -17});
        const auto step = softmax_of(shape);
        const auto run = test::run_step(test::machine_of(2), *step, x);
        INFO(run.checked.sentence);
        CHECK(run.checked.passed);
    }
}

TEST_CASE("the check of a softmax finds a wrong element", "[kernels][softmax]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const family::TensorType shape{type, {3, 5}};
        const auto x = test::random_value(shape, 2);
        const auto step = softmax_of(shape);
        auto run = test::run_step(test::machine_of(2), *step, x);
        REQUIRE(run.checked.passed);
        CHECK(run.checked.max_error_over_tolerance <= 1);
        const family::Value right = run.output;
        for (const unsigned bit : {3U, 10U}) { // of a fraction
            run.output = right;
            const auto at = static_cast<std::size_t>(7 * bytes_of(type)) +
                            (type == ElementType::F16 ? 0U : 1U) + bit / 8;
            run.output.bytes[at] ^= static_cast<std::byte>(1U << bit % 8);
            const auto checked = step->check(std::array{&x}, {&run.output, 1}, 1);
            CHECK_FALSE(checked.passed);
            CHECK(checked.failed_elements == 1);
            CHECK(checked.max_error_over_tolerance > 1);
            CHECK_THAT(checked.sentence, Catch::Contains("element 7"));
        }
        run.output = test::value_of(
            shape, std::vector<double>(15, std::numeric_limits<double>::quiet_NaN()));
        CHECK(step->check(std::array{&x}, {&run.output, 1}, 1).failed_elements == 15);
        run.output =
            test::value_of(shape, std::vector<double>(15, std::numeric_limits<double>::infinity()));
        CHECK(step->check(std::array{&x}, {&run.output, 1}, 1).failed_elements == 15);
    }
}

TEST_CASE("a softmax says what it does not take", "[kernels][softmax]") {
    const auto refusal = [](const family::TensorType& type) {
        return test::refusal_of(softmax::family(), {{type}, {}});
    };
    CHECK(refusal({ElementType::F16, {2, 3}}).empty());
    CHECK(refusal({ElementType::F16, {2, 3, 4}}).empty());
    CHECK(refusal({ElementType::F16, {2}}) == "got a tensor of 1 size, expected rows and columns");
    CHECK(refusal({ElementType::I8, {2, 3}}) == "got elements of type i8, expected f16 or f32");
    CHECK(refusal({ElementType::F32, {0, 3}}) ==
          "got 0 x 3 elements, expected at least one row and one column");
    CHECK(refusal({ElementType::F16, {2, 3}, std::make_shared<const workload::SparseF16>()}) ==
          "got a sparse matrix, expected a dense one");

    const family::TensorType wide{ElementType::F16, {1, 1'000'000}};
    graph::Graph graph("test");
    const auto step = softmax_of(wide);
    const std::optional<graph::TensorId> nowhere;
    exchange_plan::KnownSchedules known;
    CHECK_THROWS_AS(step->emit(graph, {test::machine_of(2), known, 0, "step"}, std::array{nowhere}),
                    NotModelled);
}
