// SPDX-License-Identifier: MIT
// Timing mode: at each bound that a recipe of a worker's way looks at, a tile that may go by recipes
// leaves what it leaves instruction by instruction, and goes by them wherever they hold.
#include "tests/unit/models/tile/recipe_worker.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test::recipes;

namespace {

struct Kind {
    const char* text;
    Address bytes;
    bool loads; ///< a main register
};
constexpr Kind kKinds[] = {
    {"ldz8 $m2, $m1, 0", 1, true},
    {"lds8 $m2, $m1, 0", 1, true},
    {"ldz16 $m2, $m1, $mzero, 0", 2, true},
    {"lds16 $m2, $m1, $mzero, 0", 2, true},
    {"ld32 $m2, $m1, $mzero, 0", 4, true},
    {"st32 $m3, $m1, $mzero, 0", 4, false},
    {"ld32 $a0, $m1, $mzero, 0", 4, false},
    {"st32 $a0, $m1, $mzero, 0", 4, false},
    {"ld64 $a0:1, $m1, $mzero, 0", 8, false},
    {"st64 $a0:1, $m1, $mzero, 0", 8, false},
};

/// A worker whose `access` stands `before` words behind the first that may be at its place.
std::string accessing(const std::string& access, std::uint32_t before) {
    std::string body;
    for (std::uint32_t word = 0; word < before; ++word) {
        body += "setzi $m4, 0\n";
    }
    return body + fmt::format(".align 8\nworker: setzi $m0, {}\nsetzi $m3, 77\n"
                              "ld32 $m1, $m0, $mzero, 0\n{}\nsetzi $m0, {}\n"
                              "st32 $m2, $m0, $mzero, 0\nexitz $mzero\n",
                              kData, access, kResult);
}

} // namespace

TEST_CASE("a known way is gone at every address of its region where an instruction may stand",
          "[unit][tile]") {
    const Address region1 = kBase + kRegion;
    for (const bool conflicts : {true, false}) {
        for (const Kind& kind : kKinds) {
            Worker worker(accessing(kind.text, 0), test::random_machine(conflicts));
            for (const Address recorded : {kData - 2 * kElement, region1 + 2 * kElement}) {
                unsigned met = 0;
                for (const Address bound :
                     {kBase, worker.code_end() & ~7U, kBase + kElement, kData, kResult, region1,
                      region1 + kRegion, Address{8}, ~Address{7}}) {
                    for (Address off = 0; off < 21; ++off) {
                        const Address address = bound + off - 10;
                        CAPTURE(conflicts, kind.text, recorded, address);
                        const Again found = again(worker, {recorded}, {address});
                        CHECK(found.is_same);
                        const bool in_region0 = address < region1;
                        const bool stores_what_it_read =
                            (kind.loads && address / 4 == kResult / 4) ||
                            (kind.text[0] == 's' && (address | 4U) == (kData | 4U));
                        const bool lost_where_it_stores =
                            kind.text[0] == 's' && !kind.loads && address / 4 <= kResult / 4 &&
                            kResult / 4 < address / 4 + (kind.bytes + 3) / 4;
                        if (!stores_what_it_read && !lost_where_it_stores) {
                            CHECK(found.met ==
                                  (!found.faults && in_region0 == (recorded < region1)));
                        }
                        met += found.met ? 1 : 0;
                    }
                }
                CHECK(met > 2);
            }
        }
    }
}

TEST_CASE("a known way keeps clear of the elements from which its code is fetched",
          "[unit][tile]") {
    // The access stands in front of, at and behind the end of the first element.
    for (const std::uint32_t before : {232U, 234U, 236U, 238U, 240U, 242U, 244U, 246U, 248U}) {
        Worker worker(accessing("ld32 $a0, $m1, $mzero, 0", before));
        for (const Address bound : {kBase, kBase + kElement, kBase + 2 * kElement}) {
            for (Address off = 0; off < 33; off += 4) {
                const Address address = bound + off - 16;
                CAPTURE(before, address);
                const Again found = again(worker, {kData - kElement}, {address});
                CHECK(found.is_same);
                CHECK(found.met == !found.faults);
            }
        }
    }
}

TEST_CASE("a known way keeps clear of all elements from which its code is fetched meanwhile",
          "[unit][tile]") {
    // Two accesses at one base, the code of which lies in two elements.
    constexpr unsigned kNops = 260;
    std::string body = fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 0\n"
                                   "ld32 $a0, $m1, $mzero, 0\n",
                                   kData);
    for (unsigned nop = 0; nop < kNops; ++nop) {
        body += "nop\n";
    }
    Worker worker(body + "ld32 $a1, $m1, $mzero, 1\nexitz $mzero\n");
    REQUIRE(worker.code_end() > kBase + kElement);
    unsigned faults = 0;
    for (Address element = 0; element < 4; ++element) {
        for (const Address off : {Address{0}, Address{512}, Address{kElement - 8}}) {
            const Address address = kBase + element * kElement + off;
            CAPTURE(element, off);
            const Again found = again(worker, {kData + kElement}, {address});
            CHECK(found.is_same);
            CHECK(found.met == !found.faults);
            faults += found.faults ? 1 : 0;
        }
    }
    CHECK(faults == 2 * 3);
}

