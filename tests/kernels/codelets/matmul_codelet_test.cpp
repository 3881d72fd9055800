// SPDX-License-Identifier: MIT
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>

namespace {

using namespace tessera;

struct Shape {
    std::int64_t rows;
    std::int64_t out_groups;
    std::int64_t k_groups;
};

/// CWEI word order: output channel and input of a weight -> its half in the block.
std::size_t weight_index(ElementType partials, std::size_t channel, std::size_t input) {
    const std::size_t unit = partials == ElementType::F16
                                 ? 8 * ((channel >> 1U) & 1U) + 2 * (channel >> 2U) + (channel & 1U)
                                 : channel;
    return unit * 16 + input;
}

/// Operands on a tile, the vertex, and what it should give.
class MatmulVertex {
public:
    MatmulVertex(ElementType partials, Shape shape, std::int64_t workers,
                 double steps_per_issue = 1)
        : partials_(partials), shape_(shape),
          bench_({partials == ElementType::F16 ? "matmul_amp_f16" : "matmul_amp_f32"}, workers,
                 steps_per_issue),
          group_(static_cast<std::size_t>(codelets::amp_group(partials))),
          rows_(static_cast<std::size_t>(shape.rows)),
          k_(static_cast<std::size_t>(shape.k_groups) * 16),
          n_(static_cast<std::size_t>(shape.out_groups) * group_) {
        const auto stride = static_cast<std::uint32_t>(shape.rows * 32);
        const auto w = static_cast<std::uint32_t>(workers);
        bench_.put<std::uint32_t>(state_, {weights_, x_, out_, stride,
                                           static_cast<std::uint32_t>(shape.rows) / w,
                                           static_cast<std::uint32_t>(shape.rows) % w,
                                           static_cast<std::uint32_t>(shape.out_groups - 1),
                                           static_cast<std::uint32_t>(shape.k_groups - 1)});
        std::vector<std::uint16_t> x(rows_ * k_);
        std::vector<std::uint16_t> weights(k_ * n_);
        for (std::size_t row = 0; row < rows_; ++row) {
            for (std::size_t k = 0; k < k_; ++k) {
                x[(k / 16 * rows_ + row) * 16 + k % 16] = f32_to_f16(value_x(row, k));
            }
        }
        for (std::size_t n = 0; n < n_; ++n) {
            for (std::size_t k = 0; k < k_; ++k) {
                const std::size_t block =
                    n / group_ * static_cast<std::size_t>(shape.k_groups) + k / 16;
                weights[block * group_ * 16 + weight_index(partials, n % group_, k % 16)] =
                    f32_to_f16(value_w(n, k));
            }
        }
        bench_.put(x_, x);
        bench_.put(weights_, weights);
    }

    tile::ComputeOutcome run(bool fresh) {
        const std::string name = partials_ == ElementType::F16 ? "matmul_f16" : "matmul_f32";
        return bench_.call(name + (fresh ? "_fresh" : "_add"), program::VertexKind::Supervisor,
                           state_);
    }

    /// Number of wrong elements after `times` products have been added up.
    std::size_t wrong(float times) {
        std::size_t errors = 0;
        for (std::size_t row = 0; row < rows_; ++row) {
            for (std::size_t n = 0; n < n_; ++n) {
                float sum = 0;
                for (std::size_t k = 0; k < k_; ++k) {
                    sum += value_x(row, k) * value_w(n, k);
                }
                const std::size_t at = (n / group_ * rows_ + row) * group_ + n % group_;
                errors += result(at) == times * sum ? 0 : 1;
            }
        }
        return errors;
    }

    [[nodiscard]] const spec::MachineSpec& machine() const { return bench_.machine(); }

private:
    static float value_x(std::size_t row, std::size_t k) {
        return test::small_integer(row * 131 + k, 2);
    }
    static float value_w(std::size_t n, std::size_t k) {
        return test::small_integer(7919 + n * 113 + k, 1);
    }
    float result(std::size_t at) {
        if (partials_ == ElementType::F16) {
            return f16_to_f32(bench_.get<std::uint16_t>(out_ + static_cast<Address>(at * 2), 1)[0]);
        }
        return bench_.get<float>(out_ + static_cast<Address>(at * 4), 1)[0];
    }

