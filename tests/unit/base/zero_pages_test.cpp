// SPDX-License-Identifier: MIT
#include "base/zero_pages.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace tessera;

namespace {

/// Whether the page may be looked at.
bool is_mapped(std::byte* page) {
    unsigned char resident = 0;
    return mincore(page, 1, &resident) == 0;
}

} // namespace

TEST_CASE("bytes are rounded up to whole pages", "[unit][base]") {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    CHECK(ZeroPages::whole_pages(0) == 0);
    for (const std::size_t pages : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
        CHECK(ZeroPages::whole_pages(pages * page) == pages * page);
        CHECK(ZeroPages::whole_pages(pages * page - 1) == pages * page);
        CHECK(ZeroPages::whole_pages(pages * page + 1) == (pages + 1) * page);
        CHECK(ZeroPages::whole_pages((pages - 1) * page + 1) == pages * page);
    }
}

TEST_CASE("pages are zero, may be written to their end, and go with their owner", "[unit][base]") {
    const std::size_t bytes = ZeroPages::whole_pages(1);
    std::byte* first = nullptr;
    {
        ZeroPages pages(2 * bytes - 1);
        first = pages.begin();
        REQUIRE(first != nullptr);
        CHECK(std::count(first, first + 2 * bytes, std::byte{0}) ==
              static_cast<std::ptrdiff_t>(2 * bytes));
        first[2 * bytes - 1] = std::byte{7};
        const ZeroPages moved = std::move(pages);
        CHECK(pages.begin() == nullptr);
        CHECK(moved.begin() == first);
        CHECK(moved.begin()[2 * bytes - 1] == std::byte{7});
        CHECK(is_mapped(first));
        CHECK(is_mapped(first + bytes));
    }
    CHECK_FALSE(is_mapped(first));
    CHECK_FALSE(is_mapped(first + bytes));
}

TEST_CASE("no bytes are no pages, and too many cannot be had", "[unit][base]") {
    CHECK(ZeroPages(0).begin() == nullptr);
    CHECK_THROWS_AS(ZeroPages(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
}
