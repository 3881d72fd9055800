// SPDX-License-Identifier: MIT
// What instructions compute, run as worker programs: registers in, registers out.
#include "base/float16.h"
#include "models/isa/engine.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kIn = 0x80000;
constexpr Address kOut = 0x90000;

/// Runs `body` on worker 0 with $m2 = kIn and $m3 = kOut and returns `words` words from kOut.
std::vector<std::uint32_t> run(const std::string& body, const std::vector<std::uint32_t>& input,
                               std::size_t words) {
    test::AssembledTile tile(
        ".supervisor\n.globl start\nstart: setzi $m0, worker\nrun $m0, $mzero, 0\n"
        "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker:\n" +
        fmt::format("setzi $m2, {}\nsetzi $m3, {}\n", kIn, kOut) + body + "\nexitz $mzero\n");
    tile.write(kIn, input);
    tile.run();
    return tile.read<std::uint32_t>(kOut, words);
}

/// d = mnemonic of two main registers.
std::uint32_t main2(const std::string& mnemonic, std::uint32_t x, std::uint32_t y) {
    return run("ld32 $m4, $m2, 0\nld32 $m5, $m2, 1\n" + mnemonic +
                   " $m6, $m4, $m5\nst32 $m6, $m3, $mzero, 0",
               {x, y}, 1)[0];
}

std::uint32_t main1(const std::string& mnemonic, std::uint32_t x) {
    return run("ld32 $m4, $m2, 0\n" + mnemonic + " $m6, $m4\nst32 $m6, $m3, $mzero, 0", {x}, 1)[0];
}

/// d = mnemonic of two aux registers.
std::uint32_t aux2(const std::string& mnemonic, std::uint32_t x, std::uint32_t y,
                   const std::string& suffix = "") {
    return run("ld32 $a0, $m2, 0\nld32 $a1, $m2, 1\n" + mnemonic + " $a2, $a0" + suffix +
                   ", $a1\nst32 $a2, $m3, $mzero, 0",
               {x, y}, 1)[0];
}

std::uint32_t bits(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

std::uint32_t halves(float lo, float hi) {
    return f32_to_f16(lo) | (static_cast<std::uint32_t>(f32_to_f16(hi)) << 16U);
}

constexpr std::uint32_t kNan32 = 0x7fd9c000;

} // namespace

TEST_CASE("integer instructions compute as their tables say", "[unit][isa]") {
    const std::uint32_t a = 0x89abcdef;
    const std::uint32_t b = 0x01234567;
    CHECK(main2("add", a, b) == a + b);
    CHECK(main2("sub", a, b) == a - b);
    CHECK(main2("mul", a, b) == a * b);
    CHECK(main2("and", a, b) == (a & b));
    CHECK(main2("or", a, b) == (a | b));
    CHECK(main2("xor", a, b) == (a ^ b));
    CHECK(main2("xnor", a, b) == ~(a ^ b));
    CHECK(main2("andc", a, b) == (a & ~b));
    CHECK(main2("cmpslt", a, b) == 1);
    CHECK(main2("cmpult", a, b) == 0);
    CHECK(main2("cmpeq", a, a) == 1);
    CHECK(main2("cmpne", a, a) == 0);
    CHECK(main2("min", a, b) == a);
    CHECK(main2("max", a, b) == b);
    CHECK(main2("shl", a, 36) == a << 4U); // the amount is taken modulo 32
    CHECK(main2("shr", a, 36) == a >> 4U);
    CHECK(main2("shrs", a, 36) == 0xf89abcdeU);
    CHECK(main2("roll16", a, b) == 0x456789abU);
    CHECK(main2("sort4x16lo", a, b) == 0x4567cdefU);
    CHECK(main2("sort4x16hi", a, b) == 0x012389abU);
    CHECK(main2("shuf8x8lo", a, b) == 0x45cd67efU);
    CHECK(main2("shuf8x8hi", a, b) == 0x018923abU);
    CHECK(main2("sort8x8lo", a, b) == 0x2367abefU);
    CHECK(main2("sort8x8hi", a, b) == 0x014589cdU);
    CHECK(main2("roll8r", a, b) == 0x6789abcdU);
    CHECK(main2("roll8l", a, b) == 0x23456789U);
    CHECK(main1("abs", 0xffffffff) == 1);
    CHECK(main1("abs", 0x80000000) == 0x80000000U);
    CHECK(main1("clz", 0) == 32);
    CHECK(main1("clz", 0x00010000) == 15);
    CHECK(main1("cms", 0xfff00000) == 11);
    CHECK(main1("cms", 0) == 31);
    CHECK(main1("popc", a) == 20);
    CHECK(main1("bitrev8", 0x01020480) == 0x80402001U);
    CHECK(main1("swap8", a) == 0xab89efcdU);
    CHECK(main1("sort8", a) == 0x89cdabefU);
}

