// SPDX-License-Identifier: MIT
// Functions of each element, and comparisons. Truth values are 0 or 1.
#include "sim/importer/computed.h"
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

const ElementKind kTruth{ValueType::Mask, "BOOL"};

Value one_like(const Value& x) {
    return Builder::number(x, 1);
}

/// max(x, 0)
Value above(Builder& build, const Value& x) {
    return build.mapped("relu", x);
}

/// min(x, 0)
Value below(Builder& build, const Value& x) {
    return build.scaled(above(build, build.scaled(x, -1)), -1);
}

Value magnitude(Builder& build, const Value& x) {
    return build.larger(x, build.scaled(x, -1));
}

/// y where x is above 0, else 0.
Value where_above(Builder& build, const Value& x, const Value& y) {
    require_float(x);
    return build.step("relu_gradient", {x, y}, x.shape);
}

template <const char* kFamily> std::vector<Value> mapped(Call& call) {
    return {call.build().mapped(kFamily, call.input(0))};
}
constexpr char kExp[] = "exp";
constexpr char kLog[] = "log";
constexpr char kSqrt[] = "sqrt";

std::vector<Value> reciprocal(Call& call) {
    require_float(call.input(0));
    return {call.build().quotient(one_like(call.input(0)), call.input(0))};
}

/// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), in which nothing overflows.
std::vector<Value> softplus(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    const Value decayed = build.mapped("exp", build.scaled(magnitude(build, x), -1));
    const Value logarithm = build.mapped("log", build.sum(decayed, one_like(x)));
    return {build.sum(above(build, x), logarithm)};
}

std::vector<Value> softsign(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    return {build.quotient(x, build.sum(magnitude(build, x), one_like(x)))};
}

/// gain (max(x, 0) + alpha (exp(min(x, 0) / width) - 1))
Value exponential_unit(Builder& build, const Value& x, double alpha, double gain, double width) {
    const Value grown = build.mapped("exp", build.scaled(below(build, x), 1 / width));
    const Value tail = build.scaled(build.sum(grown, Builder::number(x, -1)), alpha);
    return build.scaled(build.sum(above(build, x), tail), gain);
}

std::vector<Value> elu(Call& call) {
    return {exponential_unit(call.build(), call.input(0), call.number("alpha", 1), 1, 1)};
}
std::vector<Value> celu(Call& call) {
    const double alpha = call.number("alpha", 1);
    return {exponential_unit(call.build(), call.input(0), alpha, 1, alpha)};
}
std::vector<Value> selu(Call& call) {
    const double alpha = call.number("alpha", double{1.67326319217681884765625F});
    const double gamma = call.number("gamma", double{1.05070102214813232421875F});
    return {exponential_unit(call.build(), call.input(0), alpha, gamma, 1)};
}

Value clamped(Builder& build, const Value& x, double least, double most) {
    return build.smaller(build.larger(x, Builder::number(x, least)), Builder::number(x, most));
}

Value hard_sigmoid_of(Builder& build, const Value& x, double alpha, double beta) {
    return clamped(build, build.sum(build.scaled(x, alpha), Builder::number(x, beta)), 0, 1);
}

std::vector<Value> hard_sigmoid(Call& call) {
    const double alpha = call.number("alpha", double{0.2F});
    return {hard_sigmoid_of(call.build(), call.input(0), alpha, call.number("beta", 0.5))};
}

std::vector<Value> hard_swish(Call& call) {
    const Value& x = call.input(0);
    return {call.build().product(x, hard_sigmoid_of(call.build(), x, double{1 / 6.0F}, 0.5))};
}

/// x where it is above alpha, else 0.
std::vector<Value> thresholded_relu(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_float(x);
    const double alpha = call.number("alpha", 1);
    return {where_above(build, build.sum(x, Builder::number(x, -alpha)), x)};
}

