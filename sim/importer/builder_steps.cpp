// SPDX-License-Identifier: MIT
// What a Builder makes of operators: elements moved, and arithmetic with broadcast.
#include "base/error.h"
#include "base/float16.h"
#include "kernels/workload/half.h"
#include "sim/importer/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace tessera::importer {

using workload::ValueType;

namespace {

Builder::Options sizes_of(const Sizes& shape) {
    Builder::Options options;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        options[fmt::format("size_{}", i + 1)] = shape[i];
    }
    return options;
}

/// The product of sizes [first, end).
std::int64_t product_in(const Sizes& shape, std::size_t first, std::size_t end) {
    return product_of(Sizes(shape.begin() + static_cast<std::ptrdiff_t>(first),
                            shape.begin() + static_cast<std::ptrdiff_t>(end)));
}

bool is_in_order(const Axes& order) {
    return std::ranges::is_sorted(order);
}

Axes reverse_of(const Axes& order) {
    Axes back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        back[order[i]] = i;
    }
    return back;
}

/// Axis `axis` first, the others behind it.
Axes first_in_order(std::size_t axis, std::size_t rank) {
    Axes order{axis};
    for (std::size_t i = 0; i < rank; ++i) {
        if (i != axis) {
            order.push_back(i);
        }
    }
    return order;
}

Sizes shape_in_order(const Sizes& shape, const Axes& order) {
    Sizes made;
    for (const std::size_t axis : order) {
        made.push_back(shape[axis]);
    }
    return made;
}

/// An order of axes without those of size 1, in which neighbours that stay together are one.
struct Simple {
    Sizes shape;
    Axes order;
};

Simple simple_order(const Sizes& shape, const Axes& order) {
    Axes axes; // of the result, but those of size 1
    std::ranges::copy_if(order, std::back_inserter(axes),
                         [&](std::size_t axis) { return shape[axis] != 1; });
    Axes present = axes;
    std::ranges::sort(present);
    const auto number_of = [&](std::size_t axis) {
        return static_cast<std::size_t>(std::ranges::lower_bound(present, axis) - present.begin());
    };
    std::map<std::size_t, std::int64_t> runs; // by the number of their first axis
    Axes firsts;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::size_t number = number_of(axes[i]);
        if (i == 0 || number != number_of(axes[i - 1]) + 1) {
            firsts.push_back(number);
            runs[number] = 1;
        }
        runs[firsts.back()] *= shape[axes[i]];
    }
    Simple simple;
    Axes ascending;
    for (const auto& [first, size] : runs) {
        simple.shape.push_back(size);
        ascending.push_back(first);
    }
    for (const std::size_t first : firsts) {
        simple.order.push_back(static_cast<std::size_t>(std::ranges::lower_bound(ascending, first) -
                                                        ascending.begin()));
    }
    return simple;
}

} // namespace

Sizes common_shape(const Sizes& a, const Sizes& b) {
    Sizes shape(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const std::int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
        if (of_a != of_b && of_a != 1 && of_b != 1) {
            throw Refused(fmt::format("got sizes {} and {}, which do not go together",
                                      sizes_text(a), sizes_text(b)));
        }
        shape[shape.size() - 1 - i] = of_a == 1 ? of_b : of_a;
    }
    return shape;
}

Value Builder::reshaped(const Value& value, const Sizes& shape) {
    if (product_of(shape) != value.elements()) {
        throw Refused(fmt::format("got sizes {} for {}, expected as many elements",
                                  sizes_text(shape), sizes_text(value.shape)));
    }
    if (value.shape == shape) {
        return value;
    }
    if (value.known != nullptr) {
        Elements moved = *value.known;
        moved.shape = shape;
        Value made = known(value.name, std::move(moved));
        made.kind = value.kind;
        return made;
    }
    const auto found = value.tensor ? reshaped_from_.find(*value.tensor) : reshaped_from_.end();
    const Value from = found == reshaped_from_.end() ? value : found->second;
    if (from.shape == shape) {
        return from;
    }
    if (shape.empty() && from.shape == Sizes{1}) { // a tensor of the pipeline has a size
        Value one = from;
        one.shape = {};
        return one;
    }
    Value made = step("reshape", {from}, shape, sizes_of(shape.empty() ? Sizes{1} : shape));
    reshaped_from_[*made.tensor] = from;
    return made;
}

