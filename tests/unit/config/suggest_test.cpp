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
