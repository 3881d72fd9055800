// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/reduce/reduce.h"
#include "tests/kernels/family/matrix_step.h"

#include <limits>

namespace {

using namespace tessera;
using codelets::RowReduction;

struct Op {
    std::string word;
    RowReduction reduction;
};
const std::vector<Op>& ops() {
    static const std::vector<Op> all{{"sum", RowReduction::Sum}, {"max", RowReduction::Max}};
    return all;
}

std::unique_ptr<family::Step> reduce_of(const family::TensorType& type, const std::string& op) {
    return reduce::family().make({{type}, {{"op", op}}});
}

} // namespace

TEST_CASE("a reduction of any shape is right in the predicted cycles", "[kernels][reduce]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [m, n] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
                 {1, 1}, {1, 2}, {5, 3}, {4, 4}, {3, 5}, {7, 6}, {13, 7}, {40, 8}, {23, 65}}) {
            for (const std::int64_t tiles : {1, 6}) {
                for (const std::int64_t workers : {1, 2, 3, 4, 5, 6}) {
                    for (const Op& op : ops()) {
                        CAPTURE(name_of(type), m, n, tiles, workers, op.word);
                        const auto machine = test::machine_of(tiles, workers);
                        // sizes before the last one count rows
                        const family::TensorType shape{
                            type, m % 4 == 0 ? std::vector<std::int64_t>{2, m / 4, 2, n}
                                             : std::vector<std::int64_t>{m, n}};
                        const auto step = reduce_of(shape, op.word);
                        CHECK(step->output().shape ==
                              std::vector(shape.shape.begin(), shape.shape.end() - 1));
                        const auto run = test::run_step(
                            machine, *step,
                            test::random_value(shape, 6, static_cast<std::uint64_t>(n)));
                        INFO(run.checked.sentence);
                        CHECK(run.checked.passed);
                        CHECK(run.checked.elements == m);
                        REQUIRE(run.step_cycles.size() == 1);
                        CHECK(run.step_cycles[0] == reduce::cycles(machine, op.reduction, type,
                                                                   (m + tiles - 1) / tiles, n));
                    }
                }
            }
        }
    }
}

TEST_CASE("a reduction reads rows where they stand, and has others brought", "[kernels][reduce]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const Op& op : ops()) {
            for (const std::int64_t n : {6, 7, 8}) {
                CAPTURE(name_of(type), op.word, n);
                const family::TensorType shape{type, {11, n}};
                const auto x = test::random_value(shape, 3);
                const auto machine = test::machine_of(4);
                const auto step = reduce_of(shape, op.word);
                const Bytes row = n * bytes_of(type);
                const auto in_place =
                    test::run_step(machine, *step, x, test::in_turn((16 - row % 8) % 8, 4));
                CHECK(in_place.read_in_place);
                CHECK(in_place.checked.passed);
                const auto packed = test::run_step(machine, *step, x, test::in_turn(0, 4));
                CHECK(packed.read_in_place == (row % 8 == 0));
                CHECK(packed.checked.passed);
                const auto runs = test::run_step(machine, *step, x, test::in_runs(10, 4));
                CHECK_FALSE(runs.read_in_place);
                CHECK(runs.checked.passed);
            }
        }
    }
}

TEST_CASE("the results of blocks of rows stand apart", "[kernels][reduce]") {
    for (const Op& op : ops()) {
        const family::TensorType shape{ElementType::F16, {13, 8}};
        const auto step = reduce_of(shape, op.word);
        const auto run = test::run_step(test::machine_of(2), *step, test::random_value(shape, 3),
                                        test::in_runs(24, 2)); // three rows a block
        CHECK(run.read_in_place);
        CHECK(run.rows.blocks.size() == 5);
        CHECK(run.checked.passed);
    }
}

TEST_CASE("sums of FP16 are rounded once and saturate", "[kernels][reduce]") {
    const family::TensorType shape{ElementType::F16, {3, 2049}};
    std::vector<double> elements(3 * 2049, 1);
    std::fill(elements.begin() + 2049, elements.begin() + 2 * 2049, 60000.0);
    std::fill(elements.begin() + 2 * 2049, elements.end(), 0.0009765625); // 2^-10
    auto x = test::value_of(shape, elements);
    x.whole_numbers = true; // their sums in FP32 are exact
    const auto step = reduce_of(shape, "sum");
    const auto run = test::run_step(test::machine_of(2), *step, x);
    CHECK(run.checked.passed);
    CHECK(run.output.bytes == test::value_of({ElementType::F16, {3}}, {2048, 65504, 2}).bytes);
}

TEST_CASE("reductions of extremes are the reference's", "[kernels][reduce]") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const Op& op : ops()) {
            for (const std::int64_t n : {3, 5}) {
                CAPTURE(name_of(type), op.word, n);
                const family::TensorType shape{type, {5, n}};
                std::vector<double> elements(static_cast<std::size_t>(5 * n), -2);
                const auto columns = static_cast<std::size_t>(n);
                elements[1] = kInfinity;
                elements[columns] = -kInfinity;
                elements[2 * columns + 2] = kNan;
                std::fill_n(elements.begin() + 3 * n, n, kNan);
                std::fill_n(elements.begin() + 4 * n, n, -60000.0);
                const auto x = test::value_of(shape, elements);
                const auto step = reduce_of(shape, op.word);
                const auto run = test::run_step(test::machine_of(2), *step, x);
                INFO(run.checked.sentence);
                CHECK(run.checked.passed);
            }
        }
    }
}

TEST_CASE("the check of a reduction finds a wrong element", "[kernels][reduce]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const Op& op : ops()) {
            const family::TensorType shape{type, {9, 5}};
            const auto x = test::random_value(shape, 2);
            const auto step = reduce_of(shape, op.word);
            auto run = test::run_step(test::machine_of(2), *step, x);
            REQUIRE(run.checked.passed);
            run.output.bytes[static_cast<std::size_t>(7 * bytes_of(type)) +
                             (type == ElementType::F16 ? 0U : 1U)] ^= std::byte{0x10};
            const auto checked = step->check(std::array{&x}, run.output, 1);
            CHECK_FALSE(checked.passed);
            CHECK(checked.failed_elements == 1);
            CHECK_THAT(checked.sentence, Catch::Contains("element 7"));
        }
    }
}

TEST_CASE("a reduction says what it does not take", "[kernels][reduce]") {
    const auto refusal = [](const family::TensorType& type) {
        return test::refusal_of(reduce::family(), {{type}, {}});
    };
    CHECK(refusal({ElementType::F16, {2, 3}}).empty());
    CHECK(refusal({ElementType::F16, {}}) == "got a tensor of 0 sizes, expected rows and columns");
    CHECK(refusal({ElementType::U16, {2, 3}}) == "got elements of type u16, expected f16 or f32");
    CHECK(reduce::family().make({{{ElementType::F16, {2, 3}}}, {}})->output().shape ==
          std::vector<std::int64_t>{2});

    graph::Graph graph("test");
    const auto step = reduce_of({ElementType::F32, {1, 1'000'000}}, "max");
    const std::optional<graph::TensorId> nowhere;
    exchange_plan::KnownSchedules known;
    CHECK_THROWS_AS(step->emit(graph, {test::machine_of(2), known, 0, "step"}, std::array{nowhere}),
                    NotModelled);
}