Value Builder::permuted(const Value& value, const Axes& order) {
    const Sizes shape = shape_in_order(value.shape, order);
    if (is_in_order(order)) {
        return value;
    }
    if (value.known != nullptr) {
        Value made = known(
            value.name, importer::taken(*value.known, shape, places_permuted(value.shape, order)));
        made.kind = value.kind;
        return made;
    }
    const Simple simple = simple_order(value.shape, order);
    return reshaped(permuted_by_views(reshaped(value, simple.shape), simple.order), shape);
}

/// One axis after the other goes where it belongs: [a][b][c][d] becomes [a][c][b][d], by views.
Value Builder::permuted_by_views(const Value& value, Axes order) {
    Axes axes(value.rank()); // that stand there
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    Value made = value;
    Sizes shape = value.shape;
    for (std::size_t to = 0; to < order.size(); ++to) {
        const auto from =
            static_cast<std::size_t>(std::ranges::find(axes, order[to]) - axes.begin());
        if (from == to) {
            continue;
        }
        // neighbours that follow together move together
        std::size_t end = from + 1;
        while (end < axes.size() && to + (end - from) < order.size() &&
               axes[end] == order[to + (end - from)]) {
            ++end;
        }
        const std::int64_t a = product_in(shape, 0, to);
        const std::int64_t b = product_in(shape, to, from);
        const std::int64_t c = product_in(shape, from, end);
        const std::int64_t d = product_in(shape, end, shape.size());
        if (d == 1) {
            const Sizes matrices = a == 1 ? Sizes{b, c} : Sizes{a, b, c};
            const Sizes turned = a == 1 ? Sizes{c, b} : Sizes{a, c, b};
            made = step("transpose", {reshaped(made, matrices)}, turned);
        } else {
            made = step("heads", {reshaped(made, {a * b, c * d})}, {a, c, b, d},
                        {{"batch", a}, {"heads", c}});
        }
        const auto at = [](auto& list, std::size_t i) {
            return list.begin() + static_cast<std::ptrdiff_t>(i);
        };
        std::rotate(at(axes, to), at(axes, from), at(axes, end));
        std::rotate(at(shape, to), at(shape, from), at(shape, end));
    }
    return reshaped(made, shape);
}

Value Builder::taken(const Value& value, std::size_t axis, const Sizes& from) {
    const std::int64_t size = value.shape[axis];
    Sizes all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    if (from == all) {
        return value;
    }
    Sizes shape = value.shape;
    shape[axis] = static_cast<std::int64_t>(from.size());
    if (value.known != nullptr) {
        require_sizes(shape);
        const std::int64_t inner = product_in(value.shape, axis + 1, value.rank());
        Sizes places;
        for (std::int64_t outer = 0; outer < product_in(value.shape, 0, axis); ++outer) {
            for (const std::int64_t index : from) {
                for (std::int64_t i = 0; i < inner; ++i) {
                    places.push_back((outer * size + index) * inner + i);
                }
            }
        }
        Value made = known(value.name, importer::taken(*value.known, shape, places));
        made.kind = value.kind;
        return made;
    }
    require_elements({value.kind, shape, called_}); // what is left is named, not its list of rows
    const Axes order = first_in_order(axis, value.rank());
    const Value turned = permuted(value, order);
    const std::int64_t columns = size == 0 ? 0 : value.elements() / size;
    const Value ids = known(called_ + "_rows", whole_elements(from));
    const Value rows = step("gather", {reshaped(turned, {size, columns}), ids},
                            {static_cast<std::int64_t>(from.size()), columns});
    return permuted(reshaped(rows, shape_in_order(shape, order)), reverse_of(order));
}

