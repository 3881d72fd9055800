// SPDX-License-Identifier: MIT
// A function of every element of one input, or of two, as a step. A family of this folder makes a
// Map; relu in functions.cpp is the smallest.
#pragma once

#include "kernels/family/family.h"
#include "kernels/function/function.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/places.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::elementwise {

inline constexpr const char* kOutput = "output"; ///< name of the tensor

[[nodiscard]] inline graph::TileRange tiles_of(const family::Site& site) {
    return {site.first_tile, site.machine.chip.tiles};
}

/// All elements of inputs of one shape, where the first offered input stands, or the one that the
/// output is written over. Other inputs, and the output, stand alike.
class Map : public family::Step {
public:
    Map(function::Function function, std::vector<family::TensorType> inputs,
        family::TensorType output, std::vector<const char*> input_names);

    [[nodiscard]] std::vector<family::TensorType> outputs() const override { return {output_}; }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override;
    /// An input that has fewer elements is that of every row.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int threads) const override;
    [[nodiscard]] double flops() const override;

protected:
    [[nodiscard]] const function::Function& function() const { return function_; }
    [[nodiscard]] const std::vector<family::TensorType>& inputs() const { return inputs_; }
    /// What an input of the step's own is, without its places.
    [[nodiscard]] graph::Tensor tensor_of(std::size_t input) const;
    /// Adds it in even runs on all tiles.
    graph::TensorId add_input(graph::Graph& graph, std::size_t input,
                              const family::Site& site) const;
    /// Where the output stands: over the input that it is the tensor of, if vertices may write there;
    /// else alike in buffers of its own.
    graph::TensorId add_output(graph::Graph& graph, const family::Site& site,
                               const std::vector<graph::TensorId>& inputs) const;
    [[nodiscard]] const family::TensorType& output_type() const { return output_; }
    /// Where the inputs are read, all alike.
    std::vector<graph::TensorId>
    read_alike(graph::Graph& graph, const family::Site& site,
               std::span<const std::optional<graph::TensorId>> where) const;
    /// The same for vertices that sum up: units have elements alone, or zeros beside them.
    std::vector<graph::TensorId>
    read_whole_units(graph::Graph& graph, const family::Site& site,
                     std::span<const std::optional<graph::TensorId>> where) const;
    /// Has zeros beside elements in buffers that these tensors have for themselves.
    static void pad(graph::Graph& graph, std::span<const graph::TensorId> tensors);
    /// Adds the compute set of the vertices, and their codelet.
    graph::ComputeSetId add_work(graph::Graph& graph, const family::Site& site) const;

private:
    function::Function function_;
    std::vector<family::TensorType> inputs_;
    family::TensorType output_;
    std::vector<const char*> input_names_;
};

} // namespace tessera::elementwise
