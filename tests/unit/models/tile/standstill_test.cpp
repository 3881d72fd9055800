// SPDX-License-Identifier: MIT
// When a context is known to go round a loop for nothing.
#include "models/tile/core/standstill.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using tile::Standstill;

namespace {

constexpr Address kTarget = 0x4c000;

isa::Context context_of(int number) {
    isa::Context context;
    context.number = number;
    return context;
}

} // namespace

TEST_CASE("a context goes round where it branches back with nothing changed", "[unit][tile]") {
    for (const int number : {-1, 0, 1}) {
        Standstill standstill(2);
        standstill.start_phase();
        const isa::Context context = context_of(number);
        CHECK_FALSE(standstill.branched_back(context, kTarget));
        CHECK_FALSE(standstill.goes_round(number));
        CHECK(standstill.branched_back(context, kTarget));
        for (const int other : {-1, 0, 1}) {
            CHECK(standstill.goes_round(other) == (other == number));
        }
        // a word of memory has changed: the next round may be another one
        standstill.changed();
        CHECK_FALSE(standstill.goes_round(number));
        CHECK_FALSE(standstill.branched_back(context, kTarget));
        CHECK(standstill.branched_back(context, kTarget));
        CHECK(standstill.goes_round(number));
        CHECK_FALSE(standstill.branched_back(context, kTarget + 4));
        CHECK_FALSE(standstill.goes_round(number));
        standstill.start_phase();
        CHECK_FALSE(standstill.branched_back(context, kTarget));
    }
}

TEST_CASE("a context whose state is another one does not go round", "[unit][tile]") {
    const std::vector<std::function<void(isa::Context&)>> changes{
        [](isa::Context& context) { context.main[0] = 1; },
        [](isa::Context& context) { context.main[15] = 1; },
        [](isa::Context& context) { context.aux[0] = 1; },
        [](isa::Context& context) { context.aux[7] = 1; },
        [](isa::Context& context) { context.repeat_count = 1; },
        [](isa::Context& context) { context.fp_control = 1; },
        [](isa::Context& context) { context.fp_status = 1; },
        [](isa::Context& context) { context.fp_format = 1; },
        [](isa::Context& context) { context.fp_scale = 1; },
        [](isa::Context& context) { context.tas = 1; },
        [](isa::Context& context) { context.random[0] += 1; },
        [](isa::Context& context) { context.random[1] += 1; },
        [](isa::Context& context) { context.debug[0] = 1; },
        [](isa::Context& context) { context.debug[1] = 1; },
        [](isa::Context& context) {
            reinterpret_cast<std::byte*>(&context.accumulators)[0] = std::byte{1};
        },
        [](isa::Context& context) {
            reinterpret_cast<std::byte*>(&context.accumulators)[sizeof context.accumulators - 1] =
                std::byte{1};
        }};
    for (std::size_t change = 0; change < changes.size(); ++change) {
        CAPTURE(change);
        Standstill standstill(1);
        standstill.start_phase();
        const isa::Context context = context_of(0);
        isa::Context other = context;
        changes[change](other);
        CHECK_FALSE(standstill.branched_back(context, kTarget));
        CHECK_FALSE(standstill.branched_back(other, kTarget));
        CHECK_FALSE(standstill.goes_round(0));
    }
    // where writes go that are discarded is no state
    Standstill standstill(1);
    standstill.start_phase();
    isa::Context context = context_of(0);
    CHECK_FALSE(standstill.branched_back(context, kTarget));
    context.main[16] = context.main[17] = 1;
    CHECK(standstill.branched_back(context, kTarget));
}

TEST_CASE("a context that goes round tells the words that it looks at", "[unit][tile]") {
    const std::vector<program::Codelet> codelets;
    const tile::CodeCache code(codelets); // without lines
    Standstill standstill(2);
    standstill.start_phase();
    CHECK(standstill.first_look(0) == nullptr);
    CHECK(standstill.text(0, false, code) == "worker_0");
    CHECK(standstill.text(-1, false, code) == "supervisor");
    const Standstill::Look plain{0x4c010, 0x50000, false};
    const Standstill::Look awaiting{0x4c014, 0x50004, true};
    for (const Standstill::Look& look : {plain, plain, awaiting, plain, awaiting}) {
        standstill.read(0, look);
    }
    standstill.read(1, plain);
    CHECK(*standstill.first_look(0) == awaiting);
    CHECK(*standstill.first_look(1) == plain);
    CHECK(standstill.text(0, false, code) ==
          "worker_0 for the word at 0x50000 (instruction at 0x4c010), 0x50004 (instruction at "
          "0x4c014)");
    CHECK(standstill.text(0, true, code) ==
          "worker_0 for the word at 0x50004 (instruction at 0x4c014)");
    CHECK(standstill.text(1, true, code) == "worker_1");
    // sixteen of them
    for (Address word = 0; word < 20; ++word) {
        standstill.read(-1, {0x4c020, 4 * word, false});
    }
    const std::string all = standstill.text(-1, false, code);
    CHECK(std::count(all.begin(), all.end(), '(') == 16);
    CHECK(all.ends_with("0x3c (instruction at 0x4c020)"));
    standstill.start_phase();
    CHECK(standstill.first_look(-1) == nullptr);
}

TEST_CASE("a loop of any length is found after a round of it, and within four", "[unit][tile]") {
    for (std::uint32_t length = 1; length <= 40; ++length) {
        CAPTURE(length);
        Standstill standstill(1);
        standstill.start_phase();
        isa::Context context = context_of(0);
        std::uint32_t branches = 1;
        while (!standstill.branched_back(context, kTarget) && branches < 100 * length) {
            context.main[3] = branches++ % length;
        }
        CHECK(branches > length);
        CHECK(branches <= 4 * length);
    }
}

TEST_CASE("what a context looks at in its loop is kept once, what it awaits first",
          "[unit][tile]") {
    Standstill standstill(1);
    standstill.start_phase();
    const isa::Context context = context_of(0);
    CHECK(standstill.first_look(0) == nullptr);
    CHECK_FALSE(standstill.branched_back(context, kTarget));
    const Standstill::Look plain{0x10, 0x100, false};
    const Standstill::Look awaited{0x14, 0x104, true};
    standstill.read(0, plain);
    REQUIRE(standstill.first_look(0) != nullptr);
    CHECK(*standstill.first_look(0) == plain);
    standstill.read(0, {0x18, 0x108, false});
    CHECK(*standstill.first_look(0) == plain);
    standstill.read(0, awaited);
    standstill.read(0, {0x1c, 0x10c, true});
    CHECK(*standstill.first_look(0) == awaited);
    CHECK(standstill.first_look(-1) == nullptr);
    // another state is kept with looks of its own
    CHECK(standstill.branched_back(context, kTarget));
    CHECK(*standstill.first_look(0) == awaited);
    standstill.changed();
    CHECK_FALSE(standstill.branched_back(context, kTarget));
    CHECK(standstill.first_look(0) == nullptr);
    // sixteen different ones at most
    for (int times = 0; times < 2; ++times) {
        for (Address look = 0; look < 15; ++look) {
            standstill.read(0, {0x10, 4 * look, false});
        }
    }
    standstill.read(0, awaited);
    CHECK(*standstill.first_look(0) == awaited);
    standstill.start_phase();
    CHECK(standstill.first_look(0) == nullptr);
    for (Address look = 0; look < 16; ++look) {
        standstill.read(0, {0x10, 4 * look, false});
    }
    standstill.read(0, awaited);
    CHECK(*standstill.first_look(0) == Standstill::Look{0x10, 0, false});
}
