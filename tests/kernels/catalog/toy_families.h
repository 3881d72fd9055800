// SPDX-License-Identifier: MIT
// Families that know shapes and nothing else, for what is checked before anything is planned.
#pragma once

#include "kernels/catalog/catalog.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace tessera::test {

class ToyStep final : public family::Step {
public:
    explicit ToyStep(std::vector<family::TensorType> outputs) : outputs_(std::move(outputs)) {}
    [[nodiscard]] std::vector<family::TensorType> outputs() const override { return outputs_; }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& /*graph*/, const family::Site& /*site*/,
         std::span<const std::optional<graph::TensorId>> /*where*/) override {
        return {};
    }
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> /*inputs*/,
                                        std::span<const family::Value> /*outputs*/,
                                        int /*threads*/) const override {
        return {};
    }
    [[nodiscard]] double flops() const override { return 0; }

private:
    std::vector<family::TensorType> outputs_;
};

inline std::unique_ptr<family::Step> toy_step(ElementType type, std::vector<std::int64_t> shape) {
    return std::make_unique<ToyStep>(std::vector{family::TensorType{type, std::move(shape)}});
}

inline void want_dense(const family::Request& request, int input) {
    if (request.inputs[static_cast<std::size_t>(input)].sparse != nullptr) {
        throw family::Refused(input, {}, "got a sparse matrix, expected a dense one");
    }
}

inline std::unique_ptr<family::Step> toy_product(const family::Request& request) {
    const auto& a = request.inputs[0].shape;
    const auto& b = request.inputs[1].shape;
    want_dense(request, 1);
    if (a.size() != 2 || b.size() != 2 || a[1] != b[0]) {
        throw family::Refused(1, {}, fmt::format("got {} rows, expected {}", b[0], a[1]));
    }
    return toy_step(ElementType::F16, {a[0], b[1]});
}

inline const family::Option kToyPartials{.key = "partials",
                                         .says = "type in which products are summed",
                                         .words = {"f16", "f32"},
                                         .number = 0,
                                         .word = "f16"};

inline const family::Family kToyMatmul{.name = "matmul",
                                       .says = "c = a b",
                                       .inputs = {"a", "b"},
                                       .options = {kToyPartials},
                                       .make = [](const family::Request& request) {
                                           want_dense(request, 0);
                                           return toy_product(request);
                                       }};

inline const family::Family kToySpmm{
    .name = "spmm",
    .says = "c = a b, a sparse",
    .inputs = {"a", "b"},
    .options = {kToyPartials},
    .make = [](const family::Request& request) {
        if (request.inputs[0].sparse == nullptr) {
            throw family::Refused(0, {}, "got a dense matrix, expected a sparse one");
        }
        return toy_product(request);
    }};

inline std::unique_ptr<family::Step> toy_map(const family::Request& request) {
    want_dense(request, 0);
    return toy_step(request.inputs[0].type, request.inputs[0].shape);
}

inline const family::Family kToyRelu{
    .name = "relu", .says = "c = max(x, 0)", .inputs = {"x"}, .options = {}, .make = toy_map};

inline const family::Family kToyGelu{
    .name = "gelu", .says = "smoother", .inputs = {"x"}, .options = {}, .make = toy_map};

inline const family::Family kToySoftmax{
    .name = "softmax", .says = "of each row", .inputs = {"x"}, .options = {}, .make = toy_map};

inline const family::Family kToyBias{
    .name = "bias",
    .says = "c = x + bias, in every row",
    .inputs = {"x", "bias"},
    .options = {},
    .make = [](const family::Request& request) {
        if (request.inputs[1].shape != std::vector<std::int64_t>{request.inputs[0].shape.back()}) {
            throw family::Refused(1, {},
                                  fmt::format("got {} elements, expected {}",
                                              fmt::join(request.inputs[1].shape, " x "),
                                              request.inputs[0].shape.back()));
        }
        return toy_map(request);
    }};

inline const family::Family kToyScale{
    .name = "scale",
    .says = "c = factor x",
    .inputs = {"x"},
    .options = {{.key = "factor", .says = "what by", .words = {}, .number = 2, .word = ""}},
    .make = [](const family::Request& request) {
        const auto told = request.options.find("factor");
        if (told != request.options.end() && std::get<double>(told->second) == 0) {
            throw family::Refused(-1, "factor", "got 0, expected another number");
        }
        return toy_map(request);
    }};

inline const family::Family kToyCast{
    .name = "cast",
    .says = "x as another type",
    .inputs = {"x"},
    .options = {{.key = "to",
                 .says = "type of the result",
                 .words = {"f16", "f32"},
                 .number = 0,
                 .word = "f32"}},
    .make = [](const family::Request& request) {
        const auto told = request.options.find("to");
        const bool to_f16 =
            told != request.options.end() && std::get<std::string>(told->second) == "f16";
        return toy_step(to_f16 ? ElementType::F16 : ElementType::F32, request.inputs[0].shape);
    }};

inline const family::Family kToyGather{
    .name = "gather",
    .says = "rows that a list names",
    .inputs = {"table", "ids"},
    .options = {},
    .make = [](const family::Request& request) {
        return toy_step(request.inputs[0].type,
                        {request.inputs[1].shape.front(), request.inputs[0].shape.back()});
    }};

inline const std::vector<const family::Family*>& toy_families() {
    static const std::vector<const family::Family*> all{&kToyMatmul, &kToySpmm,    &kToyRelu,
                                                        &kToyGelu,   &kToySoftmax, &kToyBias,
                                                        &kToyScale,  &kToyCast,    &kToyGather};
    return all;
}

} // namespace tessera::test
