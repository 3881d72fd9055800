// SPDX-License-Identifier: MIT
#include "kernels/elementwise/backward.h"

#include "base/element_type.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::elementwise {

using family::backward_step;
using family::GradientRequest;
using family::same_gradient;
using family::Steps;

namespace {

/// Gives the step of a function whose derivative follows from its value.
Steps by_value(const char* family, const GradientRequest& request) {
    return {backward_step(family, {request.step.outputs[0], request.of_outputs[0]},
                          request.of_inputs[0])};
}

Steps by_argument(const char* family, const GradientRequest& request) {
    return {backward_step(family, {request.step.inputs[0], request.of_outputs[0]},
                          request.of_inputs[0])};
}

} // namespace

Steps relu_backward(const GradientRequest& request) {
    return by_value("relu_gradient", request);
}

Steps tanh_backward(const GradientRequest& request) {
    return by_value("tanh_gradient", request);
}

Steps sigmoid_backward(const GradientRequest& request) {
    return by_value("sigmoid_gradient", request);
}

Steps rsqrt_backward(const GradientRequest& request) {
    return by_value("rsqrt_gradient", request);
}

/// For s = sigmoid(gate) and y = x s: dx = dy s, and the gate's is dy y (1 - s) = dy y sigmoid(-gate).
Steps glu_backward(const GradientRequest& request) {
    const std::string& gate = request.step.inputs[1];
    const std::string& dy = request.of_outputs[0];
    Steps steps;
    if (request.wants(0)) {
        steps.push_back(backward_step("glu", {dy, gate}, request.of_inputs[0]));
    }
    if (request.wants(1)) {
        const std::string of_y = request.of_inputs[1] + "_of_y";
        const std::string minus = request.of_inputs[1] + "_minus_gate";
        steps.push_back(backward_step("multiply", {dy, request.step.outputs[0]}, of_y));
        steps.push_back(backward_step("scale", {gate}, minus, {{"factor", -1.0}}));
        steps.push_back(backward_step("glu", {of_y, minus}, request.of_inputs[1]));
    }
    return steps;
}

Steps gelu_backward(const GradientRequest& request) {
    return by_argument("gelu_gradient", request);
}

Steps swish_backward(const GradientRequest& request) {
    return by_argument("swish_gradient", request);
}

Steps scale_backward(const GradientRequest& request) {
    return {backward_step("scale", {request.of_outputs[0]}, request.of_inputs[0],
                          family::told(request.step, {"factor"}))};
}

Steps dropout_backward(const GradientRequest& request) {
    std::vector<std::string> inputs = request.step.inputs;
    inputs[0] = request.of_outputs[0];
    return {backward_step("dropout", std::move(inputs), request.of_inputs[0],
                          family::told(request.step, {"rate", "seed"}))};
}

Steps cast_backward(const GradientRequest& request) {
    return {backward_step("cast", {request.of_outputs[0]}, request.of_inputs[0],
                          {{"to", std::string(tessera::name_of(request.inputs[0].type))}})};
}

Steps add_backward(const GradientRequest& request) {
    Steps steps;
    for (std::size_t i = 0; i < 2; ++i) {
        if (request.wants(i)) {
            steps.push_back(same_gradient(request.of_outputs[0], request.of_inputs[i]));
        }
    }
    return steps;
}

Steps multiply_backward(const GradientRequest& request) {
    Steps steps;
    for (std::size_t i = 0; i < 2; ++i) {
        if (request.wants(i)) {
            steps.push_back(backward_step("multiply",
                                          {request.of_outputs[0], request.step.inputs[1 - i]},
                                          request.of_inputs[i]));
        }
    }
    return steps;
}

Steps subtract_backward(const GradientRequest& request) {
    Steps steps;
    if (request.wants(0)) {
        steps.push_back(same_gradient(request.of_outputs[0], request.of_inputs[0]));
    }
    if (request.wants(1)) {
        steps.push_back(backward_step("scale", {request.of_outputs[0]}, request.of_inputs[1],
                                      {{"factor", -1.0}}));
    }
    return steps;
}

