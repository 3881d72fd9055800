// SPDX-License-Identifier: MIT
#include "base/config/suggest.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using tessera::config::did_you_mean;
using tessera::config::edit_distance;
using tessera::config::nearest_name;

TEST_CASE("the edit distance counts insertions deletions replacements and swaps",
          "[unit][config]") {
    CHECK(edit_distance("tile", "tile") == 0);
    CHECK(edit_distance("", "tile") == 4);
    CHECK(edit_distance("tile", "tiles") == 1);
    CHECK(edit_distance("tile", "mile") == 1);
    CHECK(edit_distance("itle", "tile") == 1);
    CHECK(edit_distance("kitten", "sitting") == 3);
}

namespace {

/// The same by its definition, from the ends of both texts.
std::size_t slow_distance(const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) {
        return a.size() + b.size();
    }
    const std::string rest_a = a.substr(1);
    const std::string rest_b = b.substr(1);
    std::size_t least = slow_distance(rest_a, rest_b) + (a[0] == b[0] ? 0U : 1U);
    least = std::min(least, slow_distance(rest_a, b) + 1);
    least = std::min(least, slow_distance(a, rest_b) + 1);
    if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
        least = std::min(least, slow_distance(a.substr(2), b.substr(2)) + 1);
    }
    return least;
}

} // namespace

TEST_CASE("the edit distance is what its definition says", "[unit][config]") {
    // All texts of up to four letters of three, against some.
    std::vector<std::string> texts{""};
    for (std::size_t i = 0; texts[i].size() < 4; ++i) {
        for (const char c : {'a', 'b', 'c'}) {
            texts.push_back(texts[i] + c);
        }
    }
    REQUIRE(texts.size() == 1 + 3 + 9 + 27 + 81);
    int wrong = 0;
    for (const auto& a : texts) {
        for (const std::string b : {"", "a", "ab", "cab", "abca", "bbcc"}) {
            wrong += edit_distance(a, b) == slow_distance(a, b) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("the edit distance looks at nothing beside its texts", "[unit][config]") {
    // All parts of two texts against each other: what stands around a part is no part of it.
    const std::string left = "abcab";
    const std::string right = "cbbac";
    int wrong = 0;
    for (std::size_t i = 0; i <= left.size(); ++i) {
        for (std::size_t j = 0; j <= right.size(); ++j) {
            for (std::size_t m = 0; i + m <= left.size(); ++m) {
                for (std::size_t n = 0; j + n <= right.size(); ++n) {
                    const std::string_view a = std::string_view(left).substr(i, m);
                    const std::string_view b = std::string_view(right).substr(j, n);
                    const std::size_t alone = slow_distance(std::string(a), std::string(b));
                    wrong += edit_distance(a, b) == alone && edit_distance(b, a) == alone ? 0 : 1;
                }
            }
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("a name is near up to a third of its letters", "[unit][config]") {
    for (std::size_t length = 1; length <= 13; ++length) {
        const std::string known(length, 'a');
        for (std::size_t wrong = 0; wrong <= length; ++wrong) {
            const std::string name = std::string(wrong, 'b') + std::string(length - wrong, 'a');
            const std::size_t limit = length == 1 ? 0 : std::max<std::size_t>(1, length / 3);
            CAPTURE(name);
            CHECK(nearest_name(name, {known}) == (wrong <= limit ? known : ""));
            // the longer of both counts
            if (wrong <= length - 1) {
                const bool near = wrong == 0 || (length > 1 && wrong <= (length + 2) / 3);
                CHECK(nearest_name(known.substr(wrong), {known}) == (near ? known : ""));
            }
        }
    }
    CHECK(nearest_name("ad", {"ab", "ac"}) == "ab"); // of equals the first
    CHECK(nearest_name("abcd", {"abxx", "abcx", "abdx"}) == "abcx");
    const std::string long_name(200, 'w');
    CHECK(nearest_name(long_name, {long_name}) == long_name);
    CHECK(nearest_name(long_name + "w", {long_name}).empty());
}

TEST_CASE("the nearest name is found within a third of the length", "[unit][config]") {
    const std::vector<std::string> known{"workers", "pipeline_cycles", "m", "k"};
    CHECK(nearest_name("worker", known) == "workers");
    CHECK(nearest_name("WORKERS", known) == "workers");
    CHECK(nearest_name("pipelin_cycels", known) == "pipeline_cycles");
    CHECK(nearest_name("banana", known).empty());
    CHECK(nearest_name("x", known).empty()); // one letter is like any other
    CHECK(nearest_name(std::string(10000, 'w'), known).empty());
    CHECK(did_you_mean("worker", known) == "did you mean 'workers'?");
    CHECK(did_you_mean("banana", known).empty());
}

TEST_CASE("a name is near up to a third of the longer one", "[unit][config]") {
    for (std::size_t length = 2; length <= 14; ++length) {
        const std::string name(length, 'a');
        const std::size_t limit = std::max<std::size_t>(1, length / 3);
        const std::string at_limit = std::string(limit, 'z') + std::string(length - limit, 'a');
        const std::string beyond =
            std::string(limit + 1, 'z') + std::string(length - std::min(length, limit + 1), 'a');
        INFO(length);
        CHECK(nearest_name(at_limit, {name}) == name);
        CHECK(nearest_name(beyond.substr(0, length), {name}).empty() == (limit < length));
    }
    CHECK(nearest_name("A100", {"c600", "bow", "gc200"}).empty());
    CHECK(nearest_name("a", {"b"}).empty());
    CHECK(nearest_name("a", {"a"}) == "a");
    CHECK(nearest_name(std::string(200, 'w'), {std::string(199, 'w')}).size() == 199);
    CHECK(nearest_name(std::string(201, 'w'), {std::string(201, 'w')}).empty());
}

TEST_CASE("of several near names the nearest is told, and of equals the first", "[unit][config]") {
    CHECK(nearest_name("workers", {"worker_s", "workers", "worker"}) == "workers");
    CHECK(nearest_name("tile", {"tiles", "tile_", "til"}) == "tiles");
    CHECK(nearest_name("abcdef", {"abcxyf", "abcdxf"}) == "abcdxf");
    // one swap of neighbours is one step
    CHECK(edit_distance("ab", "ba") == 1);
    CHECK(edit_distance("abc", "cab") == 2);
    CHECK(edit_distance("a", "b") == 1);
}
