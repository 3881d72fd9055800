// SPDX-License-Identifier: MIT
// Operators of each element, by families of kernels over elements. Those of known whole numbers, as
// exporters compute sizes, are computed here.
#include "sim/importer/computed.h"
#include "sim/importer/operators.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;

std::vector<Value> add(Call& call) {
    const auto known = computed(call.input(0), call.input(1), std::plus<>());
    return {known ? *known : call.build().sum(call.input(0), call.input(1))};
}

std::vector<Value> subtract(Call& call) {
    const auto known = computed(call.input(0), call.input(1), std::minus<>());
    return {known ? *known : call.build().difference(call.input(0), call.input(1))};
}

std::vector<Value> multiply(Call& call) {
    const auto known = computed(call.input(0), call.input(1), [](std::int64_t a, std::int64_t b) {
        std::int64_t made = 0;
        if (__builtin_mul_overflow(a, b, &made)) {
            throw Refused("a known number becomes one that its type does not have");
        }
        return made;
    });
    return {known ? *known : call.build().product(call.input(0), call.input(1))};
}

/// The inverses of known numbers of FP32, rounded; nothing where one has none.
std::optional<Value> inverses(const Value& value) {
    if (value.known == nullptr || value.known->type != ValueType::F32) {
        return std::nullopt;
    }
    Elements made = *value.known;
    for (std::int64_t i = 0; i < made.count(); ++i) {
        const auto inverse = static_cast<float>(1 / made.number(i));
        if (!std::isnormal(inverse)) {
            return std::nullopt;
        }
        made.bytes.replace(static_cast<std::size_t>(i) * sizeof inverse, sizeof inverse,
                           reinterpret_cast<const char*>(&inverse), sizeof inverse);
    }
    Value inverse = Builder::known(value.name + "_inverse", std::move(made));
    inverse.kind = value.kind;
    return inverse;
}

std::vector<Value> divide(Call& call) {
    const auto known = computed(call.input(0), call.input(1), [](std::int64_t a, std::int64_t b) {
        if (b == 0) {
            throw Refused("a known number is divided by 0");
        }
        return a / b;
    });
    if (known) {
        return {*known};
    }
    if (const auto inverse = inverses(call.input(1))) {
        return {call.build().product(call.input(0), *inverse)};
    }
    return {call.build().quotient(call.input(0), call.input(1))};
}

std::vector<Value> negate(Call& call) {
    const Value& x = call.input(0);
    const Value zero = is_whole(x) ? Builder::number(x, 0) : x;
    if (const auto known = computed(zero, x, std::minus<>())) {
        return {*known};
    }
    return {is_whole(x) ? call.build().difference(zero, x) : call.build().scaled(x, -1)};
}

std::vector<Value> sum(Call& call) {
    Value made = call.input(0);
    require_float(made);
    for (std::size_t i = 1; i < call.inputs(); ++i) {
        made = call.build().sum(made, call.input(i));
    }
    return {made};
}

std::vector<Value> mean(Call& call) {
    Builder& build = call.build();
    Value made = build.single(call.input(0)); // half types overflow
    for (std::size_t i = 1; i < call.inputs(); ++i) {
        made = build.sum(made, build.single(call.input(i)));
    }
    const double share = 1.0 / static_cast<double>(call.inputs());
    return {build.cast(build.scaled(made, share), call.input(0).kind)};
}

std::vector<Value> relu(Call& call) {
    return {call.build().mapped("relu", call.input(0))};
}
std::vector<Value> tanh(Call& call) {
    return {call.build().mapped("tanh", call.input(0))};
}
std::vector<Value> sigmoid(Call& call) {
    return {call.build().mapped("sigmoid", call.input(0))};
}

/// relu(-x): what is below 0, without its sign.
Value below(Call& call) {
    return call.build().mapped("relu", call.build().scaled(call.input(0), -1));
}

std::vector<Value> absolute(Call& call) {
    return {call.build().larger(call.input(0), negate(call).front())};
}

std::vector<Value> leaky_relu(Call& call) {
    const double alpha = call.number("alpha", double{0.01F});
    Builder& build = call.build();
    const Value above = build.mapped("relu", call.input(0));
    return {build.sum(above, build.scaled(below(call), -alpha))};
}

