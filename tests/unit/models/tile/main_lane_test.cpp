// SPDX-License-Identifier: MIT
// Main-lane instructions in every form that they have: constants, offsets, steps, delta lists and
// paced addresses.
#include "tests/support/tile_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace tessera;
using test::kIn;
using test::kOut;
using Words = std::vector<std::uint32_t>;

namespace {

Words run(const std::string& body, const Words& input, std::size_t words) {
    return test::output_of(test::worker_program(body), input, words);
}

/// $m6 after `instruction` with $m4 = x and $m6 = 7.
std::uint32_t with(const std::string& instruction, std::uint32_t x) {
    return run("ld32 $m4, $m2, 0\nsetzi $m6, 7\n" + instruction + "\nst32 $m6, $m3, $mzero, 0", {x},
               1)[0];
}

const Words kData = {0x80f1c2d3, 0x11223344, 0x55667788, 0x99aabbcc,
                     0x01020304, 0x85868788, 0x090a0b0c, 0x8d8e8f90};

} // namespace

TEST_CASE("every constant form of the integer instructions", "[unit][isa]") {
    struct Case {
        const char* instruction;
        std::uint32_t x;
        std::uint32_t result;
    };
    const std::vector<Case> cases = {
        {"add $m6, $m4, 65535", 1, 65536},
        {"add $m6, $m4, -1", 0, 0xffffffff},
        {"sub $m6, 65535, $m4", 5, 65530},
        {"sub $m6, -3, $m4", 5, 0xfffffff8},
        {"sub $m6, $m4, 32767", 32767, 0},
        {"addz $m6, $m4, 40000", 2, 40002},
        {"adds $m6, $m4, 5", 7, 12},
        {"adds $m6, $m4, -5", 7, 2},
        {"subz $m6, 5, $m4", 7, 0xfffffffe},
        {"subs $m6, 5, $m4", 7, 0xfffffffe},
        {"cmpeqs $m6, $m4, 5", 5, 1},
        {"cmpeqz $m6, $m4, 65535", 0xffffffff, 0},
        {"mins $m6, $m4, 5", 7, 5},
        {"maxs $m6, $m4, 5", 7, 7},
        {"cmpeq $m6, $m4, 65535", 65535, 1},
        {"cmpeq $m6, $m4, -2", 0xfffffffe, 1},
        {"cmpeq $m6, $m4, -2", 0x0000fffe, 0},
        {"min $m6, $m4, 40000", 0xfffffff0, 0xfffffff0},
        {"min $m6, $m4, -5", 3, 0xfffffffb},
        {"max $m6, $m4, 40000", 0xfffffff0, 40000},
        {"max $m6, $m4, -5", 0xfffffff0, 0xfffffffb},
        {"cmpult $m6, $m4, 65535", 65534, 1},
        {"cmpult $m6, $m4, 65535", 0xffffffff, 0},
        {"cmpslt $m6, $m4, -32768", 0x80000000, 1},
        {"cmpslt $m6, $m4, 32767", 32767, 0},
        {"mul $m6, $m4, -32768", 3, 0xfffe8000},
        {"and $m6, $m4, 4095", 0xabcdefff, 0xfff},
        {"andc $m6, $m4, 0xf0f", 0xffffffff, 0xfffff0f0},
        {"or $m6, $m4, 0x123", 0x80000000, 0x80000123},
        {"or $m6, $m4, 0xfff00000", 1, 0xfff00001},
        {"shl $m6, $m4, 33", 3, 6},
        {"shr $m6, $m4, 36", 0x80000000, 0x08000000},
        {"shrs $m6, $m4, 36", 0x80000000, 0xf8000000},
        {"movnz $m6, $m4, $m2", 1, kIn},
        {"movnz $m6, $m4, $m2", 0, 7},
        {"swap16 $m6, $m4", 0x12345678, 0x56781234},
        {"ldconst $m6, 0xfff00000", 0, 0xfff00000},
        {"ld32 $a0, $m2, 0\natom $m6, $a0", 0x89abcdef, 0x89abcdef},
        {"mov $m6, $m4", 42, 42},
        {"zero $m6", 42, 0},
    };
    for (const Case& one : cases) {
        CAPTURE(one.instruction, one.x);
        CHECK(with(one.instruction, one.x) == one.result);
    }
}

