// SPDX-License-Identifier: MIT
// Where a pipeline's tensors stand, and when its steps are complete.
#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/views/views.h"
#include "tests/kernels/pipeline/pipeline_bench.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using pipeline::Node;
using test::run_and_check;
using test::small_machine;
using Built = test::PipelineBench;

namespace {

constexpr std::int64_t kElements = 8;

/// Reads the first `wanted` elements of its input, on the tile whose number is theirs.
class Taker final : public family::Step {
public:
    explicit Taker(std::int64_t wanted) : wanted_(wanted) {}
    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{ElementType::F16, {kElements}}};
    }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& /*site*/,
         std::span<const std::optional<graph::TensorId>> /*where*/) override {
        const auto add = [&](const std::string& name, std::int64_t elements) {
            const auto buffer = graph.add_buffer({.name = name});
            const auto tile = static_cast<TileId>(elements);
            graph.hold(buffer, tile, (elements * 2 + 7) / 8 * 8);
            auto tensor = graph::array_tensor(name, ElementType::F16, kElements);
            tensor.pieces.push_back(graph::run_of(tile, {buffer}, 0, elements, ElementType::F16));
            return graph.add_tensor(std::move(tensor));
        };
        const auto input = add("as it is read", wanted_);
        return {{input}, {add("y", kElements)}, graph::sequence({})};
    }
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> /*inputs*/,
                                        std::span<const family::Value> /*outputs*/,
                                        int /*threads*/) const override {
        return {};
    }
    [[nodiscard]] double flops() const override { return 0; }

private:
    std::int64_t wanted_;
};

/// Steps of the program in the order in which they stand.
void leaves_of(const program::Step& step, std::vector<const program::Step*>& leaves) {
    if (step.kind == program::Step::Kind::ComputeSet ||
        step.kind == program::Step::Kind::Exchange) {
        leaves.push_back(&step);
    }
    for (const program::Step& child : step.children) {
        leaves_of(child, leaves);
    }
}

bool works_on(const program::Program& program, const program::Step& leaf, std::int64_t first,
              std::int64_t end) {
    const auto inside = [&](std::int64_t tile) { return first <= tile && tile < end; };
    if (leaf.kind == program::Step::Kind::Exchange) {
        const auto& transfers = program.exchanges[leaf.index].transfers;
        return std::any_of(transfers.begin(), transfers.end(),
                           [&](const auto& transfer) { return inside(transfer.source_tile); });
    }
    const auto& tiles = program.compute_sets[leaf.index].tiles;
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
        if (!tiles[tile].vertices.empty() && inside(static_cast<std::int64_t>(tile))) {
            return true;
        }
    }
    return false;
}

bool ends(const pipeline::Finished& finished, const program::Step& leaf) {
    return std::count(finished.leaves.begin(), finished.leaves.end(),
                      graph::Leaf{leaf.kind, leaf.index}) > 0;
}

/// For each step: how many leaves that work on tiles [first, end) have run when it is complete.
std::vector<std::int64_t> complete_after(const pipeline::Planned& planned, std::int64_t first,
                                         std::int64_t end) {
    std::vector<const program::Step*> leaves;
    leaves_of(planned.lowered.program.control, leaves);
    std::vector<std::int64_t> after;
    for (const auto& finished : planned.finished) {
        std::int64_t so_far = 0;
        bool found = finished.from_start;
        for (std::size_t i = 0; i < leaves.size() && !found; ++i) {
            so_far += works_on(planned.lowered.program, *leaves[i], first, end) ? 1 : 0;
            found = ends(finished, *leaves[i]);
        }
        CHECK(found);
        after.push_back(so_far);
    }
    return after;
}

} // namespace

TEST_CASE("a tensor stands where its first reader wants it, but not where that leaves out what "
          "others read",
          "[kernels][pipeline]") {
    for (const bool row_major : {false, true}) {
        for (std::size_t readers = 1; readers <= 3; ++readers) {
            for (const std::int64_t wanted : {kElements - 1, kElements}) {
                CAPTURE(row_major, readers, wanted);
                pipeline::Pipeline made{"takers",
                                        {{.name = "x",
                                          .type = {ElementType::F16, {kElements}},
                                          .given = true,
                                          .wanted = row_major,
                                          .row_major = row_major}},
                                        {}};
                for (std::size_t i = 0; i < readers; ++i) {
                    auto& node = made.steps.emplace_back();
                    node.name = "step " + std::to_string(i);
                    node.step = std::make_unique<Taker>(wanted);
                    node.inputs = {0};
                    node.outputs = {made.tensors.size()};
                    made.tensors.push_back({.name = node.name, .type = node.step->output()});
                }
                const auto planned = pipeline::plan(small_machine(), made);
                const bool in_place = !row_major && (readers == 1 || wanted == kElements);
                REQUIRE(planned.writes.size() == 1);
                const auto& tensors = planned.lowered.program.tensors;
                const auto& x = tensors.at(planned.writes[0].array.index);
                CHECK(x.name == (in_place ? "step 0: as it is read" : "step 0: x"));
                std::int64_t held = 0;
                for (const auto& piece : x.pieces) {
                    held += piece.dims.back().count;
                }
                CHECK(held == (in_place ? wanted : kElements));
                CHECK(x.kept == row_major); // as the pipeline wants it
                // what no step reads is a result, the last step's output the first of them
                REQUIRE(planned.results.size() == readers + (row_major ? 1 : 0));
                CHECK(planned.results[0].tensor == readers);
                CHECK(planned.results[0].array == planned.finished.back().outputs.at(0));
                for (std::size_t i = 1; i < planned.results.size(); ++i) {
                    const std::size_t tensor = row_major ? i - 1 : i;
                    CHECK(planned.results[i].tensor == tensor);
                    CHECK(planned.results[i].array ==
                          (tensor == 0 ? planned.writes[0].array
                                       : planned.finished.at(tensor - 1).outputs.at(0)));
                }
                for (const auto& finished : planned.finished) {
                    CHECK(tensors.at(finished.outputs.at(0).index).kept);
                }
            }
        }
    }
}