std::vector<Value> shrink(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    require_float(x);
    const double edge = call.number("lambd", 0.5);
    const double bias = call.number("bias", 0);
    const auto moved = [&](double by) { return build.sum(x, Builder::number(x, by)); };
    const Value upper = where_above(build, moved(-edge), moved(-bias));
    const Value lower = where_above(build, build.scaled(moved(edge), -1), moved(bias));
    return {build.sum(upper, lower)};
}

/// erf(x) = sign(x) (1 - p(t) exp(-x^2)), t = 1 / (1 + 0.3275911 |x|), with an error of 1.5e-7: Abramowitz and
/// Stegun, Handbook of Mathematical Functions, 7.1.26.
std::vector<Value> error_function(Call& call) {
    constexpr double kSlope = 0.3275911;
    constexpr double kPolynomial[] = {1.061405429, -1.453152027, 1.421413741, -0.284496736,
                                      0.254829592};
    Builder& build = call.build();
    const Value x = build.single(call.input(0));
    const Value one = one_like(x);
    const Value size = magnitude(build, x);
    const Value t = build.quotient(one, build.sum(build.scaled(size, kSlope), one));
    Value p = build.scaled(t, kPolynomial[0]);
    for (std::size_t i = 1; i < std::size(kPolynomial); ++i) {
        p = build.product(build.sum(p, Builder::number(x, kPolynomial[i])), t);
    }
    const Value decayed = build.mapped("exp", build.scaled(build.product(x, x), -1));
    const Value made = build.difference(build.broadcast(one, x.shape), build.product(p, decayed));
    const Value upper = where_above(build, x, made);
    const Value signs = build.difference(upper, where_above(build, build.scaled(x, -1), made));
    return {build.cast(signs, call.input(0).kind)};
}

Value larger(Builder& build, const Value& x, const Value& y) {
    const auto known = computed(x, y, [](auto a, auto b) { return std::max(a, b); });
    return known ? *known : build.larger(x, y);
}
Value smaller(Builder& build, const Value& x, const Value& y) {
    const auto known = computed(x, y, [](auto a, auto b) { return std::min(a, b); });
    return known ? *known : build.smaller(x, y);
}

Value folded(Call& call, Value (*two)(Builder& build, const Value& x, const Value& y)) {
    Value made = call.input(0);
    require_number(made);
    for (std::size_t i = 1; i < call.inputs(); ++i) {
        made = two(call.build(), made, call.input(i));
    }
    return made;
}

std::vector<Value> maximum(Call& call) {
    return {folded(call, larger)};
}
std::vector<Value> minimum(Call& call) {
    return {folded(call, smaller)};
}

std::vector<Value> clip(Call& call) {
    constexpr double kMostHalf = 65504;
    Builder& build = call.build();
    Value made = call.input(0);
    require_number(made);
    const auto bound = [&](std::size_t input, const char* key) -> std::optional<Value> {
        if (call.has(input)) {
            return call.input(input);
        }
        const double number = call.number(key, 0);
        // the least or largest FLOAT, which is the default, bounds no FLOAT16
        const bool is_beyond = made.kind.type == ValueType::F16 && std::fabs(number) > kMostHalf;
        return call.has(key) && !is_beyond ? std::optional(Builder::number(made, number))
                                           : std::nullopt;
    };
    if (const auto least = bound(1, "min")) {
        made = build.larger(made, *least);
    }
    if (const auto most = bound(2, "max")) {
        made = build.smaller(made, *most);
    }
    return {made};
}

/// x to a whole power from 1 on, by squares.
Value power_of(Builder& build, const Value& x, std::int64_t exponent) {
    std::optional<Value> made;
    Value square = x;
    for (std::int64_t rest = exponent; rest > 0; rest /= 2) {
        if (rest % 2 == 1) {
            made = made ? build.product(*made, square) : square;
        }
        if (rest > 1) {
            square = build.product(square, square);
        }
    }
    return *made;
}