TEST_CASE("constants of integer instructions take the form that fits", "[unit][isa]") {
    const auto with = [](const std::string& instruction) {
        return run("ld32 $m4, $m2, 0\n" + instruction + "\nst32 $m6, $m3, $mzero, 0", {100}, 1)[0];
    };
    CHECK(with("add $m6, $m4, 65535") == 100 + 65535);
    CHECK(with("add $m6, $m4, -32768") == 100U - 32768U);
    CHECK(with("sub $m6, 10, $m4") == 10U - 100U);
    CHECK(with("sub $m6, $m4, 10") == 90U);
    CHECK(with("mul $m6, $m4, -3") == 0U - 300U);
    CHECK(with("cmpeq $m6, $m4, 100") == 1U);
    CHECK(with("or $m6, $m4, 0x12300000") == (100U | 0x12300000U));
    CHECK(with("shl $m6, $m4, 3") == 800U);
    CHECK(with("setzi $m6, 0xfffff") == 0xfffffU);
    CHECK(with("ldconst $m6, 0x12345678") == 0x12345678U);
    CHECK(with("mov $m6, $m4") == 100U);
}

TEST_CASE("branches go where their condition says", "[unit][isa]") {
    const auto taken = [](const std::string& branch, std::uint32_t x) {
        return run("ld32 $m4, $m2, 0\nsetzi $m6, 1\n" + branch +
                       " $m4, 1f\nsetzi $m6, 0\n1: st32 $m6, $m3, $mzero, 0",
                   {x}, 1)[0] != 0;
    };
    for (const std::uint32_t x : {0U, 1U, 0x7fffffffU, 0x80000000U, 0xffffffffU}) {
        CAPTURE(x);
        CHECK(taken("brz", x) == (x == 0));
        CHECK(taken("brnz", x) == (x != 0));
        CHECK(taken("brneg", x) == (x >> 31U != 0));
        CHECK(taken("brpos", x) == (x >> 31U == 0));
        CHECK(taken("brnzdec", x) == (x != 0));
    }
    // brnzdec leaves zero alone and counts a loop of n + 1 passes
    CHECK(run("setzi $m4, 4\nsetzi $m5, 0\n1: add $m5, $m5, 1\nbrnzdec $m4, 1b\nst32 $m5, $m3, "
              "$mzero, 0\n"
              "st32 $m4, $m3, $mzero, 1",
              {}, 2) == std::vector<std::uint32_t>{5, 0});
    CHECK(run("call $lr, 1f\nsetzi $m5, 7\nst32 $m5, $m3, $mzero, 0\nexitz $mzero\n1: br $lr", {},
              1)[0] == 7);
}

