// SPDX-License-Identifier: MIT
// Elementary functions in binary64, for results that are then rounded once to FP32 or FP16. They
// use no function of the host's library and no fused operation, so that every host, compiler and
// engine gives the same bits.
//
// Contract:
// - Arguments are finite; ln and log2 take positive ones. Others are the caller's business.
// - The relative error is below 2^-49 (a few units of the last place of binary64).
// - Results beyond binary64 are infinity or zero.
#pragma once

namespace tessera::isa::elementary {

[[nodiscard]] double exp(double x);
[[nodiscard]] double exp2(double x);
[[nodiscard]] double ln(double x);
[[nodiscard]] double log2(double x);
[[nodiscard]] double tanh(double x);
[[nodiscard]] double sigmoid(double x); ///< 1 / (1 + e^-x)

} // namespace tessera::isa::elementary
