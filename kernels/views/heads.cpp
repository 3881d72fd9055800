// SPDX-License-Identifier: MIT
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/family/options.h"
#include "kernels/graph/reorder.h"
#include "kernels/views/view_step.h"
#include "kernels/views/views.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::views {
namespace {

using family::TensorType;

/// The sizes of attention: rows of `parts` operands beside each other, [batch][length][parts][heads]
/// [size], and those of one of them with its heads apart, [batch][heads][length][size].
struct Heads {
    std::int64_t batch = 1;
    std::int64_t length = 1;
    std::int64_t parts = 1;
    std::int64_t heads = 1;
    std::int64_t size = 1;

    [[nodiscard]] std::vector<std::int64_t> joined() const {
        return {batch * length, parts * heads * size};
    }
    [[nodiscard]] std::vector<std::int64_t> apart() const { return {batch, heads, length, size}; }

    [[nodiscard]] std::array<std::int64_t, 3> columns() const {
        return {batch * length, parts, heads * size};
    }
    /// Element `index` of part `part` as one of the rows.
    [[nodiscard]] std::int64_t in_rows(std::int64_t part, std::int64_t index) const {
        const std::int64_t column = index % size;
        const std::int64_t row = index / size % length;
        const std::int64_t head = index / (size * length) % heads;
        const std::int64_t one = index / (size * length * heads);
        return (((one * length + row) * parts + part) * heads + head) * size + column;
    }
    /// The part and the element in it of element `index` of the rows.
    [[nodiscard]] Element of_rows(std::int64_t index) const {
        const std::int64_t column = index % size;
        const std::int64_t head = index / size % heads;
        const std::int64_t part = index / (size * heads) % parts;
        const std::int64_t row = index / (size * heads * parts);
        return {static_cast<std::size_t>(part),
                ((row / length * heads + head) * length + row % length) * size + column};
    }
};

/// A part of the rows with its heads apart, where it stands.
std::vector<graph::Piece> taken_apart(const graph::Tensor& rows, const Heads& heads,
                                      std::int64_t part) {
    const std::array<std::int64_t, 4> sizes{heads.batch, heads.length, heads.heads, heads.size};
    std::vector<graph::Piece> made;
    for (const graph::Piece& piece : rows.pieces) {
        for (const graph::Piece& one : graph::selected(piece, heads.columns(), 1, part)) {
            std::ranges::move(graph::reordered(one, sizes, std::array<std::size_t, 4>{0, 2, 1, 3}),
                              std::back_inserter(made));
        }
    }
    return made;
}

/// The reverse: one of the parts as columns of the rows.
std::vector<graph::Piece> put_together(const graph::Tensor& apart, const Heads& heads,
                                       std::int64_t part) {
    const std::array<std::int64_t, 4> sizes{heads.batch, heads.heads, heads.length, heads.size};
    std::vector<graph::Piece> made;
    for (const graph::Piece& piece : apart.pieces) {
        for (const graph::Piece& one :
             graph::reordered(piece, sizes, std::array<std::size_t, 4>{0, 2, 1, 3})) {
            std::ranges::move(graph::inserted(one, heads.columns(), 1, part),
                              std::back_inserter(made));
        }
    }
    return made;
}

constexpr std::int64_t kMost = 1'000'000; ///< heads, and batches

/// @throws Refused
Heads heads_of(const family::Family& family, const family::Request& request, std::int64_t parts) {
    const TensorType& x = family::matrices_input(request, all_types());
    const std::int64_t heads = family::whole_number(family, request, "heads", kMost);
    const std::int64_t batch = family::whole_number(family, request, "batch", kMost);
    if (x.shape.size() != 2) {
        throw family::Refused(
            0, "", fmt::format("got {}, expected rows and columns alone", family::shape_text(x)));
    }
    if (x.shape[0] % batch != 0) {
        throw family::Refused(
            -1, "batch", fmt::format("got {} for {} rows, expected a divisor", batch, x.shape[0]));
    }
    if (x.shape[1] % (parts * heads) != 0) {
        throw family::Refused(-1, "heads",
                              fmt::format("got {} for {} columns{}, expected a divisor", heads,
                                          x.shape[1] / parts, parts > 1 ? " of each" : ""));
    }
    return {batch, x.shape[0] / batch, parts, heads, x.shape[1] / (parts * heads)};
}

/// The heads of all parts of x.
class SplitStep final : public ViewStep {
public:
    SplitStep(const family::Family& family, const family::Request& request, std::int64_t parts)
        : x_(request.inputs.at(0)), heads_(heads_of(family, request, parts)) {}

    [[nodiscard]] std::vector<TensorType> outputs() const override {
        TensorType one{x_.type, heads_.apart()};
        return std::vector<TensorType>(static_cast<std::size_t>(heads_.parts), one);
    }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const graph::TensorId x = standing_or_rows(graph, site, where.front(), "x", x_);
        const auto types = outputs();
        family::Emitted made{{x}, {}, graph::sequence({})};
        for (std::int64_t part = 0; part < heads_.parts; ++part) {
            graph::Tensor y = tensor_of(site, fmt::format("part {}", part), types[0]);
            y.known = graph.tensors.at(x.index).known;
            y.pieces = taken_apart(graph.tensors.at(x.index), heads_, part);
            made.outputs.push_back(graph.add_tensor(std::move(y)));
        }
        return made;
    }

private:
    [[nodiscard]] Element shown(std::size_t output, std::int64_t index) const override {
        return {0, heads_.in_rows(static_cast<std::int64_t>(output), index)};
    }

