// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/views/view_step.h"
#include "kernels/views/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::views {
namespace {

using family::TensorType;

class ConcatStep final : public ViewStep {
public:
    explicit ConcatStep(const family::Request& request) : inputs_(request.inputs) {
        const TensorType& x = inputs_.at(0);
        const TensorType& y = inputs_.at(1);
        for (int input = 0; input < 2; ++input) {
            family::require_dense(request, input, input == 0 ? "x" : "y");
        }
        const bool agree = x.type == y.type && !x.shape.empty() &&
                           x.shape.size() == y.shape.size() &&
                           std::equal(x.shape.begin() + 1, x.shape.end(), y.shape.begin() + 1);
        if (!agree) {
            throw family::Refused(
                1, "",
                fmt::format("got {} {} and {} {}, expected one type, and equal sizes but for the "
                            "first",
                            name_of(x.type), family::shape_text(x), name_of(y.type),
                            family::shape_text(y)));
        }
    }

    [[nodiscard]] std::vector<TensorType> outputs() const override {
        TensorType out{inputs_[0].type, inputs_[0].shape};
        out.shape[0] += inputs_[1].shape[0];
        return {out};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        graph::Tensor out = tensor_of(site, "y", output());
        out.known = true;
        family::Emitted made{{}, {}, graph::sequence({})};
        std::int64_t before = 0;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const graph::TensorId input =
                standing_or_rows(graph, site, where[i], fmt::format("part {}", i), inputs_[i]);
            const graph::Tensor& part = graph.tensors.at(input.index);
            out.known = out.known && part.known;
            for (graph::Piece piece : part.pieces) {
                piece.host_offset += before;
                out.pieces.push_back(std::move(piece));
            }
            before += inputs_[i].elements();
            made.inputs.push_back(input);
        }
        made.outputs = {graph.add_tensor(std::move(out))};
        return made;
    }

private:
    [[nodiscard]] Element shown(std::size_t /*output*/, std::int64_t index) const override {
        const std::int64_t first = inputs_[0].elements();
        return index < first ? Element{0, index} : Element{1, index - first};
    }

    std::vector<TensorType> inputs_;
};

} // namespace

const family::Family& concat() {
    static const family::Family concat{
        "concat",
        "the rows of x and behind them those of y, where these stand",
        {"x", "y"},
        {},
        [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<ConcatStep>(request);
        },
        true};
    return concat;
}

} // namespace tessera::views
