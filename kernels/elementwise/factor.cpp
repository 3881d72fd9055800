// SPDX-License-Identifier: MIT
#include "kernels/elementwise/factor.h"

#include "base/float16.h"
#include "kernels/workload/half.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace tessera::elementwise {

Factor factor_of(const family::Family& family, const family::Request& request, std::string_view key,
                 ElementType type) {
    const double told = family::number_of(family, request, key);
    const std::uint16_t half = workload::f64_to_f16(told);
    const bool is_half = type == ElementType::F16;
    // subnormals are zero to the machine
    const double value = is_half ? f16_to_f32(half)
                         : std::fabs(told) < std::numeric_limits<float>::min()
                             ? 0
                             : static_cast<float>(told);
    if (!std::isfinite(value)) {
        throw family::Refused(-1, std::string(key),
                              fmt::format("got {}, expected a number that {} can hold", told,
                                          tessera::name_of(type)));
    }
    return {value, is_half ? half : std::bit_cast<std::uint32_t>(static_cast<float>(value))};
}

} // namespace tessera::elementwise