TEST_CASE("loads extend, broadcast and step as their names say", "[unit][isa]") {
    const std::vector<std::uint32_t> data = {0x80f1c2d3, 0x11223344, 0x55667788, 0x99aabbcc};
    CHECK(run("ldz8 $m4, $m2, 3\nst32 $m4, $m3, $mzero, 0", data, 1)[0] == 0x80);
    CHECK(run("lds8 $m4, $m2, 3\nst32 $m4, $m3, $mzero, 0", data, 1)[0] == 0xffffff80U);
    CHECK(run("ldz16 $m4, $m2, 1\nst32 $m4, $m3, $mzero, 0", data, 1)[0] == 0x80f1);
    CHECK(run("lds16 $m4, $m2, 1\nst32 $m4, $m3, $mzero, 0", data, 1)[0] == 0xffff80f1U);
    CHECK(run("ldb16 $a0, $m2, 2\nst32 $a0, $m3, $mzero, 0", data, 1)[0] == 0x33443344U);
    CHECK(run("ld128 $a0:3, $m2, 0\nst64 $a2:3, $m3, $mzero, 0", data, 2) ==
          std::vector<std::uint32_t>{0x55667788, 0x99aabbcc});
    // base + delta + offset * size; the step form moves the delta by stride * size
    CHECK(run("setzi $m5, 4\nld32 $m4, $m2, $m5, 2\nst32 $m4, $m3, $mzero, 0", data, 1)[0] ==
          0x99aabbccU);
    CHECK(run("setzi $m5, 8\nld32step $m4, $m2, $m5+=, -1\nst32 $m4, $m3, $mzero, 0\nst32 $m5, "
              "$m3, $mzero, 1",
              data, 2) == std::vector<std::uint32_t>{0x55667788, 4});
    CHECK(run("setzi $m6, 3\nsetzi $m5, 0\nld32step $m4, $m2, $m5+=, $m6\nst32 $m5, $m3, $mzero, 0",
              data, 1)[0] == 12);
    CHECK(run("ld32step $mzero, $mzero, $m2+=, 2\nld32 $m4, $m2, 0\nst32 $m4, $m3, $mzero, 0", data,
              1)[0] == 0x55667788);
    CHECK(run("ld64step $a0:1, $mzero, $m2+=, 1\nst64step $a0:1, $mzero, $m3+=, 1\nst32 $m2, $m3, "
              "$mzero, 0",
              data, 3) == std::vector<std::uint32_t>{0x80f1c2d3, 0x11223344, kIn + 8});
}

TEST_CASE("a delta list load uses the old delta and fetches the next", "[unit][isa]") {
    // list at kIn + 0x8000 (another element): 8, 16
    const std::string body = "setzi $m4, 0x88000\nsetzi $m5, 0x00080018\nst32 $m5, $m4, $mzero, 0\n"
                             "setzi $m6, 4\nldd16a64 $a0:1, $m4++, $m2, $m6@\n"
                             "st32 $m6, $m3, $mzero, 2\nst32 $m4, $m3, $mzero, 3\n"
                             "st64 $a0:1, $m3, $mzero, 0";
    CHECK_THROWS(run(body, {0, 1, 2, 3}, 4)); // 4 is misaligned for 64 bits
    const std::string right =
        "setzi $m4, 0x88000\nsetzi $m5, 0x00010018\nst32 $m5, $m4, $mzero, 0\n"
        "setzi $m6, 8\nldd16a64 $a0:1, $m4++, $m2, $m6@\n"
        "st32 $m6, $m3, $mzero, 2\nst32 $m4, $m3, $mzero, 3\n"
        "st64 $a0:1, $m3, $mzero, 0";
    CHECK(run(right, {10, 11, 12, 13}, 4) == std::vector<std::uint32_t>{12, 13, 0x18, 0x88002});
}

TEST_CASE("a delta list load through the zero register throws the next delta away", "[unit][isa]") {
    CHECK(run("setzi $m4, 0x88000\nst32 $m4, $m4, $mzero, 0\nldd16a32 $a0, $m4++, $m2, $mzero@\n"
              "ldd16a32 $a1, $m4++, $m2, $mzero@\nst64 $a0:1, $m3, $mzero, 0\nst32 $mzero, $m3, "
              "$mzero, 2",
              {10, 11}, 3) == std::vector<std::uint32_t>{10, 10, 0});
}

