// SPDX-License-Identifier: MIT
// Logarithms of softmax, and losses of classes.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

/// The logarithm of softmax along one axis: x - largest - log(sum of exp(x - largest)).
Value log_softmax_of(Builder& build, const Value& x, const Axes& axes) {
    require_float(x);
    const Rows rows = rows_of(build, x, axes);
    const Value matrix = build.single(rows.matrix);
    const Sizes column{matrix.shape[0], 1};
    const auto less = [&](const Value& from, const Value& each) {
        return build.difference(from, build.broadcast(build.reshaped(each, column), from.shape));
    };
    const Value moved = less(matrix, build.reduced(matrix, "max"));
    const Value sums = build.reduced(build.mapped("exp", moved), "sum");
    return put_back(build, build.cast(less(moved, build.mapped("log", sums)), x.kind), rows);
}

std::vector<Value> log_softmax(Call& call) {
    return {log_softmax_of(call.build(), call.input(0), softmax_axes(call))};
}

/// The weight of each class, of which one may be left out.
std::optional<Value> weights_of(Call& call, std::int64_t classes,
                                std::optional<std::int64_t> without) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    const bool is_class = without && *without >= 0 && *without < classes;
    std::optional<Value> weights = call.has(2) ? std::optional(call.input(2)) : std::nullopt;
    if (weights && weights->shape != Sizes{classes}) {
        throw Refused(
            fmt::format("got weights of {} for {} classes", sizes_text(weights->shape), classes));
    }
    if (!is_class) {
        return weights;
    }
    Sizes kept(static_cast<std::size_t>(classes), 1);
    kept[static_cast<std::size_t>(*without)] = 0;
    Value mask = Builder::known("kept", *as_type(whole_elements(kept), *x.kind.type));
    mask.kind = x.kind;
    return weights ? build.product(*weights, mask) : mask;
}

/// The loss of logarithms x of probabilities, [n][classes][...], for the classes of input 1.
Value loss_of(Call& call, const Value& x) {
    Builder& build = call.build();
    const Value& targets = call.input(1);
    const std::string reduction = call.text("reduction", "mean");
    std::optional<std::int64_t> ignored;
    if (call.has("ignore_index")) {
        ignored = call.integer("ignore_index", 0);
    }
    require_float(x);
    Sizes expected = x.shape;
    if (x.rank() >= 2) {
        expected.erase(expected.begin() + 1);
    }
    if (x.rank() < 2 || targets.shape != expected || !is_whole(targets)) {
        throw Refused(fmt::format("got classes of {} for {}", sizes_text(targets.shape),
                                  sizes_text(x.shape)));
    }
    if (reduction != "mean" && reduction != "sum" && reduction != "none") {
        throw Refused(fmt::format("attribute 'reduction' is {}", reduction));
    }
    const Rows rows = rows_of(build, x, {1});
    const std::int64_t count = rows.matrix.shape[0];
    const std::int64_t classes = rows.matrix.shape[1];
    // a number that is no class has a row of zeros
    Value chosen = build
                       .step_of_several("one_hot", {build.reshaped(targets, {count})},
                                        {{x.kind, rows.matrix.shape}},
                                        {{"classes", classes}, {"type", type_of(x.kind)}})
                       .front();
    const auto weights = weights_of(call, classes, ignored);
    if (weights) {
        chosen = build.product(chosen, build.broadcast(*weights, chosen.shape));
    }
    const Value losses = build.scaled(build.reduced(build.product(chosen, rows.matrix), "sum"), -1);
    if (reduction == "none") {
        return build.reshaped(losses, expected);
    }
    const auto total = [&](const Value& of_rows) { // in FP32: half types overflow
        const Value row = build.reshaped(build.single(of_rows), {1, count});
        return build.reshaped(build.reduced(row, "sum"), {});
    };
    Value made = total(losses);
    if (reduction == "mean") {
        made = weights || ignored ? build.quotient(made, total(build.reduced(chosen, "sum")))
                                  : build.scaled(made, 1.0 / static_cast<double>(count));
    }
    return build.cast(made, x.kind);
}

std::vector<Value> negative_log_likelihood(Call& call) {
    return {loss_of(call, call.input(0))};
}

std::vector<Value> softmax_cross_entropy(Call& call) {
    if (call.input(0).rank() < 2) {
        throw Refused("got no axis of classes");
    }
    const Value logarithms = log_softmax_of(call.build(), call.input(0), {1});
    return {loss_of(call, logarithms), logarithms};
}

} // namespace

std::vector<Operator> loss_operators() {
    return {
        {"LogSoftmax", "along any axis", log_softmax},
        {"NegativeLogLikelihoodLoss", "with weights, and a class or number that is left out",
         negative_log_likelihood},
        {"SoftmaxCrossEntropyLoss", "the same, with the logarithms", softmax_cross_entropy},
    };
}

} // namespace tessera::importer
