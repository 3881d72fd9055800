// SPDX-License-Identifier: MIT
#include "kernels/plan/lowest_fit.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

namespace {

using namespace tessera;
using plan::FitRequest;
using plan::Occupied;

/// Four elements in region 0 and two pairs in region 1, of 64 bytes each.
spec::MemorySpec small_memory() {
    spec::MemorySpec memory;
    memory.base = 0x100;
    memory.region0_bytes = 4 * 64;
    memory.region1_bytes = 4 * 64;
    memory.element_bytes = 64;
    return memory;
}

/// From the definition.
std::int64_t granule(const spec::MemorySpec& memory, Bytes address) {
    const bool in0 = address < memory.region1_begin();
    return in0 ? (address - memory.region0_begin()) / memory.element_bytes
               : 100 + (address - memory.region1_begin()) / (2 * memory.element_bytes);
}

bool is_free(const spec::MemorySpec& memory, const FitRequest& request, Bytes at,
             const std::vector<Occupied>& occupied) {
    const Bytes end = at + request.bytes;
    const bool crosses = at < memory.region1_begin() && end > memory.region1_begin();
    return !(request.in_one_region && crosses) &&
           std::none_of(occupied.begin(), occupied.end(), [&](const Occupied& other) {
               const bool overlaps = at < other.end && other.begin < end;
               const bool meets = granule(memory, at) <= granule(memory, other.end - 1) &&
                                  granule(memory, other.begin) <= granule(memory, end - 1);
               return overlaps || (other.apart && meets);
           });
}

} // namespace

TEST_CASE("a granule ends with its element, or with its pair in region 1", "[kernels]") {
    const auto memory = small_memory();
    CHECK(plan::granule_end(memory, 0x100) == 0x140);
    CHECK(plan::granule_end(memory, 0x13f) == 0x140);
    CHECK(plan::granule_end(memory, 0x140) == 0x180);
    CHECK(plan::granule_end(memory, 0x1ff) == 0x200);
    CHECK(plan::granule_end(memory, 0x200) == 0x280);
    CHECK(plan::granule_end(memory, 0x27f) == 0x280);
    CHECK(plan::granule_end(memory, 0x280) == 0x300);
}

TEST_CASE("the lowest fit is the lowest address that no rule forbids", "[kernels]") {
    const auto memory = small_memory();
    std::mt19937 random(1);
    const auto below = [&](std::uint32_t most) { return static_cast<Bytes>(random() % most); };
    for (int round = 0; round < 3000; ++round) {
        std::vector<Occupied> occupied;
        for (Bytes i = below(6); i > 0; --i) {
            const Bytes begin = 0x100 + below(0x1f0);
            occupied.push_back({begin, begin + 1 + below(60), below(3) == 0});
        }
        FitRequest request{.bytes = 1 + below(150), .alignment = Bytes{1} << below(6)};
        request.lowest = below(2) == 0 ? memory.region0_begin() : memory.region1_begin();
        request.limit = memory.end();
        request.in_one_region = below(2) == 0;
        Bytes expected = plan::round_up(request.lowest, request.alignment);
        while (!is_free(memory, request, expected, occupied)) {
            expected += request.alignment;
        }
        CAPTURE(round);
        const auto found = plan::lowest_fit(memory, request, occupied);
        CHECK(found.address == expected);
        CHECK(found.bytes_over ==
              std::max<Bytes>(0, expected + request.bytes - static_cast<Bytes>(memory.end())));
        request.search_end = memory.end();
        const auto given_up = plan::lowest_fit(memory, request, occupied);
        CHECK((found.bytes_over > 0) == (given_up.bytes_over > 0));
        CHECK((found.bytes_over > 0 || given_up.address == expected));
    }
}

TEST_CASE("a place that ends with the search is looked at, too", "[kernels]") {
    const auto memory = small_memory();
    const Bytes last = memory.end() - 64;
    const auto found = [&](Bytes search_end, Bytes taken) {
        FitRequest request{.bytes = 64, .alignment = 1, .lowest = last};
        request.limit = memory.end();
        request.search_end = search_end;
        return plan::lowest_fit(memory, request, {{last, last + taken, false}});
    };
    CHECK(found(memory.end(), 1).address == last + 1);
    CHECK(found(memory.end(), 1).bytes_over == 1);
    CHECK(found(memory.end(), 64).bytes_over == 64);
    CHECK(found(memory.end() - 1, 64).address == last); // not looked at: it ends behind the search
}

TEST_CASE("what stands in the way says from where on a place may be tried again", "[kernels]") {
    const auto memory = small_memory();
    const Bytes first = memory.region0_begin();
    int overlapping = 0;
    int meeting = 0;
    for (const bool apart : {false, true}) {
        for (Bytes begin = first; begin < memory.end(); begin += 16) {
            for (const Bytes bytes : {1, 16, 64, 80, 128}) {
                for (Bytes at = first; at + bytes <= memory.end(); at += 16) {
                    for (const Bytes size : {1, 16, 48, 64}) {
                        const Occupied other{begin, std::min<Bytes>(begin + size, memory.end()),
                                             apart};
                        const FitRequest request{.bytes = bytes};
                        const auto until = plan::blocked_until(memory, at, at + bytes, other);
                        if (is_free(memory, request, at, {other})) {
                            REQUIRE(until == 0);
                        } else if (at < other.end && other.begin < at + bytes) {
                            REQUIRE(until == other.end);
                            ++overlapping;
                        } else { // the next granule
                            REQUIRE(until == plan::granule_end(memory, other.end - 1));
                            REQUIRE(granule(memory, other.end - 1) < granule(memory, until));
                            ++meeting;
                        }
                    }
                }
            }
        }
    }
    CHECK(overlapping > 1000);
    CHECK(meeting > 1000);
}

TEST_CASE("what does not fit says by how many bytes, up to the last that fits", "[kernels]") {
    const auto memory = small_memory();
    FitRequest request{.bytes = 0x100, .alignment = 16, .lowest = 0x100, .limit = 0x200};
    CHECK(plan::lowest_fit(memory, request, {}).bytes_over == 0);
    request.bytes = 0x101;
    CHECK(plan::lowest_fit(memory, request, {}).bytes_over == 1);
    request.bytes = 0x100;
    const auto behind = plan::lowest_fit(memory, request, {{0x100, 0x101, false}});
    CHECK(behind.address == 0x110);
    CHECK(behind.bytes_over == 0x10);
    // in an element of its own
    CHECK(plan::lowest_fit(memory, request, {{0x100, 0x101, true}}).bytes_over == 0x40);
    request.bytes = 0;
    CHECK(plan::lowest_fit(memory, request, {{0x100, 0x200, true}}).address == 0x100);
}