/// The power of whole numbers, each to its own known one, by the bits of the exponents.
Value whole_power(Builder& build, const Value& x, const Sizes& exponents, const Sizes& shape) {
    constexpr std::int64_t kMostBits = 6;
    const Value one = Builder::number(x, 1);
    Value made = build.broadcast(one, common_shape(x.shape, shape));
    Value square = x;
    for (std::int64_t bit = 0; bit < kMostBits; ++bit) {
        Sizes has;
        for (const std::int64_t exponent : exponents) {
            if (exponent < 0 || exponent >> kMostBits != 0) {
                throw Refused("got a power of whole numbers below 0 or from 64 on");
            }
            has.push_back(exponent >> bit & 1);
        }
        if (bit > 0) {
            square = build.product(square, square);
        }
        if (std::ranges::find(has, 1) != has.end()) { // 1, or the square where the bit is set
            const auto typed = as_type(whole_elements(has, shape), *x.kind.type);
            Value mask = Builder::known("bits", *typed);
            mask.kind = x.kind;
            const Value less = build.product(build.difference(square, one), mask);
            made = build.product(made, build.sum(less, one));
        }
    }
    return made;
}

std::vector<Value> power(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    const Value& y = call.input(1);
    if (is_whole(x)) {
        std::optional<Sizes> exponents = whole_numbers(call.known(1));
        if (!exponents) {
            const auto whole = as_type(call.known(1), ValueType::I64);
            exponents = whole ? whole_numbers(*whole) : std::nullopt;
        }
        if (!exponents) {
            throw Refused("got whole numbers to a power that is none");
        }
        return {whole_power(build, x, *exponents, y.shape)};
    }
    require_float(x);
    const bool is_one = y.known != nullptr && y.elements() == 1;
    const double exponent = is_one ? y.known->number(0) : 0;
    constexpr double kMostProducts = 64;
    if (is_one && common_shape(x.shape, y.shape) == x.shape) {
        if (exponent == 0) {
            return {build.broadcast(one_like(x), x.shape)};
        }
        if (exponent == 0.5) {
            return {build.mapped("sqrt", x)};
        }
        if (exponent == std::floor(exponent) && std::fabs(exponent) <= kMostProducts) {
            const Value made = power_of(build, x, static_cast<std::int64_t>(std::fabs(exponent)));
            return {exponent > 0 ? made : build.quotient(one_like(x), made)};
        }
    }
    const Value log = build.mapped("log", x); // of numbers above 0
    return {build.mapped("exp", build.product(log, build.cast(y, x.kind)))};
}

/// 1 where x is above y, else 0. Whole numbers: max(x, y) - y is not 0 there.
Value is_above(Builder& build, const Value& x, const Value& y) {
    if (const auto known = computed(
            x, y, [](auto a, auto b) { return a > b ? 1 : 0; }, kTruth)) {
        return *known;
    }
    if (is_whole(x)) {
        const Value more = build.difference(build.larger(x, y), y);
        const Value bits = build.cast(more, {ValueType::U32, "UINT32"});
        Value made = build.smaller(bits, Builder::number(bits, 1));
        made.kind = kTruth;
        return made;
    }
    const Value more = build.difference(x, y);
    const Value ones = build.broadcast(one_like(more), more.shape);
    return build.cast(where_above(build, more, ones), kTruth);
}

Value opposite(Builder& build, const Value& truth) {
    const Value one = Builder::number(truth, 1);
    const auto known = computed(one, truth, std::minus<>());
    return known ? *known : build.difference(one, truth);
}

std::vector<Value> greater(Call& call) {
    return {is_above(call.build(), call.input(0), call.input(1))};
}
std::vector<Value> less(Call& call) {
    return {is_above(call.build(), call.input(1), call.input(0))};
}
std::vector<Value> greater_or_equal(Call& call) {
    return {opposite(call.build(), less(call).front())};
}
std::vector<Value> less_or_equal(Call& call) {
    return {opposite(call.build(), greater(call).front())};
}
std::vector<Value> equal(Call& call) {
    Builder& build = call.build();
    const Value above = greater(call).front();
    return {opposite(build, larger(build, above, less(call).front()))};
}

