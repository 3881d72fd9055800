// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map_request.h"

#include "kernels/elementwise/map.h"

#include <fmt/format.h>

#include <vector>

namespace tessera::elementwise {

using family::Refused;
using family::Request;
using family::require_numbers;
using family::shape_text;
using family::TensorType;

std::unique_ptr<family::Step> map_of_x(const Request& request,
                                       function::Function (*of_type)(ElementType)) {
    require_numbers(request, 0, "x");
    const TensorType& x = request.inputs[0];
    return std::make_unique<Map>(of_type(x.type), std::vector{x}, x, std::vector{"x"});
}

std::unique_ptr<family::Step> map_of_x_and_y(const Request& request,
                                             function::Function (*of_type)(ElementType),
                                             std::span<const ElementType> types,
                                             const char* second) {
    require_numbers(request, 0, "x", types);
    require_numbers(request, 1, second, types);
    family::require_same_type(request);
    const TensorType& x = request.inputs[0];
    if (x.shape != request.inputs[1].shape) {
        throw Refused(1, "",
                      fmt::format("got {} and {}, expected equal shapes", shape_text(x),
                                  shape_text(request.inputs[1])));
    }
    return std::make_unique<Map>(of_type(x.type), request.inputs, x, std::vector{"x", second});
}

} // namespace tessera::elementwise
