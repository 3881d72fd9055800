// SPDX-License-Identifier: MIT
// Constants of vertices, as words of their state.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/workload/half.h"

#include <bit>
#include <cstdint>

namespace tessera::function {

/// Two FP16 numbers.
[[nodiscard]] inline graph::Field halves(double lower, double upper) {
    return graph::word(workload::f64_to_f16(lower) | workload::f64_to_f16(upper) << 16U);
}
/// An FP32 number.
[[nodiscard]] inline graph::Field single(double value) {
    return graph::word(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

} // namespace tessera::function
