// SPDX-License-Identifier: MIT
// sddmm(a, dy, x): the product dy x^T where a sparse matrix has blocks, a sampled dense-dense product;
// of a product a x it is the gradient of the values of a. Kernels of known and of run-time patterns
// share this.
#pragma once

#include "kernels/family/family.h"
#include "kernels/workload/workload.h"

#include <memory>
#include <span>

namespace tessera::family {

/// Inputs a {m, k} sparse, dy {m, n} and x {k, n}; the output is as a. Options: partials and plan, as the
/// products with a have them, so that both read the same copy of it.
[[nodiscard]] Family sampled_family(std::unique_ptr<Step> (*make)(const Request& request));

/// What such a step is told.
struct Sampled {
    ElementType partials = ElementType::F16; ///< of the products with a
    workload::PlanKind plan = workload::PlanKind::Fastest;
};
/// @throws Refused for operands that do not go together
[[nodiscard]] Sampled sampled_of(const Family& family, const Request& request);

/// Sums are in FP32. half_products: each product is rounded to FP16 before.
[[nodiscard]] Checked compare_sampled(std::span<const Value* const> inputs, const Value& output,
                                      bool half_products);

} // namespace tessera::family