TEST_CASE("a known way ends at the limit of the phase as it does instruction by instruction",
          "[unit][tile]") {
    constexpr std::uint32_t kPasses = 12;
    std::int64_t met = 0;
    unsigned faults = 0;
    for (Cycles limit = 30; limit < 700; ++limit) {
        auto machine = test::random_machine(true);
        machine.tile.phase_limit_cycles = limit;
        Worker worker(fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 0\n"
                                  "1: add $m2, $m2, 3\nst32 $m2, $m0, $mzero, 1\n"
                                  "brnzdec $m1, 1b\nexitz $mzero\n",
                                  kData),
                      machine);
        CAPTURE(limit);
        isa::StretchRecipes recipes{isa::StretchRecipes::All{}};
        const Left plain = worker.run({kPasses}, nullptr);
        for (int time = 0; time < 2; ++time) {
            CHECK((worker.run({kPasses}, &recipes) == plain));
        }
        met += recipes.met();
        faults += plain.fault.empty() ? 0 : 1;
    }
    CHECK(met > 2 * kPasses);
    CHECK(faults > 100);
    CHECK(faults < 670);
}

TEST_CASE("sums of a known way have up to five terms, or what they are made of has to be as it was",
          "[unit][tile]") {
    constexpr std::uint32_t kRecorded = 3;
    for (std::uint32_t terms = 1; terms <= 8; ++terms) {
        std::string body =
            fmt::format(".align 8\nworker: setzi $m0, {}\nsetzi $m2, {}\n", kData, kBase + kRegion);
        for (std::uint32_t word = 0; word < terms; ++word) {
            body += fmt::format("ld32 $m1, $m0, $mzero, {}\n{} $m2, $m2, $m1\n", word,
                                word == 1 ? "sub" : "add");
        }
        Worker worker(body + fmt::format("st32 $a0, $m2, $mzero, 0\nsetzi $m0, {}\n"
                                         "st32 $m2, $m0, $mzero, 0\nexitz $mzero\n",
                                         kResult));
        const std::vector<std::uint32_t> recorded(terms, 4 * kRecorded);
        CHECK(again(worker, recorded, recorded).met);
        for (std::uint32_t word = 0; word < terms; ++word) {
            auto others = recorded;
            others[word] += word == 1 ? 4U - 8U : 4U;
            CAPTURE(terms, word);
            const Again found = again(worker, recorded, others);
            CHECK(found.is_same);
            CHECK_FALSE(found.faults);
            CHECK(found.met ==
                  (terms <= isa::StretchSum::kMostTerms || word > isa::StretchSum::kMostTerms));
        }
    }
}

TEST_CASE("a known way holds as many loaded words as there is room for", "[unit][tile]") {
    constexpr std::uint32_t kMost = isa::StretchDraft::kMostFound - isa::StretchDraft::kRegisters;
    for (const std::uint32_t loads : {kMost - 1, kMost, kMost + 1, kMost + 2}) {
        std::string body = fmt::format(".align 8\nworker: setzi $m0, {}\n", kData);
        for (std::uint32_t word = 0; word < loads; ++word) {
            body += fmt::format("ld32 $m1, $m0, $mzero, {}\n", word);
        }
        Worker worker(body + fmt::format("setzi $m0, {}\nst32 $m1, $m0, $mzero, 0\n"
                                         "exitz $mzero\n",
                                         kResult));
        std::vector<std::uint32_t> recorded(loads);
        std::vector<std::uint32_t> others(loads);
        others.back() = 9;
        CAPTURE(loads);
        const Again found = again(worker, recorded, others);
        CHECK(found.is_same);
        CHECK(found.met == (loads <= kMost));
    }
}

TEST_CASE("a known way is gone only with the words that it loads known as they were",
          "[unit][tile]") {
    Worker worker(fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 0\n"
                              "st32 $m1, $m0, $mzero, 16\nexitz $mzero\n",
                              kData));
    for (const bool recorded : {true, false}) {
        for (const bool then : {true, false}) {
            CAPTURE(recorded, then);
            const auto data = [](bool known) {
                return known ? std::vector<std::uint32_t>{5} : std::vector<std::uint32_t>{};
            };
            isa::StretchRecipes recipes{isa::StretchRecipes::All{}};
            static_cast<void>(worker.run(data(recorded), &recipes, recorded ? 0 : 1));
            const Left by_recipe = worker.run(data(then), &recipes, then ? 0 : 1);
            CHECK((by_recipe == worker.run(data(then), nullptr, then ? 0 : 1)));
            CHECK(by_recipe.known.at((kData - kBase) / 4 + 16) == then);
            CHECK(recipes.met() == (recorded == then ? 1 : 0));
        }
    }
}

