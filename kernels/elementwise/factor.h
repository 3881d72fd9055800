// SPDX-License-Identifier: MIT
// A factor that a step is told, as vertices of a type have it.
#pragma once

#include "kernels/family/family.h"

#include <cstdint>
#include <string_view>

namespace tessera::elementwise {

struct Factor {
    double value = 0;       ///< rounded to the type
    std::uint32_t bits = 0; ///< of the type; FP16 in the lower half
};

/// The option `key` of the request, rounded to f16 or f32. @throws Refused if the type cannot hold it
[[nodiscard]] Factor factor_of(const family::Family& family, const family::Request& request,
                               std::string_view key, ElementType type);

} // namespace tessera::elementwise