TEST_CASE("every load has the offset forms and the step forms", "[unit][isa]") {
    struct Case {
        const char* mnemonic;
        bool aux;
        unsigned access_bytes;
        Words first; ///< of kData from byte 16 on
    };
    const std::vector<Case> cases = {
        {"ldz8", false, 1, {0x04}},
        {"lds8", false, 1, {0x04}},
        {"ldz16", false, 2, {0x0304}},
        {"lds16", false, 2, {0x0304}},
        {"ld32", false, 4, {0x01020304}},
        {"ldb16", true, 2, {0x03040304}},
        {"ld32", true, 4, {0x01020304}},
        {"ld64", true, 8, {0x01020304, 0x85868788}},
        {"ld128", true, 16, {0x01020304, 0x85868788, 0x090a0b0c, 0x8d8e8f90}},
    };
    for (const Case& one : cases) {
        const std::size_t words = one.first.size();
        const std::string to = !one.aux     ? "$m6"
                               : words == 4 ? "$a0:3"
                               : words == 2 ? "$a0:1"
                                            : "$a0";
        const std::string store = !one.aux     ? "st32 $m6, $m3, $mzero, 0\n"
                                  : words == 1 ? "st32 $a0, $m3, $mzero, 0\n"
                                               : "st64 $a0:1, $m3, $mzero, 0\n";
        const std::string upper = words == 4 ? "st64 $a2:3, $m3, $mzero, 1\n" : "";
        const auto steps = 16 / one.access_bytes;
        CAPTURE(one.mnemonic, to);
        for (const std::string& load :
             {fmt::format("{} {}, $m2, {}", one.mnemonic, to, steps),
              fmt::format("setzi $m5, 16\n{} {}, $m2, $m5, 0", one.mnemonic, to),
              fmt::format("setzi $m7, {}\n{} {}, $m2, $m7", steps, one.mnemonic, to),
              fmt::format("setzi $m5, 16\nadd $m7, $mzero, -{}\nsetzi $m8, 32\nadd $m2, $m2, $m5\n"
                          "{} {}, $m2, $m5, $m7",
                          steps, one.mnemonic, to),
              fmt::format("setzi $m5, 16\n{}step {}, $m2, $m5+=, -1", one.mnemonic, to),
              fmt::format("setzi $m5, 16\nadd $m7, $mzero, -1\n{}step {}, $m2, $m5+=, $m7",
                          one.mnemonic, to)}) {
            CAPTURE(load);
            const bool is_step = load.find("step") != std::string::npos;
            const Words got =
                run("setzi $m5, 0\n" + load + "\n" + store + upper + "st32 $m5, $m3, $mzero, 4",
                    kData, 5);
            CHECK(Words(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(words)) ==
                  one.first);
            if (is_step) {
                CHECK(got[4] == 16 - one.access_bytes);
            }
        }
    }
    CHECK(run("lds8 $m6, $m2, 3\nst32 $m6, $m3, $mzero, 0\nlds16 $m6, $m2, 1\n"
              "st32 $m6, $m3, $mzero, 1\nldz8 $m6, $m2, 3\nst32 $m6, $m3, $mzero, 2",
              kData, 3) == Words{0xffffff80, 0xffff80f1, 0x80});
}

