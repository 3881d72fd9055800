// SPDX-License-Identifier: MIT
#include "kernels/plan/lowest_fit.h"

#include <algorithm>

namespace tessera::plan {
namespace {

/// What no part of a request may stand in: [begin, end).
struct Blocked {
    Bytes begin = 0;
    Bytes end = 0;
};

Bytes granule_begin(const spec::MemorySpec& memory, Bytes address) {
    const bool in0 = address < memory.region1_begin();
    const Bytes begin = in0 ? memory.region0_begin() : memory.region1_begin();
    const Bytes unit = in0 ? memory.element_bytes : 2 * memory.element_bytes;
    return begin + (address - begin) / unit * unit;
}

/// Ascending.
std::vector<Blocked> blocked_by(const spec::MemorySpec& memory,
                                const std::vector<Occupied>& occupied) {
    std::vector<Blocked> blocked;
    blocked.reserve(occupied.size());
    for (const Occupied& other : occupied) {
        blocked.push_back(other.apart ? Blocked{granule_begin(memory, other.begin),
                                                granule_end(memory, other.end - 1)}
                                      : Blocked{other.begin, other.end});
    }
    std::sort(blocked.begin(), blocked.end(),
              [](const Blocked& left, const Blocked& right) { return left.begin < right.begin; });
    return blocked;
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
    const std::vector<Blocked> blocked = blocked_by(memory, occupied);
    const Bytes border = memory.region1_begin();
    Bytes at = round_up(request.lowest, request.alignment);
    auto next = blocked.begin(); // those before it end before `at`
    while (request.bytes > 0 && at + request.bytes <= request.search_end) {
        const Bytes end = at + request.bytes;
        Bytes until = 0;
        if (request.in_one_region && at < border && end > border) {
            until = border;
        } else {
            for (; next != blocked.end() && next->begin < end; ++next) {
                until = next->end > at ? std::max(until, next->end) : until;
            }
        }
        if (until == 0) {
            break;
        }
        at = round_up(until, request.alignment);
    }
    return {at, std::max<Bytes>(0, at + request.bytes - request.limit)};
}

} // namespace tessera::plan
