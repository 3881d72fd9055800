// SPDX-License-Identifier: MIT
#include "kernels/dynamic/dynamic.h"

#include "base/error.h"
#include "kernels/dynamic/emitter.h"
#include "kernels/dynamic/operand.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/family/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tessera::dynamic {
namespace {

class DynamicStep final : public family::Product, public OperandOwner {
public:
    explicit DynamicStep(const family::Request& request) : Product(dynamic::family(), request) {
        const ElementType type = told().dtype;
        if (type != ElementType::F16 && type != ElementType::F32) {
            throw family::Refused(
                0, {}, fmt::format("got {}, expected f16 or f32", tessera::name_of(type)));
        }
    }

    [[nodiscard]] std::optional<family::Estimate>
    estimate(const spec::MachineSpec& /*machine*/) const override {
        throw NotModelled(
            sentence() + ": not modelled: an estimate where the pattern comes at run time: how far "
                         "its blocks travel takes most of some products; see "
                         "docs/kernels.md#sparse-pattern-known-at-run-time");
    }

    [[nodiscard]] std::string sentence() const override {
        const workload::SparsePattern& matrix = *a().sparse;
        return fmt::format(
            "spmm {} x {} x {}, {} stored elements in {} x {} blocks of a capacity of {:.4g}, {}{}",
            told().m, told().k, told().n, matrix.stored_elements(), matrix.block, matrix.block,
            a().capacity->density,
            told().dtype == ElementType::F32
                ? "f32"
                : fmt::format("{} partials", tessera::name_of(told().partials)),
            added_text());
    }

    [[nodiscard]] const Operand& operand() const override { return *operand_; }
    [[nodiscard]] family::Emitted stand(graph::Graph& graph, const family::Site& site) override {
        operand_.emplace(site.machine, a(), told().partials, told().plan);
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

private:
    [[nodiscard]] Pass pass() const {
        return is_transposed() ? Pass::InputGradient : Pass::Forward;
    }

    family::Divided choose(const family::Site& site) const override {
        operand_.emplace(site.machine, a(), told().partials, told().plan);
        const Spmm product{operand_->layout(),
                           operand_->plan(),
                           {told().dtype, told().partials},
                           told().n,
                           a().shape[0],
                           a().shape[1],
                           fmt::format("spmm {} x {} x {}", told().m, told().k, told().n),
                           told().plan == workload::PlanKind::Published};
        family::Planned made = emit_pass(site.machine, product, pass());
        made.division.roundings = roundings(pattern());
        return family::lowered(site.machine, std::move(made), accumulate_on(site), site.known);
    }
    workload::AfterProduct after(std::vector<double> /*bias*/) const override { return {}; }

    /// Of the longest row of the pattern at hand. The check needs it, the plan does not.
    [[nodiscard]] std::int64_t roundings(const workload::SparsePattern& matrix) const override {
        std::int64_t longest = 0;
        for (std::int64_t row = 0; row < matrix.block_rows(); ++row) {
            longest = std::max(longest, matrix.blocks_of_row(row));
        }
        const Layout& layout = operand_->layout();
        const std::int64_t cut = matrix.block / layout.block;
        const Vertex vertex = vertex_of(layout.block, {told().dtype, told().partials}, pass());
        const std::int64_t sums = pass() == Pass::Forward ? layout.split.y : layout.split.x;
        return vertex.block_roundings * longest * cut + sums;
    }

    mutable std::optional<Operand> operand_; ///< behind choose()
};

} // namespace

const Operand* operand_of(const family::Step& step) {
    const auto* owner = dynamic_cast<const OperandOwner*>(&step);
    return owner == nullptr ? nullptr : &owner->operand();
}

const family::Family& family() {
    static const auto spmm = family::product_family<DynamicStep>(
        "spmm", "c = a b, a sparse with a capacity; or added to c", {"a", "b", "c"}, 1);
    return spmm;
}

} // namespace tessera::dynamic