TEST_CASE("every store has the offset forms and the step forms", "[unit][isa]") {
    const std::string start = "ld32 $m6, $m2, 0\nld64 $a0:1, $m2, 0\nsetzi $m5, 8\nsetzi $m7, 1\n";
    const std::string end = "\nst32 $m5, $m3, $mzero, 4";
    const Words one = {0, 0, kData[0], 0};
    const Words two = {0, 0, kData[0], kData[1]};
    struct Case {
        const char* store;
        Words written;
        std::uint32_t delta; ///< $m5 afterwards
    };
    const std::vector<Case> cases = {
        {"st32 $m6, $m3, 2", one, 8},
        {"st32 $m6, $m3, $m5, 0", one, 8},
        {"st32 $a0, $m3, $m5, 0", one, 8},
        {"st32 $a0, $m3, $mzero, 2", one, 8},
        {"setzi $m7, 2\nst32 $a0, $m3, $mzero, $m7", one, 8},
        {"st64 $a0:1, $m3, $mzero, 1", two, 8},
        {"st64 $a0:1, $m3, $mzero, $m7", two, 8},
        {"setzi $m7, 2\nstm32 $m6, $m3, $m7", one, 8},
        {"st32step $m6, $m3, $m5+=, -2", one, 0},
        {"st32step $m6, $m3, $m5+=, $m7", one, 12},
        {"st32step $a0, $m3, $m5+=, -2", one, 0},
        {"st32step $a0, $m3, $m5+=, $m7", one, 12},
        {"st64step $a0:1, $m3, $m5+=, -1", two, 0},
        {"st64step $a0:1, $m3, $m5+=, $m7", two, 16},
        {"add $m5, $m3, 8\nstm32step $m6, $m5+=, $m7", one, kOut + 12},
    };
    for (const Case& store : cases) {
        CAPTURE(store.store);
        const Words got = run(start + store.store + end, kData, 5);
        CHECK(Words(got.begin(), got.begin() + 4) == store.written);
        CHECK(got[4] == store.delta);
    }
}

TEST_CASE("stepped operands on read only registers are read and keep their values", "[unit][isa]") {
    // $mzero steps nowhere: the second load is from where the first was
    CHECK(run("ld64step $a0:1, $m2, $mzero+=, 1\nld64step $a2:3, $m2, $mzero+=, 1\n"
              "st64 $a2:3, $m3, $mzero, 0\nst32 $mzero, $m3, $mzero, 2",
              kData, 3) == Words{kData[0], kData[1], 0});
    CHECK(run("brnzdec $mzero, 1f\nsetzi $m4, 1\n1: st32 $m4, $m3, $mzero, 0", {}, 1)[0] == 1);
    const std::string base = "setzi $m0, 0x98000\nput $WORKER0_BASE, $m0\n";
    // $mworker_base = 0x98000, $mvertex_base = region 0
    CHECK(test::output_of(
              test::worker_program("st32step $m2, $mzero, $mworker_base+=, 1\n"
                                   "st32 $mworker_base, $m3, $mzero, 0\nbrnzdec $m12, 1f\n"
                                   "1: st32 $mworker_base, $m3, $mzero, 1",
                                   base),
              {}, 2) == Words{0x98000, 0x98000});
    // a pair: loads from $m12 and $m13 as packed addresses, which stand
    CHECK(test::output_of(
              test::worker_program("st32 $m2, $mworker_base, 0\nsetzi $m5, 0xa0000\n"
                                   "ld2x64pace $a0:1, $a2:3, $m12:13+=, $mzero, 0\n"
                                   "st32 $a0, $m3, $mzero, 0\nst32 $mworker_base, $m3, $mzero, 1",
                                   "setzi $m0, 0x98000\nput $WORKER0_BASE, $m0\n"
                                   "setzi $m4, 0x3c000\nsetzi $m0, worker\nrun $m0, $m4, 0\n"
                                   "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n"),
              {}, 2) == Words{kIn, 0x98000});
    // two in one instruction: the list at $mworker_base = 0x98000 stands, its deltas are thrown
    // away
    CHECK(test::output_of(
              test::worker_program("ldd16a32 $a0, $mworker_base++, $m2, $mzero@\n"
                                   "st32 $a0, $m3, $mzero, 0\nst32 $mworker_base, $m3, $mzero, 1\n"
                                   "st32 $mzero, $m3, $mzero, 2",
                                   base),
              kData, 3) == Words{kData[0], 0x98000, 0});
}

