// SPDX-License-Identifier: MIT
// Operators that select elements, by the family `gather`.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

Sizes range(std::int64_t first, std::int64_t end) {
    Sizes made(static_cast<std::size_t>(std::max<std::int64_t>(0, end - first)));
    std::iota(made.begin(), made.end(), first);
    return made;
}

/// Numbers of elements along an axis, from its end where they are below 0. @throws Refused
Sizes in_axis(const Sizes& numbers, std::int64_t size) {
    Sizes made;
    for (const std::int64_t number : numbers) {
        made.push_back(number < 0 ? number + size : number);
        if (made.back() < 0 || made.back() >= size) {
            throw Refused(fmt::format("got element {} of {}", number, size));
        }
    }
    return made;
}

std::vector<Value> slice(Call& call) {
    Value x = call.input(0);
    const auto starts = call.numbers(1, "starts");
    const auto ends = call.numbers(2, "ends");
    if (!starts || !ends || starts->size() != ends->size()) {
        throw Refused("got no starts and as many ends");
    }
    const auto told = call.numbers(3, "axes");
    const Axes axes =
        told ? Call::axes(told, x.rank())
             : Call::axes(range(0, static_cast<std::int64_t>(starts->size())), x.rank());
    const Sizes steps = call.has(4) ? call.numbers(4) : Sizes(starts->size(), 1);
    if (axes.size() != starts->size() || steps.size() != starts->size()) {
        throw Refused("got other numbers of starts, axes and steps");
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t size = x.shape[axes[i]];
        const std::int64_t step = steps[i];
        if (step == 0) {
            throw Refused("got a step of 0");
        }
        const auto bound = [&](std::int64_t at) {
            return std::clamp<std::int64_t>(at < 0 ? at + size : at, step > 0 ? 0 : -1,
                                            step > 0 ? size : size - 1);
        };
        const std::int64_t first = (*starts)[i];
        Sizes from;
        for (std::int64_t at = bound(first), end = bound((*ends)[i]);
             step > 0 ? at < end : at > end; at += step) {
            from.push_back(at);
        }
        x = call.build().taken(x, axes[i], from);
    }
    return {x};
}

std::vector<Value> split(Call& call) {
    const Value& x = call.input(0);
    const std::size_t axis = axis_of(call.integer("axis", 0), x.rank());
    const std::int64_t size = x.shape[axis];
    const auto parts = static_cast<std::int64_t>(call.outputs());
    auto sizes = call.numbers(1, "split");
    if (!sizes) {
        if (size % parts != 0) {
            throw Refused(fmt::format("got {} parts of {} elements", parts, size));
        }
        sizes = Sizes(call.outputs(), size / parts);
    }
    if (sizes->size() != call.outputs() ||
        std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) != size ||
        std::ranges::any_of(*sizes, [](std::int64_t one) { return one < 0; })) {
        throw Refused(fmt::format("got parts of {} of {} elements", sizes_text(*sizes), size));
    }
    std::vector<Value> made;
    std::int64_t first = 0;
    for (const std::int64_t one : *sizes) {
        made.push_back(call.build().taken(x, axis, range(first, first + one)));
        first += one;
    }
    return made;
}

std::vector<Value> tile(Call& call) {
    Value x = call.input(0);
    const Sizes repeats = call.numbers(1);
    if (repeats.size() != x.rank()) {
        throw Refused(fmt::format("got {} repeats for {} sizes", repeats.size(), x.rank()));
    }
    for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
        require_sizes({repeats[axis], x.shape[axis]});
        Sizes from;
        for (std::int64_t i = 0; i < repeats[axis]; ++i) {
            const Sizes once = range(0, x.shape[axis]);
            from.insert(from.end(), once.begin(), once.end());
        }
        x = call.build().taken(x, axis, from);
    }
    return {x};
}