TEST_CASE("packed addresses step by eight bytes or by signed stride fields", "[unit][isa]") {
    // strides: field 0 = 2, field 1 = -1, field 2 = 3 (in 8 bytes); selectors 1, 2 and 3
    const std::string body =
        fmt::format("setzi $m0, {}\nsetzi $m1, {}\nsetzi $m6, {}\n"
                    "tapack $m4:5, $m0, $m1, $m6\nldconst $m7, {}\n"
                    "ld2xst64pace $a0:3, $azeros, $m4:5+=, $m7, 0b111001\n"
                    "st32 $m4, $m3, $mzero, 0\nst32 $m5, $m3, $mzero, 1",
                    kIn, kIn + 0x8000, kIn + 0x10000 + 0x400, 2 | (1023 << 10) | (3 << 20));
    const auto packed = run(body, {}, 2);
    CHECK((packed[0] & 0x1fffffU) == kIn + 16);
    CHECK((packed[1] & 0x1fffffU) == kIn + 0x8000 - 8);
    CHECK(((packed[0] >> 21U) | (((packed[1] >> 21U) & 0x3ffU) << 11U)) ==
          kIn + 0x10000 + 0x400 + 24);
}

TEST_CASE("both halves of a bundle read before either writes", "[unit][isa]") {
    // the store takes the old $a0:1, the addition takes the old operands of the load
    CHECK(run("ld64 $a0:1, $m2, 0\n{ st64 $a0:1, $m3, $mzero, 0 ; f32v2add $a0:1, $a0:1, $a0:1 }\n"
              "st64 $a0:1, $m3, $mzero, 1",
              {bits(1.0F), bits(2.0F)},
              4) == std::vector<std::uint32_t>{bits(1.0F), bits(2.0F), bits(2.0F), bits(4.0F)});
    CHECK(run("ld64 $a0:1, $m2, 0\n{ ld64 $a0:1, $m2, 1 ; f32v2add $a2:3, $a0:1, $a0:1 }\n"
              "st64 $a0:1, $m3, $mzero, 0\nst64 $a2:3, $m3, $mzero, 1",
              {bits(1.0F), bits(2.0F), bits(5.0F), bits(6.0F)},
              4) == std::vector<std::uint32_t>{bits(5.0F), bits(6.0F), bits(2.0F), bits(4.0F)});
    // load, store and arithmetic on the same registers at once
    CHECK(run("setzi $m6, 0x88000\ntapack $m4:5, $m2, $mzero, $m6\nld64 $a0:1, $m2, 1\n"
              "{ ldst64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0 ; f32v2add $a2:3, $a0:1, $a0:1 }\n"
              "st64 $a0:1, $m3, $mzero, 0\nst64 $a2:3, $m3, $mzero, 1\nld64 $a4:5, $m6, 0\nst64 "
              "$a4:5, $m3, $mzero, 2",
              {bits(1.0F), bits(2.0F), bits(5.0F), bits(6.0F)}, 6) ==
          std::vector<std::uint32_t>{bits(1.0F), bits(2.0F), bits(10.0F), bits(12.0F), 0, 0});
}

TEST_CASE("FP32 arithmetic flushes subnormals and has one NaN", "[unit][isa]") {
    const std::uint32_t subnormal = 0x00400000;
    CHECK(aux2("f32add", bits(1.5F), bits(2.25F)) == bits(3.75F));
    CHECK(aux2("f32sub", bits(1.5F), bits(2.25F)) == bits(-0.75F));
    CHECK(aux2("f32mul", bits(1.5F), bits(-2.0F)) == bits(-3.0F));
    CHECK(aux2("f32add", subnormal, subnormal) == 0);
    CHECK(aux2("f32mul", bits(1e-30F), bits(-1e-10F)) == 0x80000000U);
    CHECK(aux2("f32mul", bits(1e30F), bits(1e30F)) == 0x7f800000U);
    CHECK(aux2("f32sub", 0x7f800000U, 0x7f800000U) == kNan32);
    CHECK(aux2("f32add", 0xffc00001U, bits(1.0F)) == kNan32);
    CHECK(aux2("f32max", kNan32, bits(1.0F)) == bits(1.0F));
    CHECK(aux2("f32max", 0x80000000U, 0) == 0);
    CHECK(aux2("f32min", 0x80000000U, 0) == 0x80000000U);
}

