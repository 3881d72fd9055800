// SPDX-License-Identifier: MIT
// Timing mode: what a recipe makes of each instruction, with other operands than it was recorded with.
#include "tests/unit/models/tile/recipe_worker.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::test::recipes;

namespace {

/// Loads $m1..$m3 from the words at kData, does the body, and stores $m1..$m7 at kResult.
std::string with_three_words(const std::string& body) {
    std::string text = fmt::format(".align 8\nworker: setzi $m0, {}\nsetzi $m4, 40\n"
                                   "setzi $m5, 50\nsetzi $m6, 60\nsetzi $m7, 70\n",
                                   kData);
    for (unsigned word = 0; word < 3; ++word) {
        text += fmt::format("ld32 $m{}, $m0, $mzero, {}\n", word + 1, word);
    }
    text += fmt::format("{}\nsetzi $m0, {}\n", body, kResult);
    for (unsigned number = 1; number <= 7; ++number) {
        text += fmt::format("st32 $m{}, $m0, $mzero, {}\n", number, number);
    }
    return text + "exitz $mzero\n";
}

constexpr std::uint32_t kValues[] = {
    0, 1, 2, 3, 31, 32, 33, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0x01020384};

/// Whether both go the same way, of values that a branch looks at.
using SameWay = bool (*)(std::uint32_t, std::uint32_t);

} // namespace

TEST_CASE("a known way computes with other numbers", "[unit][tile]") {
    for (const std::string body : {"and $m4, $m1, $m2",
                                   "or $m4, $m1, $m2",
                                   "xor $m4, $m1, $m2",
                                   "xnor $m4, $m1, $m2",
                                   "andc $m4, $m1, $m2",
                                   "add $m4, $m1, $m2",
                                   "sub $m4, $m1, $m2",
                                   "mul $m4, $m1, $m2",
                                   "cmpeq $m4, $m1, $m2",
                                   "cmpne $m4, $m1, $m2",
                                   "shl $m4, $m1, $m2",
                                   "shr $m4, $m1, $m2",
                                   "shrs $m4, $m1, $m2",
                                   "cmpslt $m4, $m1, $m2",
                                   "cmpult $m4, $m1, $m2",
                                   "min $m4, $m1, $m2",
                                   "max $m4, $m1, $m2",
                                   "roll16 $m4, $m1, $m2",
                                   "sort4x16lo $m4, $m1, $m2",
                                   "sort4x16hi $m4, $m1, $m2",
                                   "shuf8x8lo $m4, $m1, $m2",
                                   "shuf8x8hi $m4, $m1, $m2",
                                   "sort8x8lo $m4, $m1, $m2",
                                   "sort8x8hi $m4, $m1, $m2",
                                   "roll8r $m4, $m1, $m2",
                                   "roll8l $m4, $m1, $m2",
                                   "abs $m4, $m1",
                                   "clz $m4, $m1",
                                   "cms $m4, $m1",
                                   "popc $m4, $m1",
                                   "bitrev8 $m4, $m1",
                                   "swap8 $m4, $m1",
                                   "sort8 $m4, $m1",
                                   "add $m4, $m1, 5",
                                   "add $m4, $m1, -5",
                                   "sub $m4, 5, $m1",
                                   "sub $m4, -5, $m1",
                                   "cmpeq $m4, $m1, 31",
                                   "cmpeq $m4, $m1, -1",
                                   "min $m4, $m1, 9",
                                   "min $m4, $m1, -9",
                                   "max $m4, $m1, 9",
                                   "max $m4, $m1, -9",
                                   "cmpult $m4, $m1, 32",
                                   "cmpslt $m4, $m1, -1",
                                   "mul $m4, $m1, -3",
                                   "and $m4, $m1, 33",
                                   "andc $m4, $m1, 33",
                                   "or $m4, $m1, 32",
                                   "shl $m4, $m1, 1",
                                   "shl $m4, $m1, 31",
                                   "shr $m4, $m1, 1",
                                   "shrs $m4, $m1, 1",
                                   "or $m4, $m1, 0",
                                   "add $m1, $m1, $m1",
                                   "sub $m1, $m2, $m1",
                                   "xor $m1, $m1, $m1",
                                   "mul $m4, $m7, $m1",
                                   "mul $m4, $m1, $m7",
                                   "or $m4, $m1, $m15",
                                   "or $m4, $m15, $m1",
                                   "sub $m4, $m1, $m1\nadd $m4, $m4, $m2"}) {
        Worker worker(with_three_words(body));
        for (const std::uint32_t left : kValues) {
            for (const std::uint32_t right : {0U, 1U, 9U, 33U, 0x80000000U, 0xffffffffU}) {
                CAPTURE(body, left, right);
                const Again found = again(worker, {7, 9, 4}, {left, right, 5});
                CHECK(found.is_same);
                CHECK(found.met);
            }
        }
    }
}