std::vector<Value> parametric_relu(Call& call) {
    Builder& build = call.build();
    const Value& x = call.input(0);
    Value slope = call.input(1);
    if (call.opset() < 7 && slope.rank() == 1 && slope.elements() > 1 && x.rank() > 2) {
        Sizes channels(x.rank() - 1, 1); // one slope for each
        channels[0] = slope.elements();
        slope = build.reshaped(slope, channels);
    }
    if (common_shape(x.shape, slope.shape) != x.shape) {
        throw Refused("a slope of more elements than x has");
    }
    const Value above = build.mapped("relu", x);
    const Value less = below(call);
    return {build.sum(above, build.product(less, build.scaled(slope, -1)))};
}

std::vector<Value> cast(Call& call) {
    const Value& x = call.input(0);
    const auto to = element_kind(call.integer("to", 0));
    if (!to) {
        throw Refused("to a type that no tensor of a pipeline has, expected FLOAT or FLOAT16");
    }
    if (x.kind.type == to->type) {
        return {x};
    }
    if (x.known != nullptr) {
        const bool is_rounded = x.known->type == ValueType::F32 || x.known->type == ValueType::F64;
        const auto made =
            is_rounded && to->type != ValueType::Mask ? std::nullopt : as_type(*x.known, *to->type);
        if (made) {
            Value value = Builder::known(x.name, *made);
            value.kind = *to;
            return {value};
        }
    }
    if (to->type == ValueType::Mask) {
        return {truth_of(call.build(), x)};
    }
    return {call.build().cast(x, *to)};
}

std::vector<Value> identity(Call& call) {
    return {call.input(0)};
}

std::vector<Value> dropout(Call& call) {
    call.ignore("seed");
    call.ignore("is_test");
    const bool trains = call.has(2) && call.scalar(2) != 0;
    const double ratio = call.has(1) ? call.scalar(1) : call.number("ratio", 0.5);
    if (call.opset() < 7 && call.integer("is_test", 0) == 0) {
        throw Refused("in training (is_test is 0), which draws random numbers");
    }
    if (trains && ratio != 0) {
        throw Refused("in training, which draws random numbers");
    }
    const Value& x = call.input(0);
    std::vector<Value> made{x};
    if (call.wants(1)) {
        made.push_back(Builder::known("mask", equal_elements(ValueType::Mask, x.shape, 1)));
    }
    return made;
}

} // namespace

std::optional<ElementKind> element_kind(std::int64_t number) {
    switch (number) {
    case 1:
        return ElementKind{ValueType::F32, "FLOAT"};
    case 2:
        return ElementKind{ValueType::U8, "UINT8"};
    case 3:
        return ElementKind{ValueType::I8, "INT8"};
    case 4:
        return ElementKind{ValueType::U16, "UINT16"};
    case 5:
        return ElementKind{ValueType::I16, "INT16"};
    case 6:
        return ElementKind{ValueType::I32, "INT32"};
    case 7:
        return ElementKind{ValueType::I64, "INT64"};
    case 9:
        return ElementKind{ValueType::Mask, "BOOL"};
    case 10:
        return ElementKind{ValueType::F16, "FLOAT16"};
    case 11:
        return ElementKind{ValueType::F32, "DOUBLE"}; // as every tensor of it
    case 12:
        return ElementKind{ValueType::U32, "UINT32"};
    case 13:
        return ElementKind{ValueType::U64, "UINT64"};
    default:
        return std::nullopt;
    }
}

std::vector<Operator> arithmetic_operators() {
    return {
        {"Abs", "max(x, -x)", absolute},
        {"Add", "with broadcast", add},
        {"Cast", "between FLOAT, FLOAT16, whole numbers and truth values", cast},
        {"Div", "with broadcast; by a known divisor of FLOAT: a product with its inverse, rounded",
         divide},
        {"Dropout", "without training, or of ratio 0: x itself, and a mask of ones", dropout},
        {"Identity", "of a tensor", identity},
        {"LeakyRelu", "relu(x) - alpha relu(-x)", leaky_relu},
        {"Mean", "with broadcast", mean},
        {"Mul", "with broadcast", multiply},
        {"Neg", "", negate},
        {"PRelu", "relu(x) - slope relu(-x), with broadcast", parametric_relu},
        {"Relu", "", relu},
        {"Sigmoid", "", sigmoid},
        {"Sub", "with broadcast", subtract},
        {"Sum", "with broadcast", sum},
        {"Tanh", "", tanh},
    };
}

} // namespace tessera::importer
