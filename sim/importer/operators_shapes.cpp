// SPDX-License-Identifier: MIT
// Operators that move elements as a whole: views, where the pipeline has one.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

std::vector<Value> constant(Call& call) {
    for (const char* const key :
         {"value", "value_float", "value_floats", "value_int", "value_ints"}) {
        if (!call.has(key)) {
            continue;
        }
        const Attribute& value = call.attribute(key);
        if (const auto* const elements = std::get_if<Elements>(&value)) {
            return {Builder::known("constant", single_of(*elements))};
        }
        if (const auto* const number = std::get_if<float>(&value)) {
            return {
                Builder::known("constant", equal_elements(ValueType::F32, {}, double{*number}))};
        }
        if (const auto* const number = std::get_if<std::int64_t>(&value)) {
            return {Builder::known("constant", whole_elements({*number}, Sizes{}))};
        }
        if (const auto* const numbers = std::get_if<Sizes>(&value)) {
            return {Builder::known("constant", whole_elements(*numbers))};
        }
        if (const auto* const numbers = std::get_if<std::vector<float>>(&value)) {
            Elements made{ValueType::F32, {static_cast<std::int64_t>(numbers->size())}, {}};
            made.bytes.assign(reinterpret_cast<const char*>(numbers->data()),
                              numbers->size() * sizeof(float));
            return {Builder::known("constant", std::move(made))};
        }
    }
    throw Refused("got no value of numbers");
}

std::vector<Value> constant_of_shape(Call& call) {
    const Sizes shape = call.numbers(0);
    Elements one = equal_elements(ValueType::F32, {}, 0);
    if (call.has("value")) {
        const auto* const told = std::get_if<Elements>(&call.attribute("value"));
        if (told == nullptr || told->count() != 1) {
            throw Refused("attribute 'value' is no tensor of one element");
        }
        one = single_of(*told);
        one.shape = {};
    }
    return {call.build().broadcast(Builder::known("constant", std::move(one)), shape)};
}

/// Known numbers from a start on, by steps, as far as a limit that is none of them.
std::vector<Value> range(Call& call) {
    const double start = call.scalar(0);
    const double delta = call.scalar(2);
    const double count = std::ceil((call.scalar(1) - start) / delta);
    if (!(count < static_cast<double>(kMostElements))) {
        throw Refused(fmt::format("got {} numbers", count));
    }
    Elements made{call.known(0).type, {static_cast<std::int64_t>(std::max(count, 0.0))}, {}};
    const std::size_t bytes = made.element_bytes();
    made.bytes.resize(static_cast<std::size_t>(made.shape[0]) * bytes);
    for (std::int64_t i = 0; i < made.shape[0]; ++i) {
        const double number = start + static_cast<double>(i) * delta;
        const double rounded =
            made.type == ValueType::F32 ? double{static_cast<float>(number)} : number;
        if (!workload::encode(made.type, rounded,
                              made.bytes.data() + static_cast<std::size_t>(i) * bytes)) {
            throw Refused(fmt::format("got {}, which {} does not have exactly", rounded,
                                      workload::facts_of(made.type).name));
        }
    }
    return {Builder::known("range", std::move(made))};
}

std::vector<Value> eye_like(Call& call) {
    const Value& x = call.input(0);
    const std::int64_t diagonal = call.integer("k", 0);
    const auto kind = call.has("dtype") ? element_kind(call.integer("dtype", 0)) : x.kind;
    if (x.rank() != 2 || !kind || !kind->type) {
        throw Refused(fmt::format("got {}, expected a matrix and a type that tensors have",
                                  sizes_text(x.shape)));
    }
    Sizes ones;
    for (std::int64_t row = 0; row < x.shape[0]; ++row) {
        for (std::int64_t column = 0; column < x.shape[1]; ++column) {
            ones.push_back(column - row == diagonal ? 1 : 0);
        }
    }
    Value made = Builder::known("eye", *as_type(whole_elements(ones, x.shape), *kind->type));
    made.kind = *kind;
    return {made};
}

