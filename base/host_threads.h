// SPDX-License-Identifier: MIT
// Whether the host lets a process have its threads: each takes a stack of addresses, and some systems
// count them.
#pragma once

namespace tessera {

/// How many of `wanted` threads can be at once, the calling one among them. Starts and joins the
/// others.
[[nodiscard]] int startable_threads(int wanted);

} // namespace tessera
