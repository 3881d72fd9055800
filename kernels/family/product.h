// SPDX-License-Identifier: MIT
// The dense and the sparse product share this as steps of a pipeline: operands `a`, dense or sparse,
// and `b`, a bias if there is one, what the product is added to, and the check of docs/kernels.md#checks.
#pragma once

#include "kernels/codelets/product_types.h"
#include "kernels/family/family.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/turned.h"
#include "kernels/lower/lower.h"
#include "kernels/plan/predicted_cycles.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::family {

/// Operand that both tiles of a pair receive, at double width.
enum class Paired { None, A, B };
/// "none", "a" or "b"
[[nodiscard]] constexpr const char* name_of(Paired paired) {
    return paired == Paired::None ? "none" : paired == Paired::A ? "a" : "b";
}

/// How a product is cut.
struct Cuts {
    std::int64_t parts_m = 1; ///< cuts of the rows of the result
    std::int64_t parts_k = 1; ///< cuts of the contraction
    std::int64_t parts_n = 1; ///< cuts of the columns of the result
    std::int64_t chunks = 1;  ///< exchange and compute rounds
    Paired paired = Paired::None;
    std::int64_t groups_at_once = 1; ///< groups side by side; the cuts are those of each
    bool is_mirrored = false;        ///< C' = B' A' is what the tiles multiply

    /// Tiles of a group.
    [[nodiscard]] std::int64_t tiles() const { return parts_m * parts_k * parts_n; }
};

/// How a product is divided.
struct Division : Cuts {
    std::int64_t tiles_busy = 0; ///< tiles that multiply
    std::int64_t roundings = 0;  ///< to the partials' type, of the result element that has most
    plan::PredictedCycles predicted;
};

/// A division that fits. Tensors of its graph and its program: 0 and 1 are the operands `a` (sparse:
/// its stored values in block order) and `b`, 2 the result `c`, 3 the bias where there is one. Last
/// comes what the product is added to, where that is not the result.
struct Divided {
    Division division;
    lower::Lowered lowered;
    graph::Graph graph; ///< from which that was lowered
    /// Tensor `a` is the operand as it is given, though the product reads its transpose.
    bool has_given_a = false;
};

/// A product as a graph on tiles from 0 on.
struct Planned {
    graph::Graph graph;
    Division division; ///< with what its compute sets are predicted to take, not yet its exchanges
    bool has_given_a = false; ///< see Divided
};

/// The same whose buffers have places: what it takes at least is known, not yet what it takes.
struct Placed {
    Planned planned;
    lower::PlacedGraph lowering; ///< of the graph
    Cycles least = 0;            ///< of the run, each exchange at its bound
};
/// The plan of a product, with a step behind it that adds the result to a tensor alike.
/// Cycles: kernels/codelets/elementwise_cost.h.
[[nodiscard]] Planned accumulated(const spec::MachineSpec& machine, Planned planned,
                                  workload::Accumulate accumulate);

/// A tile's part of a product's reduction, in units of 16 bytes of partial results.
struct PartialSum {
    graph::Place own;
    graph::Place others;     ///< partial results of other tiles, one behind the other
    std::int64_t slices = 0; ///< of these
    std::int64_t units = 0;
    graph::Place result;
};
/// Adds the vertex that sums them and rounds the sum to the result's type; codelet "reduce_add_*".
/// Cycles: plan::StubTimeline::reduce().
void add_sum(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
             TileId tile, codelets::ProductTypes types, const PartialSum& sum);

/// @throws as lower::lower
[[nodiscard]] Placed placed(const spec::MachineSpec& machine, Planned planned,
                            workload::Accumulate accumulate = workload::Accumulate::None);
[[nodiscard]] Divided lowered(const spec::MachineSpec& machine, Placed placed,
                              exchange_plan::KnownSchedules& known);
/// Both, one after the other.
[[nodiscard]] Divided lowered(const spec::MachineSpec& machine, Planned planned,
                              workload::Accumulate accumulate,
                              exchange_plan::KnownSchedules& known);

/// A division by closed forms alone, as searches compare them: no program is made, and whether its
/// last bytes find a place is not known.
struct Estimate {
    Cuts cuts;
    plan::PredictedCycles predicted;
    Bytes bytes = 0; ///< of the fullest tile

    [[nodiscard]] Cycles cycles() const { return predicted.total(); }
};

/// `estimate`, of a product that `what` names, for those who take it for the answer; with a step
/// behind it that adds the result, so many elements of a type, to a tensor alike. @throws DoesNotFit
/// where it takes more than a tile has
[[nodiscard]] Estimate fitting(const spec::MachineSpec& machine, const std::string& what,
                               Estimate estimate, workload::Accumulate accumulate, ElementType type,
                               std::int64_t elements);