/// Places of a padded axis: of the axis itself, or -1 for the constant.
Sizes padded_axis(std::int64_t size, std::int64_t before, std::int64_t behind,
                  const std::string& mode) {
    Sizes made;
    for (std::int64_t at = -before; at < size + behind; ++at) {
        std::int64_t from = at;
        if (at < 0 || at >= size) {
            if (mode == "constant") {
                from = -1;
            } else if (mode == "edge") {
                from = at < 0 ? 0 : size - 1;
            } else {
                from = at < 0 ? -at : 2 * (size - 1) - at;
                if (from < 0 || from >= size) {
                    throw Refused(fmt::format("reflects more than {} elements", size));
                }
            }
        }
        made.push_back(from);
    }
    return made;
}

std::vector<Value> pad(Call& call) {
    Value x = call.input(0);
    const std::string mode = call.text("mode", "constant");
    const auto pads = call.numbers(1, "pads");
    const double told = call.has(2) ? call.known(2).number(0) : call.number("value", 0);
    if (mode != "constant" && mode != "edge" && mode != "reflect") {
        throw Refused(fmt::format("attribute 'mode' is {}", mode));
    }
    if (!pads || pads->size() != 2 * x.rank()) {
        throw Refused("got no two pads for each axis");
    }
    Builder& build = call.build();
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
        const std::int64_t before = (*pads)[axis];
        const std::int64_t behind = (*pads)[axis + x.rank()];
        if (std::max(std::abs(before), std::abs(behind)) > kMostElements) {
            throw Refused("got a pad of more elements than a tensor has");
        }
        const Sizes from = padded_axis(x.shape[axis], before, behind, mode);
        Sizes of_axis;
        std::ranges::copy_if(from, std::back_inserter(of_axis),
                             [](std::int64_t place) { return place >= 0; });
        if (of_axis.size() == from.size()) {
            x = build.taken(x, axis, from);
            continue;
        }
        Sizes shape = x.shape;
        const auto first = static_cast<std::int64_t>(
            std::ranges::find_if(from, [](std::int64_t place) { return place >= 0; }) -
            from.begin());
        std::vector<Value> parts;
        const auto add_constant = [&](std::int64_t count) {
            if (count > 0) {
                shape[axis] = count;
                require_float(x);
                Value part = Builder::known("padding", equal_elements(*x.kind.type, shape, told));
                part.kind = x.kind;
                parts.push_back(part);
            }
        };
        add_constant(first);
        if (!of_axis.empty()) {
            parts.push_back(build.taken(x, axis, of_axis));
        }
        add_constant(static_cast<std::int64_t>(from.size() - of_axis.size()) - first);
        x = build.joined(parts, axis);
    }
    return {x};
}

std::vector<Value> gather(Call& call) {
    const Value& x = call.input(0);
    const Value& indices = call.input(1);
    if (x.rank() == 0) {
        throw Refused("got a tensor without sizes");
    }
    const std::size_t axis = axis_of(call.integer("axis", 0), x.rank());
    const std::int64_t size = x.shape[axis];
    Builder& build = call.build();
    Sizes shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
    shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                 x.shape.end());
    if (indices.known != nullptr) {
        return {build.reshaped(build.taken(x, axis, in_axis(call.numbers(1), size)), shape)};
    }
    // the axis goes in front; the axes of the indices come back where it was
    Axes order{axis};
    Sizes others;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i != axis) {
            order.push_back(i);
            others.push_back(x.shape[i]);
        }
    }
    const std::int64_t columns = product_of(others);
    const Value table = build.reshaped(build.permuted(x, order), {size, columns});
    const std::int64_t count = indices.elements();
    const Value rows =
        build.step("gather", {table, build.reshaped(indices, {count})}, {count, columns});
    Sizes parts{count};
    parts.insert(parts.end(), others.begin(), others.end());
    Axes back;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
    }
    return {build.reshaped(build.permuted(build.reshaped(rows, parts), back), shape)};
}

