// SPDX-License-Identifier: MIT
// A function of every element of one input, or of two: what its vertices are, and what the host holds
// against them. A family of this folder makes a Map; relu.cpp is the smallest.
#pragma once

#include "kernels/codelets/elementwise_cost.h"
#include "kernels/family/family.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::elementwise {

struct Function {
    std::string name;    ///< of the compute set
    std::string codelet; ///< source of the vertex
    std::string vertex;
    codelets::MapLoop loop;
    std::vector<graph::Field> constants = {};
    double flops = 1;                                ///< of an element
    std::function<double(double x, double y)> value; ///< of one input: y is 0
    /// By what a result may differ from the exact value; nothing: by nothing.
    std::function<double(double x, double exact)> tolerance = {};
};

/// An input or the output of vertices.
struct Side {
    graph::Place first; ///< row
    Bytes stride = 0;   ///< from row to row
    Bytes unit_bytes = graph::kUnitBytes;
};

/// Adds uses of bytes in every row, as few as there can be.
void add_uses(std::vector<graph::Field>& uses, const graph::UnitRows& rows, const Side& side,
              Bytes row_bytes, graph::Access access);

/// Adds the vertices that go over rows on a tile: `sides` are where the inputs and then the output have
/// them, `reads` what they read.
void add_vertices(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                  const Function& function, const graph::UnitRows& rows,
                  std::span<const Side> sides, std::span<const graph::Field> reads);

[[nodiscard]] inline graph::TileRange tiles_of(const family::Site& site) {
    return {site.first_tile, site.machine.chip.tiles};
}

/// All elements of inputs of one shape, where the first offered input stands. Other inputs, and the
/// output, stand alike.
class Map : public family::Step {
public:
    Map(Function function, std::vector<family::TensorType> inputs, family::TensorType output,
        std::vector<const char*> input_names);

    [[nodiscard]] family::TensorType output() const override { return output_; }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override;
    /// An input that has fewer elements is that of every row.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        const family::Value& output, int threads) const override;
    [[nodiscard]] double flops() const override;

protected:
    [[nodiscard]] const Function& function() const { return function_; }
    [[nodiscard]] const std::vector<family::TensorType>& inputs() const { return inputs_; }
    /// What an input of the step's own is, without its places.
    [[nodiscard]] graph::Tensor tensor_of(std::size_t input) const;
    /// Adds it in even runs on all tiles.
    graph::TensorId add_input(graph::Graph& graph, std::size_t input,
                              const family::Site& site) const;
    /// Adds the output in the places of `x`.
    graph::TensorId add_output(graph::Graph& graph, graph::TensorId x) const;
    /// Adds the compute set of the vertices, and their codelet.
    graph::ComputeSetId add_work(graph::Graph& graph, const family::Site& site) const;

private:
    /// Where the inputs are read, one of them where `model` stands, the others alike.
    std::vector<graph::TensorId>
    read_alike(graph::Graph& graph, const family::Site& site,
               std::span<const std::optional<graph::TensorId>> where) const;

    Function function_;
    std::vector<family::TensorType> inputs_;
    family::TensorType output_;
    std::vector<const char*> input_names_;
};

/// A tolerance of results that are rounded once.
[[nodiscard]] std::function<double(double, double)> one_rounding(ElementType type);

} // namespace tessera::elementwise
