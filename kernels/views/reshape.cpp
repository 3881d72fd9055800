// SPDX-License-Identifier: MIT
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/views/view_step.h"
#include "kernels/views/views.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::views {
namespace {

using family::TensorType;

/// The options that tell the sizes, in their order.
constexpr std::array<const char*, 8> kSizes{"size_1", "size_2", "size_3", "size_4",
                                            "size_5", "size_6", "size_7", "size_8"};
constexpr double kLargest = 0x1p40; ///< more than a chip holds

/// The sizes that are told. @throws Refused
std::vector<std::int64_t> told_sizes(const family::Request& request) {
    std::vector<std::int64_t> sizes;
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
        const double size = family::number_of(reshape(), request, kSizes[i]);
        if (size == 0) {
            continue;
        }
        if (size < 1 || size > kLargest || size != std::floor(size)) {
            throw family::Refused(-1, kSizes[i],
                                  fmt::format("got {}, expected a whole number from 1 on", size));
        }
        if (sizes.size() < i) {
            throw family::Refused(
                -1, kSizes[i],
                fmt::format("got a size behind {}, which is not told", kSizes[sizes.size()]));
        }
        sizes.push_back(static_cast<std::int64_t>(size));
    }
    return sizes;
}

class ReshapeStep final : public ViewStep {
public:
    explicit ReshapeStep(const family::Request& request)
        : x_(request.inputs.at(0)), y_{x_.type, told_sizes(request)} {
        family::require_dense(request, 0, "x");
        double elements = 1;
        for (const std::int64_t size : y_.shape) {
            elements *= static_cast<double>(size);
        }
        if (y_.shape.empty()) {
            throw family::Refused(-1, kSizes[0], "got no sizes, expected one at least");
        }
        if (elements != static_cast<double>(x_.elements())) {
            throw family::Refused(-1, kSizes[0],
                                  fmt::format("got {} for {}, expected sizes of as many elements",
                                              family::shape_text(y_), family::shape_text(x_)));
        }
    }

    [[nodiscard]] std::vector<TensorType> outputs() const override { return {y_}; }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const graph::TensorId x = standing_or_rows(graph, site, where.front(), "x", x_);
        graph::Tensor y = tensor_of(site, "y", y_);
        y.known = graph.tensors.at(x.index).known;
        y.pieces = graph.tensors.at(x.index).pieces; // numbered by the order of elements
        return {{x}, {graph.add_tensor(std::move(y))}, graph::sequence({})};
    }

private:
    [[nodiscard]] Element shown(std::size_t /*output*/, std::int64_t index) const override {
        return {0, index};
    }

    TensorType x_;
    TensorType y_;
};

std::vector<family::Option> options() {
    std::vector<family::Option> made;
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
        made.push_back({.key = kSizes[i],
                        .says = i == 0 ? "the first size" : "the next size; 0: there is none",
                        .words = {},
                        .number = 0});
    }
    return made;
}

} // namespace

const family::Family& reshape() {
    static const family::Family reshape = family::with_gradient(
        family::Family{"reshape",
                       "y = x as a tensor of other sizes, with its elements in the same order, "
                       "where x stands",
                       {"x"},
                       options(),
                       [](const family::Request& request) -> std::unique_ptr<family::Step> {
                           return std::make_unique<ReshapeStep>(request);
                       },
                       true},
        [](const family::GradientRequest& request) -> family::Steps {
            family::Options back;
            for (std::size_t i = 0; i < request.inputs[0].shape.size(); ++i) {
                back[kSizes.at(i)] = static_cast<double>(request.inputs[0].shape[i]);
            }
            return {family::backward_step("reshape", {request.of_outputs[0]}, request.of_inputs[0],
                                          std::move(back))};
        });
    return reshape;
}

} // namespace tessera::views
