// SPDX-License-Identifier: MIT
// Timing mode: workers that find the same do the same, once they are compared; whichever are, tiles are
// left as they are instruction by instruction (random programs: timing_mode_test.cpp).
#include "models/tile/core/worker_classes.h"
#include "tests/unit/models/tile/recipe_worker.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test::recipes;

namespace {

/// Sums the words at kData up to the first one that is 0, in a stretch a word, and stores the sum.
std::string summing() {
    return fmt::format(".align 8\nworker: setzi $m0, {}\nmov $m2, $mzero\n"
                       "1: ld32step $m1, $mzero, $m0+=, 1\nadd $m2, $m2, $m1\nbrnz $m1, 1b\n"
                       "setzi $m0, {}\nst32 $m2, $m0, $mzero, 0\nexitz $mzero\n",
                       kData, kResult);
}

constexpr std::size_t kMuch = std::size_t{1} << 40U;

} // namespace

TEST_CASE("a worker takes over what one did that found the same", "[unit][tile]") {
    Worker worker(summing());
    isa::StretchRecipes recipes;
    tile::WorkerClasses classes{tile::WorkerClasses::All{}};
    const std::vector<std::vector<std::uint32_t>> lists{{1, 2, 3, 0}, {1, 2, 3, 0}, {1, 2, 4, 0},
                                                        {1, 0, 3, 0}, {1, 2, 4, 0}, {1, 0, 7, 7}};
    const std::vector<std::int64_t> alike{0, 1, 1, 1, 2, 3}; // the last one reads two words
    for (std::size_t list = 0; list < lists.size(); ++list) {
        CAPTURE(list);
        const Left plain = worker.run(lists[list], nullptr);
        CHECK((worker.run(lists[list], &recipes, 0, &classes) == plain));
        CHECK(classes.alike() == alike[list]);
    }
}

TEST_CASE("a word that is not known is another than any that is", "[unit][tile]") {
    Worker worker(fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 1\n"
                              "setzi $m0, {}\nst32 $m1, $m0, $mzero, 0\nexitz $mzero\n",
                              kData, kResult));
    isa::StretchRecipes recipes;
    tile::WorkerClasses classes{tile::WorkerClasses::All{}};
    for (int time = 0; time < 2; ++time) {
        for (const std::uint32_t unknown : {0U, 1U}) {
            const std::vector<std::uint32_t> words =
                unknown == 0 ? std::vector<std::uint32_t>{5, 6} : std::vector<std::uint32_t>{5};
            const Left plain = worker.run(words, nullptr, unknown);
            CHECK(plain.known[(kResult - kBase) / 4] == (unknown == 0));
            CHECK((worker.run(words, &recipes, unknown, &classes) == plain));
            CHECK(classes.alike() == (time == 0 ? 0 : 1 + unknown));
        }
    }
}

TEST_CASE("a worker meets its limit where it meets it instruction by instruction", "[unit][tile]") {
    const std::vector<std::uint32_t> list{1, 1, 1, 1, 1, 1, 1, 1, 0};
    std::int64_t alike = 0;
    unsigned faults = 0;
    for (Cycles limit = 30; limit < 500; ++limit) {
        auto machine = test::random_machine(true);
        machine.tile.phase_limit_cycles = limit;
        Worker worker(summing(), machine);
        CAPTURE(limit);
        isa::StretchRecipes recipes;
        tile::WorkerClasses classes{tile::WorkerClasses::All{}};
        const Left plain = worker.run(list, nullptr);
        for (int time = 0; time < 2; ++time) {
            CHECK((worker.run(list, &recipes, 0, &classes) == plain));
        }
        faults += plain.fault.empty() ? 0 : 1;
        alike += classes.alike();
        CHECK((plain.fault.empty() || classes.alike() == 0));
    }
    CHECK(faults > 50);
    CHECK(alike > 50);
}

TEST_CASE("launches whose workers are short or hardly ever alike are not compared",
          "[unit][tile]") {
    constexpr std::uint32_t kRuns = 2000; // more than are looked at before a launch is judged
    struct Case {
        std::uint32_t words; ///< passes of a worker, a stretch each, but the last
        std::uint32_t lists; ///< that come in turn
        bool compares;
    };
    for (const Case& one : {Case{30, 200, true}, Case{30, kRuns, false}, Case{0, 1, false}}) {
        // A repeat's count has to be what it was: more of them come than there are recipes.
        auto machine = test::random_machine(true);
        machine.tile.phase_limit_cycles = 1'000'000;
        Worker worker(
            fmt::format(
                ".align 8\nworker: setzi $m0, {}\n1: ld32step $m1, $mzero, $m0+=, 1\n"
                ".align 8\n{{ rpt $m1, 0 ; fnop }}\n{{ nop ; fnop }}\nbrnz $m1, 1b\nexitz $mzero\n",
                kData),
            machine);
        isa::StretchRecipes recipes;
        tile::WorkerClasses classes;
        const auto run = [&](std::uint32_t number) {
            std::vector<std::uint32_t> list;
            for (std::uint32_t word = 0; word < one.words; ++word) {
                list.push_back(1 + (number % one.lists * 7919 + word * 104729) % 4001);
            }
            list.push_back(0);
            return worker.run(list, &recipes, 0, &classes);
        };
        for (std::uint32_t number = 0; number < kRuns; ++number) {
            static_cast<void>(run(number));
        }
        classes.between_steps(kMuch);
        const std::int64_t before = classes.alike();
        CAPTURE(one.words, one.lists, before);
        CHECK((before > 0) == one.compares);
        const Left first = run(1);
        CHECK(first.fault.empty());
        CHECK((run(1) == first));
        CHECK(classes.alike() == before + (one.compares ? 2 : 0));
        classes.between_steps(0); // what was judged stays, what was found is forgotten
        CHECK((run(1) == first));
        CHECK((run(1) == first));
        CHECK(classes.alike() == before + (one.compares ? 3 : 0));
    }
}
