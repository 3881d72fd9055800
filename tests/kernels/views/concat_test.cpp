// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/views/views.h"
#include "tests/kernels/family/matrix_step.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tessera;

std::string refusal_of(const family::TensorType& x, const family::TensorType& y) {
    try {
        static_cast<void>(views::concat().make({{x, y}, {}}));
    } catch (const family::Refused& refused) {
        CHECK(refused.input == 1);
        return refused.what();
    }
    return {};
}

} // namespace

TEST_CASE("the rows of two tensors are one behind the other", "[kernels][views]") {
    const family::TensorType first{ElementType::F16, {3, 2, 5}};
    const family::TensorType second{ElementType::F16, {4, 2, 5}};
    const auto step = views::concat().make({{first, second}, {}});
    CHECK(step->output().shape == std::vector<std::int64_t>{3 + 4, 2, 5});
    const auto x = test::random_value(first, 1);
    const auto y = test::random_value(second, 2);
    family::Value both{step->output(), x.bytes};
    both.bytes.insert(both.bytes.end(), y.bytes.begin(), y.bytes.end());
    const std::array<const family::Value*, 2> inputs{&x, &y};
    CHECK(step->check(inputs, both, 1).passed);
    both.bytes[x.bytes.size()] ^= std::byte{1};
    CHECK(step->check(inputs, both, 1).failed_elements == 1);
}

TEST_CASE("tensors of other types or sizes are not one behind the other", "[kernels][views]") {
    const family::TensorType x{ElementType::F32, {3, 5}};
    CHECK(refusal_of(x, {ElementType::F32, {1, 5}}).empty());
    const std::string expected = ", expected one type, and equal sizes but for the first";
    CHECK(refusal_of(x, {ElementType::F16, {1, 5}}) == "got f32 3 x 5 and f16 1 x 5" + expected);
    CHECK(refusal_of(x, {ElementType::F32, {1, 4}}) == "got f32 3 x 5 and f32 1 x 4" + expected);
    CHECK(refusal_of(x, {ElementType::F32, {5}}) == "got f32 3 x 5 and f32 5" + expected);
}

TEST_CASE("a view is known where all that it shows is, and the host neither gives nor wants it",
          "[kernels][views]") {
    struct View {
        const family::Family& family;
        std::map<std::string, family::OptionValue> options;
        std::vector<std::vector<std::int64_t>> shapes; ///< of its inputs
    };
    const std::vector<std::int64_t> rows{4, 6};
    const std::vector<std::int64_t> heads{1, 2, 4, 3};
    const std::vector<View> views{{views::transpose(), {}, {rows}},
                                  {views::reshape(), {{"size_1", 24.0}}, {rows}},
                                  {views::heads(), {{"heads", 2.0}}, {rows}},
                                  {views::split_heads(), {{"heads", 2.0}}, {rows}},
                                  {views::join_heads(), {}, {heads}},
                                  {views::join_heads(), {}, {heads, heads, heads}},
                                  {views::concat(), {}, {rows, {2, 6}}}};
    for (const View& view : views) {
        for (std::size_t unknown = 0; unknown <= view.shapes.size(); ++unknown) {
            CAPTURE(view.family.name, view.shapes.size(), unknown);
            graph::Graph graph("test");
            family::Request request{{}, view.options};
            std::vector<std::optional<graph::TensorId>> where;
            for (std::size_t i = 0; i < view.shapes.size(); ++i) {
                request.inputs.push_back({ElementType::F32, view.shapes[i]});
                const auto x = graph::add_rows(
                    graph, {.name = "x", .type = ElementType::F32, .shape = view.shapes[i]},
                    {0, 4});
                graph.tensors[x.tensor.index].known = i != unknown;
                graph.tensors[x.tensor.index].given = true;
                graph.tensors[x.tensor.index].wanted = true;
                where.emplace_back(x.tensor);
            }
            exchange_plan::KnownSchedules schedules;
            const auto emitted = view.family.make(request)->emit(
                graph, {test::machine_of(4), schedules, 0, "step"}, where);
            CHECK(emitted.outputs.size() == std::max<std::size_t>(1, view.family.outputs.size()));
            for (const graph::TensorId output : emitted.outputs) {
                const graph::Tensor& shown = graph.tensors[output.index];
                CHECK(shown.known == (unknown == view.shapes.size()));
                CHECK_FALSE(shown.given);
                CHECK_FALSE(shown.wanted);
            }
        }
    }
}
