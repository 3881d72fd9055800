// SPDX-License-Identifier: MIT
#include "sim/sweep/reasons.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using tessera::sweep::Reasons;
using Lines = std::vector<std::string>;

TEST_CASE("reasons of one kind are counted and one of them is told", "[unit][sweep]") {
    Reasons reasons;
    CHECK(reasons.lines(3).empty());
    reasons.add("fault", "tile 3: no", "c");
    reasons.add("does_not_fit", "tile 12: got 700000 bytes\nand more", "a");
    reasons.add("does_not_fit", "tile 7: got 1,000 bytes", "b"); // a number in two parts
    reasons.add("does_not_fit", "tile 7: got 99 bytes", "d");
    reasons.add("does_not_fit", "tile 7: got 99 words", "e");
    reasons.add("time_limit", "", "");
    CHECK(reasons.count() == 6);
    CHECK(reasons.lines(9) == Lines{"2 does_not_fit, as a: tile 12: got 700000 bytes",
                                    "1 does_not_fit, as e: tile 7: got 99 words",
                                    "1 does_not_fit, as b: tile 7: got 1,000 bytes",
                                    "1 fault, as c: tile 3: no", "1 time_limit"});
    CHECK(reasons.lines(1) ==
          Lines{"2 does_not_fit, as a: tile 12: got 700000 bytes", "4 for 4 other reasons"});
    CHECK(reasons.lines(4).back() == "1 for 1 other reason");
    CHECK(reasons.lines(5).size() == 5);
}

TEST_CASE("the reason of most points comes first, whatever it is called", "[unit][sweep]") {
    Reasons reasons;
    for (const char* what : {"a", "b", "c", "b", "c", "c"}) {
        reasons.add(what, "", "");
    }
    CHECK(reasons.lines() == Lines{"3 c", "2 b", "1 a"});
}

TEST_CASE("a number in a message parts it from one without, another number does not",
          "[unit][sweep]") {
    Reasons reasons;
    for (const char* message : {"got  bytes", "got 1 bytes", "got 23 bytes", "4 bytes", "56 bytes",
                                " bytes", "4#bytes"}) {
        reasons.add("x", message, "");
    }
    CHECK(reasons.lines().size() == 5);
    CHECK(reasons.lines()[0] == "2 x: 4 bytes");
    CHECK(reasons.lines()[1] == "2 x: got 1 bytes");
}
