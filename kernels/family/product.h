// SPDX-License-Identifier: MIT
// What the dense and the sparse product are alike as steps of a pipeline: two FP16 operands, `a`
// dense or sparse, partial results of FP16 or FP32, and the check of docs/kernels.md#checks.
#pragma once

#include "kernels/family/family.h"

#include <utility>

namespace tessera::family {

/// A product on tiles from 0 on, with tensors "a", "b" and "c" in this order.
struct ProductPart {
    graph::Graph graph;
    std::int64_t roundings = 0; ///< to the partials' type, of the result element that has most
};

class Product : public Step {
public:
    [[nodiscard]] TensorType output() const final;
    [[nodiscard]] Emitted emit(graph::Graph& graph, const Site& site,
                               std::span<const std::optional<graph::TensorId>> where) final;
    [[nodiscard]] Checked check(std::span<const Value* const> inputs, const Value& output,
                                int threads) const final;
    [[nodiscard]] double flops() const final;

protected:
    /// @throws Refused for operands that do not go together
    Product(const Family& family, const Request& request);

    /// The best division for a machine by itself. @throws DoesNotFit, NotModelled
    [[nodiscard]] virtual ProductPart part(const spec::MachineSpec& machine) const = 0;

    [[nodiscard]] const TensorType& a() const { return a_; }
    [[nodiscard]] std::int64_t n() const { return b_.shape[1]; }
    [[nodiscard]] ElementType partials() const { return partials_; }

private:
    TensorType a_;
    TensorType b_;
    ElementType partials_ = ElementType::F16;
    std::int64_t roundings_ = 0;
};

/// The option that both have.
[[nodiscard]] Option partials_option();

} // namespace tessera::family
