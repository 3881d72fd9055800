// SPDX-License-Identifier: MIT
#include "kernels/plan/lowest_fit.h"

#include <algorithm>

namespace tessera::plan {
namespace {

/// Of all that is in the way at `at`; 0 where nothing is.
Bytes next_try(const spec::MemorySpec& memory, const FitRequest& request,
               const std::vector<Occupied>& occupied, Bytes at) {
    const Bytes end = at + request.bytes;
    if (request.bytes == 0 || end > request.search_end) {
        return 0;
    }
    const Bytes border = memory.region1_begin();
    if (request.in_one_region && at < border && end > border) {
        return border;
    }
    Bytes until = 0;
    for (const Occupied& other : occupied) {
        until = std::max(until, blocked_until(memory, at, end, other));
    }
    return until;
}

} // namespace

Bytes granule_end(const spec::MemorySpec& memory, Bytes address) {
    const bool in0 = address < memory.region1_begin();
    const Bytes begin = in0 ? memory.region0_begin() : memory.region1_begin();
    const Bytes unit = in0 ? memory.element_bytes : 2 * memory.element_bytes;
    const Bytes end = begin + round_up(address - begin + 1, unit);
    return in0 ? std::min<Bytes>(end, memory.region1_begin()) : end;
}

Bytes blocked_until(const spec::MemorySpec& memory, Bytes begin, Bytes end, const Occupied& other) {
    if (begin < other.end && other.begin < end) {
        return other.end;
    }
    const auto granule = [&](Bytes address) { return granule_end(memory, address); };
    const bool together = other.apart && granule(begin) <= granule(other.end - 1) &&
                          granule(other.begin) <= granule(end - 1);
    return together ? granule(other.end - 1) : 0;
}

Fit lowest_fit(const spec::MemorySpec& memory, const FitRequest& request,
               const std::vector<Occupied>& occupied) {
    Bytes at = round_up(request.lowest, request.alignment);
    while (const Bytes next = next_try(memory, request, occupied, at)) {
        at = round_up(next, request.alignment);
    }
    return {at, std::max<Bytes>(0, at + request.bytes - request.limit)};
}

} // namespace tessera::plan
