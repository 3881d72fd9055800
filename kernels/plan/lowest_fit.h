// SPDX-License-Identifier: MIT
// The lowest free address in a tile's memory under the rules of regions and memory elements: for
// kernels (memory_plan.h) and for vertex files. In which order buffers come, which of them meet in
// time and who keeps apart from whom, they decide.
//
//   region 0 (executable)                       region 1 (interleaved by two)
//   one element is a granule                    one pair of elements is a granule
//
// Source: docs/evidence.md#memory-conflicts.
#pragma once

#include "base/units.h"
#include "models/spec/memory_spec.h"

#include <limits>
#include <vector>

namespace tessera::plan {

[[nodiscard]] constexpr Bytes round_up(Bytes value, Bytes unit) {
    return (value + unit - 1) / unit * unit;
}

/// First address behind the granule of `address`.
[[nodiscard]] Bytes granule_end(const spec::MemorySpec& memory, Bytes address);

/// What stands somewhere already: [begin, end), not empty.
struct Occupied {
    Bytes begin = 0;
    Bytes end = 0;
    bool apart = false; ///< shares no granule with what is placed
};

/// What looks for a place. One of no bytes fits anywhere.
struct FitRequest {
    Bytes bytes = 0;
    Bytes alignment = 1;
    Bytes lowest = 0; ///< address
    Bytes limit = 0;  ///< first address behind the last place
    bool in_one_region = false;
    /// Where the search gives up, with what it has: a request that ends behind it is not moved on.
    Bytes search_end = std::numeric_limits<Bytes>::max();
};

struct Fit {
    Bytes address = 0;
    Bytes bytes_over = 0; ///< more than 0: there is no place, by so many bytes
};

[[nodiscard]] Fit lowest_fit(const spec::MemorySpec& memory, const FitRequest& request,
                             const std::vector<Occupied>& occupied);

/// The first address at which [begin, end) may be tried again because of `other`; 0 where it may
/// stay.
[[nodiscard]] Bytes blocked_until(const spec::MemorySpec& memory, Bytes begin, Bytes end,
                                  const Occupied& other);

} // namespace tessera::plan
