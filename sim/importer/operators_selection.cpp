// SPDX-License-Identifier: MIT
// Operators that select elements, by the family `gather`.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <numeric>
#include <string_view>
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
        const std::int64_t step = std::clamp(steps[i], -kMostElements - 1, kMostElements + 1);
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
        std::ranges::any_of(*sizes, [=](std::int64_t one) { return one < 0 || one > size; }) ||
        std::accumulate(sizes->begin(), sizes->end(), std::int64_t{0}) != size) {
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
    const double told = call.has(2) ? call.scalar(2) : call.number("value", 0);
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
        if (std::min(before, behind) < -kMostElements || std::max(before, behind) > kMostElements) {
            throw Refused("got a pad of more elements than a tensor has");
        }
        require_sizes({x.shape[axis] + before + behind});
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
                require_number(x);
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

/// x where column - row is at most k (lower), or at least k; 0 elsewhere.
std::vector<Value> triangle(Call& call) {
    const Value& x = call.input(0);
    const bool is_upper = call.integer("upper", 1) != 0;
    const Sizes told = call.has(1) ? call.numbers(1) : Sizes{0};
    if (x.rank() < 2 || told.size() != 1) {
        throw Refused(
            fmt::format("got no matrix and one number of a diagonal, but {}", sizes_text(x.shape)));
    }
    require_number(x);
    const Sizes matrix{x.shape.end() - 2, x.shape.end()};
    Sizes kept;
    for (std::int64_t row = 0; row < matrix[0]; ++row) {
        for (std::int64_t column = 0; column < matrix[1]; ++column) {
            const bool is_kept = is_upper ? column - row >= told[0] : column - row <= told[0];
            kept.push_back(is_kept ? 1 : 0);
        }
    }
    Value mask = Builder::known("triangle", *as_type(whole_elements(kept, matrix), *x.kind.type));
    mask.kind = x.kind;
    return {call.build().product(x, mask)};
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
    const Value ids = build.reshaped(from_end(build, indices, size), {count});
    const Value rows = build.step("gather", {table, ids}, {count, columns});
    Sizes parts{count};
    parts.insert(parts.end(), others.begin(), others.end());
    Axes back;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
    }
    return {build.reshaped(build.permuted(build.reshaped(rows, parts), back), shape)};
}

/// Where elements stand in a tensor of `sizes`: their own digits in `shape`, but along an axis the numbers.
Sizes places_along(const Sizes& sizes, const Sizes& shape, std::size_t axis, const Sizes& numbers) {
    Sizes places;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::int64_t place = 0;
        auto rest = static_cast<std::int64_t>(i);
        std::int64_t stride = 1;
        for (std::size_t at = sizes.size(); at-- > 0;) {
            const std::int64_t digit = at == axis ? numbers[i] : rest % shape[at];
            if (digit >= sizes[at]) {
                throw Refused("got more indices along an axis than x has elements");
            }
            rest /= shape[at];
            place += digit * stride;
            stride *= sizes[at];
        }
        places.push_back(place);
    }
    return places;
}

std::vector<Value> gather_elements(Call& call) {
    const Value& x = call.input(0);
    const std::size_t axis = axis_of(call.integer("axis", 0), x.rank());
    const Sizes& shape = call.input(1).shape;
    if (shape.size() != x.rank()) {
        throw Refused("got indices of another number of sizes than x");
    }
    const bool is_known = call.input(1).known != nullptr;
    const Sizes numbers = is_known ? in_axis(call.numbers(1), x.shape[axis])
                                   : Sizes(static_cast<std::size_t>(product_of(shape)), 0);
    require_sizes(shape);
    // without the numbers where they are not known
    const Sizes from = places_along(x.shape, shape, axis, numbers);
    Builder& build = call.build();
    if (is_known) {
        return {build.reshaped(build.taken(build.reshaped(x, {x.elements()}), 0, from), shape)};
    }
    const std::int64_t inner =
        product_of({x.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.shape.end()});
    const auto count = static_cast<std::int64_t>(from.size());
    Value ids = build.reshaped(from_end(build, call.input(1), x.shape[axis]), {count});
    ids = build.product(ids, Builder::number(ids, static_cast<double>(inner)));
    Value rest = Builder::known("rest", *as_type(whole_elements(from), *ids.kind.type));
    rest.kind = ids.kind;
    const Value made = build.step(
        "gather", {build.reshaped(x, {x.elements(), 1}), build.sum(ids, rest)}, {count, 1});
    return {build.reshaped(made, shape)};
}

