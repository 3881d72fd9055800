// SPDX-License-Identifier: MIT
// Operators over rows: some axes of a tensor, which are brought to its end, are the columns of a
// matrix.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

/// The axes from one on.
Axes axes_from(std::size_t first, std::size_t rank) {
    Axes axes(rank - first);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

/// The shape of what has one element for each row.
Sizes reduced_shape(const Sizes& shape, const Axes& axes, bool keeps) {
    Sizes made;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const bool is_reduced = std::ranges::find(axes, axis) != axes.end();
        if (!is_reduced || keeps) {
            made.push_back(is_reduced ? 1 : shape[axis]);
        }
    }
    return made;
}

enum class Before { Nothing, Minus, Absolute, Square };

/// A reduction of `before` of x, times `factor`; the mean divides too. `behind` is a function of the result.
struct Reduction {
    Before before = Before::Nothing;
    const char* op = "sum";
    double factor = 1;
    bool is_mean = false;
    const char* behind = nullptr;
};

Value reduced(Builder& build, const Value& x, const Axes& axes, bool keeps,
              const Reduction& reduction) {
    require_float(x);
    const bool is_sum = std::string_view(reduction.op) == "sum"; // of FP32: half types overflow
    const Rows rows = rows_of(build, x, axes);
    Value matrix = is_sum ? build.single(rows.matrix) : rows.matrix;
    switch (reduction.before) {
    case Before::Nothing:
        break;
    case Before::Minus:
        matrix = build.scaled(matrix, -1);
        break;
    case Before::Absolute:
        matrix = build.larger(matrix, build.scaled(matrix, -1));
        break;
    case Before::Square:
        matrix = build.product(matrix, matrix);
        break;
    }
    Value made = reduction.is_mean
                     ? build.mean(matrix)
                     : build.scaled(build.reduced(matrix, reduction.op), reduction.factor);
    if (reduction.behind != nullptr) {
        made = build.mapped(reduction.behind, made);
    }
    return build.reshaped(build.cast(made, x.kind), reduced_shape(x.shape, axes, keeps));
}

/// The axes that a node reduces: all where it names none; nothing where x is to stay as it is.
std::optional<Axes> reduced_axes(Call& call) {
    const bool is_noop = call.integer("noop_with_empty_axes", 0) != 0;
    auto numbers = call.numbers(1, "axes");
    if (numbers && numbers->empty()) {
        numbers.reset();
    }
    return !numbers && is_noop ? std::nullopt
                               : std::optional(Call::axes(numbers, call.input(0).rank()));
}

std::vector<Value> reduce(Call& call, const Reduction& reduction) {
    const Value& x = call.input(0);
    const bool keeps = call.integer("keepdims", 1) != 0;
    const auto axes = reduced_axes(call);
    return {axes ? reduced(call.build(), x, *axes, keeps, reduction) : x};
}

std::vector<Value> reduce_sum(Call& call) {
    return reduce(call, {});
}
std::vector<Value> reduce_mean(Call& call) {
    return reduce(call, {.is_mean = true});
}
std::vector<Value> reduce_max(Call& call) {
    return reduce(call, {.op = "max"});
}
std::vector<Value> reduce_min(Call& call) {
    return reduce(call, {.before = Before::Minus, .op = "max", .factor = -1});
}
std::vector<Value> reduce_l1(Call& call) {
    return reduce(call, {.before = Before::Absolute});
}
std::vector<Value> reduce_sum_square(Call& call) {
    return reduce(call, {.before = Before::Square});
}

std::vector<Value> reduce_l2(Call& call) {
    return reduce(call, {.before = Before::Square, .behind = "sqrt"});
}
std::vector<Value> reduce_log_sum(Call& call) {
    return reduce(call, {.behind = "log"});
}

/// largest + log(sum of exp(x - largest)), of which nothing overflows.
std::vector<Value> reduce_log_sum_exp(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    const bool keeps = call.integer("keepdims", 1) != 0;
    const auto told = reduced_axes(call);
    require_float(x);
    if (!told) {
        return {x};
    }
    const Axes& axes = *told;
    const Value matrix = build.single(rows_of(build, x, axes).matrix);
    const Sizes column{matrix.shape[0], 1};
    const Value most = build.reshaped(build.reduced(matrix, "max"), column);
    const Value moved = build.difference(matrix, build.broadcast(most, matrix.shape));
    const Value sums = build.reshaped(build.reduced(build.mapped("exp", moved), "sum"), column);
    const Value made = build.sum(most, build.mapped("log", sums));
    return {build.reshaped(build.cast(made, x.kind), reduced_shape(x.shape, axes, keeps))};
}

