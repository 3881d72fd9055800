// SPDX-License-Identifier: MIT
#include "kernels/dynamic/dynamic.h"

#include "base/bytes.h"
#include "base/error.h"
#include "kernels/dynamic/emitter.h"
#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/travel.h"
#include "kernels/dynamic/vertices.h"
#include "kernels/family/product.h"
#include "kernels/published/dense_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::dynamic {
namespace {

std::vector<std::byte> in_buckets(const Encoding& encoding, const family::Value& a) {
    const auto moved = [&](auto element) {
        using Element = decltype(element);
        std::vector<Element> values(a.bytes.size() / sizeof(Element));
        std::memcpy(values.data(), a.bytes.data(), a.bytes.size());
        return bytes_of_all(bucket_values(encoding, values));
    };
    return a.type.type == ElementType::F32 ? moved(float{}) : moved(std::uint16_t{});
}

class DynamicStep final : public family::Product, public Encoder {
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

    [[nodiscard]] const Planned& planned() const override { return planned_; }

    [[nodiscard]] Encoding encode(const workload::SparsePattern& pattern) const override {
        return dynamic::encode(
            [&](double excess) -> std::optional<Layout> {
                family::TensorType wider = a();
                wider.capacity->excess = excess;
                try {
                    return dynamic::planned(machine_, wider, told().partials, told().plan).layout;
                } catch (const DoesNotFit&) {
                    return std::nullopt;
                }
            },
            a().capacity->excess, pattern);
    }

    [[nodiscard]] std::vector<std::vector<std::byte>>
    encoded(const family::Value& value) const override {
        const Layout& layout = planned_.layout;
        const Encoding encoding = encode(*value.type.sparse);
        std::vector<std::vector<std::byte>> forms{value.bytes.empty() ? std::vector<std::byte>{}
                                                                      : in_buckets(encoding, value),
                                                  bytes_of_all(encoding.metadata)};
        if (layout.split.x * layout.split.y > 1) {
            forms.push_back(bytes_of_all(travel_words(layout.split, encoding.travel)));
        }
        return forms;
    }

private:
    [[nodiscard]] Pass pass() const {
        return is_transposed() ? Pass::InputGradient : Pass::Forward;
    }

    family::Divided choose(const family::Site& site) const override {
        machine_ = site.machine;
        planned_ = dynamic::planned(site.machine, a(), told().partials, told().plan);
        const Spmm product{planned_.layout,
                           planned_.plan,
                           {told().dtype, told().partials},
                           told().n,
                           a().shape[0],
                           a().shape[1],
                           fmt::format("spmm {} x {} x {}", told().m, told().k, told().n),
                           told().plan == workload::PlanKind::Published};
        family::Planned made = emit_pass(site.machine, product, pass());
        made.division.roundings = roundings();
        return family::lowered(site.machine, std::move(made), accumulate_on(site), site.known);
    }
    workload::AfterProduct after(std::vector<double> /*bias*/) const override { return {}; }

    /// Counts roundings of the longest row of the pattern at hand. The check needs it, the plan does not.
    [[nodiscard]] std::int64_t roundings() const {
        const workload::SparsePattern& matrix = pattern();
        std::int64_t longest = 0;
        for (std::int64_t row = 0; row < matrix.block_rows(); ++row) {
            longest = std::max(longest, matrix.blocks_of_row(row));
        }
        const Layout& layout = planned_.layout;
        const std::int64_t cut = matrix.block / layout.block;
        const Vertex vertex = vertex_of(layout.block, {told().dtype, told().partials}, pass());
        const std::int64_t sums = pass() == Pass::Forward ? layout.split.y : layout.split.x;
        return vertex.block_roundings * longest * cut + sums;
    }

    mutable spec::MachineSpec machine_;
    mutable Planned planned_; ///< behind choose()
};

} // namespace

Planned planned(const spec::MachineSpec& machine, const family::TensorType& a, ElementType partials,
                workload::PlanKind plan) {
    const workload::Capacity& capacity = *a.capacity;
    const bool is_published = plan == workload::PlanKind::Published;
    const auto whole = [&](std::int64_t size) {
        return (size + capacity.block - 1) / capacity.block * capacity.block;
    };
    const Problem problem{.m = whole(a.shape[0]),
                          .k = whole(a.shape[1]),
                          .n = capacity.n,
                          .block = capacity.block,
                          .density = capacity.density,
                          .data = a.type,
                          .partials = partials,
                          .excess = capacity.excess,
                          .passes = {.input_gradient = is_published || capacity.input_gradient,
                                     .values_gradient = capacity.values_gradient}};
    const published::DenseMachine knows = published::dense_machine(machine);
    const auto found = dynamic::plan(problem, knows);
    if (!found) {
        throw DoesNotFit(
            fmt::format("spmm {} x {} x {}: no division has places of blocks that 16 bits hold",
                        a.shape[0], a.shape[1], capacity.n));
    }
    return {*found, layout_of(problem, knows, *found)};
}

const Encoder* encoder_of(const family::Step& step) {
    return dynamic_cast<const Encoder*>(&step);
}

const family::Family& family() {
    static const auto spmm = family::product_family<DynamicStep>(
        "spmm", "c = a b, a sparse with a capacity; or added to c", {"a", "b", "c"}, 1);
    return spmm;
}

} // namespace tessera::dynamic
