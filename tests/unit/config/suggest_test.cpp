// SPDX-License-Identifier: MIT
#include "base/config/suggest.h"

#include <catch2/catch.hpp>

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

TEST_CASE("a name is near up to a third of the longer one, rounded up", "[unit][config]") {
    for (std::size_t length = 2; length <= 14; ++length) {
        const std::string name(length, 'a');
        const std::size_t limit = (length + 2) / 3;
        const std::string at_limit = std::string(limit, 'z') + std::string(length - limit, 'a');
        const std::string beyond =
            std::string(limit + 1, 'z') + std::string(length - std::min(length, limit + 1), 'a');
        INFO(length);
        CHECK(nearest_name(at_limit, {name}) == name);
        CHECK(nearest_name(beyond.substr(0, length), {name}).empty() == (limit < length));
    }
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
