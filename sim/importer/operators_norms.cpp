// SPDX-License-Identifier: MIT
// Norms over batches, instances and axes, and sums along an axis.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

Value spread(Builder& build, const Value& column, const Value& matrix) {
    return build.broadcast(build.reshaped(column, {matrix.shape[0], 1}), matrix.shape);
}

/// In FP32: half types overflow.
struct Moments {
    Value less;     ///< the matrix less the means of its rows
    Value mean;     ///< of each row: a list
    Value variance; ///< the mean square of `less`
};

Moments moments_of(Builder& build, const Value& matrix) {
    Moments made;
    const Value wide = build.single(matrix);
    made.mean = build.mean(wide);
    made.less = build.difference(wide, spread(build, made.mean, wide));
    made.variance = build.mean(build.product(made.less, made.less));
    return made;
}

/// less / sqrt(variance + epsilon) of each row
Value normal(Builder& build, const Value& less, const Value& variance, double epsilon) {
    const Value root =
        build.mapped("sqrt", build.sum(variance, Builder::number(variance, epsilon)));
    return build.quotient(less, spread(build, root, less));
}

/// Rows are channels: axis 1.
Rows channels_of(Call& call) {
    const Value& x = call.input(0);
    require_float(x);
    if (x.rank() < 2) {
        throw Refused(fmt::format("got no channels in {}", sizes_text(x.shape)));
    }
    Axes others{0};
    for (std::size_t axis = 2; axis < x.rank(); ++axis) {
        others.push_back(axis);
    }
    return rows_of(call.build(), x, others);
}

/// An input of one number for each row, in FP32.
Value of_rows(Call& call, std::size_t input, std::int64_t rows) {
    return call.build().reshaped(call.build().single(call.input(input)), {rows});
}

std::vector<Value> batch_normalization(Call& call) {
    Builder& build = call.build();
    const double epsilon = call.number("epsilon", double{1e-5F});
    const double momentum = call.number("momentum", double{0.9F});
    const bool trains = call.integer("training_mode", 0) != 0;
    call.ignore("spatial"); // operator sets before 9, of which 1 is the meaning here
    if (call.integer("spatial", 1) != 1 || (call.opset() < 7 && call.integer("is_test", 0) == 0)) {
        throw Refused("got a norm of another meaning than that of operator sets from 9 on");
    }
    const Rows rows = channels_of(call);
    const std::int64_t count = rows.matrix.shape[0];
    const Value given_mean = of_rows(call, 3, count);
    const Value given_variance = of_rows(call, 4, count);
    const Value wide = build.single(rows.matrix);
    const Moments moments = trains
                                ? moments_of(build, wide)
                                : Moments{build.difference(wide, spread(build, given_mean, wide)),
                                          given_mean, given_variance};
    Value made = normal(build, moments.less, moments.variance, epsilon);
    made = build.product(made, spread(build, of_rows(call, 1, count), made));
    made = build.sum(made, spread(build, of_rows(call, 2, count), made));
    std::vector<Value> all{put_back(build, build.cast(made, rows.matrix.kind), rows)};
    if (trains) {
        const auto moved = [&](std::size_t input, const Value& from, const Value& to) {
            const Value kept = build.scaled(from, momentum);
            return build.cast(build.sum(kept, build.scaled(to, 1 - momentum)),
                              call.input(input).kind);
        };
        all.push_back(moved(3, given_mean, moments.mean));
        all.push_back(moved(4, given_variance, moments.variance));
    }
    return all;
}

std::vector<Value> instance_normalization(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_float(x);
    if (x.rank() < 3) {
        throw Refused(fmt::format("got less than three sizes, {}", sizes_text(x.shape)));
    }
    const double epsilon = call.number("epsilon", double{1e-5F});
    const std::int64_t rows = x.shape[0] * x.shape[1];
    require_elements(x);
    const Value matrix = build.reshaped(x, {rows, x.elements() / rows});
    const Moments moments = moments_of(build, matrix);
    const auto of_channel = [&](std::size_t input) {
        const Value channels = build.single(call.input(input));
        return spread(build, build.broadcast(channels, {x.shape[0], x.shape[1]}), matrix);
    };
    const Value made = normal(build, moments.less, moments.variance, epsilon);
    const Value scaled = build.product(made, of_channel(1));
    const Value moved = build.sum(scaled, of_channel(2));
    return {build.reshaped(build.cast(moved, x.kind), x.shape)};
}

std::vector<Value> mean_variance_normalization(Call& call) {
    constexpr double kEpsilon = 1e-9;
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_float(x);
    const Axes axes = Call::axes(call.list("axes").value_or(Sizes{0, 2, 3}), x.rank());
    const Rows rows = rows_of(build, x, axes);
    const Moments moments = moments_of(build, rows.matrix);
    const Value root = build.mapped("sqrt", moments.variance);
    const Value made =
        build.quotient(moments.less, spread(build, build.sum(root, Builder::number(root, kEpsilon)),
                                            moments.less));
    return {put_back(build, build.cast(made, x.kind), rows)};
}

/// A product with a triangle of ones.
std::vector<Value> cumulative_sum(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_float(x);
    const Sizes told = call.numbers(1);
    if (told.size() != 1) {
        throw Refused("got no axis");
    }
    const bool is_exclusive = call.integer("exclusive", 0) != 0;
    const bool is_reverse = call.integer("reverse", 0) != 0;
    const Rows rows = rows_of(build, x, {axis_of(told[0], x.rank())});
    const std::int64_t size = rows.matrix.shape[1];
    require_sizes({size, size});
    Sizes ones;
    for (std::int64_t from = 0; from < size; ++from) {
        for (std::int64_t to = 0; to < size; ++to) {
            const std::int64_t ahead = is_reverse ? from - to : to - from;
            ones.push_back(ahead > 0 || (ahead == 0 && !is_exclusive) ? 1 : 0);
        }
    }
    Value triangle =
        Builder::known("triangle", *as_type(whole_elements(ones, Sizes{size, size}), *x.kind.type));
    triangle.kind = x.kind;
    const Builder::Options options =
        x.kind.type == ValueType::F16 ? Builder::Options{{"partials", "f32"}} : Builder::Options{};
    return {put_back(
        build, build.step("matmul", {rows.matrix, triangle}, rows.matrix.shape, options), rows)};
}

} // namespace

std::vector<Operator> norm_operators() {
    return {
        {"BatchNormalization", "in training too", batch_normalization},
        {"CumSum", "along a known axis: a product with a triangle", cumulative_sum},
        {"InstanceNormalization", "", instance_normalization},
        {"MeanVarianceNormalization", "", mean_variance_normalization},
    };
}

} // namespace tessera::importer