TEST_CASE("results that go to read only registers are thrown away", "[unit][isa]") {
    const std::string stores = "st32 $m12, $m3, $mzero, 0\nst32 $m13, $m3, $mzero, 1\n"
                               "st32 $m14, $m3, $mzero, 2\nst32 $m15, $m3, $mzero, 3";
    const auto kept = [&](const std::string& results) {
        return test::output_of(
            test::worker_program(results + stores, "setzi $m0, 0x98000\nput $WORKER0_BASE, $m0\n"),
            {}, 4);
    };
    const Words before = kept("");
    CHECK(before[0] == 0x98000);
    for (const std::string pair : {"$m12:13", "$m14:15"}) {
        INFO(pair);
        CHECK(kept("tapack " + pair + ", $m2, $m3, $m2\n") == before);
    }
    for (const std::string one : {"$m12", "$m13", "$m14", "$m15"}) {
        INFO(one);
        CHECK(kept("add " + one + ", $m2, $m3\nsetzi " + one + ", 77\n") == before);
    }
}

TEST_CASE("delta lists and mini deltas", "[unit][isa]") {
    const std::string list = "setzi $m4, 0x88000\nldconst $m5, 0x000c0004\n"
                             "st32 $m5, $m4, $mzero, 0\nst32 $m2, $m4, $mzero, 1\n";
    CHECK(run(list + "ldconst $m6, 0x00080000\nldd16b16 $a0, $m4++, $m2, $m6@\n"
                     "st32 $a0, $m3, $mzero, 0\nst32 $m6, $m3, $mzero, 1\nst32 $m4, $m3, $mzero, 2",
              kData, 3) == Words{0xc2d3c2d3, 4, 0x88002});
    CHECK(run(list + "ldconst $m6, 0x00080000\nldd16v2a32 $a0, $m4++, $m2, $m6@\n"
                     "st32 $a0, $m3, $mzero, 0\nst32 $m6, $m3, $mzero, 1\nst32 $m4, $m3, $mzero, 2",
              kData, 3) == Words{kData[2], 0x000c0004, 0x88004});
    CHECK(run(list + "setzi $m6, 8\nsetzi $a0, 99\nld64a32 $a0:3, $m4++, $m2, $m6\n"
                     "st64 $a0:1, $m3, $mzero, 0\nst64 $a2:3, $m3, $mzero, 1\n"
                     "st32 $m4, $m3, $mzero, 4",
              kData, 5) == Words{99, kData[2], 0x000c0004, kIn, 0x88008});
    // halves at bytes 2 and 8; the lower delta goes on by a half, the upper by three halves
    CHECK(run("ldconst $m5, 0x00080002\nsetzi $m6, 0x53\nldb16b16 $a0:1, $m2, $m5++, $m6>>\n"
              "st64 $a0:1, $m3, $mzero, 0\nst32 $m5, $m3, $mzero, 2\nst32 $m6, $m3, $mzero, 3",
              kData, 4) == Words{0x80f180f1, 0x77887788, 0x000e0004, 0x5});
}

TEST_CASE("deltas of 16 bits end at 16 bits", "[unit][isa]") {
    // the lower delta goes on from the last half of 64 KiB to the first one, and leaves the upper
    // one alone
    for (const std::uint32_t lower : {0U, 0xfffcU, 0xfffeU}) {
        for (const std::uint32_t upper : {8U, 0xfff0U}) {
            for (const std::uint32_t steps : {0U, 1U, 8U, 15U}) {
                CAPTURE(lower, upper, steps);
                const Words left =
                    run(fmt::format("ldconst $m5, {}\nsetzi $m6, {}\n"
                                    "ldb16b16 $a0:1, $m2, $m5++, $m6>>\n"
                                    "st32 $m5, $m3, $mzero, 0\nst32 $m6, $m3, $mzero, 1",
                                    upper << 16U | lower, steps << 4U | steps),
                        {}, 2);
                CHECK(
                    left ==
                    Words{((upper + 2 * steps) & 0xffffU) << 16U | ((lower + 2) & 0xffffU), steps});
            }
        }
    }
    // what stands above the delta of a single load is not its own
    for (const std::uint32_t above : {0U, 1U, 0x8000U, 0xffffU}) {
        CAPTURE(above);
        const std::string text = fmt::format("setzi $m4, 0x88000\nldconst $m6, {}\n"
                                             "ld64a32 $a0:3, $m4++, $m2, $m6\n"
                                             "st32 $a1, $m3, $mzero, 0",
                                             above << 16U | 8U);
        CHECK(run(text, kData, 1)[0] == kData[2]);
    }
}