std::vector<Value> shape(Call& call) {
    const Sizes& sizes = call.input(0).shape;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const auto bound = [&](const char* key, std::int64_t otherwise) {
        const std::int64_t told = call.integer(key, otherwise);
        return std::clamp<std::int64_t>(told < 0 ? told + rank : told, 0, rank);
    };
    const std::int64_t first = bound("start", 0);
    const std::int64_t end = std::max(first, bound("end", rank));
    return {Builder::known("shape", whole_elements({sizes.begin() + first, sizes.begin() + end}))};
}

std::vector<Value> size(Call& call) {
    return {Builder::known("size", whole_elements({call.input(0).elements()}, Sizes{}))};
}

std::vector<Value> reshape(Call& call) {
    const Value& x = call.input(0);
    const auto told = call.numbers(1, "shape");
    const bool allows_zero = call.integer("allowzero", 0) != 0;
    if (!told) {
        throw Refused("got no shape");
    }
    Sizes made = *told;
    std::optional<std::size_t> open;
    Sizes others;
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (made[i] == 0 && !allows_zero) {
            if (i >= x.rank()) {
                throw Refused(fmt::format("size {} is 0, and x has none there", i));
            }
            made[i] = x.shape[i];
        }
        if (made[i] < -1 || (made[i] == -1 && open)) {
            throw Refused(fmt::format("got shape {}", sizes_text(*told)));
        }
        if (made[i] == -1) {
            open = i;
        } else {
            others.push_back(made[i]);
        }
    }
    require_sizes(others);
    if (open) {
        const std::int64_t rest = product_of(others);
        made[*open] = rest == 0 ? 0 : x.elements() / rest;
    }
    return {call.build().reshaped(x, made)};
}

std::vector<Value> flatten(Call& call) {
    const Value& x = call.input(0);
    const std::int64_t told = call.integer("axis", 1);
    const auto rank = static_cast<std::int64_t>(x.rank());
    if (told < -rank || told > rank) {
        throw Refused(fmt::format("got axis {} of {} sizes", told, rank));
    }
    const std::int64_t axis = told < 0 ? told + rank : told;
    const std::int64_t rows = product_of({x.shape.begin(), x.shape.begin() + axis});
    const std::int64_t columns = product_of({x.shape.begin() + axis, x.shape.end()});
    return {call.build().reshaped(x, {rows, columns})};
}

std::vector<Value> squeeze(Call& call) {
    const Value& x = call.input(0);
    const auto told = call.numbers(1, "axes");
    Sizes made;
    const Axes axes = Call::axes(told, x.rank());
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
        const bool is_named = std::ranges::find(axes, axis) != axes.end();
        if (is_named && told && x.shape[axis] != 1) {
            throw Refused(fmt::format("axis {} has {} elements", axis, x.shape[axis]));
        }
        if (!is_named || x.shape[axis] != 1) {
            made.push_back(x.shape[axis]);
        }
    }
    return {call.build().reshaped(x, made)};
}

std::vector<Value> unsqueeze(Call& call) {
    const Value& x = call.input(0);
    const auto told = call.numbers(1, "axes");
    if (!told) {
        throw Refused("got no axes");
    }
    const Axes axes = Call::axes(told, x.rank() + told->size());
    Sizes made;
    for (std::size_t axis = 0, from = 0; axis < x.rank() + told->size(); ++axis) {
        const bool is_new = std::ranges::find(axes, axis) != axes.end();
        made.push_back(is_new ? 1 : x.shape[from++]);
    }
    return {call.build().reshaped(x, made)};
}

std::vector<Value> transpose(Call& call) {
    const Value& x = call.input(0);
    Axes order = Call::axes(call.list("perm"), x.rank());
    if (order.size() != x.rank()) {
        throw Refused(fmt::format("got {} axes of {}", order.size(), x.rank()));
    }
    if (!call.has("perm")) {
        std::ranges::reverse(order);
    }
    return {call.build().permuted(x, order)};
}