/// The quotient q = x / y has dx = dq / y and dy = -dx q.
Steps divide_backward(const GradientRequest& request) {
    const std::string dx =
        request.wants(0) ? request.of_inputs[0] : request.of_inputs[1] + "_quotient";
    Steps steps{backward_step("divide", {request.of_outputs[0], request.step.inputs[1]}, dx)};
    if (request.wants(1)) {
        const std::string product = request.of_inputs[1] + "_product";
        steps.push_back(backward_step("multiply", {dx, request.step.outputs[0]}, product));
        steps.push_back(
            backward_step("scale", {product}, request.of_inputs[1], {{"factor", -1.0}}));
    }
    return steps;
}

namespace {

/// The gradient goes to x where x is `larger` than y, or else smaller, and to y elsewhere.
Steps chosen_backward(const GradientRequest& request, bool larger) {
    const std::string& any = request.of_inputs[request.wants(0) ? 0 : 1];
    const std::string of_x = request.wants(0) ? any : any + "_other";
    const std::string difference = any + "_difference";
    const auto& inputs = request.step.inputs;
    Steps steps{
        backward_step("subtract", {inputs[larger ? 0 : 1], inputs[larger ? 1 : 0]}, difference),
        backward_step("relu_gradient", {difference, request.of_outputs[0]}, of_x)};
    if (request.wants(1)) {
        steps.push_back(
            backward_step("subtract", {request.of_outputs[0], of_x}, request.of_inputs[1]));
    }
    return steps;
}

} // namespace

Steps maximum_backward(const GradientRequest& request) {
    return chosen_backward(request, true);
}

Steps minimum_backward(const GradientRequest& request) {
    return chosen_backward(request, false);
}

Steps exp_backward(const GradientRequest& request) {
    return by_value("multiply", request);
}

Steps log_backward(const GradientRequest& request) {
    return {backward_step("divide", {request.of_outputs[0], request.step.inputs[0]},
                          request.of_inputs[0])};
}

/// The root y = sqrt(x) has dx = dy / 2 / y.
Steps sqrt_backward(const GradientRequest& request) {
    const std::string half = request.of_inputs[0] + "_half";
    return {backward_step("scale", {request.of_outputs[0]}, half, {{"factor", 0.5}}),
            backward_step("divide", {half, request.step.outputs[0]}, request.of_inputs[0])};
}

Steps bias_backward(const GradientRequest& request) {
    Steps steps;
    if (request.wants(0)) {
        steps.push_back(same_gradient(request.of_outputs[0], request.of_inputs[0]));
    }
    if (request.wants(1)) {
        if (request.inputs[1].shape.size() != 1) {
            throw family::Refused(1, {},
                                  fmt::format("got {}, expected one size of a bias whose gradient "
                                              "is wanted",
                                              family::shape_text(request.inputs[1])));
        }
        family::add_sums_of_rows(steps, request.of_outputs[0], request.outputs[0].shape.size(), 1,
                                 request.of_inputs[1]);
    }
    return steps;
}

Steps sum_of_squares_backward(const GradientRequest& request) {
    const auto told = request.step.options.find("factor");
    const double factor = told == request.step.options.end() ? 1 : std::get<double>(told->second);
    Steps steps;
    std::string difference = request.step.inputs[0];
    if (request.step.inputs.size() > 1) {
        const std::string& first = request.of_inputs[request.wants(0) ? 0 : 1];
        const std::string minus = first + "_minus_target";
        difference = first + "_difference";
        steps.push_back(
            backward_step("scale", {request.step.inputs[1]}, minus, {{"factor", -1.0}}));
        steps.push_back(backward_step("add", {request.step.inputs[0], minus}, difference));
    }
    for (std::size_t i = 0; i < request.step.inputs.size(); ++i) {
        if (request.wants(i)) {
            steps.push_back(backward_step("scale_by", {difference, request.of_outputs[0]},
                                          request.of_inputs[i],
                                          {{"factor", (i == 0 ? 2 : -2) * factor}}));
        }
    }
    return steps;
}

} // namespace tessera::elementwise
