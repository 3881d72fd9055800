// SPDX-License-Identifier: MIT
// What buckets do behind the distribution: followed code by code.
#include "kernels/dynamic/travel.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

using namespace tessera::dynamic;

namespace {

/// Where all buckets stand.
enum class Stands { Home, First, Second };

struct Followed {
    std::multiset<std::pair<std::int64_t, std::int64_t>> seen; ///< distances in x and y
    std::int64_t moves = 0;                                    ///< on the way there
    std::int64_t back = 0;                                     ///< the others
    Split left;                                                ///< distances from home at the end
};

/// Fails where a code says that buckets stand elsewhere than the codes before have left them.
Followed follow(const Split& split, const std::vector<std::uint32_t>& codes) {
    Followed made;
    Split at{0, 0, 0};
    Stands stands = Stands::Home;
    const auto check_stands = [&](std::uint32_t code) {
        REQUIRE(((code & TravelCode::kAtHome) != 0) == (stands == Stands::Home));
        REQUIRE(((code & TravelCode::kSecond) != 0) == (stands == Stands::Second));
    };
    for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
        const std::uint32_t code = codes[i];
        check_stands(code);
        const bool is_back = (code & TravelCode::kBack) != 0;
        REQUIRE(((code & TravelCode::kMore) != 0) == !is_back);
        REQUIRE((is_back || made.back == 0));
        const std::int64_t step = is_back ? -1 : 1;
        std::int64_t moves = 1;
        if ((code & TravelCode::kScan) != 0) {
            REQUIRE_FALSE(is_back);
            REQUIRE(stands != Stands::Home);
            REQUIRE(made.seen.count({at.x, at.y}) == 0);
            made.seen.insert({at.x, at.y});
            moves = split.z - 1; // between looks at the buckets of all z tiles
            at.z = (at.z + moves) % split.z;
        } else if ((code & TravelCode::kAlongZ) != 0) {
            REQUIRE(is_back);
            at.z = (at.z + 1) % split.z;
        } else if ((code & TravelCode::kAlongX) != 0) {
            REQUIRE(split.x > 1);
            at.x = (at.x + step + split.x) % split.x;
        } else {
            REQUIRE(split.y > 1);
            at.y = (at.y + step + split.y) % split.y;
        }
        (is_back ? made.back : made.moves) += moves;
        for (; moves > 0; --moves) {
            stands = stands == Stands::First ? Stands::Second : Stands::First;
        }
    }
    check_stands(codes.back());
    CHECK((codes.back() & (TravelCode::kMore | TravelCode::kBack)) == 0);
    made.left = at;
    return made;
}

Travel travel_to(const Split& split, const std::vector<std::int64_t>& x_in_use, std::int64_t y) {
    Travel travel;
    travel.x_in_use.resize(static_cast<std::size_t>((split.x + 15) / 16));
    std::int64_t farthest = 0;
    for (const std::int64_t x : x_in_use) {
        travel.x_in_use[static_cast<std::size_t>(x / 16)] |=
            static_cast<std::uint16_t>(1U << static_cast<unsigned>(x % 16));
        farthest = std::max(farthest, x);
    }
    travel.end = {farthest + 1, farthest > 0 ? split.y : y + 1, split.z};
    return travel;
}

} // namespace

TEST_CASE("buckets that are at home do not move", "[dynamic_travel]") {
    const Split split{3, 4, 2};
    CHECK(travel_codes(split, travel_to(split, {}, 0)) ==
          std::vector<std::uint32_t>{TravelCode::kAtHome});
}

TEST_CASE("all tiles see the buckets of each distance that is in use, each once",
          "[dynamic_travel]") {
    std::mt19937 random(5);
    const auto below = [&](std::int64_t end) {
        return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
    };
    for (int i = 0; i < 300; ++i) {
        const Split split{1 + below(20), 1 + below(6), 1 + below(5)};
        CAPTURE(split.x, split.y, split.z);
        std::set<std::int64_t> x_in_use;
        const std::int64_t y = split.y > 1 ? below(split.y) : 0;
        if (y > 0) {
            x_in_use.insert(0);
        }
        for (std::int64_t uses = split.x > 1 ? below(4) : 0; uses > 0; --uses) {
            x_in_use.insert(1 + below(split.x - 1));
        }
        const Travel travel = travel_to(split, {x_in_use.begin(), x_in_use.end()}, y);
        const auto codes = travel_codes(split, travel);
        CHECK(static_cast<std::int64_t>(codes.size()) <= most_travel_codes(split));
        const Followed followed = follow(split, codes);
        for (const std::int64_t x : x_in_use) {
            // behind the distribution, which has seen what is at home
            for (std::int64_t at = x == 0 ? 1 : 0; at < (x == 0 ? travel.end.y : split.y); ++at) {
                CAPTURE(x, at);
                CHECK(followed.seen.count({x, at}) == 1);
            }
        }
        CHECK(static_cast<std::int64_t>(followed.seen.size()) * split.z == travel.steps(split));
        CHECK(followed.left == Split{0, 0, 0});
        CHECK(followed.back < split.x + split.y + split.z);
    }
}

TEST_CASE("between two looks buckets move along y once, and along x as far as the next in use",
          "[dynamic_travel]") {
    const Split split{16, 3, 4};
    const std::vector<std::int64_t> x_in_use{0, 5};
    const auto followed = follow(split, travel_codes(split, travel_to(split, x_in_use, 2)));
    const std::int64_t looks = (split.y - 1) + split.y;
    const std::int64_t along_x = x_in_use.back();
    const std::int64_t along_y = (split.y - 1) + (split.y - 1); // to the first look, too
    CHECK(followed.moves == looks * (split.z - 1) + along_x + along_y);
}
