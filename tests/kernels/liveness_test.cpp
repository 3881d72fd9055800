// SPDX-License-Identifier: MIT
#include "kernels/plan/liveness.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

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
    steps.step("2").reads({"inside", "table"}).writes({"crossing by step", "to the end"});
    steps.step("3").reads({"crossing"});
    steps.step("4").writes({"crossing"}).reads({"in place"}).writes({"in place"});
    steps.writes({"written first"}).reads({"written first", "to the end"});
    steps.end_loop();
    steps.step("5").reads({"later"});
    CHECK(steps.lifetime("inside") == Lifetime{1, 2});
    CHECK(steps.lifetime("crossing by step") == Lifetime{2, 2});
    CHECK(steps.lifetime("to the end") == Lifetime{2, 4});
    // written before, read inside: all iterations need it
    CHECK(steps.lifetime("table") == Lifetime{0, 4});
    CHECK(steps.lifetime("later") == Lifetime{1, 5});
    // the read of an iteration sees the write of the one before
    CHECK(steps.lifetime("crossing") == Lifetime{1, 4});
    CHECK(steps.lifetime("sum") == Lifetime{1, 4});
    CHECK(steps.lifetime("in place") == Lifetime{1, 4});
    // within a step nobody knows which comes first
    CHECK(steps.lifetime("written first") == Lifetime{1, 4});
}

TEST_CASE("lifetimes over random loops are those of a run of the steps", "[kernels]") {
    // A buffer is needed from a write to the reads that see it; a step that reads and writes reads
    // first. Two rounds of every loop show what crosses from one to the next.
    std::mt19937 random(9);
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    int crossing = 0;
    for (int round = 0; round < 3000; ++round) {
        constexpr std::uint32_t kSteps = 7;
        const std::uint32_t loop_first = below(kSteps);
        const std::uint32_t loop_last = loop_first + below(kSteps - loop_first);
        std::vector<std::uint32_t> uses; // of each step: 1 reads, 2 writes
        plan::Liveness steps;
        for (std::uint32_t step = 0; step < kSteps; ++step) {
            if (step == loop_first) {
                steps.begin_loop();
            }
            steps.step(std::to_string(step));
            uses.push_back(below(2) == 0 ? 0 : below(4));
            if (uses.back() == 3 && below(2) == 0) {
                steps.writes({"b"}).reads({"b"});
            } else {
                if ((uses.back() & 1) != 0) {
                    steps.reads({"b"});
                }
                if ((uses.back() & 2) != 0) {
                    steps.writes({"b"});
                }
            }
            if (step == loop_last) {
                steps.end_loop();
            }
        }
        if (std::count(uses.begin(), uses.end(), 0U) == kSteps) {
            continue;
        }
        std::vector<std::uint32_t> run; // the steps in order, the loop twice
        for (std::uint32_t step = 0; step < kSteps; ++step) {
            run.push_back(step);
            if (step == loop_last) {
                for (std::uint32_t again = loop_first; again <= loop_last; ++again) {
                    run.push_back(again);
                }
            }
        }
        std::set<std::uint32_t> needed; // steps in or between which the contents are
        for (std::size_t i = 0; i < run.size(); ++i) {
            if (uses[run[i]] == 0) {
                continue;
            }
            needed.insert(run[i]);
            if ((uses[run[i]] & 2) == 0) {
                continue;
            }
            std::size_t last = i;
            for (std::size_t k = i + 1; k < run.size(); ++k) {
                last = (uses[run[k]] & 1) != 0 ? k : last;
                if ((uses[run[k]] & 2) != 0) {
                    break;
                }
            }
            needed.insert(run.begin() + static_cast<std::ptrdiff_t>(i),
                          run.begin() + static_cast<std::ptrdiff_t>(last) + 1);
        }
        const Lifetime lifetime = steps.lifetime("b");
        CAPTURE(round, loop_first, loop_last, uses, lifetime.first, lifetime.last);
        REQUIRE(lifetime.first <= *needed.begin());
        REQUIRE(lifetime.last >= *needed.rbegin());
        REQUIRE(uses.size() > lifetime.last);
        crossing += lifetime.last - lifetime.first > 0 ? 1 : 0;
    }
    CHECK(crossing > 500);
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