/// Over all axes but the first two.
std::vector<Value> pool(Call& call, const Reduction& reduction) {
    const Value& x = call.input(0);
    if (x.rank() < 3) {
        throw Refused("got less than three sizes");
    }
    Axes axes(x.rank() - 2);
    std::iota(axes.begin(), axes.end(), std::size_t{2});
    return {reduced(call.build(), x, axes, true, reduction)};
}

std::vector<Value> global_average_pool(Call& call) {
    return pool(call, {.is_mean = true});
}
std::vector<Value> global_max_pool(Call& call) {
    return pool(call, {.op = "max"});
}

std::vector<Value> softmax(Call& call) {
    require_float(call.input(0));
    Builder& build = call.build();
    const Rows rows = rows_of(build, call.input(0), softmax_axes(call));
    return {put_back(build, build.mapped("softmax", rows.matrix), rows)};
}

/// The number of the largest element of each row; of equal ones the first, or the last.
Value largest(Builder& build, const Value& matrix, bool last) {
    const std::int64_t columns = matrix.shape[1];
    Sizes backwards;
    for (std::int64_t i = columns; i-- > 0;) {
        backwards.push_back(i);
    }
    const Value x = last ? build.taken(matrix, 1, backwards) : matrix;
    const ElementKind number{ValueType::U32, "UINT32"};
    const std::vector<Value> found = build.step_of_several(
        "top_k", {x}, {{x.kind, {x.shape[0], 1}}, {number, {x.shape[0], 1}}}, {{"k", 1}});
    if (!last) {
        return build.reshaped(found[1], {x.shape[0]});
    }
    Value table = Builder::known("backwards", whole_elements(backwards, Sizes{columns, 1}));
    table.kind = number;
    return build.reshaped(
        build.step("gather", {table, build.reshaped(found[1], {x.shape[0]})}, {x.shape[0], 1}),
        {x.shape[0]});
}

std::vector<Value> hardmax(Call& call) {
    const Value& x = call.input(0);
    require_float(x);
    Builder& build = call.build();
    const Rows rows = rows_of(build, x, softmax_axes(call));
    const Value found = largest(build, rows.matrix, false);
    const Value made =
        build
            .step_of_several("one_hot", {found}, {{x.kind, rows.matrix.shape}},
                             {{"classes", rows.matrix.shape[1]},
                              {"type", x.kind.type == ValueType::F16 ? "f16" : "f32"}})
            .front();
    return {put_back(build, made, rows)};
}

std::vector<Value> arg(Call& call, double sign) {
    const Value& x = call.input(0);
    require_float(x);
    const std::size_t axis = axis_of(call.integer("axis", 0), x.rank());
    const bool keeps = call.integer("keepdims", 1) != 0;
    const bool last = call.integer("select_last_index", 0) != 0;
    Builder& build = call.build();
    const Rows rows = rows_of(build, x, {axis});
    const Value found = largest(build, build.scaled(rows.matrix, sign), last);
    return {build.reshaped(found, reduced_shape(x.shape, {axis}, keeps))};
}

std::vector<Value> arg_max(Call& call) {
    return arg(call, 1);
}
std::vector<Value> arg_min(Call& call) {
    return arg(call, -1);
}

std::vector<Value> top_k(Call& call) {
    const Value& x = call.input(0);
    require_float(x);
    const std::size_t axis = axis_of(call.integer("axis", -1), x.rank());
    const bool is_largest = call.integer("largest", 1) != 0;
    call.ignore("sorted"); // sorted ones are in some order too
    const Sizes told = call.has(1) ? call.numbers(1) : Sizes{call.integer("k", 0)};
    if (told.size() != 1 || told[0] < 1 || told[0] > x.shape[axis]) {
        throw Refused(fmt::format("got k {} of {} elements", sizes_text(told), x.shape[axis]));
    }
    Builder& build = call.build();
    Rows rows = rows_of(build, x, {axis});
    const double sign = is_largest ? 1 : -1;
    const Value matrix = build.scaled(rows.matrix, sign);
    const Sizes shape{matrix.shape[0], told[0]};
    const std::vector<Value> found = build.step_of_several(
        "top_k", {matrix}, {{x.kind, shape}, {{ValueType::U32, "UINT32"}, shape}},
        {{"k", told[0]}});
    rows.shape.back() = told[0];
    return {put_back(build, build.scaled(found[0], sign), rows), put_back(build, found[1], rows)};
}