std::vector<Value> gather_elements(Call& call) {
    const Value& x = call.input(0);
    const std::size_t axis = axis_of(call.integer("axis", 0), x.rank());
    const Sizes& shape = call.input(1).shape;
    if (shape.size() != x.rank()) {
        throw Refused("got indices of another number of sizes than x");
    }
    const Sizes numbers = in_axis(call.numbers(1), x.shape[axis]);
    Sizes from;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::int64_t place = 0;
        auto rest = static_cast<std::int64_t>(i);
        std::int64_t stride = 1;
        for (std::size_t at = x.rank(); at-- > 0;) {
            const std::int64_t digit = at == axis ? numbers[i] : rest % shape[at];
            if (digit >= x.shape[at]) {
                throw Refused("got more indices along an axis than x has elements");
            }
            rest /= shape[at];
            place += digit * stride;
            stride *= x.shape[at];
        }
        from.push_back(place);
    }
    Builder& build = call.build();
    return {build.reshaped(build.taken(build.reshaped(x, {x.elements()}), 0, from), shape)};
}

std::vector<Value> gather_nd(Call& call) {
    const Value& x = call.input(0);
    const Value& indices = call.input(1);
    const auto batches = static_cast<std::size_t>(call.integer("batch_dims", 0));
    if (indices.rank() == 0 || batches >= indices.rank() ||
        indices.shape.back() + static_cast<std::int64_t>(batches) >
            static_cast<std::int64_t>(x.rank())) {
        throw Refused(fmt::format("got indices of {} for {}", sizes_text(indices.shape),
                                  sizes_text(x.shape)));
    }
    const auto digits = static_cast<std::size_t>(indices.shape.back());
    const Sizes numbers = call.numbers(1);
    Sizes shape(indices.shape.begin(), indices.shape.end() - 1);
    shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(batches + digits),
                 x.shape.end());
    const std::int64_t of_batch = product_of(
        {indices.shape.begin() + static_cast<std::ptrdiff_t>(batches), indices.shape.end() - 1});
    Sizes from;
    for (std::int64_t i = 0;
         i * static_cast<std::int64_t>(digits) < static_cast<std::int64_t>(numbers.size()); ++i) {
        std::int64_t row = i / of_batch;
        for (std::size_t digit = 0; digit < digits; ++digit) {
            const std::int64_t size = x.shape[batches + digit];
            const std::size_t at = static_cast<std::size_t>(i) * digits + digit;
            row = row * size + in_axis({numbers[at]}, size).front();
        }
        from.push_back(row);
    }
    const std::int64_t rows = product_of(
        {x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(batches + digits)});
    Builder& build = call.build();
    return {build.reshaped(build.taken(build.reshaped(x, {rows, x.elements() / rows}), 0, from),
                           shape)};
}

std::vector<Value> compress(Call& call) {
    const Value& x = call.input(0);
    const Elements& condition = call.known(1);
    Builder& build = call.build();
    Sizes from;
    for (std::int64_t i = 0; i < condition.count(); ++i) {
        if (condition.number(i) != 0) {
            from.push_back(i);
        }
    }
    const bool is_flat = !call.has("axis");
    const Value whole = is_flat ? build.reshaped(x, {x.elements()}) : x;
    const std::size_t axis = is_flat ? 0 : axis_of(call.integer("axis", 0), x.rank());
    return {build.taken(whole, axis, in_axis(from, whole.shape[axis]))};
}

