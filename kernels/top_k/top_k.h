// SPDX-License-Identifier: MIT
// values[i, j], indices[i, j]: the j-th largest element of row i of x, and its number in the row. Of equal elements the one with the lower number comes first.
//
// x: [n] or [..., n], FP16 or FP32. values: [..., k], of x's type; indices: [..., k], u32. 1 <= k <= n.
// With `buckets` b a row is cut into b runs of neighbouring elements, whose lengths differ by at most one. The `kept` largest of each are found, and the result is the
// k largest of these: an approximation, exact if no bucket has more than `kept` of the row's k largest. `kept` is a power of two.
// -0 counts as +0, and comes out as +0. A NaN with a clear sign bit counts as more than infinity, one with a set sign bit as less than minus infinity;
// NaNs of one sign are ordered by their bits. Subnormal numbers count as what they are.
// How: division.h. Timing: kernels/codelets/top_k_cost.h; networks of comparisons, so that no cycle depends on an element.
// Not modelled: a gradient.
// Source: docs/kernels.md#the-largest-elements-top_k.
#pragma once

#include "kernels/family/family.h"

namespace tessera::top_k {

[[nodiscard]] const family::Family& family();

} // namespace tessera::top_k
