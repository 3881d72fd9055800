// SPDX-License-Identifier: MIT
#include "kernels/reduce/block_norms.h"
#include "tests/kernels/family/matrix_step.h"

#include <array>

namespace {

using namespace tessera;

std::unique_ptr<family::Step> norms_of(const family::TensorType& type, std::int64_t block) {
    return reduce::block_norms().make({{type}, {{"block", static_cast<double>(block)}}});
}

std::int64_t blocks_along(std::int64_t size, std::int64_t block) {
    return (size + block - 1) / block;
}

} // namespace

TEST_CASE("norms of blocks of any matrix are right in the predicted cycles", "[kernels][reduce]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t block : {1, 4, 8, 16}) {
            for (const auto& [m, k] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
                     {1, 1}, {16, 16}, {32, 48}, {17, 35}, {5, 64}, {40, 3}}) {
                for (const std::int64_t tiles : {1, 6}) {
                    CAPTURE(name_of(type), block, m, k, tiles);
                    const auto machine = test::machine_of(tiles);
                    const family::TensorType shape{type, {m, k}};
                    const auto step = norms_of(shape, block);
                    const std::int64_t rows = blocks_along(m, block);
                    const std::int64_t columns = blocks_along(k, block);
                    CHECK(step->output().type == ElementType::F32);
                    CHECK(step->output().shape == std::vector{rows, columns});
                    const auto run = test::run_step(machine, *step, test::random_value(shape, 6));
                    INFO(run.checked.sentence);
                    CHECK(run.checked.passed);
                    CHECK(run.checked.elements == rows * columns);
                    REQUIRE(run.step_cycles.size() == 1);
                    CHECK(run.step_cycles[0] ==
                          reduce::block_norms_cycles(machine, type,
                                                     blocks_along(rows * columns, tiles), block));
                }
            }
        }
    }
}

TEST_CASE("norms of blocks are of what stands elsewhere, too", "[kernels][reduce]") {
    for (const std::int64_t block : {4, 16}) {
        const family::TensorType shape{ElementType::F16, {19, 36}};
        const auto step = norms_of(shape, block);
        const auto run = test::run_step(test::machine_of(4), *step, test::random_value(shape, 3),
                                        test::in_runs(10, 4));
        CHECK_FALSE(run.read_in_place);
        CHECK(run.checked.passed);
    }
}

TEST_CASE("sums of FP16 magnitudes go beyond FP16", "[kernels][reduce]") {
    const family::TensorType shape{ElementType::F16, {4, 4}};
    const auto x = test::value_of(shape, std::vector<double>(16, -60000));
    const auto step = norms_of(shape, 4);
    const auto run = test::run_step(test::machine_of(2), *step, x);
    CHECK(run.output.bytes == test::value_of({ElementType::F32, {1, 1}}, {16 * 60000.0}).bytes);
}

TEST_CASE("the check of norms finds a wrong one", "[kernels][reduce]") {
    const family::TensorType shape{ElementType::F32, {9, 12}};
    const auto x = test::random_value(shape, 2);
    const auto step = norms_of(shape, 4);
    auto run = test::run_step(test::machine_of(2), *step, x);
    REQUIRE(run.checked.passed);
    run.output.bytes[7 * 4 + 1] ^= std::byte{0x10};
    const auto checked = step->check(std::array{&x}, run.output, 1);
    CHECK(checked.failed_elements == 1);
    CHECK_THAT(checked.sentence, Catch::Contains("element 7"));
}

TEST_CASE("norms are refused of other blocks and shapes", "[kernels][reduce]") {
    CHECK_THROWS_WITH(norms_of({ElementType::F16, {8, 8}}, 3), "got 3, expected 1, 4, 8 or 16");
    CHECK_THROWS_WITH(norms_of({ElementType::F16, {2, 8, 8}}, 4),
                      Catch::Contains("expected rows and columns"));
    CHECK_THROWS_AS(norms_of({ElementType::I32, {8, 8}}, 4), family::Refused);
}
