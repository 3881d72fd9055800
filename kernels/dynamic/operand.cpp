// SPDX-License-Identifier: MIT
#include "kernels/dynamic/operand.h"

#include "base/bytes.h"
#include "base/error.h"
#include "kernels/dynamic/own_planner.h"
#include "kernels/dynamic/tile_buckets.h"
#include "kernels/dynamic/travel.h"
#include "kernels/dynamic/trip.h"
#include "kernels/graph/append.h"
#include "kernels/published/dense_planner.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace tessera::dynamic {
namespace {

struct Planned {
    Plan plan;
    Layout layout;
};

Planned planned(const spec::MachineSpec& machine, const family::TensorType& a, ElementType partials,
                workload::PlanKind kind, double excess) {
    const workload::Capacity& capacity = *a.capacity;
    const bool is_published = kind == workload::PlanKind::Published;
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
                          .excess = excess,
                          .passes = {.input_gradient = is_published || capacity.input_gradient,
                                     .values_gradient = capacity.values_gradient}};
    const published::DenseMachine knows = published::dense_machine(machine);
    std::optional<Plan> found;
    if (is_published) {
        found = dynamic::plan(problem, knows);
    } else if (const auto own = own_plan(problem, machine)) {
        found = own->plan;
    } else if (!encodable_splits(problem, knows.tiles).empty()) {
        throw DoesNotFit(
            fmt::format("spmm {} x {} x {}: no division is expected to fit into tile memory",
                        a.shape[0], a.shape[1], capacity.n));
    }
    if (!found) {
        throw DoesNotFit(
            fmt::format("spmm {} x {} x {}: no division has places of blocks that 16 bits hold",
                        a.shape[0], a.shape[1], capacity.n));
    }
    return {*found, layout_of(problem, knows, *found)};
}

/// `moved` of the elements of `bytes`, whose type has the size of Element.
template <class Element, class Moved>
std::vector<std::byte> as(const std::vector<std::byte>& bytes, const Moved& moved) {
    std::vector<Element> values(bytes.size() / sizeof(Element));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return bytes_of_all(moved(values));
}
template <class Moved>
std::vector<std::byte> by_type(ElementType type, const std::vector<std::byte>& bytes,
                               const Moved& moved) {
    return type == ElementType::F32 ? as<float>(bytes, moved) : as<std::uint16_t>(bytes, moved);
}

} // namespace

Operand::Operand(spec::MachineSpec machine, family::TensorType a, ElementType partials,
                 workload::PlanKind kind)
    : machine_(std::move(machine)), a_(std::move(a)), partials_(partials), kind_(kind) {
    const Planned made = planned(machine_, a_, partials_, kind_, a_.capacity->excess);
    plan_ = made.plan;
    layout_ = made.layout;
}

family::Emitted Operand::stand(graph::Graph& graph, const family::Site& site) const {
    graph::Graph part("operand");
    const BucketBytes bytes(layout_, a_.type);
    const Buckets home = add_home(part, layout_, bytes);
    part.add_tensor(values_tensor(layout_, "a", true, a_.type, home.values));
    part.add_tensor(metadata_tensor(layout_, home.metadata));
    Trip trip(part, site.machine, layout_, bytes, false);
    if (Trip::may_travel(layout_.split)) {
        trip.add_control();
        part.add_tensor(trip.control());
    }
    auto appended = graph::append(graph, std::move(part), site.first_tile, site.owner);
    for (const graph::TensorId tensor : appended.tensors) {
        graph.tensors[tensor.index].given = false;
    }
    family::Emitted made;
    made.inputs = {appended.tensors.front()};
    made.forms.assign(appended.tensors.begin() + 1, appended.tensors.end());
    return made;
}

Encoding Operand::encode(const workload::SparsePattern& pattern) const {
    const auto layout_of = [&](double excess) -> std::optional<Layout> {
        try {
            return planned(machine_, a_, partials_, kind_, excess).layout;
        } catch (const DoesNotFit&) {
            return std::nullopt;
        }
    };
    return dynamic::encode(layout_, a_.capacity->excess, layout_of, pattern);
}

const Encoding& Operand::encoding_of(const family::TensorType& a) const {
    if (pattern_ != a.sparse) {
        encoding_ = encode(*a.sparse);
        pattern_ = a.sparse;
    }
    return encoding_;
}

std::vector<std::vector<std::byte>> Operand::encoded(const family::Value& a) const {
    const Encoding& encoding = encoding_of(a.type);
    std::vector<std::vector<std::byte>> forms(1);
    if (!a.bytes.empty()) {
        forms[0] = by_type(a.type.type, a.bytes,
                           [&](const auto& values) { return bucket_values(encoding, values); });
    }
    forms.push_back(bytes_of_all(encoding.metadata));
    if (Trip::may_travel(layout_.split)) {
        forms.push_back(bytes_of_all(travel_words(layout_.split, encoding.travel)));
    }
    return forms;
}

std::vector<std::byte> Operand::decoded(const std::vector<std::byte>& buckets,
                                        const family::TensorType& a) const {
    const Encoding& encoding = encoding_of(a);
    return by_type(a.type, buckets,
                   [&](const auto& values) { return pattern_values(encoding, values, *a.sparse); });
}

} // namespace tessera::dynamic