std::vector<Value> reverse_sequence(Call& call) {
    Value x = call.input(0);
    const std::size_t of_time = axis_of(call.integer("time_axis", 0), x.rank());
    const std::size_t of_batch = axis_of(call.integer("batch_axis", 1), x.rank());
    const Sizes lengths = call.numbers(1);
    if (of_time == of_batch || static_cast<std::int64_t>(lengths.size()) != x.shape[of_batch]) {
        throw Refused("got no length for each batch");
    }
    Axes order{of_batch, of_time};
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
        if (axis != of_batch && axis != of_time) {
            order.push_back(axis);
        }
    }
    Axes back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        back[order[i]] = i;
    }
    const std::int64_t steps = x.shape[of_time];
    Sizes from;
    for (std::size_t batch = 0; batch < lengths.size(); ++batch) {
        if (lengths[batch] < 0 || lengths[batch] > steps) {
            throw Refused(fmt::format("got a length of {} of {}", lengths[batch], steps));
        }
        for (std::int64_t step = 0; step < steps; ++step) {
            const std::int64_t turned = step < lengths[batch] ? lengths[batch] - 1 - step : step;
            from.push_back(static_cast<std::int64_t>(batch) * steps + turned);
        }
    }
    Builder& build = call.build();
    const Value turned = build.permuted(x, order);
    const auto rows = static_cast<std::int64_t>(from.size());
    const Value picked = build.taken(build.reshaped(turned, {rows, x.elements() / rows}), 0, from);
    return {build.permuted(build.reshaped(picked, turned.shape), back)};
}

std::vector<Value> one_hot(Call& call) {
    const Value& indices = call.input(0);
    const Sizes depth = call.has(1) ? whole_numbers(call.known(1)).value_or(Sizes{}) : Sizes{};
    const Value& values = call.input(2);
    require_float(values);
    const Elements& both = call.known(2);
    if (both.count() != 2) {
        throw Refused("got no two values");
    }
    const std::int64_t classes =
        depth.size() == 1 ? depth[0] : static_cast<std::int64_t>(call.known(1).number(0));
    const auto rank = indices.rank() + 1;
    const std::size_t axis = axis_of(call.integer("axis", -1), rank);
    Builder& build = call.build();
    Value ids = indices;
    if (ids.known != nullptr) { // from the end where they are below 0; others name no class
        Sizes numbers;
        for (std::int64_t i = 0; i < ids.known->count(); ++i) {
            const auto number = static_cast<std::int64_t>(ids.known->number(i));
            const std::int64_t wrapped = number < 0 ? number + classes : number;
            numbers.push_back(wrapped < 0 ? classes : wrapped);
        }
        ids = Builder::known(ids.name, whole_elements(numbers, indices.shape));
    } else if (!ids.kind.type || !workload::is_whole(*ids.kind.type)) {
        throw Refused(fmt::format("'{}' has elements of {} and is not known when the model is "
                                  "imported, expected whole numbers",
                                  ids.name, ids.kind.name));
    }
    const std::int64_t count = ids.elements();
    Value made =
        build
            .step_of_several("one_hot", {build.reshaped(ids, {count})},
                             {{values.kind, {count, classes}}},
                             {{"classes", classes},
                              {"type", values.kind.type == ValueType::F16 ? "f16" : "f32"}})
            .front();
    const double off = both.number(0);
    made = build.scaled(made, both.number(1) - off);
    if (off != 0) {
        Value constant =
            Builder::known("off", equal_elements(*values.kind.type, Sizes{classes}, off));
        constant.kind = values.kind;
        made = build.sum(made, constant);
    }
    Sizes shape = indices.shape;
    shape.push_back(classes);
    Axes order;
    for (std::size_t i = 0; i < rank; ++i) {
        order.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
    }
    return {build.permuted(build.reshaped(made, shape), order)};
}

} // namespace

std::vector<Operator> selection_operators() {
    return {
        {"Compress", "by a known condition", compress},
        {"Gather", "by known numbers, or by numbers from 0 on that the run makes or is given",
         gather},
        {"GatherElements", "by known numbers", gather_elements},
        {"GatherND", "by known numbers", gather_nd},
        {"OneHot", "of FLOAT or FLOAT16 values; depth and values known", one_hot},
        {"Pad", "constant, edge and reflect, by known pads", pad},
        {"ReverseSequence", "of known lengths", reverse_sequence},
        {"Slice", "by known starts, ends and steps", slice},
        {"Split", "into known parts", split},
        {"Tile", "by known repeats", tile},
    };
}

} // namespace tessera::importer
