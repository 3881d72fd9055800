// SPDX-License-Identifier: MIT
// LAMB: the direction of Adam with weight decay, and a rate for each tensor by its norm and the
// direction's.
//
//     on each tile       state, norms of its elements, a sum of these
//     over the chip      both sums, which come to all tiles with weights
//     on each tile       the rate, and the weights; the direction is made anew, so that it takes no memory
#include "kernels/elementwise/adam.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/worker_pairs.h"
#include "kernels/family/numbers.h"
#include "kernels/family/pair_sums.h"
#include "kernels/function/constants.h"

#include <cmath>
#include <memory>
#include <utility>

namespace tessera::elementwise {
namespace {

using function::Flow;
using function::Function;
using function::Near;

constexpr Bytes kSumBytes = 8;
constexpr Bytes kScalarBytes = 16;

class Lamb final : public AdamStep {
public:
    using AdamStep::AdamStep;

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        const AdamReference reference(options(), *inputs[4]);
        const auto constant = [](double number) {
            return function::near_constant(ElementType::F32, number);
        };
        const auto number = [&](std::size_t input, std::int64_t i) {
            return family::number_at(*inputs[input], i);
        };
        const auto change = [&](const Near& factor, std::int64_t i) {
            return reference.quotient(factor, reference.first(number(2, i), number(1, i)),
                                      reference.second(number(3, i), number(1, i)));
        };
        SumOfSquares weights;
        SumOfSquares directions;
        for (std::int64_t i = 0; i < outputs[0].type.stored_elements(); ++i) {
            const Near weight = function::near(ElementType::F32, number(0, i));
            weights.add(weight);
            directions.add(change(function::near(ElementType::F32, 1), i) +
                           constant(options().weight_decay) * weight);
        }
        const Near of_weights = weights.sum(additions_);
        const Near of_directions = directions.sum(additions_);
        const bool is_zero = of_weights.exact == 0 || of_directions.exact == 0;
        const Near trust =
            is_zero ? function::near(ElementType::F32, 1) : sqrt(of_weights / of_directions);
        const Near rate = constant(options().rate) * trust;
        const Near keep = function::near(ElementType::F32, 1) -
                          constant(options().rate * options().weight_decay) * trust;
        return check_all(inputs, outputs, reference, [&](std::int64_t i) {
            return changed(weights_type(), keep, number(0, i), change(rate, i));
        });
    }

private:
    [[nodiscard]] bool sums_units() const override { return true; }

    [[nodiscard]] graph::Step update(graph::Graph& graph, const family::Site& site,
                                     graph::ComputeSetId set, const Places& places) override {
        graph.need_codelet("elementwise_lamb");
        const bool is_half = weights_type() == ElementType::F16;
        Function norms{.name = {},
                       .codelet = "elementwise_lamb",
                       .vertex = is_half ? "lamb_norms_f16" : "lamb_norms_f32",
                       .loop = is_half ? codelets::kLambNormsF16Loop : codelets::kLambNormsF32Loop,
                       .constants = {function::single(options().weight_decay)},
                       .flows = {Flow::In, Flow::In, Flow::In}};
        WorkerPairs pairs(graph, site.machine);
        pairs.add_to(norms);
        add_vertices(graph, site, set, std::move(norms), places);
        const family::PairsOnTiles sums = std::move(pairs).hold();

        const graph::BufferId total = graph.add_buffer({.name = "sums of squares"});
        const family::PairSum sum = family::add_pair_sum(graph, site, set, sums, {total});
        additions_ = sum.additions + most_units_on_a_tile(graph, places.moments[0]);
        const auto bring =
            graph.add_exchange({"bring sums of squares", program::Role::Bring, site.owner});
        const auto apply = add_work(graph, site);
        std::vector<graph::Receiver> receivers;
        for (const auto& [tile, count] : sums.count) {
            graph.hold(total, tile, kSumBytes);
            if (tile != sum.tile) {
                receivers.push_back({tile, {total}});
            }
            graph.add_vertex(apply, tile, "lamb_scalars", program::VertexKind::Worker,
                             {graph::read({total}, kSumBytes),
                              graph::pointer({places.scalars}, kScalarBytes, graph::Access::Update),
                              function::single(options().rate),
                              function::single(options().rate * options().weight_decay),
                              function::single(1)});
        }
        graph.add_message(bring, sum.tile, {total}, kSumBytes, receivers);
        add_apply(graph, site, apply, places);
        return graph::sequence({graph::run(set), sum.steps, graph::run(bring), graph::run(apply)});
    }

    std::int64_t additions_ = 0; ///< on the way to a sum, after emit()
};

} // namespace

const family::Family& lamb() {
    static const family::Family family = adam_family(
        "lamb", "as adam, at a rate that goes with the norm of the weights over that of the change",
        [](const family::Request& request) -> std::unique_ptr<family::Step> {
            require_adam_inputs(request);
            return std::make_unique<Lamb>("lamb", request, adam_options_of(lamb(), request));
        });
    return family;
}

} // namespace tessera::elementwise