TEST_CASE("FP16 arithmetic rounds once and saturates and keeps subnormals", "[unit][isa]") {
    CHECK(aux2("f16v2add", halves(1.0F, -2.0F), halves(0.5F, 4.0F)) == halves(1.5F, 2.0F));
    CHECK(aux2("f16v2mul", halves(300.0F, -300.0F), halves(300.0F, 300.0F)) == 0xfbff7bffU);
    CHECK(aux2("f16v2add", 0x00010001U, 0x00010002U) == 0x00020003U);
    CHECK(aux2("f16v2add", 0x00007c00U, 0) ==
          0x00007eceU); // an infinite operand acts as a signalling NaN
    CHECK(aux2("f16v2max", 0x00007c00U, halves(1.0F, 2.0F)) ==
          (0x7c00U | (halves(0, 2.0F) & 0xffff0000U)));
    CHECK(aux2("f16v2mul", halves(3.0F, 5.0F), halves(2.0F, 7.0F), ":BL") == halves(6.0F, 21.0F));
    CHECK(aux2("f16v2mul", halves(3.0F, 5.0F), halves(2.0F, 7.0F), ":BU") == halves(10.0F, 35.0F));
    const auto nan_on_overflow = run("ldconst $a3, 0x100000\nuput $FP_CTL, $a3\nld32 $a0, $m2, 0\n"
                                     "f16v2mul $a1, $a0, $a0\nst32 $a1, $m3, $mzero, 0",
                                     {halves(300.0F, 2.0F)}, 1);
    CHECK(nan_on_overflow[0] == (0x7eceU | (halves(0, 4.0F) & 0xffff0000U)));
}

TEST_CASE("every half pattern survives widening and narrowing", "[unit][isa]") {
    std::vector<std::uint32_t> all(0x8000);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        all[i] = 2 * i | ((2 * i + 1) << 16U);
    }
    // four windows, so that input and output stay apart
    for (const std::uint32_t start : {0U, 0x2000U, 0x4000U, 0x6000U}) {
        const std::vector<std::uint32_t> window(all.begin() + start, all.begin() + start + 0x2000);
        const auto result =
            run("setzi $m4, 0x1fff\n1: ld32step $a0, $mzero, $m2+=, 1\nf16v2tof32 $a2:3, $a0\n"
                "f32v2tof16 $a1, $a2:3\nst32step $a1, $mzero, $m3+=, 1\nbrnzdec $m4, 1b",
                window, window.size());
        for (std::size_t i = 0; i < window.size(); ++i) {
            for (const unsigned shift : {0U, 16U}) {
                const std::uint32_t half = (window[i] >> shift) & 0xffffU;
                const bool special =
                    (half & 0x7c00U) == 0x7c00U; // NaN, and infinity which narrows to NaN
                if (((result[i] >> shift) & 0xffffU) != (special ? 0x7eceU : half)) {
                    FAIL("pattern " << half << " became " << ((result[i] >> shift) & 0xffffU));
                }
            }
        }
    }
}

TEST_CASE("accumulators drain in order and clear", "[unit][isa]") {
    const std::vector<std::uint32_t> values = {halves(1, 2), halves(3, 4), halves(5, 6),
                                               halves(7, 8)};
    CHECK(
        run("setzi $a0, 8\nuput $FP_CLR, $a0\nld128 $a0:3, $m2, 0\nf16v8acc $a0:3\nf16v8acc $a0:3\n"
            "f16v2gina $a4, $azero, 0\nst32step $a4, $mzero, $m3+=, 1\nf16v2gina $a4, $azero, "
            "0\nst32step $a4, $mzero, $m3+=, 1\n"
            "f32v2gina $a4:5, $azeros, 0\nst64step $a4:5, $mzero, $m3+=, 1\nf16v2gina $a4, $azero, "
            "0\nst32step $a4, $mzero, $m3+=, 1\n"
            "f16v2gina $a4, $azero, 0\nst32step $a4, $mzero, $m3+=, 1",
            values, 6) == std::vector<std::uint32_t>{halves(2, 4), halves(6, 8), bits(10), bits(12),
                                                     halves(14, 16), 0});
    CHECK(run("setzi $a0, 8\nuput $FP_CLR, $a0\nld64 $a0:1, $m2, 0\nf16v4cmac $a0:1, "
              "$a0:1\nf32v2gina $a2:3, $azeros, 0\n"
              "st64 $a2:3, $m3, $mzero, 0",
              values, 2) == std::vector<std::uint32_t>{bits(5), bits(25)});
}