    ElementType partials_;
    Shape shape_;
    test::CodeletBench bench_;
    std::size_t group_;
    std::size_t rows_;
    std::size_t k_;
    std::size_t n_;
    Address state_ = bench_.region0_data();
    Address x_ = bench_.region0_data() + 0x4000;
    Address weights_ = bench_.pair(0);
    Address out_ = bench_.pair(6);
};

const std::vector<Shape> kShapes = {{1, 1, 1},  {2, 1, 1},  {5, 1, 2},  {6, 2, 1},  {7, 1, 1},
                                    {12, 1, 3}, {13, 2, 2}, {17, 3, 1}, {18, 1, 2}, {19, 2, 3},
                                    {33, 1, 4}, {64, 2, 2}, {100, 1, 1}};

} // namespace

TEST_CASE("a matmul vertex gives the exact product in the predicted cycles", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const std::int64_t workers : {1, 2, 5, 6, 8}) {
            for (const Shape& shape : kShapes) {
                CAPTURE(partials == ElementType::F16, workers, shape.rows, shape.out_groups,
                        shape.k_groups);
                MatmulVertex vertex(partials, shape, workers);
                const codelets::MatmulVertexShape fresh{shape.rows, shape.out_groups,
                                                        shape.k_groups, true};
                const auto first = vertex.run(true);
                CHECK(vertex.wrong(1.0F) == 0);
                CHECK(first.cycles ==
                      plan::matmul_vertex_cycles(vertex.machine(), partials, fresh));
                codelets::MatmulVertexShape add = fresh;
                add.fresh = false;
                const auto second = vertex.run(false);
                CHECK(vertex.wrong(2.0F) == 0);
                CHECK(second.cycles == plan::matmul_vertex_cycles(vertex.machine(), partials, add));
            }
        }
    }
}

TEST_CASE("a row more for each worker costs four bundles", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        MatmulVertex shorter(partials, {120, 1, 1}, 6);
        MatmulVertex longer(partials, {240, 1, 1}, 6);
        CHECK(longer.run(true).cycles - shorter.run(true).cycles == 4 * 120);
    }
}

// Published for a vertex that loads 16 x 16 weights once: 4.0 cycles a row + 333 with weights at 8
// B a cycle.
TEST_CASE(
    "the fixed part of a vertex with one weight load is at most the published one and 50 more",
    "[kernels]") {
    MatmulVertex vertex(ElementType::F16, {96, 1, 1}, 6);
    const Cycles fixed = vertex.run(true).cycles - 4 * 96;
    CHECK(fixed == 268); // docs/models/amp_vertex.md lists them
    CHECK(fixed <= 383);
}

TEST_CASE("a matmul vertex takes the predicted cycles however many steps take an issue",
          "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const double steps_per_issue : {0.5, 2.0, 4.0}) {
            for (const std::int64_t workers : {1, 6}) {
                for (const Shape& shape : {Shape{1, 1, 1}, Shape{2, 1, 1}, Shape{7, 1, 2},
                                           Shape{19, 2, 1}, Shape{22, 1, 1}}) {
                    CAPTURE(partials == ElementType::F16, steps_per_issue, workers, shape.rows);
                    MatmulVertex vertex(partials, shape, workers, steps_per_issue);
                    codelets::MatmulVertexShape costed{shape.rows, shape.out_groups, shape.k_groups,
                                                       true};
                    CHECK(vertex.run(true).cycles ==
                          plan::matmul_vertex_cycles(vertex.machine(), partials, costed));
                    CHECK(vertex.wrong(1.0F) == 0);
                    costed.fresh = false;
                    CHECK(vertex.run(false).cycles ==
                          plan::matmul_vertex_cycles(vertex.machine(), partials, costed));
                    CHECK(vertex.wrong(2.0F) == 0);
                }
            }
        }
    }
}
