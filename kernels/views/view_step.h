// SPDX-License-Identifier: MIT
// What the steps of views have in common: no vertices, no floating-point operations, and a check of
// bytes.
#pragma once

#include "kernels/family/family.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::views {

/// An element of one of the inputs.
struct Element {
    std::size_t input = 0;
    std::int64_t index = 0;
};

/// Views take all types.
[[nodiscard]] const std::vector<ElementType>& all_types();

class ViewStep : public family::Step {
public:
    [[nodiscard]] double flops() const final { return 0; }
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int threads) const final;

protected:
    /// Which one an element of an output shows.
    [[nodiscard]] virtual Element shown(std::size_t output, std::int64_t index) const = 0;
    /// Where an input stands, or rows of it over the site's tiles.
    [[nodiscard]] static graph::TensorId
    standing_or_rows(graph::Graph& graph, const family::Site& site,
                     const std::optional<graph::TensorId>& where, const std::string& name,
                     const family::TensorType& type);
    /// A tensor of the graph without pieces.
    [[nodiscard]] static graph::Tensor tensor_of(const family::Site& site, const std::string& name,
                                                 const family::TensorType& type);
};

} // namespace tessera::views