Value Builder::broadcast(const Value& value, const Sizes& shape) {
    require_sizes(shape);
    Sizes padded(shape.size() - std::min(shape.size(), value.rank()), 1);
    padded.insert(padded.end(), value.shape.begin(), value.shape.end());
    if (common_shape(padded, shape) != shape) {
        throw Refused(fmt::format("got sizes {}, which do not become {}", sizes_text(value.shape),
                                  sizes_text(shape)));
    }
    Value made = reshaped(value, padded);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (padded[axis] != shape[axis]) {
            made = taken(made, axis, Sizes(static_cast<std::size_t>(shape[axis]), 0));
        }
    }
    return made;
}

Value Builder::joined(const std::vector<Value>& values, std::size_t axis) {
    const Axes order = first_in_order(axis, values.front().rank());
    const bool all_known =
        std::ranges::all_of(values, [](const Value& value) { return value.known != nullptr; });
    Value made = permuted(values.front(), order);
    for (std::size_t i = 1; i < values.size(); ++i) {
        Sizes shape = made.shape;
        shape[0] += values[i].shape[axis];
        const Value next = permuted(values[i], order);
        if (made.elements() == 0) {
            made = next;
        } else if (all_known) {
            require_sizes(shape);
            Elements both{made.known->type, shape, made.known->bytes + next.known->bytes};
            const ElementKind kind = made.kind;
            made = known(made.name, std::move(both));
            made.kind = kind;
        } else if (next.elements() > 0) {
            made = step("concat", {made, next}, shape);
        }
    }
    return permuted(made, reverse_of(order));
}

Value Builder::scaled(const Value& value, double factor) {
    require_float(value);
    return factor == 1 ? value : step("scale", {value}, value.shape, {{"factor", factor}});
}

Value Builder::mapped(const std::string& family, const Value& value, const Options& options) {
    require_float(value);
    return step(family, {value}, value.shape, options);
}

namespace {

/// The vector that is added to each row of a tensor of such sizes; nothing where there is none.
std::optional<Sizes> vector_for(const Value& value, const Sizes& shape) {
    const bool is_one = value.elements() == 1;
    const bool is_row = !value.shape.empty() && value.elements() == value.shape.back() &&
                        value.shape.back() == shape.back();
    return is_one || is_row ? std::optional(Sizes{shape.back()}) : std::nullopt;
}

} // namespace

Value Builder::of_two(const std::string& family, const Value& a, const Value& b) {
    // numbers of rows that the machine makes are u32, where the model has INT64
    const bool is_row = a.kind.type == ValueType::U32 && b.kind.type == ValueType::I64;
    const bool is_other_row = a.kind.type == ValueType::I64 && b.kind.type == ValueType::U32;
    const Value x = is_row ? cast(a, b.kind) : a;
    const Value y = is_other_row ? cast(b, a.kind) : b;
    require_alike(x, y);
    const Sizes shape = common_shape(x.shape, y.shape);
    return step(family, {broadcast(x, shape), broadcast(y, shape)}, shape);
}

Value Builder::narrowed(const Value& value) {
    const std::size_t bytes = workload::facts_of(*value.kind.type).bytes;
    return bytes >= sizeof(std::uint32_t) || value.kind.type == ValueType::Mask
               ? value
               : step("narrow", {value}, value.shape, {{"bits", 8 * bytes}});
}

Value Builder::number(const Value& like, double value) {
    const bool is_half = like.kind.type == ValueType::F16;
    const double rounded = is_half          ? double{f16_to_f32(workload::f64_to_f16(value))}
                           : is_float(like) ? double{static_cast<float>(value)}
                                            : value;
    Value one = known("number", equal_elements(*like.kind.type, {}, rounded));
    one.kind = like.kind;
    return one;
}