namespace {

/// One pass of `pixels` rows through the matrix unit by the published recipe, solo instructions.
std::string amp_recipe(bool half, int pixels) {
    std::string text = "setzi $m4, 0x80000\nsetzi $m5, 0x88000\nsetzi $m6, 0xa0000\n";
    for (int group = 0; group < pixels + 2; ++group) {
        for (int phase = 0; phase < 4; ++phase) {
            const bool has_input = group >= 1 && group <= pixels;
            const bool has_partial = group < pixels;
            if (has_input) {
                text += "ld64step $a0:1, $mzero, $m4+=, 1\n";
            }
            if (has_partial) {
                text += "ld64step $a2:3, $mzero, $m5+=, 1\n";
            }
            text += fmt::format(
                "{} $a4:5, {}, {}, TAMP_F16V4_E4_P{}\n", half ? "f16v4hihov4amp" : "f16v4sisoamp",
                has_input ? "$a0:1" : "$azeros", has_partial ? "$a2:3" : "$azeros", phase);
            if (group >= 2) {
                text += "st64step $a4:5, $mzero, $m6+=, 1\n";
            }
        }
    }
    return text;
}

} // namespace

TEST_CASE("the matrix unit multiplies by the published recipe", "[unit][isa]") {
    for (const bool half : {true, false}) {
        const int outputs = half ? 16 : 8;
        const int pixels = 3;
        std::string text =
            ".supervisor\n.globl start\nstart: setzi $m0, 0xb0000\nput $CCCSLOAD, $m0\n";
        for (int i = 0; i < 64; ++i) {
            text += fmt::format("ld64putcs {}\n", i);
        }
        text += "setzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr "
                "$lr\n.worker\n.align 8\nworker:\n" +
                amp_recipe(half, pixels) + "exitz $mzero\n";
        test::AssembledTile tile(text);
        std::mt19937 random(11);
        const auto draw = [&] { return static_cast<float>(static_cast<int>(random() % 9) - 4); };
        std::vector<float> x(static_cast<std::size_t>(pixels) * 16);
        std::vector<float> w(static_cast<std::size_t>(outputs) * 16);
        std::vector<float> p(static_cast<std::size_t>(pixels * outputs));
        for (auto* values : {&x, &w, &p}) {
            std::generate(values->begin(), values->end(), draw);
        }
        std::vector<std::uint16_t> inputs;
        for (const float value : x) {
            inputs.push_back(f32_to_f16(value));
        }
        // output c of 16: set (c >> 1) & 1, unit 2 * (c >> 2) + (c & 1); of eight: unit c
        std::vector<std::uint16_t> weights(256, 0);
        for (int c = 0; c < outputs; ++c) {
            const int unit = half ? 8 * ((c >> 1) & 1) + 2 * (c >> 2) + (c & 1) : c;
            for (int k = 0; k < 16; ++k) {
                weights[static_cast<std::size_t>(unit * 16 + k)] =
                    f32_to_f16(w[static_cast<std::size_t>(c * 16 + k)]);
            }
        }
        tile.write(0x80000, inputs);
        tile.write(0xb0000, weights);
        if (half) {
            std::vector<std::uint16_t> partials;
            for (const float value : p) {
                partials.push_back(f32_to_f16(value));
            }
            tile.write(0x88000, partials);
        } else {
            tile.write(0x88000, p);
        }
        tile.run();
        const auto half_results = tile.read<std::uint16_t>(0xa0000, p.size());
        const auto single_results = tile.read<float>(0xa0000, p.size());
        for (int pixel = 0; pixel < pixels; ++pixel) {
            for (int c = 0; c < outputs; ++c) {
                const auto at = static_cast<std::size_t>(pixel * outputs + c);
                float expected = p[at];
                for (int k = 0; k < 16; ++k) {
                    expected += x[static_cast<std::size_t>(pixel * 16 + k)] *
                                w[static_cast<std::size_t>(c * 16 + k)];
                }
                CHECK((half ? f16_to_f32(half_results[at]) : single_results[at]) == expected);
            }
        }
    }
}
