// SPDX-License-Identifier: MIT
// What bench_micro measures, by file.
#pragma once

namespace tessera::bench {

void add_loops();
void add_exchanges();
void add_links();
void add_supersteps();

} // namespace tessera::bench
