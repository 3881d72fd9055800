// SPDX-License-Identifier: MIT
// A published plan of a dense product written down in a graph, one step of its out-groups after the
// other.
#pragma once

#include "base/units.h"
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

private:
    void add_codelets();
    void add_buffers();
    void add_step();
    [[nodiscard]] graph::ComputeSetId add_set(const std::string& name, program::Role role,
                                              const char* unit);

    // bring.cpp: how X and a step's weights come from where they stand to the tiles that multiply them.
    /// Returns the exchange that brings the step's weights.
    graph::ExchangeId bring_operands(graph::ComputeSetId copies);
    void bring_inputs(graph::ExchangeId exchange, graph::ComputeSetId copies);
    /// Adds their homes. The slice of a serial step is copied, in `slice`, out of what stands there
    /// for all steps.
    void bring_weights(graph::ComputeSetId slice, graph::ExchangeId exchange,
                       graph::ComputeSetId copies);

    // multiply.cpp: the vertices that multiply, and what the tiles read and write in a step.
    void add_multiply(graph::ComputeSetId set);
    void add_vertex(graph::ComputeSetId set, TileId tile);
    [[nodiscard]] graph::Field worklists(TileId tile, std::int64_t columns);

    // reduce.cpp: the stages that sum partial results.
    struct Stage;
    /// What the tiles have behind a step's multiplication: of each part of the result as many
    /// partial results as k has parts, on whole tiles each.
    [[nodiscard]] Partials partials_of_step() const;
    /// Adds the stages that make one of each part's partial results. Returns the last stage's
    /// exchange.
    graph::ExchangeId add_reduction();
    graph::ExchangeId add_stage(std::size_t number, std::int64_t left);
    [[nodiscard]] Partial reduce_section(Stage& stage, const std::vector<Partial>& partials,
                                         std::int64_t section, published::DensePart part);
    void add_reduce(Stage& stage, TileId tile, const published::Run& share,
                    std::span<const Partial> partials, std::int64_t place_in_section);
    void add_sum(const Stage& stage, TileId tile, std::optional<graph::Place> own,
                 std::int64_t count, std::int64_t cells);

    // results.cpp: what becomes of a step's sums where they stand, each the only partial result of
    // its part.
    template <class Each> void for_results(const Each& each) {
        for (std::vector<Partial>& partials : partials_) {
            for (HeldCells& held : partials.front()) {
                each(held);
            }
        }
    }
    void cast_results();
    void regroup_results();
    /// They join those of the steps before.
    void update_result();
    /// Each part of the columns has its bias on the first tile that has some of its result; the
    /// others of them get it from there.
    void bring_bias(graph::ExchangeId exchange);
    void add_epilogue();

    // tensors.cpp: how the host sees operands and result.
    /// Adds blocks [first, last) of a step's weights of a tile, one after the other from `place` on.
    void add_blocks(TileId tile, graph::Place place, const published::Run& blocks);
    void add_results();
    [[nodiscard]] graph::Tensor inputs_tensor() const;
    [[nodiscard]] graph::Tensor bias_tensor() const;

    /// Of all steps, where there are several: `result`, `home_weights`.
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
        std::vector<graph::BufferId> slots; ///< of the reduction's stages
        std::vector<graph::BufferId> sums;  ///< of them
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
    graph::Tensor weights_;
    graph::Tensor result_;
    std::vector<Bytes> filled_weights_; ///< of their homes in all steps so far, by tile
    std::vector<Bytes> filled_results_; ///< likewise
    std::vector<TileId> bias_homes_;    ///< by part of the columns
};

} // namespace tessera::matmul
