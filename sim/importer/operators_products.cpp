// SPDX-License-Identifier: MIT
// Products, by the family `matmul`.
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

/// Sums of products of halves are FP32, as most runtimes have them.
Builder::Options options_of(const Value& a) {
    return a.kind.type == ValueType::F16 ? Builder::Options{{"partials", "f32"}}
                                         : Builder::Options{};
}

void require_factors(const Value& a, const Value& b) {
    require_float(a);
    require_float(b);
    require_alike(a, b);
    require_elements(a);
    require_elements(b);
}

Sizes without_last(const Sizes& shape, std::size_t count) {
    return {shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(count)};
}

Sizes with(Sizes shape, std::initializer_list<std::int64_t> last) {
    shape.insert(shape.end(), last);
    return shape;
}

Value product(Call& call, const Value& a, const Value& b) {
    Builder& build = call.build();
    const std::int64_t m = a.shape[a.rank() - 2];
    const std::int64_t k = a.shape.back();
    const std::int64_t n = b.shape.back();
    if (b.shape[b.rank() - 2] != k) {
        throw Refused(fmt::format("got {} and {}, which do not go together", sizes_text(a.shape),
                                  sizes_text(b.shape)));
    }
    const Sizes groups = common_shape(without_last(a.shape, 2), without_last(b.shape, 2));
    const Sizes shape = with(groups, {m, n});
    if (b.elements() == k * n) { // one matrix for all: its rows are those of one product
        const std::int64_t rows = a.elements() / k;
        const Value made =
            build.step("matmul", {build.reshaped(a, {rows, k}), build.reshaped(b, {k, n})},
                       {rows, n}, options_of(a));
        return build.reshaped(made, shape);
    }
    const std::int64_t all = product_of(groups);
    const Value left = build.reshaped(build.broadcast(a, with(groups, {m, k})), {all, m, k});
    const Value right = build.reshaped(build.broadcast(b, with(groups, {k, n})), {all, k, n});
    return build.reshaped(build.step("matmul", {left, right}, {all, m, n}, options_of(a)), shape);
}

std::vector<Value> matmul(Call& call) {
    Builder& build = call.build();
    Value a = call.input(0);
    Value b = call.input(1);
    require_factors(a, b);
    if (a.rank() == 0 || b.rank() == 0) {
        throw Refused("got a tensor without sizes");
    }
    const bool is_row = a.rank() == 1;
    const bool is_column = b.rank() == 1;
    a = is_row ? build.reshaped(a, {1, a.shape[0]}) : a;
    b = is_column ? build.reshaped(b, {b.shape[0], 1}) : b;
    const Value made = product(call, a, b);
    Sizes shape = without_last(made.shape, 2);
    if (!is_row) {
        shape.push_back(made.shape[made.rank() - 2]);
    }
    if (!is_column) {
        shape.push_back(made.shape.back());
    }
    return {build.reshaped(made, shape)};
}

std::vector<Value> gemm(Call& call) {
    Builder& build = call.build();
    const Value& a = call.input(0);
    const Value& b = call.input(1);
    require_factors(a, b);
    if (a.rank() != 2 || b.rank() != 2) {
        throw Refused("got tensors that are no matrices");
    }
    call.ignore("broadcast"); // operator sets before 7; the sizes say it
    const bool turns_a = call.integer("transA", 0) != 0;
    const bool turns_b = call.integer("transB", 0) != 0;
    const double alpha = call.number("alpha", 1);
    const double beta = call.number("beta", 1);
    const std::int64_t m = a.shape[turns_a ? 1 : 0];
    const std::int64_t k = a.shape[turns_a ? 0 : 1];
    const std::int64_t n = b.shape[turns_b ? 0 : 1];
    if (b.shape[turns_b ? 1 : 0] != k) {
        throw Refused(fmt::format("got {} and {}, which do not go together", sizes_text(a.shape),
                                  sizes_text(b.shape)));
    }
    Builder::Options options = options_of(a);
    for (const auto& [turns, key] : {std::pair(turns_a, "transpose_a"), {turns_b, "transpose_b"}}) {
        if (turns) {
            options[key] = true;
        }
    }
    std::vector<Value> factors{a, b};
    const bool has_sum = call.has(2) && beta != 0;
    const Value sum = has_sum ? build.scaled(call.input(2), beta) : a;
    if (has_sum && common_shape(sum.shape, {m, n}) != Sizes{m, n}) {
        throw Refused(fmt::format("got c of {} for {} x {}", sizes_text(sum.shape), m, n));
    }
    const bool is_bias = has_sum && alpha == 1 && !sum.shape.empty() && sum.elements() == n &&
                         sum.shape.back() == n && sum.kind.type == a.kind.type;
    if (is_bias) {
        factors.push_back(build.reshaped(sum, {n}));
    }
    const Value product = build.scaled(build.step("matmul", factors, {m, n}, options), alpha);
    return {has_sum && !is_bias ? build.sum(product, sum) : product};
}

} // namespace

std::vector<Operator> product_operators() {
    return {
        {"Gemm", "with both transposes, alpha, beta and c", gemm},
        {"MatMul", "with broadcast, of vectors too", matmul},
    };
}

} // namespace tessera::importer
