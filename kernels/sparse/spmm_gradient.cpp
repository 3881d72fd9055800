// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_gradient.h"

#include <string>
#include <utility>

namespace tessera::sparse {

using family::backward_step;
using family::Options;
using family::Steps;

Steps gradient(const family::GradientRequest& request) {
    const auto& step = request.step;
    const bool turned_a = family::has_flag(step, "transpose_a");
    const bool turned_b = family::has_flag(step, "transpose_b");
    const std::string& dy = request.of_outputs[0];
    const std::string& a = step.inputs[0];
    Steps steps;
    if (family::has_flag(step, "accumulate") && request.wants(2)) {
        steps.push_back(family::same_gradient(dy, request.of_inputs[2]));
    }
    if (request.wants(0)) {
        std::string b = step.inputs[1];
        if (turned_b) {
            b = request.of_inputs[0] + "_right";
            steps.push_back(backward_step("transpose", {step.inputs[1]}, b));
        }
        const std::string& left = turned_a ? b : dy;
        const std::string& right = turned_a ? dy : b;
        steps.push_back(backward_step("sddmm", {a, left, right}, request.of_inputs[0],
                                      family::told(step, {"partials", "plan"})));
    }
    if (request.wants(1)) {
        Options options = family::told(step, {"partials", "plan"});
        if (!turned_a) {
            options["transpose_a"] = true;
        }
        const std::string& of_b = request.of_inputs[1];
        const std::string product = turned_b ? of_b + "_columns" : of_b;
        steps.push_back(backward_step("spmm", {a, dy}, product, std::move(options)));
        if (turned_b) {
            steps.push_back(backward_step("transpose", {product}, of_b));
        }
    }
    return steps;
}

} // namespace tessera::sparse
