// SPDX-License-Identifier: MIT
// Words that vertices of kinds of blocks read.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace tessera::spmm {

/// Vertices read up to one access behind their data.
inline constexpr Bytes kReadAhead = 16;

template <typename T> program::SharedBytes shared(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

/// A pointer of a vertex that says elsewhere what it reads or writes in all.
[[nodiscard]] inline graph::Field from(graph::BufferId buffer, Bytes offset) {
    return graph::pointer({buffer, offset}, 0, graph::Access::Read);
}

} // namespace tessera::spmm
