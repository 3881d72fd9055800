// SPDX-License-Identifier: MIT
// A comparison as a page for the browser: what differs and why, both timelines, and an entry for each
// of the two.
#pragma once

#include "sim/compare/comparison.h"

#include <string>

namespace tessera::compare {

/// Returns the HTML. Recordings are taken from the folders that the results are in.
[[nodiscard]] std::string page_of(const Comparison& comparison, Operand a, Operand b);

} // namespace tessera::compare