TEST_CASE("a known way is gone where its branches go as they did", "[unit][tile]") {
    const auto zero = [](std::uint32_t one, std::uint32_t other) {
        return (one == 0) == (other == 0);
    };
    const auto negative = [](std::uint32_t one, std::uint32_t other) {
        return one >> 31U == other >> 31U;
    };
    const struct {
        const char* text;
        SameWay is_same_way;
    } rows[] = {{"brz $m1, 1f", zero},
                {"brnz $m1, 1f", zero},
                {"brneg $m1, 1f", negative},
                {"brpos $m1, 1f", negative},
                {"brnzdec $m1, 1f", zero}};
    for (const auto& row : rows) {
        Worker worker(
            with_three_words(std::string(row.text) + "\nsetzi $m4, 77\n1: add $m5, $m1, 1"));
        for (const std::uint32_t recorded : kValues) {
            for (const std::uint32_t then : kValues) {
                CAPTURE(row.text, recorded, then);
                const Again found = again(worker, {recorded, 0, 0}, {then, 1, 2});
                CHECK(found.is_same);
                CHECK(found.met == row.is_same_way(recorded, then));
            }
        }
    }
}

TEST_CASE("a known way moves with the base, the delta and the stride of its accesses",
          "[unit][tile]") {
    constexpr std::uint32_t kBaseAt = kData + 2048;
    for (const std::string body :
         {"ld32 $m4, $m1, $m2, 1",         "ldz8 $m4, $m1, $m2, 3",
          "ldz16 $m4, $m1, $m2, 2",        "ld32 $a0, $m1, $m2, 1",
          "ld64 $a0:1, $m1, $m2, 1",       "ld32 $m4, $m1, $m2, $m3",
          "ldz8 $m4, $m1, $m2, $m3",       "ldz16 $m4, $m1, $m2, $m3",
          "ld64 $a0:1, $m1, $m2, $m3",     "ld32step $m4, $m1, $m2+=, 1",
          "ld32step $m4, $m1, $m2+=, -2",  "ldz16step $m4, $m1, $m2+=, 3",
          "ldz8step $m4, $m1, $m2+=, -1",  "ld64step $a0:1, $m1, $m2+=, 1",
          "ld32step $m4, $m1, $m2+=, $m3", "ldz16step $m4, $m1, $m2+=, $m3",
          "st32 $m5, $m1, $m2, 1",         "st32 $a0, $m1, $m2, 1",
          "st64 $a0:1, $m1, $m2, 2",       "st32 $a0, $m1, $m2, $m3",
          "st64 $a0:1, $m1, $m2, $m3",     "st32step $m5, $m1, $m2+=, 1",
          "st32step $m5, $m1, $m2+=, $m3", "st32step $a0, $m1, $m2+=, -3",
          "st64step $a0:1, $m1, $m2+=, 1", "st64step $a0:1, $m1, $m2+=, $m3"}) {
        Worker worker(with_three_words(body));
        unsigned faults = 0;
        for (const std::uint32_t base : {0U, 4U, 8U, 24U, 512U, 6U, 0U - 8U}) {
            for (const std::uint32_t delta : {0U, 8U, 16U, 40U, 1U, 0U - 16U}) {
                for (const std::uint32_t stride : {0U, 1U, 2U, 5U, 0U - 3U}) {
                    CAPTURE(body, base, delta, stride);
                    const Again found =
                        again(worker, {kBaseAt, 16, 1}, {kBaseAt + base, delta, stride});
                    CHECK(found.is_same);
                    CHECK(found.met == !found.faults);
                    faults += found.faults ? 1 : 0;
                }
            }
        }
        CHECK(faults < 150);
    }
}

TEST_CASE("a known way stores main registers at a distance in words", "[unit][tile]") {
    constexpr std::uint32_t kBaseAt = kData + 2048;
    for (const std::string body : {"stm32 $m5, $m1, $m2", "stm32step $m5, $m1+=, $m2",
                                   "stm32step $m5, $m1+=, $m2\nstm32 $m6, $m1, $m2"}) {
        Worker worker(with_three_words(body));
        for (const std::uint32_t base : {0U, 4U, 8U, 24U, 512U, 6U}) {
            for (const std::uint32_t distance : {0U, 1U, 2U, 9U, 0U - 3U}) {
                CAPTURE(body, base, distance);
                const Again found = again(worker, {kBaseAt, 4, 0}, {kBaseAt + base, distance, 0});
                CHECK(found.is_same);
                CHECK(found.met == !found.faults);
            }
        }
    }
}