namespace {

/// A worker that loads a word and then does `nops` instructions more, or others where the word is 0.
std::string loading(std::size_t nops, const std::string& others = "") {
    std::string body = fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 0\n"
                                   "brz $m1, 1f\n",
                                   kData);
    for (std::size_t nop = 0; nop < nops; ++nop) {
        body += "nop\n";
    }
    return body + "exitz $mzero\n1: " + others + "exitz $mzero\n";
}

} // namespace

TEST_CASE("a way is learnt when it was gone two dozen times, the next ones at every fourth miss",
          "[unit][tile]") {
    constexpr std::int64_t kFirst = 24;
    Worker worker(loading(20, "add $m2, $m1, 1\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"));
    isa::StretchRecipes recipes;
    for (std::int64_t time = 1; time < 40; ++time) {
        CAPTURE(time);
        static_cast<void>(worker.run({5}, &recipes));
        // the one behind the two dozen is written down
        CHECK(recipes.met() == std::max<std::int64_t>(0, time - kFirst - 1));
    }
    const std::int64_t before = recipes.met();
    for (std::int64_t time = 1; time < 9; ++time) {
        CAPTURE(time);
        static_cast<void>(worker.run({0}, &recipes));
        // the misses 26 to 28 and the next, which is written down
        CHECK(recipes.met() - before == std::max<std::int64_t>(0, time - 4));
    }
}

TEST_CASE("a way is learnt where that saves time, and not looked for where it did not twice",
          "[unit][tile]") {
    constexpr int kOften = 40;
    for (std::size_t nops = 0; nops < 12; ++nops) {
        CAPTURE(nops);
        Worker worker(loading(nops));
        isa::StretchRecipes recipes;
        for (int time = 0; time < kOften; ++time) {
            static_cast<void>(worker.run({5}, &recipes));
        }
        // A check of the load and one of the branch, an extent and two registers; a sum takes the time of
        // an instruction and a half.
        const std::size_t instructions = 4 + nops;
        CHECK((recipes.met() > 0) == (2 * instructions >= 3 * (2 + 1 + 2)));
    }
    // Where short ways were written down in vain twice, a long one is not any more.
    constexpr int kFirst = 24;
    constexpr int kBetween = 4;
    for (int vain = 0; vain < 4; ++vain) {
        CAPTURE(vain);
        Worker worker(loading(20));
        isa::StretchRecipes recipes;
        for (int time = 0; time < kFirst + kBetween * vain; ++time) {
            static_cast<void>(worker.run({0}, &recipes));
        }
        for (int time = 0; time < kOften; ++time) {
            static_cast<void>(worker.run({5}, &recipes));
        }
        CHECK((recipes.met() > 0) == (vain < 2));
    }
}

TEST_CASE("a start has 64 recipes at most", "[unit][tile]") {
    constexpr std::uint32_t kMost = 64;
    Worker worker(fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 0\n"
                              "{{ rpt $m1, 0 ; fnop }}\n{{ nop ; fnop }}\nexitz $mzero\n",
                              kData));
    isa::StretchRecipes recipes{isa::StretchRecipes::All{}};
    for (const bool again : {false, true}) {
        for (std::uint32_t passes = 0; passes < kMost + 3; ++passes) { // each a way of its own
            CAPTURE(again, passes);
            const std::int64_t before = recipes.met();
            static_cast<void>(worker.run({passes}, &recipes));
            CHECK(recipes.met() - before == (again && passes < kMost ? 1 : 0));
        }
    }
}

TEST_CASE("recipes are looked for as long as they meet one stretch in two, after 4096 of them",
          "[unit][tile]") {
    constexpr std::uint32_t kJudged = 4096;
    constexpr std::uint32_t kFirst = 24;
    auto machine = test::random_machine(true);
    machine.tile.phase_limit_cycles = 20'000'000;
    // Each pass of the loop is a stretch, the first one with what is before it and the exit one of its own.
    // The inner repeat has as many passes in each, or one more each time.
    Worker worker(fmt::format(".align 8\nworker: setzi $m0, {}\nld32 $m1, $m0, $mzero, 0\n"
                              "ld32 $m2, $m0, $mzero, 1\nld32 $m3, $m0, $mzero, 2\nnop\n"
                              "1: add $m3, $m3, $m2\n{{ rpt $m3, 0 ; fnop }}\n{{ nop ; fnop }}\n"
                              "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nbrnzdec $m1, 1b\n"
                              "exitz $mzero\n",
                              kData),
                  machine);
    isa::StretchRecipes recipes;
    const auto met_of = [&](std::uint32_t count, std::uint32_t step, std::uint32_t first) {
        const std::int64_t before = recipes.met();
        REQUIRE(worker.run({count - 1, step, first}, &recipes).fault.empty());
        return recipes.met() - before;
    };
    static_cast<void>(met_of(2 * kFirst, 0, 3)); // known from here on
    CHECK(met_of(100, 0, 3) == 98);
    std::uint32_t all = 2 * kFirst + 100;
    for (std::uint32_t first = 100; all < kJudged; first += 300, all += 400) {
        CHECK(met_of(100, 0, 3) == 98);
        CHECK(met_of(300, 1, first) == 0); // three times as many
    }
    CHECK(met_of(100, 0, 3) == 0);
}
