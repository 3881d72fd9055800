// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_gradient.h"

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::matmul {
namespace {

using family::add_sums_of_rows;
using family::backward_step;
using family::GradientRequest;
using family::Options;
using family::Steps;
using workload::PipelineStep;

/// Options of a product that reads operands as they stand or as their transposes.
Options product_options(const PipelineStep& step, bool transpose_a, bool transpose_b) {
    Options options = family::told(step, {"partials", "plan"});
    if (transpose_a) {
        options["transpose_a"] = true;
    }
    if (transpose_b) {
        options["transpose_b"] = true;
    }
    return options;
}

/// Adds the steps of the gradient in front of the activation. Returns its name.
std::string add_inner(Steps& steps, const GradientRequest& request, const std::string& name) {
    const PipelineStep& step = request.step;
    const auto told = step.options.find("activation");
    const std::string activation =
        told == step.options.end() ? "none" : std::get<std::string>(told->second);
    if (activation == "none") {
        return request.of_outputs[0];
    }
    const bool accumulates = family::has_flag(step, "accumulate");
    std::string argument = step.outputs[0]; // relu's result is positive where its argument is
    if (activation != "relu" || accumulates) {
        argument = name + "_argument";
        std::vector<std::string> inputs = step.inputs;
        inputs.resize(inputs.size() - (accumulates ? 1 : 0));
        Options options = step.options;
        options.erase("activation");
        options.erase("accumulate");
        steps.push_back(backward_step("matmul", std::move(inputs), argument, std::move(options)));
    }
    const std::string inner = name + "_inner";
    steps.push_back(
        backward_step(activation + "_gradient", {argument, request.of_outputs[0]}, inner));
    return inner;
}

} // namespace

Steps gradient(const GradientRequest& request) {
    const PipelineStep& step = request.step;
    const bool turned_a = family::has_flag(step, "transpose_a");
    const bool turned_b = family::has_flag(step, "transpose_b");
    const bool accumulates = family::has_flag(step, "accumulate");
    const std::size_t last = step.inputs.size() - 1;
    const std::size_t operands = step.inputs.size() - (accumulates ? 1 : 0);
    Steps steps;
    if (accumulates && request.wants(last)) {
        steps.push_back(family::same_gradient(request.of_outputs[0], request.of_inputs[last]));
    }
    std::string first; // the name of what is made of the product itself
    for (std::size_t i = operands; i-- > 0;) {
        first = request.wants(i) ? request.of_inputs[i] : first;
    }
    if (first.empty()) {
        return steps;
    }
    const std::string inner = add_inner(steps, request, first);
    const std::string& a = step.inputs[0];
    const std::string& b = step.inputs[1];
    if (operands > 2 && request.wants(2)) {
        add_sums_of_rows(steps, inner, request.outputs[0].shape.size(),
                         request.inputs[2].shape.size(), request.of_inputs[2]);
    }
    if (request.wants(0)) { // of op(a): inner op(b)^T
        steps.push_back(turned_a ? backward_step("matmul", {b, inner}, request.of_inputs[0],
                                                 product_options(step, turned_b, true))
                                 : backward_step("matmul", {inner, b}, request.of_inputs[0],
                                                 product_options(step, false, !turned_b)));
    }
    if (request.wants(1)) { // of op(b): op(a)^T inner
        steps.push_back(turned_b ? backward_step("matmul", {inner, a}, request.of_inputs[1],
                                                 product_options(step, true, turned_a))
                                 : backward_step("matmul", {a, inner}, request.of_inputs[1],
                                                 product_options(step, !turned_a, false)));
    }
    return steps;
}

} // namespace tessera::matmul