/// Before that. @throws NotModelled for the published plan, where the machine lacks instructions of a
/// codelet, and for a fabric on which messages wait for links, which closed forms know nothing of
void check_estimable(const spec::MachineSpec& machine, const std::string& what,
                     const std::vector<std::string>& codelets, workload::PlanKind plan);

class Product : public Step {
public:
    [[nodiscard]] std::vector<TensorType> outputs() const final;
    [[nodiscard]] Emitted emit(graph::Graph& graph, const Site& site,
                               std::span<const std::optional<graph::TensorId>> where) final;
    [[nodiscard]] Checked check(std::span<const Value* const> inputs,
                                std::span<const Value> outputs, int threads) const final;
    [[nodiscard]] double flops() const final;
    [[nodiscard]] const Division* division() const final { return &division_; }
    [[nodiscard]] std::optional<ProductWork> product() const final;

protected:
    /// @throws Refused for operands that do not go together
    Product(const Family& family, const Request& request);

    /// The best division for a machine by itself. @throws DoesNotFit, NotModelled
    [[nodiscard]] virtual Divided choose(const Site& site) const = 0;
    /// Says what becomes of the product's elements, whose columns have these elements of a bias (none
    /// where there is no bias).
    [[nodiscard]] virtual workload::AfterProduct after(std::vector<double> bias) const = 0;
    /// Whether whole numbers stay whole numbers in that.
    [[nodiscard]] virtual bool keeps_whole_numbers() const { return true; }

    /// What both products are told, as of a dense one.
    [[nodiscard]] const workload::MatmulWorkload& told() const { return told_; }
    /// The part of a sentence that says so: ", added to c", or nothing.
    [[nodiscard]] const char* added_text() const {
        return told_.accumulate == workload::Accumulate::None ? "" : ", added to c";
    }
    /// Where the sum stands that it is told to make.
    [[nodiscard]] workload::Accumulate accumulate_on(const Site& site) const;
    [[nodiscard]] const TensorType& a() const { return inputs_[0]; }
    /// Whether an operand stands as its transpose.
    [[nodiscard]] bool is_transposed(std::size_t operand = 0) const { return transposed_[operand]; }
    /// Whether an operand stands on tiles already, while the step is emitted.
    [[nodiscard]] bool stands(std::size_t operand) const { return stands_[operand]; }
    /// Roundings of the result's element that has most, of a sparse left operand as the product reads it.
    [[nodiscard]] virtual std::int64_t roundings(const workload::SparsePattern& /*pattern*/) const {
        return division_.roundings;
    }
    /// The pattern of a sparse left operand as the product reads it.
    [[nodiscard]] const workload::SparsePattern& pattern() const {
        return turned_ ? turned_->pattern : *a().sparse;
    }

    /// The tiles of a dense operand's squares, if all are of the site and have to be turned.
    [[nodiscard]] const std::optional<graph::SquareTiles>& squares_of(std::size_t operand) const {
        return squares_[operand];
    }

    /// Of a sparse left operand that is transposed, in which order its blocks are then.
    [[nodiscard]] const std::optional<workload::TransposedPattern>& turned() const {
        return turned_;
    }

private:
    /// Tiles of squares of `tensor`, an operand, by the site's tiles.
    [[nodiscard]] std::optional<graph::SquareTiles>
    standing_squares(const graph::Tensor& tensor, const Site& site, std::size_t operand) const;
    [[nodiscard]] std::vector<std::int64_t> with_leading(std::vector<std::int64_t> sizes) const;
    /// Says what becomes of elements of a group's product behind `after`.
    [[nodiscard]] workload::AfterProduct accumulating(workload::AfterProduct after,
                                                      std::span<const Value* const> inputs,
                                                      std::int64_t group) const;
    template <class Element>
    [[nodiscard]] workload::CheckResult checked(std::span<const Value* const> inputs,
                                                const Value& output,
                                                workload::CheckOptions options) const;

    std::vector<TensorType> inputs_;
    std::optional<workload::TransposedPattern> turned_; ///< of a sparse operand that is transposed
    bool transposed_[2] = {false, false}; ///< whether the operand stands as its transpose
    workload::MatmulWorkload told_;
    bool stands_[2] = {false, false};
    std::optional<graph::SquareTiles> squares_[2];
    Division division_;
};

/// Options that both have: partials, plan, transpose_a, transpose_b, accumulate.
[[nodiscard]] std::vector<Option> product_options();

/// The family of products whose steps are `OfStep`. The last inputs need not be told.
template <class OfStep>
[[nodiscard]] Family product_family(std::string_view name, const char* says,
                                    std::vector<const char*> inputs, std::size_t optional_inputs) {
    Family made{name, says, std::move(inputs), product_options(),
                [](const Request& request) -> std::unique_ptr<Step> {
                    return std::make_unique<OfStep>(request);
                }};
    made.optional_inputs = optional_inputs;
    return made;
}

} // namespace tessera::family
