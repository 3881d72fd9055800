// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/family/sampled.h"
#include "kernels/family/standing.h"
#include "kernels/graph/append.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_shared.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sparse {
namespace {

class SampledStep final : public family::Step {
public:
    explicit SampledStep(const family::Request& request)
        : inputs_(request.inputs), told_(family::sampled_of(sampled(), request)) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{a().type, a().shape, a().sparse}};
    }
    [[nodiscard]] std::optional<family::SparseUse> sparse_use() const override {
        if (told_.plan == workload::PlanKind::Published) {
            return std::nullopt;
        }
        return use();
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const SharedPatterns patterns{a().sparse, workload::transposed(*a().sparse)};
        graph::Graph part = plan_pass(site.machine, patterns, problem_of(patterns, a().type, use()),
                                      split_on(site, patterns))
                                .graph;
        std::vector<family::Wanted> wanted;
        for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
            wanted.push_back({graph::TensorId{i}, where[i]});
        }
        const auto stands = family::standing(graph, part, site, wanted, {});
        auto appended =
            graph::append(graph, std::move(part), site.first_tile, site.owner, stands.shared);
        family::Emitted made;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const bool is_read_there = stands.inputs[i] || (i == 0 && where[0]);
            made.inputs.push_back(is_read_there ? *where[i] : appended.tensors.at(i));
        }
        made.outputs = {appended.tensors.at(inputs_.size())};
        made.steps = std::move(appended.control);
        for (const graph::TensorId tensor : appended.tensors) {
            graph.tensors[tensor.index].given = false;
            graph.tensors[tensor.index].wanted = false;
        }
        return made;
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        return family::compare_sampled(inputs, outputs[0], false);
    }
    [[nodiscard]] double flops() const override {
        return 2 * real(a().stored_elements()) * real(use().n);
    }
    [[nodiscard]] std::string sentence() const override {
        return fmt::format("sddmm {} x {} x {}, {} stored elements in {} x {} blocks", a().shape[0],
                           use().n, a().shape[1], a().stored_elements(), a().sparse->block,
                           a().sparse->block);
    }

private:
    [[nodiscard]] const family::TensorType& a() const { return inputs_[0]; }
    [[nodiscard]] family::SparseUse use() const {
        return {.kind = Pass::Sampled,
                .n = inputs_[1].shape[1],
                .partials = told_.partials,
                .accumulates = false};
    }

    [[nodiscard]] Split split_on(const family::Site& site, const SharedPatterns& patterns) const {
        if (site.matrix != nullptr) {
            if (const auto shared =
                    shared_split(site.machine, *site.matrix, patterns, a().type, told_.partials)) {
                return *shared;
            }
        }
        const auto own = choose_split(site.machine, patterns, a().type, {use()});
        if (!own) {
            throw DoesNotFit(sentence() + " does not fit in tile memory by any division");
        }
        return *own;
    }

    std::vector<family::TensorType> inputs_;
    family::Sampled told_;
};

} // namespace

const family::Family& sampled() {
    static const family::Family sddmm =
        family::sampled_family([](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<SampledStep>(request);
        });
    return sddmm;
}

} // namespace tessera::sparse
