// SPDX-License-Identifier: MIT
// Options that families read alike.
#pragma once

#include "kernels/family/family.h"

#include <cstdint>

namespace tessera::family {

/// The option's value, told or not, which is a whole number from 1 to `most`.
/// @throws Refused, which names the option
[[nodiscard]] std::int64_t whole_number(const Family& family, const Request& request,
                                        const char* key, std::int64_t most);

} // namespace tessera::family