std::vector<Value> layer_normalization(Call& call) {
    const Value& x = call.input(0);
    require_float(x);
    if (call.integer("stash_type", 1) != 1) {
        throw Refused("attribute 'stash_type' is another than FLOAT");
    }
    Builder& build = call.build();
    const Axes axes = axes_from(axis_of(call.integer("axis", -1), x.rank()), x.rank());
    const Rows rows = rows_of(build, x, axes);
    const std::int64_t columns = rows.matrix.shape[1];
    constexpr std::size_t kScale = 1;
    constexpr std::size_t kShift = 2;
    const auto vector = [&](std::size_t input) {
        if (input == kShift && !call.has(input)) {
            Value zeros = Builder::known("zeros", equal_elements(*x.kind.type, Sizes{columns}, 0));
            zeros.kind = x.kind;
            return zeros;
        }
        Sizes shape;
        for (const std::size_t axis : axes) {
            shape.push_back(x.shape[axis]);
        }
        return build.reshaped(build.broadcast(call.input(input), shape), {columns});
    };
    const ElementKind single{ValueType::F32, "FLOAT"};
    const Sizes each{rows.matrix.shape[0]};
    const std::vector<Value> made =
        build.step_of_several("layer_norm", {rows.matrix, vector(kScale), vector(kShift)},
                              {{x.kind, rows.matrix.shape}, {single, each}, {single, each}},
                              {{"epsilon", call.number("epsilon", double{1e-5F})}});
    const Sizes kept = reduced_shape(x.shape, axes, true);
    return {put_back(build, made[0], rows), build.reshaped(made[1], kept),
            build.reshaped(made[2], kept)};
}

} // namespace

Rows rows_of(Builder& build, const Value& x, const Axes& axes) {
    Rows rows;
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
        if (std::ranges::find(axes, axis) == axes.end()) {
            rows.order.push_back(axis);
        }
    }
    Axes last = axes;
    std::ranges::sort(last);
    rows.order.insert(rows.order.end(), last.begin(), last.end());
    std::int64_t columns = 1;
    for (const std::size_t axis : rows.order) {
        rows.shape.push_back(x.shape[axis]);
    }
    for (const std::size_t axis : last) {
        columns *= x.shape[axis];
    }
    require_elements(x);
    rows.matrix = build.reshaped(build.permuted(x, rows.order), {x.elements() / columns, columns});
    return rows;
}

Value put_back(Builder& build, const Value& matrix, const Rows& rows) {
    Axes back(rows.order.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
        back[rows.order[i]] = i;
    }
    return build.permuted(build.reshaped(matrix, rows.shape), back);
}

Axes softmax_axes(Call& call) {
    const std::size_t rank = call.input(0).rank();
    const std::size_t axis = axis_of(call.integer("axis", call.opset() < 13 ? 1 : -1), rank);
    return call.opset() < 13 ? axes_from(axis, rank) : Axes{axis};
}

std::vector<Operator> row_operators() {
    return {
        {"ArgMax", "numbers as u32", arg_max},
        {"ArgMin", "numbers as u32", arg_min},
        {"GlobalAveragePool", "", global_average_pool},
        {"GlobalMaxPool", "", global_max_pool},
        {"Hardmax", "", hardmax},
        {"LayerNormalization", "with mean and deviation in FLOAT", layer_normalization},
        {"ReduceL1", "over known axes", reduce_l1},
        {"ReduceL2", "over known axes", reduce_l2},
        {"ReduceLogSum", "over known axes", reduce_log_sum},
        {"ReduceLogSumExp", "over known axes", reduce_log_sum_exp},
        {"ReduceMax", "over known axes", reduce_max},
        {"ReduceMean", "over known axes", reduce_mean},
        {"ReduceMin", "over known axes: -max(-x)", reduce_min},
        {"ReduceSum", "over known axes", reduce_sum},
        {"ReduceSumSquare", "over known axes", reduce_sum_square},
        {"Softmax", "along any axis", softmax},
        {"TopK", "k known, numbers as u32, in order whatever `sorted` says", top_k},
    };
}

} // namespace tessera::importer