TEST_CASE("a packed triple keeps all 21 bits of the addresses that are not used", "[unit][isa]") {
    const auto packed = [](Address a0, Address a1, Address a2) {
        return Words{a0 | a2 << 21U, a1 | (a2 >> 11U) << 21U};
    };
    const auto after = [](const Words& triple, const std::string& instruction) {
        const Words left = run(fmt::format("ldconst $m4, {}\nldconst $m5, {}\n{}\n"
                                           "st32 $m4, $m3, $mzero, 2\nst32 $m5, $m3, $mzero, 3",
                                           triple[0], triple[1], instruction),
                               kData, 4);
        return Words{left[2], left[3]};
    };
    for (unsigned bit = 0; bit <= 21; ++bit) {
        const Address other = bit == 21 ? 0x1fffffU : 1U << bit;
        CAPTURE(other);
        CHECK(after(packed(other, other, kOut), "st64pace $a0:1, $m4:5+=, $mzero, 0") ==
              packed(other, other, kOut + 8));
        CHECK(after(packed(kIn, kIn + 8, other), "ld2x64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0") ==
              packed(kIn + 8, kIn + 16, other));
        CHECK(after(packed(kIn, other, kOut), "ldst64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0") ==
              packed(kIn + 8, other, kOut + 8));
    }
}

TEST_CASE("paced loads of a pair and something smaller", "[unit][isa]") {
    const std::string start = "setzi $m1, 0x80008\ntapack $m4:5, $m2, $m1, $mzero\n";
    const std::string end = " $a0:1, $a2, $m4:5+=, $mzero, 0\nst64 $a0:1, $m3, $mzero, 0\n"
                            "st32 $a2, $m3, $mzero, 2\nst32 $m4, $m3, $mzero, 3\n"
                            "st32 $m5, $m3, $mzero, 4";
    CHECK(run(start + "ld64a32pace" + end, kData, 5) ==
          Words{kData[0], kData[1], kData[2], kIn + 8, kIn + 16});
    CHECK(run(start + "ld64b16pace" + end, kData, 5) ==
          Words{kData[0], kData[1], 0x77887788, kIn + 8, kIn + 16});
    // the other half of the bundle reads the old registers
    CHECK(run(start +
                  "setzi $a2, 5\n{ ld64a32pace $a0:1, $a2, $m4:5+=, $mzero, 0 ; mov $a3, $a2 }\n"
                  "st64 $a2:3, $m3, $mzero, 0",
              kData, 2) == Words{kData[2], 5});
    // strides of ldst64pace and st64pace are fields of the stride register
    CHECK(run("setzi $m1, 0x90000\ntapack $m4:5, $m2, $mzero, $m1\nld64 $a0:1, $m2, 1\n"
              "setzi $m7, 2\nst64pace $a0:1, $m4:5+=, $m7, 1\nst64pace $a0:1, $m4:5+=, $m7, 0",
              kData, 6) == Words{kData[2], kData[3], 0, 0, kData[2], kData[3]});
}

TEST_CASE("calls and branches by register return behind the whole bundle", "[unit][isa]") {
    CHECK(run("setzi $m5, 1\n{ call $lr, 1f ; fnop }\nst32 $m5, $m3, $mzero, 0\nexitz $mzero\n"
              "1: add $m5, $m5, 1\nbr $lr",
              {}, 1)[0] == 2);
    CHECK(run("setzi $m4, 1f\n{ br $m4 ; fnop }\n1: st32 $m4, $m3, $mzero, 0", {}, 1)[0] != 0);
    for (const std::string exit : {"exitz", "exitnz", "exitpos", "exitneg"}) {
        CAPTURE(exit);
        CHECK(run("st32 $m2, $m3, $mzero, 0\n" + exit + " $m2\nst32 $m3, $m3, $mzero, 0", {}, 1) ==
              Words{kIn});
    }
}
