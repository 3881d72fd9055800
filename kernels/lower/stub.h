// SPDX-License-Identifier: MIT
// What a tile's supervisor runs in a compute set: real instructions that call the vertices in
// order. Timing: a supervisor vertex costs mov, setzi, call and br around it; a worker vertex two
// setzi, runall and sync.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/lower/steps.h"
#include "models/program/program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::lower {

/// Stubs of compute sets; equal ones stand once.
struct Stubs {
    std::vector<std::vector<program::SharedBytes>> code; ///< by compute set and tile; null: idle
    std::vector<Bytes> bytes;                            ///< by compute set: of the longest
};

/// Bytes of the longest stub of each compute set, which are the same wherever things stand.
[[nodiscard]] std::vector<Bytes> stub_bytes(const graph::Graph& graph, const Steps& steps);

[[nodiscard]] Stubs make_stubs(std::span<const program::ComputeSet> sets, Address region0_base);

/// The words of the stub for `vertices`; it keeps the link register in $m9, which supervisor
/// vertices preserve, and returns with a branch to it. Position independent. A Worker vertex starts
/// in the lowest free context. With `mark`, of 20 bits, $m9 holds that instead and the return is a
/// branch to 0 in the same cycles: a vertex that changes $m9 then does not lead the stub astray,
/// and the change shows.
[[nodiscard]] std::vector<std::uint32_t> make_stub(const std::vector<program::Vertex>& vertices,
                                                   Address region0_base,
                                                   std::optional<std::uint32_t> mark = {});

} // namespace tessera::lower
