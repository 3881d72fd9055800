// SPDX-License-Identifier: MIT
#include "kernels/graph/transpose.h"

#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/views/view_step.h"
#include "kernels/views/views.h"

#include <memory>
#include <utility>

namespace tessera::views {
namespace {

class TransposeStep final : public ViewStep {
public:
    explicit TransposeStep(const family::Request& request)
        : x_(family::matrices_input(request, all_types())) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        family::TensorType y = x_;
        std::swap(y.shape.back(), y.shape[y.shape.size() - 2]);
        return {y};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const graph::TensorId x = standing_or_rows(graph, site, where.front(), "x", x_);
        graph::Tensor y = graph.tensors.at(x.index);
        y.name = site.owner + ": y";
        y.given = y.wanted = false;
        graph::transpose(y);
        return {{x}, {graph.add_tensor(std::move(y))}, graph::sequence({})};
    }

private:
    [[nodiscard]] Element shown(std::size_t /*output*/, std::int64_t index) const override {
        const std::int64_t m = x_.shape[x_.shape.size() - 2];
        const std::int64_t n = x_.shape.back();
        const std::int64_t inside = index % (m * n);
        return {0, index - inside + inside % m * n + inside / m};
    }

    family::TensorType x_;
};

} // namespace

const family::Family& transpose() {
    static const family::Family transpose = family::with_gradient(
        family::Family{"transpose",
                       "y = x with the last two sizes exchanged, where x stands",
                       {"x"},
                       {},
                       [](const family::Request& request) -> std::unique_ptr<family::Step> {
                           return std::make_unique<TransposeStep>(request);
                       },
                       true},
        [](const family::GradientRequest& request) -> family::Steps {
            return {
                family::backward_step("transpose", {request.of_outputs[0]}, request.of_inputs[0])};
        });
    return transpose;
}

} // namespace tessera::views