    TensorType x_;
    Heads heads_;
};

/// @throws Refused unless all inputs are alike, of four sizes
Heads heads_of(const family::Request& request) {
    const TensorType& first = request.inputs.at(0);
    if (request.inputs.size() == 2) {
        throw family::Refused(-1, "", "got 2 tensors, expected 1 or 3");
    }
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
        const TensorType& one = request.inputs[i];
        const family::Request alone{{one}, {}};
        try {
            static_cast<void>(family::matrices_input(alone, all_types()));
        } catch (const family::Refused& refused) {
            throw family::Refused(static_cast<int>(i), "", refused.what());
        }
        if (one.shape.size() != 4) {
            throw family::Refused(static_cast<int>(i), "",
                                  fmt::format("got {}, expected batch x heads x length x size",
                                              family::shape_text(one)));
        }
        if (one.shape != first.shape || one.type != first.type) {
            throw family::Refused(static_cast<int>(i), "",
                                  fmt::format("got {} {}, expected {} {} as the first",
                                              name_of(one.type), family::shape_text(one),
                                              name_of(first.type), family::shape_text(first)));
        }
    }
    return {first.shape[0], first.shape[2], static_cast<std::int64_t>(request.inputs.size()),
            first.shape[1], first.shape[3]};
}

class JoinStep final : public ViewStep {
public:
    explicit JoinStep(const family::Request& request)
        : heads_(heads_of(request)), inputs_(request.inputs) {}

    [[nodiscard]] std::vector<TensorType> outputs() const override {
        return {{inputs_.front().type, heads_.joined()}};
    }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        graph::Tensor y = tensor_of(site, "y", output());
        y.known = true;
        family::Emitted made{{}, {}, graph::sequence({})};
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const graph::TensorId x =
                standing_or_rows(graph, site, where[i], fmt::format("part {}", i), inputs_[i]);
            const graph::Tensor& part = graph.tensors.at(x.index);
            y.known = y.known && part.known;
            std::ranges::move(put_together(part, heads_, static_cast<std::int64_t>(i)),
                              std::back_inserter(y.pieces));
            made.inputs.push_back(x);
        }
        made.outputs = {graph.add_tensor(std::move(y))};
        return made;
    }

private:
    [[nodiscard]] Element shown(std::size_t /*output*/, std::int64_t index) const override {
        return heads_.of_rows(index);
    }

    Heads heads_;
    std::vector<TensorType> inputs_;
};

std::vector<family::Option> options_of_heads() {
    return {{.key = "heads", .says = "so many", .words = {}, .number = 1},
            {.key = "batch",
             .says = "so many sequences, whose rows are one behind the other",
             .words = {},
             .number = 1}};
}

/// Options that split what has the shape `apart`.
family::Options splitting(const TensorType& apart) {
    return {{"batch", static_cast<double>(apart.shape[0])},
            {"heads", static_cast<double>(apart.shape[1])}};
}

family::Steps joined_gradient(const family::GradientRequest& request) {
    family::Steps steps;
    std::vector<std::string> parts = request.of_outputs;
    std::string there; // one of them at least is
    for (const std::string& part : parts) {
        there = part.empty() ? there : part;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].empty()) { // nothing depends on it
            parts[i] = fmt::format("{}_part_{}", request.of_inputs[0], i);
            steps.push_back(family::backward_step("scale", {there}, parts[i], {{"factor", 0.0}}));
        }
    }
    steps.push_back(family::backward_step("join_heads", parts, request.of_inputs[0]));
    return steps;
}

} // namespace

const family::Family& heads() {
    static const family::Family heads = family::with_gradient(
        family::Family{"heads",
                       "y = x with the columns of each head together, where x stands",
                       {"x"},
                       options_of_heads(),
                       [](const family::Request& request) -> std::unique_ptr<family::Step> {
                           return std::make_unique<SplitStep>(views::heads(), request, 1);
                       },
                       true},
        joined_gradient);
    return heads;
}

const family::Family& split_heads() {
    static const family::Family split_heads = [] {
        family::Family made{"split_heads",
                            "q, k, v = the heads of the thirds of x's columns, where x stands",
                            {"x"},
                            options_of_heads(),
                            [](const family::Request& request) -> std::unique_ptr<family::Step> {
                                return std::make_unique<SplitStep>(views::split_heads(), request,
                                                                   3);
                            },
                            true};
        made.outputs = {"q", "k", "v"};
        return family::with_gradient(std::move(made), joined_gradient);
    }();
    return split_heads;
}

const family::Family& join_heads() {
    static const family::Family join_heads = family::with_gradient(
        family::Family{"join_heads",
                       "y = the heads of x, or of q, k and v, as columns beside each other, where "
                       "these stand",
                       {"x", "k", "v"},
                       {},
                       [](const family::Request& request) -> std::unique_ptr<family::Step> {
                           return std::make_unique<JoinStep>(request);
                       },
                       true,
                       2},
        [](const family::GradientRequest& request) -> family::Steps {
            workload::PipelineStep step =
                family::backward_step(request.inputs.size() == 1 ? "heads" : "split_heads",
                                      {request.of_outputs[0]}, "", splitting(request.inputs[0]));
            step.outputs.clear();
            for (std::size_t i = 0; i < request.inputs.size(); ++i) {
                step.outputs.push_back(request.wants(i) ? request.of_inputs[i] : "");
            }
            return {step};
        });
    return join_heads;
}

} // namespace tessera::views
