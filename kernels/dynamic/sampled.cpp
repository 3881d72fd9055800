// SPDX-License-Identifier: MIT
#include "kernels/family/sampled.h"

#include "kernels/dynamic/dynamic.h"
#include "kernels/dynamic/operand.h"
#include "kernels/dynamic/values_gradient.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/family/standing.h"
#include "kernels/graph/append.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::dynamic {
namespace {

class SampledStep final : public family::Step, public OperandOwner {
public:
    explicit SampledStep(const family::Request& request)
        : inputs_(request.inputs), told_(family::sampled_of(sampled(), request)) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        family::TensorType gradient = inputs_[0];
        gradient.known = false;
        return {gradient};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const family::TensorType& a = inputs_[0];
        operand_.emplace(site.machine, a, told_.partials, told_.plan);
        graph::Graph part = emit_values_gradient(site.machine, {operand_->layout(),
                                                                operand_->plan(),
                                                                {a.type, told_.partials},
                                                                a.capacity->n,
                                                                a.shape[0],
                                                                a.shape[1],
                                                                sentence(),
                                                                false});
        using T = SampledTensors;
        const std::vector<family::Wanted> wanted{{graph::TensorId{T::kValues}, where[0]},
                                                 {graph::TensorId{T::kDy}, where[1]},
                                                 {graph::TensorId{T::kX}, where[2]}};
        std::vector<graph::TensorId> forms;
        for (std::size_t form = T::kForms; form < part.tensors.size(); ++form) {
            forms.push_back({static_cast<std::uint32_t>(form)});
        }
        const auto stands = family::standing(graph, part, site, wanted, forms);
        auto appended =
            graph::append(graph, std::move(part), site.first_tile, site.owner, stands.shared);
        family::Emitted made;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            made.inputs.push_back(stands.inputs[i] ? *where[i]
                                                   : appended.tensors.at(wanted[i].tensor.index));
        }
        made.outputs = {appended.tensors.at(T::kGradient)};
        for (const graph::TensorId form : forms) {
            made.forms.push_back(stands.forms ? site.forms[form.index - T::kForms]
                                              : appended.tensors.at(form.index));
        }
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
        return family::compare_sampled(inputs, outputs[0], rounds_products());
    }

    [[nodiscard]] const Operand& operand() const override { return *operand_; }
    [[nodiscard]] family::Emitted stand(graph::Graph& graph, const family::Site& site) override {
        operand_.emplace(site.machine, inputs_[0], told_.partials, told_.plan);
        return operand_->stand(graph, site);
    }
    [[nodiscard]] std::vector<std::vector<std::byte>>
    encoded(const family::Value& value) const override {
        return operand_->encoded(value);
    }
    [[nodiscard]] std::vector<std::byte> decoded(const std::vector<std::byte>& buckets,
                                                 const family::TensorType& type) const override {
        return operand_->decoded(buckets, type);
    }

    [[nodiscard]] double flops() const override {
        return 2 * static_cast<double>(inputs_[0].stored_elements()) *
               static_cast<double>(inputs_[0].capacity->n);
    }

    [[nodiscard]] std::string sentence() const override {
        const family::TensorType& a = inputs_[0];
        return fmt::format("sddmm {} x {} x {}, {} stored elements in {} x {} blocks of a capacity "
                           "of {:.4g}",
                           a.shape[0], a.capacity->n, a.shape[1], a.stored_elements(),
                           a.sparse->block, a.sparse->block, a.capacity->density);
    }

private:
    [[nodiscard]] bool rounds_products() const {
        const ElementType type = inputs_[0].type;
        const Layout& layout = operand_->layout();
        return type == ElementType::F16 && layout.block > 1 &&
               !matrix_values_vertex_of(layout.block, type, layout.n);
    }

    std::vector<family::TensorType> inputs_;
    family::Sampled told_;
    std::optional<Operand> operand_; ///< behind emit()
};

} // namespace

const family::Family& sampled() {
    static const family::Family sddmm =
        family::sampled_family([](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<SampledStep>(request);
        });
    return sddmm;
}

} // namespace tessera::dynamic