TEST_CASE("a step of a branch is complete with the leaf that it would end with alone",
          "[kernels][pipeline]") {
    constexpr std::int64_t kTiles = 8;
    const auto products = [](Built& built, std::size_t count, const std::string& name) {
        std::vector<Node> steps;
        auto x = built.tensor(name + "x", 24, 20);
        const auto w = built.tensor(name + "w", 20, 20);
        for (std::size_t i = 0; i < count; ++i) {
            steps.push_back(built.step(matmul::family(), name + std::to_string(i), {x, w}));
            x = steps.back().outputs.at(0).value();
        }
        return steps;
    };
    for (std::size_t left = 1; left <= 3; ++left) {
        for (std::size_t right = 1; right <= 3; ++right) {
            CAPTURE(left, right);
            Built both;
            std::vector<Node> branches;
            for (const std::size_t count : {left, right}) {
                branches.push_back(Built::around(
                    Node::Kind::Branch, products(both, count, branches.empty() ? "l" : "r")));
                branches.back().tiles = kTiles;
            }
            both.made.steps.push_back(Built::around(Node::Kind::Parallel, std::move(branches)));
            const auto planned = pipeline::plan(small_machine(), both.made);
            auto half = small_machine();
            half.chip.tiles = kTiles;
            const auto alone = [&](std::size_t count) {
                Built one;
                one.made.steps = products(one, count, "x");
                return complete_after(pipeline::plan(half, one.made), 0, kTiles);
            };
            const auto on_left = complete_after(planned, 0, kTiles);
            const auto on_right = complete_after(planned, kTiles, 2 * kTiles);
            const auto end = static_cast<std::ptrdiff_t>(left);
            REQUIRE(planned.finished.size() == left + right);
            CHECK(std::vector(on_left.begin(), on_left.begin() + end) == alone(left));
            CHECK(std::vector(on_right.begin() + end, on_right.end()) == alone(right));
        }
    }
}

TEST_CASE("what a branch only looks at differently is there when its own steps have made it",
          "[kernels][pipeline]") {
    // left: products; right: a view, a function of it, and a view of that
    constexpr std::int64_t kTiles = 8;
    Built built;
    const auto a = built.tensor("a", 24, 24);
    const auto b = built.tensor("b", 24, 24);
    const auto x = built.tensor("x", 12, 10);
    const auto s = built.tensor("s", 9, 9);
    const bool begun = GENERATE(false, true);
    CAPTURE(begun);
    if (begun) {
        built.made.steps.push_back(built.step(elementwise::relu(), "before", {s}));
    }
    std::vector<Node> left;
    left.push_back(built.step(matmul::family(), "ab", {a, b}));
    left.push_back(built.step(matmul::family(), "abb", {left.back().outputs.at(0).value(), b}));
    std::vector<Node> right;
    right.push_back(built.step(views::transpose(), "t", {x}));
    right.push_back(built.step(elementwise::relu(), "r", {right.back().outputs.at(0).value()}));
    right.push_back(built.step(views::transpose(), "back", {right.back().outputs.at(0).value()}));
    const auto last = right.back().outputs.at(0).value();
    std::vector<Node> branches;
    branches.push_back(Built::around(Node::Kind::Branch, std::move(left)));
    branches.push_back(Built::around(Node::Kind::Branch, std::move(right)));
    for (Node& branch : branches) {
        branch.tiles = kTiles;
    }
    built.made.steps.push_back(Built::around(Node::Kind::Parallel, std::move(branches)));
    built.made.steps.push_back(built.step(views::transpose(), "after", {last}));
    run_and_check(small_machine(), built.made);
    const auto planned = pipeline::plan(small_machine(), built.made);
    std::vector<const program::Step*> leaves;
    leaves_of(planned.lowered.program.control, leaves);
    const auto number_of = [&](const std::string& name) {
        for (const auto& finished : planned.finished) {
            if (finished.node->name == name) {
                for (std::size_t i = 0; i < leaves.size() && !finished.from_start; ++i) {
                    if (ends(finished, *leaves[i])) {
                        return static_cast<std::int64_t>(i);
                    }
                }
                CHECK(finished.from_start);
            }
        }
        return std::int64_t{-1};
    };
    CHECK(number_of("t") == (begun ? number_of("before") : -1));
    CHECK(number_of("r") > number_of("t"));
    CHECK(number_of("back") == number_of("r"));
    CHECK(number_of("abb") > number_of("ab"));
    CHECK(number_of("after") == static_cast<std::int64_t>(leaves.size()) - 1);
}