/// x with updates at known places: elements of both, by one gather. With "add" the updates of each place are
/// summed up first.
Value scattered(Call& call, const Value& x, const Value& updates, const Sizes& places) {
    Builder& build = call.build();
    const std::string reduction = call.text("reduction", "none");
    const auto count = static_cast<std::int64_t>(places.size());
    const std::int64_t row = count == 0 ? 1 : updates.elements() / count;
    if (row == 0 || updates.elements() != count * row || x.kind.type != updates.kind.type ||
        x.elements() % row != 0) {
        throw Refused(
            fmt::format("got updates of {} for {} places", sizes_text(updates.shape), count));
    }
    const std::int64_t rows = x.elements() / row;
    const Value table = build.reshaped(x, {rows, row});
    const Value change = build.reshaped(updates, {count, row});
    if (reduction == "none") {
        Sizes from = range(0, rows);
        for (std::int64_t i = 0; i < count; ++i) { // the last one stays
            from[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])] = rows + i;
        }
        return build.reshaped(build.taken(build.joined({table, change}, 0), 0, from), x.shape);
    }
    if (reduction != "add" || x.kind.type != ValueType::F32) {
        throw Refused(fmt::format("attribute 'reduction' is {} of {}", reduction, x.kind.name));
    }
    const Value sums =
        build.step("scatter_add", {change, Builder::known("places", whole_elements(places))},
                   {rows, row}, {{"rows", rows}});
    return build.reshaped(build.sum(table, sums), x.shape);
}

std::vector<Value> scatter_elements(Call& call) {
    const Value& x = call.input(0);
    const std::size_t axis = axis_of(call.integer("axis", 0), x.rank());
    const Sizes& shape = call.input(1).shape;
    if (shape.size() != x.rank() || call.input(2).shape != shape) {
        throw Refused("got other sizes of indices than of updates");
    }
    return {scattered(call, x, call.input(2),
                      places_along(x.shape, shape, axis, in_axis(call.numbers(1), x.shape[axis])))};
}

std::vector<Value> scatter_nd(Call& call) {
    const Value& x = call.input(0);
    const Value& indices = call.input(1);
    if (indices.rank() == 0 || indices.shape.back() < 1 ||
        indices.shape.back() > static_cast<std::int64_t>(x.rank())) {
        throw Refused(fmt::format("got indices of {} for {}", sizes_text(indices.shape),
                                  sizes_text(x.shape)));
    }
    const auto digits = static_cast<std::size_t>(indices.shape.back());
    Sizes expected(indices.shape.begin(), indices.shape.end() - 1);
    expected.insert(expected.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(digits),
                    x.shape.end());
    if (call.input(2).shape != expected) {
        throw Refused(fmt::format("got updates of {}, expected {}", sizes_text(call.input(2).shape),
                                  sizes_text(expected)));
    }
    const Sizes numbers = call.numbers(1);
    Sizes places;
    for (std::size_t i = 0; i < numbers.size(); i += digits) {
        std::int64_t place = 0;
        for (std::size_t digit = 0; digit < digits; ++digit) {
            const std::int64_t size = x.shape[digit];
            place = place * size + in_axis({numbers[i + digit]}, size).front();
        }
        places.push_back(place);
    }
    return {scattered(call, x, call.input(2), places)};
}