TEST_CASE("a known way moves each of three packed addresses", "[unit][tile]") {
    // Two in region 1 and one in region 0, none in an element of another.
    constexpr std::uint32_t kRegion1 = kBase + kRegion;
    const std::vector<std::uint32_t> recorded = {kRegion1 + 256, kRegion1 + 4096 + 256,
                                                 kData + 2 * kElement + 256};
    for (const std::string paced :
         {"st64pace $a0:1, $m4:5+=, $mzero, 0", "ldst64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0",
          "ld2x64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0",
          "ld2xst64pace $a0:3, $a4:5, $m4:5+=, $mzero, 0",
          "ld2xst64pace $a0:3, $a4:5, $m4:5+=, $m6, 21", "st64pace $a0:1, $m4:5+=, $m6, 1"}) {
        std::string body = fmt::format(".align 8\nworker: setzi $m0, {}\nsetzi $m6, 3\n", kData);
        for (unsigned word = 0; word < 3; ++word) {
            body += fmt::format("ld32 $m{}, $m0, $mzero, {}\n", word + 1, word);
        }
        body += "tapack $m4:5, $m1, $m2, $m3\n";
        for (unsigned time = 0; time < 3; ++time) {
            body += paced + "\n";
        }
        Worker worker(body + "exitz $mzero\n");
        CHECK(again(worker, recorded, recorded).met);
        unsigned met = 0;
        for (std::size_t which = 0; which < 3; ++which) {
            for (const std::uint32_t by : {8U, 16U, 64U, 512U, 4U, 0U - 8U, 0U - 256U}) {
                CAPTURE(paced, which, by);
                auto then = recorded;
                then[which] += by;
                const Again found = again(worker, recorded, then);
                CHECK(found.is_same);
                CHECK(found.met == !found.faults);
                met += found.met ? 1 : 0;
            }
        }
        CHECK(met > 12);
    }
}

TEST_CASE("a known way loads at distances along a list, whatever they are", "[unit][tile]") {
    constexpr std::uint32_t kRegion1 = kBase + kRegion;
    constexpr std::uint32_t kList = kData + 16; // the words behind the first four
    for (const std::string load :
         {"ldd16a64 $a0:1, $m2++, $m1, $m3@", "ldd16a32 $a0, $m2++, $m1, $m3@"}) {
        Worker worker(with_three_words(load + "\n" + load + "\n" + load));
        const std::vector<std::uint32_t> recorded = {kRegion1, kList, 16, 0, 32U << 16U | 8, 64};
        CHECK(again(worker, recorded, recorded).met);
        struct Row {
            std::size_t word;
            std::uint32_t value;
            bool is_way; ///< the first distance has to be as it was
        };
        for (const Row& row :
             {Row{0, kRegion1 + 8, true}, Row{0, kRegion1 + 512, true}, Row{1, kList + 2, true},
              Row{2, 24, false}, Row{4, 40U << 16U | 72, true}, Row{4, 0, true}, Row{5, 8, true},
              Row{4, 32U << 16U | 2, true}, Row{0, kRegion1 + 2, true}}) {
            CAPTURE(load, row.word, row.value);
            auto then = recorded;
            then[row.word] = row.value;
            const Again found = again(worker, recorded, then);
            CHECK(found.is_same);
            CHECK(found.met == (row.is_way && !found.faults));
        }
    }
}

TEST_CASE("a known way repeats along a list of which all is known", "[unit][tile]") {
    constexpr std::uint32_t kRegion1 = kBase + kRegion;
    constexpr std::uint32_t kList = kData + 16; // the words behind the first four
    constexpr std::uint32_t kPasses = 8;        // so many distances, two in a word
    Worker worker(with_three_words(fmt::format(
        ".align 8\nnop\nrpt {}, 0\n{{ ldd16a64 $a0:1, $m2++, $m1, $m3@ ; fnop }}", kPasses)));
    std::vector<std::uint32_t> recorded = {kRegion1, kList, 16, 0};
    for (std::uint32_t word = 0; word < kPasses / 2; ++word) {
        recorded.push_back((24 + 16 * word) << 16U | (16 + 16 * word));
    }
    auto elsewhere = recorded;
    elsewhere[0] += 64;
    auto others = recorded;
    others[5] = 8U << 16U | 40;
    for (const auto& then : {recorded, elsewhere, others}) {
        const Again found = again(worker, recorded, then);
        CHECK(found.is_same);
        CHECK_FALSE(found.faults);
        CHECK(found.met);
    }
    // from the first distance on that is not known it is gone anew
    for (std::uint32_t unknown = 0; unknown <= kPasses / 2; ++unknown) {
        CAPTURE(unknown);
        isa::StretchRecipes recipes{isa::StretchRecipes::All{}};
        REQUIRE(worker.run(recorded, &recipes).fault.empty());
        const std::vector<std::uint32_t> known(recorded.begin(),
                                               recorded.end() - std::ptrdiff_t{unknown});
        const Left by_recipe = worker.run(known, &recipes, unknown);
        CHECK((by_recipe == worker.run(known, nullptr, unknown)));
        CHECK((recipes.met() > 0) == (unknown == 0));
    }
}

