// SPDX-License-Identifier: MIT
// Gradients of functions of every element.
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <memory>

namespace tessera::elementwise {
namespace {

/// Makes dx from `of`, a tensor that the forward step read or wrote, and dy.
std::unique_ptr<family::Step> make_gradient(const family::Request& request, const char* of,
                                            function::Function (*of_type)(ElementType)) {
    family::require_numbers(request, 0, of);
    family::require_numbers(request, 1, "dy");
    family::require_same_type(request);
    const family::TensorType& x = request.inputs[0];
    if (x.shape != request.inputs[1].shape) {
        throw family::Refused(1, "",
                              fmt::format("got {} and {}, expected equal shapes",
                                          family::shape_text(x),
                                          family::shape_text(request.inputs[1])));
    }
    return std::make_unique<Map>(of_type(x.type), request.inputs, x, std::vector{of, "dy"});
}

} // namespace

const family::Family& relu_gradient() {
    static const family::Family family{"relu_gradient",
                                       "dy where y = relu(x) is positive, else 0",
                                       {"y", "dy"},
                                       {},
                                       [](const family::Request& request) {
                                           return make_gradient(request, "y",
                                                                function::relu_gradient);
                                       }};
    return family;
}

const family::Family& gelu_gradient() {
    static const family::Family family{"gelu_gradient",
                                       "dy times the derivative of gelu at x",
                                       {"x", "dy"},
                                       {},
                                       [](const family::Request& request) {
                                           return make_gradient(request, "x",
                                                                function::gelu_gradient);
                                       }};
    return family;
}

const family::Family& swish_gradient() {
    static const family::Family family{"swish_gradient",
                                       "dy times the derivative of swish at x",
                                       {"x", "dy"},
                                       {},
                                       [](const family::Request& request) {
                                           return make_gradient(request, "x",
                                                                function::swish_gradient);
                                       }};
    return family;
}

const family::Family& tanh_gradient() {
    static const family::Family family{"tanh_gradient",
                                       "dy times 1 - y^2, for y = tanh(x)",
                                       {"y", "dy"},
                                       {},
                                       [](const family::Request& request) {
                                           return make_gradient(request, "y",
                                                                function::tanh_gradient);
                                       }};
    return family;
}

const family::Family& sigmoid_gradient() {
    static const family::Family family{"sigmoid_gradient",
                                       "dy times y (1 - y), for y = sigmoid(x)",
                                       {"y", "dy"},
                                       {},
                                       [](const family::Request& request) {
                                           return make_gradient(request, "y",
                                                                function::sigmoid_gradient);
                                       }};
    return family;
}

const family::Family& rsqrt_gradient() {
    static const family::Family family{"rsqrt_gradient",
                                       "dy times -1/2 y^3, for y = 1 / sqrt(x)",
                                       {"y", "dy"},
                                       {},
                                       [](const family::Request& request) {
                                           return make_gradient(request, "y",
                                                                function::rsqrt_gradient);
                                       }};
    return family;
}

} // namespace tessera::elementwise
