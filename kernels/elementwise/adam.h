// SPDX-License-Identifier: MIT
// Optimisers with two moments have this in common: their options, where their state stands, the
// vertices that bring the moments on, and the host's numbers for one element.
//
//     corrections  q = beta q + (1 - beta) of both betas, from 0 on. Every tile with weights has a copy
//                  and brings it on by itself, so that no round is counted and nothing is sent
//     moments      m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2
//     weights      w - rate ((m / q1) / (sqrt(v / q2) + epsilon) + weight_decay w), in which lamb
//                  takes another rate
#pragma once

#include "kernels/elementwise/map.h"
#include "kernels/family/family.h"
#include "kernels/function/near.h"
#include "kernels/graph/graph.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::elementwise {

struct AdamOptions {
    double rate = 0;
    std::array<double, 2> beta{};
    double epsilon = 0;
    double weight_decay = 0;
};

/// A family of such steps.
[[nodiscard]] family::Family
adam_family(std::string_view name, const char* says,
            std::unique_ptr<family::Step> (*make)(const family::Request& request));

/// Such a step keeps this beside weights; it is 0 at first.
[[nodiscard]] std::vector<family::TensorType> adam_state(const family::TensorType& weights);

/// @throws Refused unless the inputs go together
void require_adam_inputs(const family::Request& request);
/// @throws Refused for numbers out of range
[[nodiscard]] AdamOptions adam_options_of(const family::Family& family,
                                          const family::Request& request);

/// One step of the optimiser for one element, with what the machine's numbers may be off.
class AdamReference {
public:
    AdamReference(const AdamOptions& options, const family::Value& corrections);

    [[nodiscard]] const function::Near& correction(std::size_t moment) const {
        return corrections_[moment];
    }
    /// The moments behind the step.
    [[nodiscard]] function::Near first(double m, double g) const;
    [[nodiscard]] function::Near second(double v, double g) const;
    /// factor / q1 m / (sqrt(v / q2) + epsilon), for moments as they stand behind the step.
    [[nodiscard]] function::Near quotient(const function::Near& factor, const function::Near& m,
                                          const function::Near& v) const;

private:
    AdamOptions options_;
    std::array<function::Near, 2> corrections_;
};

/// keep w - change, as the type of weights has it.
[[nodiscard]] function::Near changed(ElementType type, const function::Near& keep, double weight,
                                     const function::Near& change);

/// A step with the weights first, then gradient, both moments and corrections.
class AdamStep : public Map {
public:
    AdamStep(std::string name, const family::Request& request, const AdamOptions& options);

    [[nodiscard]] std::vector<family::TensorType> outputs() const override;
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override;
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int threads) const override;

protected:
    /// Where a step works.
    struct Places {
        graph::TensorId weights;
        graph::TensorId gradient;
        std::array<graph::TensorId, 2> moments;
        graph::BufferId scalars; ///< that adam_corrections writes, on each tile with weights
    };
    [[nodiscard]] const AdamOptions& options() const { return options_; }
    [[nodiscard]] ElementType weights_type() const { return inputs()[0].type; }
    /// Whether the update sums over units, in which there are zeros beside elements then.
    [[nodiscard]] virtual bool sums_units() const { return false; }
    /// Adds what changes the weights behind the steps in `set`, which bring the state on, or to it.
    [[nodiscard]] virtual graph::Step update(graph::Graph& graph, const family::Site& site,
                                             graph::ComputeSetId set, const Places& places);
    /// Adds the vertices that take the moments and then go over the weights.
    void add_vertices(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                      function::Function function, const Places& places) const;
    /// The last of them: w = keep w - factor m / (sqrt(v / q2) + epsilon).
    void add_apply(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                   const Places& places) const;
    /// Compares what the step left with the reference: the weights with those that `weight` says.
    [[nodiscard]] static family::Checked
    check_all(std::span<const family::Value* const> inputs, std::span<const family::Value> outputs,
              const AdamReference& reference,
              const std::function<function::Near(std::int64_t element)>& weight);

private:
    /// Where a tensor may be updated: itself if it is also the output, else a copy.
    [[nodiscard]] graph::TensorId place_of(graph::Graph& graph, const family::Site& site,
                                           std::size_t output, std::size_t input,
                                           graph::TensorId stands,
                                           std::vector<graph::Step>& copies) const;
    void add_moments(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                     const Places& places) const;

    AdamOptions options_;
};

} // namespace tessera::elementwise
