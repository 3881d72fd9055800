// SPDX-License-Identifier: MIT
#include "kernels/transpose/transpose.h"

#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/rows.h"
#include "kernels/graph/transpose.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace tessera::transpose {
namespace {

std::vector<ElementType> all_types() {
    std::vector<ElementType> types;
    std::transform(kElementTypes.begin(), kElementTypes.end(), std::back_inserter(types),
                   [](const ElementFacts& facts) { return facts.type; });
    return types;
}

class TransposeStep : public family::Step {
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
        const graph::TensorId x =
            where.front()
                ? *where.front()
                : graph::add_rows(graph,
                                  {.name = site.owner + ": x", .type = x_.type, .shape = x_.shape},
                                  {site.first_tile, site.machine.chip.tiles})
                      .tensor;
        graph::Tensor y = graph.tensors.at(x.index);
        y.name = site.owner + ": y";
        y.given = y.wanted = false;
        graph::transpose(y);
        return {{x}, {graph.add_tensor(std::move(y))}, graph::sequence({})};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        const std::int64_t m = x_.shape[x_.shape.size() - 2];
        const std::int64_t n = x_.shape.back();
        const auto bytes = static_cast<std::size_t>(bytes_of(x_.type));
        family::Checked checked;
        checked.elements = x_.elements();
        for (std::int64_t at = 0; at < checked.elements; ++at) {
            const std::int64_t inside = at % (m * n);
            const auto from = static_cast<std::size_t>(at) * bytes;
            const auto to =
                static_cast<std::size_t>(at - inside + inside % n * m + inside / n) * bytes;
            checked.failed_elements += std::memcmp(inputs.front()->bytes.data() + from,
                                                   outputs[0].bytes.data() + to, bytes) != 0;
        }
        checked.passed = checked.failed_elements == 0;
        checked.sentence = checked.passed
                               ? fmt::format("all {} elements are the same", checked.elements)
                               : fmt::format("WRONG: {} of {} elements differ",
                                             checked.failed_elements, checked.elements);
        return checked;
    }

    [[nodiscard]] double flops() const override { return 0; }

private:
    family::TensorType x_;
};

} // namespace

const family::Family& family() {
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

} // namespace tessera::transpose