/// x as [sizes], its axes in that order, then as `made`.
Value rearranged(Call& call, const Sizes& sizes, const Axes& order, const Sizes& made) {
    Builder& build = call.build();
    return build.reshaped(build.permuted(build.reshaped(call.input(0), sizes), order), made);
}

std::vector<Value> depth_to_space(Call& call) {
    const Value& x = call.input(0);
    const std::int64_t b = call.integer("blocksize", 0);
    const std::string mode = call.text("mode", "DCR");
    if (x.rank() != 4 || b < 1 || b > x.shape[1] || x.shape[1] % (b * b) != 0 ||
        (mode != "DCR" && mode != "CRD")) {
        throw Refused(fmt::format("got blocks of {} of {}", b, sizes_text(x.shape)));
    }
    const std::int64_t n = x.shape[0];
    const std::int64_t c = x.shape[1] / (b * b);
    const std::int64_t h = x.shape[2];
    const std::int64_t w = x.shape[3];
    const Sizes made{n, c, h * b, w * b};
    return {mode == "DCR" ? rearranged(call, {n, b, b, c, h, w}, {0, 3, 4, 1, 5, 2}, made)
                          : rearranged(call, {n, c, b, b, h, w}, {0, 1, 4, 2, 5, 3}, made)};
}

std::vector<Value> space_to_depth(Call& call) {
    const Value& x = call.input(0);
    const std::int64_t b = call.integer("blocksize", 0);
    require_elements(x);
    if (x.rank() != 4 || b < 1 || x.shape[2] % b != 0 || x.shape[3] % b != 0) {
        throw Refused(fmt::format("got blocks of {} of {}", b, sizes_text(x.shape)));
    }
    const std::int64_t h = x.shape[2] / b;
    const std::int64_t w = x.shape[3] / b;
    return {rearranged(call, {x.shape[0], x.shape[1], h, b, w, b}, {0, 3, 5, 1, 2, 4},
                       {x.shape[0], x.shape[1] * b * b, h, w})};
}

std::vector<Value> expand(Call& call) {
    const Value& x = call.input(0);
    return {call.build().broadcast(x, common_shape(x.shape, call.numbers(1)))};
}

std::vector<Value> concat(Call& call) {
    std::vector<Value> parts;
    for (std::size_t i = 0; i < call.inputs(); ++i) {
        parts.push_back(call.input(i));
    }
    const Value& first = call.input(0);
    const std::size_t axis = axis_of(call.integer("axis", call.opset() < 4 ? 1 : 0), first.rank());
    for (const Value& part : parts) {
        Sizes alike = part.shape;
        if (part.rank() == first.rank()) {
            alike[axis] = first.shape[axis];
        }
        if (alike != first.shape || part.kind.type != first.kind.type) {
            throw Refused(fmt::format("got {} of {} beside {} of {}", part.kind.name,
                                      sizes_text(part.shape), first.kind.name,
                                      sizes_text(first.shape)));
        }
    }
    return {call.build().joined(parts, axis)};
}

} // namespace

std::vector<Operator> shape_operators() {
    return {
        {"Concat", "along any axis", concat},
        {"Constant", "of numbers and truth values", constant},
        {"ConstantOfShape", "of a known shape", constant_of_shape},
        {"DepthToSpace", "", depth_to_space},
        {"Expand", "to a known shape", expand},
        {"EyeLike", "known, as the sizes of x are", eye_like},
        {"Flatten", "", flatten},
        {"Range", "of known numbers", range},
        {"Reshape", "to a known shape", reshape},
        {"Shape", "known, as the sizes of x are", shape},
        {"Size", "known, as the sizes of x are", size},
        {"SpaceToDepth", "", space_to_depth},
        {"Squeeze", "of known axes", squeeze},
        {"Transpose", "", transpose},
        {"Unsqueeze", "of known axes", unsqueeze},
    };
}

} // namespace tessera::importer
