// SPDX-License-Identifier: MIT
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::elementwise {

const family::Family& relu() {
    static const family::Family family{
        .name = "relu",
        .says = "max(x, 0) of every element",
        .inputs = {"x"},
        .options = {},
        .make = [](const family::Request& request) -> std::unique_ptr<family::Step> {
            family::require_numbers(request, 0, "x");
            const family::TensorType& x = request.inputs[0];
            // fmax, as the machine: of NaN and 0 it is 0
            return std::make_unique<Map>(
                Function{.name = "relu",
                         .codelet = "elementwise_relu",
                         .vertex = fmt::format("relu_{}", tessera::name_of(x.type)),
                         .loop = codelets::kReluLoop,
                         .value = [](double element, double) { return std::fmax(element, 0); }},
                std::vector{x}, x, std::vector{"x"});
        }};
    return family;
}

} // namespace tessera::elementwise
