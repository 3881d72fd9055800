// SPDX-License-Identifier: MIT
// Makes a Map of what a step was asked for. x and y, or what `second` calls that, have one type, one of `types`,
// and one shape.
#pragma once

#include "base/element_type.h"
#include "kernels/family/family.h"
#include "kernels/family/numbers.h"
#include "kernels/function/function.h"

#include <memory>
#include <span>

namespace tessera::elementwise {

/// @throws Refused unless the input is of f16 or f32
[[nodiscard]] std::unique_ptr<family::Step> map_of_x(const family::Request& request,
                                                     function::Function (*of_type)(ElementType));

/// @throws Refused unless the inputs have one type and one shape
[[nodiscard]] std::unique_ptr<family::Step>
map_of_x_and_y(const family::Request& request, function::Function (*of_type)(ElementType),
               std::span<const ElementType> types = family::kNumbers, const char* second = "y");

} // namespace tessera::elementwise
