// SPDX-License-Identifier: MIT
#include "kernels/graph/transpose.h"
#include "kernels/views/views.h"
#include "tests/kernels/family/matrix_step.h"

#include <set>

namespace {

using namespace tessera;

std::unique_ptr<family::Step> transpose_of(const family::TensorType& type) {
    return views::transpose().make({{type}, {}});
}

/// Host number and byte of the elements.
std::multiset<std::pair<std::int64_t, Bytes>> elements_of(const graph::Piece& piece) {
    std::multiset<std::pair<std::int64_t, Bytes>> all{{piece.host_offset, piece.place.offset}};
    for (const auto& dim : piece.dims) {
        std::multiset<std::pair<std::int64_t, Bytes>> nested;
        for (const auto& [host, at] : all) {
            for (std::int64_t i = 0; i < dim.count; ++i) {
                nested.emplace(host + i * dim.host_stride, at + i * dim.tile_stride);
            }
        }
        all = std::move(nested);
    }
    return all;
}

} // namespace

TEST_CASE("a transpose shows the elements where they are, in no steps", "[kernels][transpose]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [m, n] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
                 {1, 1}, {1, 7}, {7, 1}, {5, 3}, {4, 16}, {23, 9}}) {
            const bool are_several = m < n; // matrices, one behind the other
            const family::TensorType shape{type, are_several ? std::vector<std::int64_t>{2, 3, m, n}
                                                             : std::vector<std::int64_t>{m, n}};
            const auto x = test::random_value(shape, 5);
            const auto step = transpose_of(shape);
            CHECK(step->output().shape == (are_several ? std::vector<std::int64_t>{2, 3, n, m}
                                                       : std::vector<std::int64_t>{n, m}));
            for (const auto& standing :
                 {std::optional<test::Standing>{}, std::optional(test::in_runs(4, 3)),
                  std::optional(test::in_turn(8, 3))}) {
                CAPTURE(name_of(type), m, n, standing.has_value());
                const auto run = test::run_step(test::machine_of(3), *step, x, standing);
                CHECK(run.read_in_place == standing.has_value());
                CHECK(run.checked.passed);
                CHECK(run.checked.elements == shape.elements());
                CHECK(run.step_cycles.empty());
            }
        }
    }
}

TEST_CASE("the check of a transpose finds a wrong element", "[kernels][transpose]") {
    const family::TensorType shape{ElementType::F16, {3, 5}};
    const auto x = test::random_value(shape, 2);
    const auto step = transpose_of(shape);
    auto run = test::run_step(test::machine_of(2), *step, x);
    CHECK(step->check(std::array{&x}, run.output, 1).sentence == "all 15 elements are the same");
    run.output.bytes[4] ^= std::byte{1};
    const auto checked = step->check(std::array{&x}, run.output, 1);
    CHECK_FALSE(checked.passed);
    CHECK(checked.failed_elements == 1);
    CHECK(checked.sentence == "WRONG: 1 of 15 elements differ");
}

TEST_CASE("a transpose is brought where it is wanted", "[kernels][transpose]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const family::TensorType shape{type, {13, 7}};
        const auto x = test::random_value(shape, 5);
        const auto machine = test::machine_of(4);
        graph::Graph graph("test");
        const auto step = transpose_of(shape);
        const std::optional<graph::TensorId> nowhere;
        exchange_plan::KnownSchedules known;
        const auto emitted = step->emit(graph, {machine, known, 0, "step"}, std::array{nowhere});
        const auto wanted =
            graph::add_rows(graph, {.name = "y in rows", .type = type, .shape = {7, 13}}, {0, 4});
        graph.control = graph::add_copy(graph, machine, emitted.outputs.at(0), wanted.tensor,
                                        program::Role::Rearrange, "test");
        graph.tensors[emitted.inputs[0].index].given = true;
        graph.tensors[wanted.tensor.index].wanted = true;
        const auto program = lower::lower(machine, std::move(graph)).program;
        const auto outcome = test::run_program(
            machine, program, std::map<std::string, std::vector<std::byte>>{{"step: x", x.bytes}});
        const family::Value output{step->output(), outcome.tensors.at("y in rows"), false};
        CHECK(step->check(std::array{&x}, output, 1).passed);
    }
}

TEST_CASE("any piece is turned, in parts where it goes over the end of a row or a matrix",
          "[kernels][transpose]") {
    const workload::CounterRandom random(5, 1);
    std::uint64_t index = 0;
    const auto below = [&](std::uint64_t bound) {
        return static_cast<std::int64_t>(random.below(bound, index++));
    };
    for (int turn = 0; turn < 400; ++turn) {
        const std::int64_t n = 1 + below(12);
        graph::Piece piece{0, {}, below(30), {}};
        for (std::int64_t dims = below(4); dims > 0; --dims) {
            const std::int64_t stride = below(3) == 0 ? n * (1 + below(3)) : 1 + below(15);
            piece.dims.push_back({1 + below(7), stride, 2 * below(50)});
        }
        const std::int64_t m = 1 + below(5); // of as many matrices as the piece goes over
        CAPTURE(turn, m, n);
        std::multiset<std::pair<std::int64_t, Bytes>> expected;
        for (const auto& [host, at] : elements_of(piece)) {
            const std::int64_t inside = host % (m * n);
            expected.emplace(host - inside + inside % n * m + inside / n, at);
        }
        std::multiset<std::pair<std::int64_t, Bytes>> found;
        for (const auto& part : graph::turned(piece, m, n)) {
            const auto elements = elements_of(part);
            found.insert(elements.begin(), elements.end());
        }
        CHECK((found == expected)); // not printed
    }
}

TEST_CASE("pieces of whole rows, and of parts of rows, stay one piece", "[kernels][transpose]") {
    const auto pieces = [](const graph::Piece& piece) {
        return graph::turned(piece, 100, 12).size();
    };
    CHECK(pieces({0, {}, 24, {{5, 12, 24}, {12, 1, 2}}}) == 1);
    CHECK(pieces({0, {}, 24, {{60, 1, 2}}}) == 1);
    CHECK(pieces({0, {}, 28, {{5, 24, 24}, {2, 4, 8}, {4, 1, 2}}}) == 1);
    CHECK(pieces({0, {}, 28, {{60, 1, 2}}}) == 3); // behind a row's begin, rows, and before an end
    CHECK(pieces({0, {}, 0, {{9, 13, 2}}}) == 9);  // a diagonal
}

TEST_CASE("a transpose says what it does not take", "[kernels][transpose]") {
    CHECK(test::refusal_of(views::transpose(), {{{ElementType::Bool, {2, 3}}}, {}}).empty());
    CHECK(test::refusal_of(views::transpose(), {{{ElementType::F16, {2, 3, 4}}}, {}}).empty());
    CHECK(test::refusal_of(views::transpose(), {{{ElementType::F16, {4}}}, {}}) ==
          "got a tensor of 1 size, expected rows and columns");
}
