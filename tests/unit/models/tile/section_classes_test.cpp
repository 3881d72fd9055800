// SPDX-License-Identifier: MIT
// Sections of a supervisor's way that are taken over: phases have the outcome that they have operation by
// operation, and leave the same.
#include "models/isa/stretch_recipes.h"
#include "models/tile/core/section_classes.h"
#include "models/tile/core/tile_classes.h"
#include "tests/support/assembled_tile.h"
#include "tests/unit/models/tile/known_tile.h"

#include <catch2/catch.hpp>

#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using test::KnownTile;

namespace {

constexpr std::uint32_t kBucketWords = 16;
constexpr std::uint32_t kInPhase = 6; ///< buckets

/// Looks through the buckets: {rows, for each worker a count, words that workers add up}. A row of a
/// bucket is a launch, which the supervisor prepares while the one before runs.
const char* const kLooksThroughBuckets = R"(
    .supervisor
    .globl start
    start:
        setzi $m1, 0x80000
        setzi $m2, 0x80800
        setzi $m4, worker
        setzi $m8, 5
    bucket:
        ld32 $m3, $m1, $mzero, 0
        brz $m3, next
        add $m3, $m3, -1
    row:
        add $m5, $m1, $m3
        sync 2
        st32 $m1, $m2, $mzero, 0
        st32 $m3, $m2, $mzero, 1
        runall $m4, $m2, 0
        brnzdec $m3, row
        sync 2
    next:
        add $m1, $m1, 64
        brnzdec $m8, bucket
        br $lr

    .worker
    .align 8
    worker:
        get $m0, $WSR
        and $m0, $m0, 7
        shl $m0, $m0, 2
        ld32 $m1, $mvertex_base, $mzero, 0
        ld32 $m5, $mvertex_base, $mzero, 1
        add $m1, $m1, $m0
        ld32 $m2, $m1, $mzero, 1
        brz $m2, done
        add $m2, $m2, $m5
    again:
        ld32step $m3, $mzero, $m1+=, 1
        add $m4, $m4, $m3
        brnzdec $m2, again
        add $m6, $mvertex_base, $m0
        st32 $m3, $m6, $mzero, 8
        shl $m0, $m0, 1
        add $m6, $mvertex_base, $m0
        st64 $a0:1, $m6, $mzero, 20
    done:
        exitz $mzero
)";

/// Buckets of a few kinds, of which a phase has some.
std::vector<std::uint32_t> some_buckets(std::mt19937& random) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t bucket = 0; bucket < kInPhase; ++bucket) {
        const std::uint32_t kind = static_cast<std::uint32_t>(random()) % 4;
        std::mt19937 of_kind(kind);
        words.push_back(kind); // rows
        while (words.size() % kBucketWords != 0) {
            words.push_back(static_cast<std::uint32_t>(of_kind()) % 5);
        }
    }
    return words;
}

} // namespace

TEST_CASE("sections that are taken over have the outcome that they have operation by operation",
          "[unit][tile]") {
    constexpr int kPhases = 300;
    tile::SectionClasses sections{tile::SectionClasses::All{}};
    KnownTile by_sections(kLooksThroughBuckets, &sections);
    KnownTile plain(kLooksThroughBuckets, nullptr);
    std::mt19937 random(1);
    for (int phase = 0; phase < kPhases; ++phase) {
        CAPTURE(phase);
        const std::vector<std::uint32_t> words = some_buckets(random);
        const auto expected = plain.run(words);
        CHECK((by_sections.run(words) == expected));
        CHECK((plain.run(words, true) == expected));
    }
    CHECK(sections.alike() > kPhases * 2);
    const std::int64_t alike = sections.alike();
    static_cast<void>(by_sections.run(some_buckets(random), true));
    CHECK(sections.alike() == alike); // an audit runs everything
}

TEST_CASE("a supervisor meets its limit where it meets it operation by operation", "[unit][tile]") {
    std::mt19937 random(3);
    const std::vector<std::uint32_t> words = some_buckets(random);
    unsigned faults = 0;
    std::int64_t alike = 0;
    for (Cycles limit = 100; limit < 2500; limit += 7) {
        CAPTURE(limit);
        spec::MachineSpec machine;
        machine.tile.phase_limit_cycles = limit;
        const auto fault_of = [&](KnownTile& tile) -> std::string {
            try {
                static_cast<void>(tile.run(words));
                return "";
            } catch (const tile::TileFault& fault) {
                const std::string text = fault.what();
                return text.substr(0, text.find("; $m0")); // some registers are unknown
            }
        };
        tile::SectionClasses sections{tile::SectionClasses::All{}};
        KnownTile plain(kLooksThroughBuckets, nullptr, machine);
        KnownTile by_sections(kLooksThroughBuckets, &sections, machine);
        const std::string expected = fault_of(plain);
        CHECK(fault_of(by_sections) == expected);
        CHECK(fault_of(by_sections) == expected);
        faults += expected.empty() ? 0 : 1;
        alike += sections.alike();
    }
    CHECK(faults > 50);
    CHECK(alike > 50);
}

TEST_CASE("what was found is forgotten if it takes too much memory", "[unit][tile]") {
    tile::SectionClasses sections{tile::SectionClasses::All{}};
    KnownTile tile(kLooksThroughBuckets, &sections);
    std::mt19937 random(1);
    const std::vector<std::uint32_t> words = some_buckets(random);
    const auto alike_in_run = [&] {
        const std::int64_t before = sections.alike();
        static_cast<void>(tile.run(words));
        return sections.alike() - before;
    };
    const std::int64_t at_first = alike_in_run();
    const std::int64_t at_second = alike_in_run();
    CHECK(at_second > at_first);
    sections.between_steps(std::size_t{1} << 40U);
    CHECK(alike_in_run() == at_second);
    sections.between_steps(0);
    CHECK(alike_in_run() == at_first);
}

TEST_CASE("phases are kept until they are hardly ever alike and consist of sections",
          "[unit][tile]") {
    constexpr int kPhases = 200;
    for (const bool alike : {false, true}) {
        CAPTURE(alike);
        tile::SectionClasses sections;
        KnownTile tile(kLooksThroughBuckets, &sections);
        std::mt19937 random(1);
        std::vector<std::uint32_t> words = some_buckets(random);
        for (int phase = 0; phase < kPhases; ++phase) {
            words = alike ? words : some_buckets(random);
            static_cast<void>(tile.run(words));
        }
        CHECK((sections.alike() > 0) == !alike);
    }
}
