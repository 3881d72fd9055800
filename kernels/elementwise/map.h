// SPDX-License-Identifier: MIT
// A function of every element of one input, or of two: what its vertices are, and what the host holds
// against them. A family of this folder makes a Map; relu.cpp is the smallest.
#pragma once

#include "kernels/codelets/elementwise_cost.h"
#include "kernels/elementwise/placement.h"
#include "kernels/family/family.h"
#include "kernels/graph/graph.h"

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
    /// What a correct machine may be off by where the exact value is `expected`; nothing: by nothing.
    std::function<double(double x, double expected)> tolerance = {};
};

/// An input or the output of vertices.
struct Side {
    graph::Place first; ///< row
    Bytes stride = 0;   ///< from row to row
    Bytes unit_bytes = kUnitBytes;
};

/// Says that the rows of the side are written.
void add_written(std::vector<graph::Field>& uses, const Rows& rows, const Side& side);

/// Adds the vertices that go over rows of units on a tile. `uses`: memory that they touch, which
/// pointers do not say. `sides`: inputs, then the output.
void add_vertices(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                  const Function& function, const Rows& rows, std::span<const Side> sides,
                  std::span<const graph::Field> uses);

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
    [[nodiscard]] std::string name_of_input(std::size_t input, const family::Site& site) const;
    [[nodiscard]] static std::string name_of_output(const family::Site& site);

private:
    Function function_;
    std::vector<family::TensorType> inputs_;
    family::TensorType output_;
    std::vector<const char*> input_names_;
};

/// @throws Refused unless input `number`, called so, is dense, f16 or f32, and has an element
void require_numbers(const family::Request& request, int number, const char* name);
/// @throws Refused unless the second input has the first one's type
void require_same_type(const family::Request& request);
/// "16 x 7"
[[nodiscard]] std::string shape_text(const family::TensorType& type);

/// What one rounding to the type changes at most: half of the last place; of FP16 subnormals half of
/// the least one. FP32 has none: what would be one is zero.
[[nodiscard]] double rounding(ElementType type, double expected);
[[nodiscard]] std::function<double(double, double)> one_rounding(ElementType type);

} // namespace tessera::elementwise
