// SPDX-License-Identifier: MIT
// What a product goes on with where its result stands: activation(c + bias), the bias an element
// for each column of c, as frameworks add it to what a layer gives. Each is a compute set behind the
// product's own steps, and rounds to the result's type; nothing but the bias moves.
// Timing: kernels/codelets/elementwise_cost.h.
#pragma once

#include "kernels/function/function.h"
#include "kernels/graph/graph.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::matmul {

class Epilogue {
public:
    /// What neighbours in a tile are in the result.
    enum class Neighbours {
        OfRow,   ///< so the bias has an element for each of them
        OfColumn ///< so they share one
    };
    Epilogue(const workload::MatmulWorkload& workload, Neighbours neighbours);

    [[nodiscard]] bool is_empty() const { return !add_ && !activation_; }
    [[nodiscard]] bool has_bias() const { return add_ != nullptr; }
    [[nodiscard]] std::vector<std::string> codelets() const;

    /// Rows of neighbouring units, one behind the other: each has the same elements of the bias,
    /// or neighbouring rows have neighbouring ones.
    struct Strip {
        Bytes offset = 0; ///< in the tile's share of the result
        std::int64_t rows = 0;
        std::int64_t units = 0; ///< of a row
        Bytes bias = 0;         ///< where it stands in the bias' buffer
    };
    /// Its compute sets, in their order; each of them only where it is needed.
    struct Sets {
        std::optional<graph::ComputeSetId> add;
        std::optional<graph::ComputeSetId> activation;
    };
    /// Adds the sets, as part of kernel `owner`, and runs them as the next of `steps`; `suffix` tells
    /// them from those of other steps of the product.
    [[nodiscard]] Sets add_sets(graph::Graph& graph, const char* owner, const std::string& suffix,
                                std::vector<graph::Step>& steps) const;
    /// Adds the vertices of a tile: of its `bytes` of the result from `result` on.
    void add(graph::Graph& graph, const spec::MachineSpec& machine, const Sets& sets, TileId tile,
             graph::Place result, Bytes bytes, graph::BufferId bias,
             std::span<const Strip> strips) const;
    /// What the two take of a tile's time.
    struct Taken {
        Cycles add = 0;
        Cycles activation = 0;
    };
    [[nodiscard]] Taken cycles(const spec::MachineSpec& machine, Bytes bytes,
                               std::span<const Strip> strips) const;
    /// Both as steps, of what the slowest tile takes.
    [[nodiscard]] Cycles steps_of(const spec::MachineSpec& machine, const Taken& slowest) const;

private:
    ElementType type_;
    Neighbours neighbours_;
    // planners copy problems often, which mostly have none of the two
    std::shared_ptr<const function::Function> add_;
    std::shared_ptr<const function::Function> activation_;
};

/// What it makes of a product's element, for the check; nothing where there is none. `bias` has
/// the elements of the columns.
[[nodiscard]] workload::AfterProduct after_product(const workload::MatmulWorkload& workload,
                                                   std::vector<double> bias);

} // namespace tessera::matmul
