// SPDX-License-Identifier: MIT
// Sticky flags and their traps.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Row {
    std::string text; ///< results go to $a4 or $a4:5
    std::vector<std::uint32_t> registers;
    std::uint32_t flags;
};

constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kQuiet = 0x7fc00000;
constexpr std::uint32_t kSignalling = 0x7f800001;
constexpr std::uint32_t kLargest = 0x7f7fffff;
constexpr std::uint32_t kOne = 0x3f800000;

const std::vector<Row> kRows = {
    {"f32add $a4, $a0, $a1", {kOne, kOne}, 0},
    {"f32add $a4, $a0, $a1", {kLargest, kLargest}, kOverflow},
    {"f32add $a4, $a0, $a1", {kInfinity, kOne}, 0},
    {"f32add $a4, $a0, $a1", {kInfinity, 0xff800000}, kInvalid},
    {"f32sub $a4, $a0, $a1", {kInfinity, kInfinity}, kInvalid},
    {"f32mul $a4, $a0, $a1", {kInfinity, 0}, kInvalid},
    {"f32mul $a4, $a0, $a1", {kInfinity, 0x00000001}, kInvalid}, // a subnormal is zero
    {"f32mul $a4, $a0, $a1", {kQuiet, kOne}, 0},
    {"f32mul $a4, $a0, $a1", {kSignalling, kQuiet}, kInvalid},
    {"f32v2add $a4:5, $a0:1, $a2:3", {0, kLargest, 0, kLargest}, kOverflow},
    {"f32v2sub $a4:5, $a0:1, $a2:3", {kInfinity, kLargest, kInfinity, 0xff7fffff}, 5},
    {"f32v2mul $a4:5, $a0:1, $a2:3", {kOne, kOne, kOne, kSignalling}, kInvalid},
    {"f32absadd $a4, $a0, $a1", {kInfinity, 0xff800000}, 0},
    {"f32max $a4, $a0, $a1", {kQuiet, kOne}, 0},
    {"f32max $a4, $a0, $a1", {kSignalling, kOne}, kInvalid},
    {"f32cmpne $a4, $a0, $a1", {kQuiet, kOne}, kInvalid},
    {"f32cmpeq $a4, $a0, $a1", {kInfinity, kInfinity}, 0},
    {"f32clamp $a4, $a0, $a2:3", {kOne, 0, kSignalling, kOne}, kInvalid},
    {"f32clamp $a4, $a0, $a2:3", {kOne, 0, kQuiet, kOne}, 0},
    {"f32class $a4, $a0", {kSignalling}, 0},
    {"f16v2add $a4, $a0, $a1", {0x3c007c00, 0}, kInvalid},
    {"f16v2add $a4, $a0, $a1", {0x3c007e00, 0}, 0},
    {"f16v2mul $a4, $a0, $a1", {0x7bff0000, 0x40000000}, kOverflow},
    {"f16v4add $a4:5, $a0:1, $a2:3", {0x7bff, 0, 0x7bff, 0x7c010000}, 5},
    {"f16v4sub $a4:5, $a0:1, $a2:3", {0, 0xfbff0000, 0, 0x7bff0000}, kOverflow},
    {"f16v4max $a4:5, $a0:1, $a2:3", {0x7c00, 0, 0xfc00, 0}, 0},
    {"f16v4cmpeq $a4:5, $a0:1, $a2:3", {0, 0x7e000000, 0, 0}, kInvalid},
    {"f16v2sum $a4, $a0", {0xfc007c00}, kInvalid},
    {"f16tof32 $a4, $a0", {0x7c00}, 0},
    {"f16tof32 $a4, $a0", {0x7c01}, kInvalid},
    {"f32tof16 $a4, $a0", {kInfinity}, kInvalid},
    {"f32tof16 $a4, $a0", {0x477ff000}, kOverflow},
    {"f32tof16 $a4, $a0", {0x477fefff}, 0},
    {"f32v4tof16 $a4:5, $a0:3", {0, kLargest, kSignalling, kQuiet}, 5},
    {"f32toi32 $a4, $a0", {kQuiet}, kInvalid},
    {"f32int $a4, $a0, 0", {kSignalling}, kInvalid},
    {"f32div $a4, $a0, $a1", {kOne, 0}, kDivideByZero},
    {"f32div $a4, $a0, $a1", {0, 0}, kInvalid},
    {"f32div $a4, $a0, $a1", {kInfinity, 0}, 0},
    {"f32div $a4, $a0, $a1", {kLargest, 0x3e800000}, kOverflow},
    {"f32oox $a4, $a0", {0}, kDivideByZero},
    {"f32sqrt $a4, $a0", {0xbf800000}, kInvalid},
    {"f32ln $a4, $a0", {0}, kDivideByZero},
    {"f16v2ln $a4, $a0", {0x0000bc00}, 3},
    {"f16v2exp $a4, $a0", {0x49803c00}, 0},
    {"f16v2exp $a4, $a0", {0x4d003c00}, kOverflow},
    {"f16v2exp $a4, $a0", {0xfc003c00}, kInvalid},
};

Outcome outcome_of_row(const Row& row, std::uint32_t control) {
    std::uint32_t a[4] = {};
    std::copy(row.registers.begin(), row.registers.end(), a);
    return outcome_of(row.text, {a[0], a[1], a[2], a[3]}, {control, {1, 2}});
}

} // namespace

TEST_CASE("instructions raise the flags of their results", "[unit][isa]") {
    for (const Row& row : kRows) {
        CAPTURE(row.text, row.registers);
        const Outcome outcome = outcome_of_row(row, 0);
        CHECK(outcome.fault.empty());
        CHECK(outcome.flags == row.flags);
    }
}

TEST_CASE("flags stay until they are cleared", "[unit][isa]") {
    const isa::FpEnvironment rounding;
    for (const isa::Engine& engine : isa::engines()) {
        isa::Context context;
        context.aux[0] = 0x3f800000;
        Instruction("f32div $a4, $a0, $a1")(engine, context);
        Instruction("f32sub $a4, $a4, $a4")(engine, context);
        Instruction("f32add $a4, $a0, $a0")(engine, context);
        CHECK(context.fp_status == (kDivideByZero | kInvalid));
    }
}

TEST_CASE("a flag whose trap is enabled stops the worker", "[unit][isa]") {
    for (const Row& row : kRows) {
        CAPTURE(row.text, row.registers);
        for (const std::uint32_t enabled : {kInvalid, kDivideByZero, kOverflow, 7U}) {
            CAPTURE(enabled);
            const Outcome outcome = outcome_of_row(row, enabled);
            if ((row.flags & enabled) != 0) {
                CHECK(outcome.fault == "floating-point exception with its trap enabled in FP_CTL");
                CHECK(outcome.a[4] == 0); // nothing is written
            } else {
                CHECK(outcome.fault.empty());
            }
        }
    }
}