void require_truth(const Value& x) {
    if (x.kind.type != ValueType::Mask) {
        throw Refused(fmt::format("'{}' has elements of {}, expected BOOL", x.name, x.kind.name));
    }
}

std::vector<Value> logical_and(Call& call) {
    require_truth(call.input(0));
    return {smaller(call.build(), call.input(0), call.input(1))};
}
std::vector<Value> logical_or(Call& call) {
    require_truth(call.input(0));
    return {larger(call.build(), call.input(0), call.input(1))};
}
std::vector<Value> logical_xor(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    const Value& y = call.input(1);
    require_truth(x);
    if (const auto known = computed(x, y, [](auto a, auto b) { return a != b ? 1 : 0; })) {
        return {*known};
    }
    const Value either = build.larger(x, y);
    return {build.difference(either, build.smaller(x, y))};
}
std::vector<Value> logical_not(Call& call) {
    require_truth(call.input(0));
    return {opposite(call.build(), call.input(0))};
}

/// x where the condition is 1, else y: each is taken where its own is above 0, and 0 is added.
std::vector<Value> where(Call& call) {
    Builder& build = call.build();
    require_truth(call.input(0));
    const Sizes shape =
        common_shape(call.input(0).shape, common_shape(call.input(1).shape, call.input(2).shape));
    const Value truth = build.broadcast(call.input(0), shape);
    const Value x = build.broadcast(call.input(1), shape);
    const Value y = build.broadcast(call.input(2), shape);
    if (is_whole(x)) {
        const auto kept = computed(truth, x, std::multiplies<>(), x.kind);
        const auto others = computed(opposite(build, truth), y, std::multiplies<>(), x.kind);
        if (kept && others) {
            return {*computed(*kept, *others, std::plus<>())};
        }
        const Value chosen = build.cast(truth, x.kind);
        const Value rest = build.cast(opposite(build, truth), x.kind);
        const Value kept_x = build.product(chosen, x);
        return {build.sum(kept_x, build.product(rest, y))};
    }
    require_float(x);
    require_alike(x, y);
    const Value chosen = build.cast(truth, x.kind);
    const Value rest = build.cast(opposite(build, truth), x.kind);
    const Value kept_x = where_above(build, chosen, x);
    return {build.sum(kept_x, where_above(build, rest, y))};
}

} // namespace

Value truth_of(Builder& build, const Value& x) {
    const Value zero = Builder::number(x, 0);
    const Value above = is_above(build, x, zero);
    return build.larger(above, is_above(build, zero, x));
}

std::vector<Operator> function_operators() {
    return {
        {"And", "with broadcast", logical_and},
        {"Celu", "", celu},
        {"Clip", "", clip},
        {"Elu", "", elu},
        {"Equal", "with broadcast", equal},
        {"Erf", "by exp and a polynomial, with an error of 1.5e-7", error_function},
        {"Exp", "", mapped<kExp>},
        {"Greater", "with broadcast", greater},
        {"GreaterOrEqual", "with broadcast", greater_or_equal},
        {"HardSigmoid", "", hard_sigmoid},
        {"HardSwish", "", hard_swish},
        {"Less", "with broadcast", less},
        {"LessOrEqual", "with broadcast", less_or_equal},
        {"Log", "", mapped<kLog>},
        {"Max", "with broadcast", maximum},
        {"Min", "with broadcast", minimum},
        {"Not", "1 - x", logical_not},
        {"Or", "with broadcast", logical_or},
        {"Pow",
         "by products, sqrt(x), or exp(y log(x)) of numbers above 0; of whole numbers to known "
         "powers",
         power},
        {"Reciprocal", "", reciprocal},
        {"Selu", "", selu},
        {"Shrink", "", shrink},
        {"Softplus", "max(x, 0) + log(1 + exp(-|x|))", softplus},
        {"Softsign", "", softsign},
        {"Sqrt", "", mapped<kSqrt>},
        {"ThresholdedRelu", "", thresholded_relu},
        {"Where", "with broadcast", where},
        {"Xor", "with broadcast", logical_xor},
    };
}

} // namespace tessera::importer
