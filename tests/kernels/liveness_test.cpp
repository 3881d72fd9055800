// SPDX-License-Identifier: MIT
#include "kernels/plan/liveness.h"

#include <catch2/catch.hpp>

namespace {

using namespace tessera;
using program::Lifetime;
constexpr std::uint32_t kEnd = Lifetime::kEnd;

} // namespace

TEST_CASE("a buffer lives from its first use to its last", "[kernels]") {
    plan::Liveness steps;
    steps.given({"home"}).wanted({"out"});
    steps.step("bring").reads({"home"}).writes({"x"});
    steps.step("multiply").reads({"x"}).writes({"partials"});
    steps.step("rest");
    steps.step("reduce").reads({"partials"}).writes({"out"});
    CHECK(steps.lifetime("home") == Lifetime{0, 0});
    CHECK(steps.lifetime("x") == Lifetime{0, 1});
    CHECK(steps.lifetime("partials") == Lifetime{1, 3});
    CHECK(steps.lifetime("out") == Lifetime{3, kEnd});
    CHECK(steps.lifetime("never named") == Lifetime{0, kEnd});
    CHECK(steps.steps() == std::vector<std::string>{"bring", "multiply", "rest", "reduce"});
}

TEST_CASE("what the host fills lives from the start, what it reads to the end", "[kernels]") {
    plan::Liveness steps;
    steps.given({"a", "both"}).wanted({"both", "c"});
    steps.step("0");
    steps.step("1").reads({"a", "both"}).writes({"c"});
    steps.step("2");
    CHECK(steps.lifetime("a") == Lifetime{0, 1});
    CHECK(steps.lifetime("c") == Lifetime{1, kEnd});
    CHECK(steps.lifetime("both") == Lifetime{0, kEnd});
}

TEST_CASE("in a loop only what each iteration writes first dies inside", "[kernels]") {
    plan::Liveness steps;
    steps.step("0").writes({"table"});
    steps.begin_loop();
    steps.step("1").writes({"inside", "later"}).updates({"sum"});
    steps.step("2").reads({"inside", "table"}).writes({"crossing by step"});
    steps.step("3").reads({"crossing"});
    steps.step("4").writes({"crossing"}).reads({"in place"}).writes({"in place"});
    steps.end_loop();
    steps.step("5").reads({"later"});
    CHECK(steps.lifetime("inside") == Lifetime{1, 2});
    CHECK(steps.lifetime("crossing by step") == Lifetime{2, 2});
    // written before, read inside: all iterations need it
    CHECK(steps.lifetime("table") == Lifetime{0, 4});
    CHECK(steps.lifetime("later") == Lifetime{1, 5});
    // the read of an iteration sees the write of the one before
    CHECK(steps.lifetime("crossing") == Lifetime{1, 4});
    CHECK(steps.lifetime("sum") == Lifetime{1, 4});
    CHECK(steps.lifetime("in place") == Lifetime{1, 4});
}

TEST_CASE("a loop in a loop keeps what crosses the outer one", "[kernels]") {
    plan::Liveness steps;
    steps.begin_loop();
    steps.step("0").writes({"row"});
    steps.begin_loop();
    steps.step("1").reads({"row"}).writes({"cell"});
    steps.step("2").reads({"cell"}).updates({"sum"});
    steps.end_loop();
    steps.step("3").writes({"line"});
    steps.end_loop();
    steps.step("4").reads({"line"});
    CHECK(steps.lifetime("cell") == Lifetime{1, 2});
    CHECK(steps.lifetime("row") == Lifetime{0, 2}); // to the end of the inner loop, not the outer
    CHECK(steps.lifetime("sum") == Lifetime{0, 3});
    CHECK(steps.lifetime("line") == Lifetime{0, 4});
}
