// SPDX-License-Identifier: MIT
// Writes a published plan of a dense product as a graph. A serial plan has one step for each slice
// of its out-groups.
#pragma once

#include "base/units.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/filling.h"
#include "kernels/graph/graph.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/published/layout.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::matmul {

class PublishedEmitter {
public:
    /// Keeps a reference to the layout.
    PublishedEmitter(const PublishedLayout& layout, const std::string& name);
    [[nodiscard]] graph::Graph run();
    /// After run(): cycles in which FP32 results are regrouped, of all steps.
    [[nodiscard]] Cycles regrouping() const { return regrouping_; }

private:
    void add_codelets();
    void add_buffers();
    void add_step();
    [[nodiscard]] graph::ComputeSetId add_set(const std::string& name, program::Role role,
                                              const char* unit);

    // bring.cpp: moves X and a step's weights from their homes, where the host writes them, to the
    // tiles that multiply them.
    /// Returns the exchange that brings the step's weights.
    graph::ExchangeId bring_operands(graph::ComputeSetId copies);
    void bring_inputs(graph::Bringing bringing);
    /// Adds the weights' homes too. In a serial plan these hold the weights of all steps, and the
    /// compute set `slice` copies out those of one step.
    void bring_weights(graph::ComputeSetId slice, graph::Bringing bringing);
    /// The share of this step that a tile has.
    [[nodiscard]] TileShare share(TileId tile) const { return layout_.share(tile, step_); }
    /// Adds blocks [first, last) of a step's weights of a tile, one after the other from `place` on.
    void add_blocks(TileId tile, graph::Place place, const Range& blocks);
    [[nodiscard]] graph::Tensor inputs_tensor() const;

    // multiply.cpp: the vertices that multiply, and what the tiles read and write in a step.
    void add_multiply(graph::ComputeSetId set);
    void add_vertex(graph::ComputeSetId set, TileId tile);
    [[nodiscard]] graph::Field worklists(TileId tile, std::int64_t columns);

    // reduce.cpp: the stages that sum partial results.
    struct Stage;
    /// The partial results that a step's multiplication leaves: for each part of the result one
    /// for each part of k, and each of them on a single tile.
    [[nodiscard]] Partials partials_of_step() const;
    /// Adds the stages that sum each part's partial results to one. Returns the last stage's
    /// exchange.
    graph::ExchangeId add_reduction();
    graph::ExchangeId add_stage(std::size_t number, std::int64_t left);
    [[nodiscard]] Partial reduce_section(Stage& stage, const std::vector<Partial>& partials,
                                         std::int64_t section, TileShare of);
    void add_reduce(Stage& stage, TileId tile, const Range& share,
                    std::span<const Partial> partials, std::int64_t place_in_section);
    void add_sum(const Stage& stage, TileId tile, std::optional<graph::Place> own,
                 std::int64_t count, std::int64_t cells);

    // results.cpp: what the tiles do with a step's sums, of which each part has a single one by
    // now, and how the host reads them.
    template <class Each> void for_results(const Each& each) {
        for (std::vector<Partial>& partials : partials_) {
            for (HeldCells& held : partials.front()) {
                each(held);
            }
        }
    }
    void cast_results();
    void regroup_results();
    /// Copies the step's results behind those of the steps before.
    void update_result();
    void bring_bias(graph::ExchangeId exchange);
    void add_epilogue();
    /// Adds the step's results to the tensor that the host reads.
    void add_results();

    /// Where a plan has several steps, `result` and `home_weights` hold what all of them need.
    struct Buffers {
        graph::BufferId out; ///< partial results
        graph::BufferId weights;
        graph::BufferId x;
        graph::BufferId home_weights;
        graph::BufferId slice; ///< of a step's weights, as they are sent
        graph::BufferId home_x;
        graph::BufferId stack;
        graph::BufferId result;
        graph::BufferId cast;
        graph::BufferId regrouped;
        graph::BufferId bias;               ///< where there is one
        std::vector<graph::BufferId> slots; ///< received partial results, by reduction stage
        std::vector<graph::BufferId> sums;  ///< by reduction stage
    };

    const PublishedLayout& layout_;
    const PublishedCells& cells_;
    const published::DenseSplit& split_;
    Epilogue epilogue_;
    graph::Graph graph_;
    Buffers buffers_;
    std::vector<graph::Step> steps_; ///< of the control program
    std::int64_t step_ = 0;
    Partials partials_; ///< of this step
    Cycles regrouping_ = 0;
    graph::Tensor weights_;
    graph::Tensor result_;
    graph::Tensor bias_;
    graph::Filling home_weights_; ///< after the steps so far
    graph::Filling results_;      ///< likewise
};

} // namespace tessera::matmul