Value Builder::cast(const Value& value, const ElementKind& kind) {
    require_number(value);
    Value wanted{kind, value.shape};
    require_number(wanted);
    const std::string from = type_of(value.kind);
    const std::string to = type_of(kind);
    const auto bytes_of = [](const Value& one) { return workload::facts_of(*one.kind.type).bytes; };
    const bool is_of_other_sign =
        from != to && (from == "i32" || bytes_of(wanted) == bytes_of(value));
    const bool is_narrower = is_whole(value) && is_whole(wanted) &&
                             value.kind.type != ValueType::Mask &&
                             (bytes_of(wanted) < bytes_of(value) || is_of_other_sign);
    if (from == to) {
        wanted = value;
        wanted.kind = kind;
        return is_narrower ? narrowed(wanted) : wanted;
    }
    const auto as = [&](const Value& input, const ElementKind& made) {
        return step_of_several("cast", {input}, {{made, value.shape}}, {{"to", type_of(made)}})
            .front();
    };
    const bool needs_single =
        (from == "f16" && is_whole(wanted)) || (to == "f16" && is_whole(value));
    const Value made =
        needs_single ? as(as(value, {ValueType::F32, "FLOAT"}), kind) : as(value, kind);
    return is_narrower ? narrowed(made) : made;
}

Value Builder::difference(const Value& a, const Value& b) {
    if (is_float(b) && b.shape.size() < a.shape.size()) { // a row, or one number, is added to all
        return sum(a, scaled(b, -1));
    }
    const Value made = of_two("subtract", a, b);
    return is_whole(a) ? narrowed(made) : made;
}

Value Builder::quotient(const Value& a, const Value& b) {
    require_alike(a, b);
    if (is_float(a)) {
        return of_two("divide", a, b);
    }
    if (workload::facts_of(*a.kind.type).bytes > 2) {
        throw Refused(fmt::format("'{}' has whole numbers of more than 16 bits, and no family "
                                  "divides them",
                                  a.name));
    }
    // a quotient in FP32 of numbers of 16 bits is rounded to no whole number that it is not
    const ElementKind single{ValueType::F32, "FLOAT"};
    const Value dividend = cast(a, single);
    return cast(of_two("divide", dividend, cast(b, single)), a.kind);
}

Value Builder::larger(const Value& a, const Value& b) {
    return of_two("maximum", a, b);
}

Value Builder::smaller(const Value& a, const Value& b) {
    return of_two("minimum", a, b);
}

Value Builder::sum(const Value& a, const Value& b) {
    if (is_whole(a)) {
        return narrowed(of_two("add", a, b));
    }
    require_alike(a, b);
    require_elements(a);
    require_elements(b);
    const Sizes shape = common_shape(a.shape, b.shape);
    for (const auto& [whole, part] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        if (whole->shape != shape || part->shape == shape || shape.empty()) {
            continue;
        }
        if (const auto vector = vector_for(*part, shape)) {
            const Value row = broadcast(
                part->elements() == 1 ? reshaped(*part, {1}) : reshaped(*part, *vector), *vector);
            // a matrix, as a product is, so that the row can become its bias
            const Sizes matrix{whole->elements() / shape.back(), shape.back()};
            return reshaped(step("bias", {reshaped(*whole, matrix), row}, matrix), shape);
        }
    }
    return step("add", {broadcast(a, shape), broadcast(b, shape)}, shape);
}

Value Builder::product(const Value& a, const Value& b) {
    if (is_whole(a)) {
        return narrowed(of_two("multiply", a, b));
    }
    require_alike(a, b);
    const Sizes shape = common_shape(a.shape, b.shape);
    for (const auto& [whole, part] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        if (whole->shape != shape || part->elements() != 1) {
            continue;
        }
        if (part->known != nullptr) {
            return step("scale", {*whole}, shape, {{"factor", part->known->number(0)}});
        }
        if (part->kind.type == ValueType::F32) {
            return step("scale_by", {*whole, reshaped(*part, {1})}, shape);
        }
    }
    return step("multiply", {broadcast(a, shape), broadcast(b, shape)}, shape);
}

Value Builder::reduced(const Value& matrix, const std::string& op) {
    require_float(matrix);
    return step("reduce", {matrix}, {matrix.shape[0]}, {{"op", op}});
}

Value Builder::mean(const Value& matrix) {
    const double share = 1.0 / static_cast<double>(matrix.shape[1]);
    return cast(scaled(reduced(single(matrix), "sum"), share), matrix.kind);
}

Value Builder::single(const Value& value) {
    require_float(value);
    return cast(value, {ValueType::F32, "FLOAT"});
}

} // namespace tessera::importer