TEST_CASE("what a known way stores is not what it loads or stores otherwise elsewhere",
          "[unit][tile]") {
    // Which of two accesses to a word came first is not known: then it is gone anew.
    constexpr std::uint32_t kFirst = kData + 2048;
    for (const std::string body :
         {"ld32 $m4, $m1, $mzero, 0\nst32 $m5, $m2, $mzero, 0",
          "st32 $m5, $m2, $mzero, 0\nld32 $m4, $m1, $mzero, 0",
          "ld32 $m4, $m1, $mzero, 0\nst64 $a0:1, $m2, $mzero, 0",
          "st64 $a0:1, $m2, $mzero, 0\nld32 $m4, $m1, $mzero, 0",
          "st64 $a0:1, $m2, $mzero, 0\nst32 $m5, $m1, $mzero, 0",
          "st32 $m5, $m1, $mzero, 0\nst64 $a0:1, $m2, $mzero, 0",
          "st64 $a0:1, $m2, $mzero, 0\nst64 $a0:1, $m2, $mzero, 1\nld32 $m4, $m1, $mzero, 0",
          "st64 $a0:1, $m2, $mzero, 0\nst64 $a0:1, $m2, $mzero, 2\nld32 $m4, $m1, $mzero, 0"}) {
        Worker worker(with_three_words(body));
        unsigned met = 0;
        for (std::uint32_t apart = 0; apart <= 64; apart += 4) {
            CAPTURE(body, apart);
            const Again found =
                again(worker, {kFirst, kFirst + 512, 0}, {kFirst + apart, kFirst + 32, 0});
            CHECK(found.is_same);
            CHECK_FALSE(found.faults);
            met += found.met ? 1 : 0;
        }
        // all but those of the words that are stored
        const unsigned stored = body.find("mzero, 1") != std::string::npos   ? 4U
                                : body.find("mzero, 2") != std::string::npos ? 4U
                                : body.find("st64") != std::string::npos     ? 2U
                                                                             : 1U;
        CHECK(met == 17 - stored);
    }
}

TEST_CASE(
    "a known way loads as many bytes as its instruction does, with their sign where it says so",
    "[unit][tile]") {
    for (const std::string form : {"ld32", "ldz8", "lds8", "ldz16", "lds16"}) {
        for (const std::string access : {" $m4, $m1, $m2, 1", " $m4, $m1, $m2, $m3",
                                         "step $m4, $m1, $m2+=, 1", "step $m4, $m1, $m2+=, $m3"}) {
            Worker worker(with_three_words(form + access));
            for (const std::uint32_t word :
                 {0U, 0x7fU, 0x80U, 0xffU, 0x7fffU, 0x8000U, 0xffffU, 0x80008080U, 0x7fff8000U}) {
                CAPTURE(form, access, word);
                constexpr std::uint32_t kPlace = kData + 16;
                const Again found =
                    again(worker, {kPlace, 0, 1, 0, 5, 5}, {kPlace, 0, 1, 0, word, word});
                CHECK(found.is_same);
                CHECK(found.met);
            }
        }
    }
}

TEST_CASE(
    "a known way has the worker's number and its place, and no register that changes by itself",
    "[unit][tile]") {
    // A count of cycles is another when the same instructions issue at another time.
    for (const auto& [name, is_known] :
         {std::pair{"$WSR", true}, std::pair{"$PC", true}, std::pair{"$COUNT_L", false},
          std::pair{"$COUNT_U", false}, std::pair{"$DBG_DATA", false}}) {
        Worker worker(with_three_words(fmt::format("get $m4, {}", name)));
        CAPTURE(name);
        const Again found = again(worker, {7, 9, 4}, {8, 9, 4});
        CHECK(found.is_same);
        CHECK(found.met == is_known);
    }
}