std::vector<Value> gather_nd(Call& call) {
    const Value& x = call.input(0);
    const Value& indices = call.input(1);
    const auto batches = static_cast<std::size_t>(call.integer("batch_dims", 0));
    require_elements(x);
    if (indices.rank() == 0 || batches >= indices.rank() || batches > x.rank() ||
        indices.shape.back() < 1 ||
        indices.shape.back() + static_cast<std::int64_t>(batches) >
            static_cast<std::int64_t>(x.rank()) ||
        !std::equal(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(batches),
                    indices.shape.begin())) {
        throw Refused(fmt::format("got indices of {} for {} with {} sizes of batches",
                                  sizes_text(indices.shape), sizes_text(x.shape), batches));
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
    const Value& x = call.input(0);
    require_elements(x);
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
    const Value& values = call.input(2);
    require_number(values);
    const Elements& both = call.known(2);
    if (both.count() != 2) {
        throw Refused("got no two values");
    }
    if (call.known(1).count() != 1 || !(std::fabs(call.known(1).number(0)) < 0x1p31)) {
        throw Refused("got no depth");
    }
    const auto classes = static_cast<std::int64_t>(call.known(1).number(0));
    if (classes < 1) {
        throw Refused(fmt::format("got a depth of {}", classes));
    }
    const auto rank = indices.rank() + 1;
    const std::size_t axis = axis_of(call.integer("axis", -1), rank);
    Builder& build = call.build();
    Value ids = indices;
    if (ids.known != nullptr) { // from the end where they are below 0; others name no class
        Sizes numbers;
        for (std::int64_t i = 0; i < ids.known->count(); ++i) {
            const double number = ids.known->number(i);
            const double wrapped = number < 0 ? number + static_cast<double>(classes) : number;
            const bool is_class = wrapped >= 0 && wrapped < static_cast<double>(classes);
            numbers.push_back(is_class ? static_cast<std::int64_t>(wrapped) : classes);
        }
        ids = Builder::known(ids.name, whole_elements(numbers, indices.shape));
    } else if (!ids.kind.type || !workload::is_whole(*ids.kind.type)) {
        throw Refused(fmt::format("'{}' has elements of {} and is not known when the model is "
                                  "imported, expected whole numbers",
                                  ids.name, ids.kind.name));
    } else {
        ids = from_end(build, ids, classes);
    }
    const std::int64_t count = ids.elements();
    const ElementKind kind = is_whole(values) ? ElementKind{ValueType::F32, "FLOAT"} : values.kind;
    Value made =
        build
            .step_of_several("one_hot", {build.reshaped(ids, {count})}, {{kind, {count, classes}}},
                             {{"classes", classes}, {"type", type_of(kind)}})
            .front();
    const double off = both.number(0);
    constexpr double kMostWhole = 0x1p23; // f32 has twice as many, so also their difference
    if (is_whole(values) && std::max(std::fabs(off), std::fabs(both.number(1))) > kMostWhole) {
        throw Refused("got whole numbers of more than 23 bits as values");
    }
    const auto rounded = [&](double number) {
        return Builder::number(made, number).known->number(0);
    };
    const double on = both.number(1);
    if (rounded(rounded(on - off) + off) != on) {
        throw Refused(fmt::format("got values {} and {}, whose difference is rounded", off, on));
    }
    made = build.scaled(made, on - off);
    if (off != 0) {
        made = build.sum(made, Builder::number(made, off));
    }
    made = build.cast(made, values.kind);
    Sizes shape = indices.shape;
    shape.push_back(classes);
    Axes order;
    for (std::size_t i = 0; i < rank; ++i) {
        order.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
    }
    return {build.permuted(build.reshaped(made, shape), order)};
}

} // namespace

/// As u32 a number below 0 is very large, and the size more than it is not.
Value from_end(Builder& build, const Value& numbers, std::int64_t size) {
    if (!is_whole(numbers)) {
        throw Refused(fmt::format("'{}' has elements of {}, expected whole numbers", numbers.name,
                                  numbers.kind.name));
    }
    if (std::string_view(type_of(numbers.kind)) == "u32") {
        return numbers;
    }
    const Value plain = build.cast(numbers, {ValueType::U32, "UINT32"});
    const Value moved = build.sum(plain, Builder::number(plain, static_cast<double>(size)));
    return build.smaller(plain, moved);
}

std::vector<Operator> selection_operators() {
    return {
        {"Compress", "by a known condition", compress},
        {"Gather", "by any numbers", gather},
        {"GatherElements", "by any numbers", gather_elements},
        {"GatherND", "by known numbers", gather_nd},
        {"OneHot", "depth and values known", one_hot},
        {"Pad", "constant, edge and reflect, by known pads", pad},
        {"ReverseSequence", "of known lengths", reverse_sequence},
        {"Scatter", "by known numbers", scatter_elements},
        {"ScatterElements", "by known numbers; with \"add\" of FLOAT", scatter_elements},
        {"ScatterND", "by known numbers; with \"add\" of FLOAT", scatter_nd},
        {"Slice", "by known starts, ends and steps", slice},
        {"Split", "into known parts", split},
        {"Tile", "by known repeats", tile},
        {"Trilu", "a product with a known triangle", triangle},
    };
}

} // namespace tessera::importer
