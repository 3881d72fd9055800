// SPDX-License-Identifier: MIT
// Functions of every element of one input, or of two: what their vertices are and take, and what
// the host holds against them. For kernels of such a function (kernels/elementwise), and for those
// that go on with their own results where these stand.
#pragma once

#include "base/element_type.h"
#include "kernels/codelets/elementwise_cost.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/plan/vertex_cost.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tessera::function {

/// Says what vertices do with a tensor.
enum class Flow : std::uint8_t {
    In,     ///< read it
    Out,    ///< write it
    Through ///< both, where it stands
};

struct Function {
    std::string name;    ///< of the compute set
    std::string codelet; ///< source of the vertex
    std::string vertex;
    codelets::MapLoop loop;
    std::vector<graph::Field> constants = {};
    double flops = 1;                                     ///< of an element
    std::function<double(double x, double y)> value = {}; ///< of one input: y is 0
    /// By what a result may differ from the exact value; nothing: by nothing.
    std::function<double(double x, double y, double exact)> tolerance = {};
    std::vector<Flow> flows = {}; ///< of each side; empty: the last one is the output
    /// Further words of a vertex's state, behind the constants; called for each vertex.
    std::function<std::vector<graph::Field>(TileId tile)> more = {};
};

[[nodiscard]] Function relu(ElementType type);
[[nodiscard]] Function gelu(ElementType type);
/// factor * x + y, which has the type of y: that of x, or f16 where x is f32. `bits`: the factor's.
[[nodiscard]] Function scaled_add(ElementType x, ElementType y, double factor, std::uint32_t bits);
/// y where x is positive, else 0: the gradient of relu, of whose input or output x is one.
[[nodiscard]] Function relu_gradient(ElementType type);
/// y times the derivative of gelu at x.
[[nodiscard]] Function gelu_gradient(ElementType type);
[[nodiscard]] Function tanh(ElementType type);
[[nodiscard]] Function sigmoid(ElementType type);
[[nodiscard]] Function swish(ElementType type); ///< x times the logistic function of x
[[nodiscard]] Function glu(ElementType type);   ///< x times the logistic function of y
/// y times the derivative of swish at x.
[[nodiscard]] Function swish_gradient(ElementType type);
/// y times the derivative of tanh, or of the logistic function, where that is x.
[[nodiscard]] Function tanh_gradient(ElementType type);
[[nodiscard]] Function sigmoid_gradient(ElementType type);
[[nodiscard]] Function rsqrt(ElementType type); ///< 1 / sqrt(x)
/// y times the derivative of 1 / sqrt, where that is x.
[[nodiscard]] Function rsqrt_gradient(ElementType type);
[[nodiscard]] Function multiply(ElementType type); ///< of whole numbers modulo 2^32
[[nodiscard]] Function subtract(ElementType type); ///< the same
[[nodiscard]] Function divide(ElementType type);
[[nodiscard]] Function maximum(ElementType type); ///< the larger one of x and y
[[nodiscard]] Function minimum(ElementType type);
/// The whole number that the lowest bits of x are.
[[nodiscard]] Function narrow(ElementType type, std::int64_t bits);
[[nodiscard]] Function exp(ElementType type);
[[nodiscard]] Function log(ElementType type); ///< the natural logarithm
[[nodiscard]] Function square_root(ElementType type);
/// x + y; where y has no bytes from row to row it is added to every row.
[[nodiscard]] Function add(ElementType type);
/// x + y, where y has an element for each row of x, and neighbouring rows have neighbouring ones.
[[nodiscard]] Function add_to_rows(ElementType type);

/// A tolerance of results that are rounded once.
[[nodiscard]] std::function<double(double, double, double)> one_rounding(ElementType type);

/// An input or an output of vertices.
struct Side {
    graph::Place first; ///< row
    Bytes stride = 0;   ///< from row to row
    Bytes unit_bytes = graph::kUnitBytes;
};

/// Adds uses of bytes in every row, as few as there can be.
void add_uses(std::vector<graph::Field>& uses, const graph::UnitRows& rows, const Side& side,
              Bytes row_bytes, graph::Access access);

/// Adds the vertices that go over rows on a tile: `sides` are where the inputs and then the output
/// have them, or as the function's flows say; `reads` is what they read. The output may stand where
/// an input does.
void add_vertices(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                  const Function& function, const graph::UnitRows& rows,
                  std::span<const Side> sides, std::span<const graph::Field> reads);

/// Adds the vertices that go over all elements of `sides`, tensors that stand alike: the inputs, then
/// the output, or as the function's flows say. `rows`: the units of the first.
void add_vertices(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                  const Function& function, std::span<const graph::UnitRows> rows,
                  std::span<const graph::TensorId> sides);

/// What vertices over rows take of a tile's time.
void add_cycles(plan::StubTimeline& stub, const spec::MachineSpec& machine,
                const codelets::MapLoop& loop, std::int64_t rows, std::int64_t units);

} // namespace tessera::function
