// SPDX-License-Identifier: MIT
#include "kernels/family/options.h"

#include <fmt/format.h>

#include <cmath>

namespace tessera::family {

std::int64_t whole_number(const Family& family, const Request& request, const char* key,
                          std::int64_t most) {
    const double told = number_of(family, request, key);
    if (!(told >= 1) || told > static_cast<double>(most) || std::floor(told) != told) {
        throw Refused(-1, key,
                      fmt::format("got {:g}, expected a whole number from 1 to {}", told, most));
    }
    return static_cast<std::int64_t>(told);
}

} // namespace tessera::family
