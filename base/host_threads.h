// SPDX-License-Identifier: MIT
// How many threads the host gives this process. Each takes address space for its stack, and some
// systems limit their number.
#pragma once

namespace tessera {

/// Returns how many of `wanted` threads can exist at once, with the calling one. Starts the others
/// to find out, and joins them.
[[nodiscard]] int startable_threads(int wanted);

} // namespace tessera
