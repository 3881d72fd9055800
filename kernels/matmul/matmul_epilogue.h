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

#include <array>
#include <memory>
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

    [[nodiscard]] bool is_empty() const { return after_->empty(); }
    [[nodiscard]] bool has_bias() const { return !is_empty() && after_->front().is_bias; }
    void add_codelets(std::vector<std::string>& sources) const;

    /// Rows of neighbouring units, one behind the other: each has the same elements of the bias,
    /// or neighbouring rows have neighbouring ones.
    struct Strip {
        Bytes offset = 0; ///< in the tile's share of the result
        std::int64_t rows = 0;
        std::int64_t units = 0; ///< of a row
        Bytes bias = 0;         ///< where it stands in the bias' buffer
    };
    /// The tiles that have results of some columns. The first one is the home of the bias of these
    /// columns and sends it to the others.
    struct BiasPart {
        std::int64_t first = 0; ///< column
        std::int64_t columns = 0;
        Bytes bytes = 0; ///< on each tile
        std::vector<TileId> tiles;
    };
    /// Adds the messages that bring the bias to a buffer. Returns the tensor that the host gives.
    [[nodiscard]] graph::Tensor bring_bias(graph::Graph& graph, graph::ExchangeId exchange,
                                           graph::BufferId bias,
                                           std::span<const BiasPart> parts) const;
    /// Adds its compute sets, in their order, as part of kernel `owner`, and runs them as the next of
    /// `steps`; `suffix` tells them from those of other steps of the product.
    [[nodiscard]] std::vector<graph::ComputeSetId> add_sets(graph::Graph& graph, const char* owner,
                                                            const std::string& suffix,
                                                            std::vector<graph::Step>& steps) const;
    /// Adds the vertices of a tile: of its `bytes` of the result from `result` on.
    void add(graph::Graph& graph, const spec::MachineSpec& machine,
             std::span<const graph::ComputeSetId> sets, TileId tile, graph::Place result,
             Bytes bytes, graph::BufferId bias, std::span<const Strip> strips) const;
    /// What each of them takes of a tile's time.
    using Taken = std::array<Cycles, 2>;
    [[nodiscard]] Taken cycles(const spec::MachineSpec& machine, Bytes bytes,
                               std::span<const Strip> strips) const;
    /// All as steps, of what the slowest tile takes.
    [[nodiscard]] Cycles steps_of(const spec::MachineSpec& machine, const Taken& slowest) const;

private:
    struct After {
        function::Function function;
        bool is_bias = false;

        /// What it goes over of a tile's share: the bias' strips, or all in one row.
        [[nodiscard]] std::vector<Strip> rows_of(Bytes bytes, std::span<const Strip> strips) const;
    };

    ElementType type_;
    Neighbours neighbours_;
    /// At most two. Planners copy problems often.
    std::shared_ptr<const std::vector<After>> after_;
};

/// What it makes of a product's element, for the check; nothing where there is none. `bias` has
/// the elements of the columns.
[[nodiscard]] workload::AfterProduct after_product(const workload::MatmulWorkload& workload,
                                                   std::vector<double> bias);

} // namespace tessera::matmul
