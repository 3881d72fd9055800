// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tessera::dynamic {

/// The passes that give a dense result: W X, and W^T dY with the same buckets.
enum class Pass : std::uint8_t { Forward, InputGradient };

} // namespace tessera::dynamic
