// SPDX-License-Identifier: MIT
// The random number generator and its instructions against the definition, written again here bit
// by bit.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace tessera;
using namespace tessera::test;

namespace {

using State = std::array<std::uint64_t, 2>;

std::uint64_t rotated(std::uint64_t x, unsigned by) {
    std::uint64_t result = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
        result |= ((x >> bit) & 1U) << ((bit + by) % 64);
    }
    return result;
}

std::uint64_t stepped(State& state) {
    const auto [s0, s1] = state;
    const std::uint64_t both = s0 & s1;
    const std::uint64_t out = (s0 ^ s1) ^ (rotated(both, 1) | rotated(both, 2));
    state = {rotated(s0, 55) ^ (s0 ^ s1) ^ ((s0 ^ s1) << 14U), rotated(s0 ^ s1, 36)};
    return out;
}

double normal(std::uint64_t word) {
    int sum = -186;
    for (unsigned k = 0; k < 60; k += 5) {
        sum += static_cast<int>((word >> k) % 32);
    }
    return sum / 32.0;
}

constexpr State kSeeds[] = {
    {1, 0}, {0, 1}, {~0ULL, ~0ULL}, {0x0123456789abcdefULL, 0xfedcba9876543210ULL}};

} // namespace

TEST_CASE("two steps by hand from a state with few bits", "[unit][isa]") {
    // s0 = 1, s1 = 3: x = 2, s0 & s1 = 1, out = 2 ^ (2 | 4) = 4; then s0 = 2^55 ^ 2 ^ 2^15, s1 =
    // 2^37
    const Outcome outcome = outcome_of("urand64 $a4:5", {}, {0, {1, 3}});
    CHECK(outcome.pair(4) == 4);
    constexpr std::uint64_t s0 = (1ULL << 55U) ^ (1ULL << 15U) ^ 2U;
    constexpr std::uint64_t x = s0 ^ (1ULL << 37U); // no bit in common: their "and" is zero
    CHECK(outcome.random[0] == (((1ULL << 46U) | (1ULL << 6U) | (1ULL << 56U)) ^ x ^ (x << 14U)));
    CHECK(outcome.random[1] == ((1ULL << 27U) | (1ULL << 51U) | (1ULL << 37U) | (1ULL << 9U)));
}

TEST_CASE("every random instruction takes two steps", "[unit][isa]") {
    for (const State& seed : kSeeds) {
        State after = seed;
        const std::uint64_t r0 = stepped(after);
        const std::uint64_t r1 = stepped(after);
        const Start start{0, seed};
        const auto expect = [&](const std::string& text, std::uint64_t result,
                                std::initializer_list<std::uint32_t> registers = {}) {
            CAPTURE(text);
            const Outcome outcome = outcome_of(text, registers, start);
            CHECK(outcome.pair(4) == result);
            CHECK(outcome.random == after);
            CHECK(outcome.flags == 0);
        };
        expect("urand32 $a4", r0 & 0xffffffffU);
        expect("urand64 $a4:5", r0);
        expect("f32v2grand $a4:5",
               single_bits(normal(r0)) |
                   (static_cast<std::uint64_t>(single_bits(normal(r1))) << 32U));
        expect("f16v2grand $a4",
               half_bits(normal(r0)) | (static_cast<std::uint32_t>(half_bits(normal(r1))) << 16U));
        for (const std::uint32_t p :
             {0U, 1U, 0x4000U, 0x8000U, 0xffffU, 0x10000U, 0xfffe0000U, 0xffff8000U}) {
            const std::initializer_list<std::uint32_t> registers = {0x11112222, 0x33334444, p};
            std::uint64_t halves = 0x3333444411112222;
            std::uint64_t singles = halves;
            for (unsigned i = 0; i < 4 && (p & 0x10000U) == 0; ++i) {
                if (((r0 >> (16 * i)) & 0xffffU) >= (p & 0xffffU)) {
                    halves &= ~(0xffffULL << (16 * i));
                    if (i < 2) {
                        singles &= ~(0xffffffffULL << (32 * i));
                    }
                }
            }
            expect("f16v4rmask $a4:5, $a0:1, $a2", halves, registers);
            expect("f32v2rmask $a4:5, $a0:1, $a2", singles, registers); // random-fields
        }
    }
}

TEST_CASE("a mask keeps the share of elements that it is told", "[unit][isa]") {
    const Instruction mask("f16v4rmask $a4:5, $a0:1, $a2");
    isa::Context context;
    context.aux[0] = 0x00010001;
    context.aux[1] = 0x00010001;
    context.aux[2] = 0x4000; // a quarter
    constexpr int kDraws = 20000;
    int kept = 0;
    for (int n = 0; n < kDraws; ++n) {
        mask(isa::engine(), context);
        kept += __builtin_popcount(context.aux[4]) + __builtin_popcount(context.aux[5]);
    }
    // five standard deviations of a binomial distribution
    CHECK(std::abs(kept - kDraws) < 5 * std::sqrt(4.0 * kDraws * 0.25 * 0.75));
}

TEST_CASE("normal numbers have mean zero and nearly unit deviation", "[unit][isa]") {
    const Instruction draw("f32v2grand $a4:5");
    isa::Context context;
    constexpr int kDraws = 20000;
    double sum = 0;
    double squares = 0;
    for (int n = 0; n < kDraws; ++n) {
        draw(isa::engine(), context);
        for (const unsigned i : {4U, 5U}) {
            const double value = single_value(context.aux[i]);
            sum += value;
            squares += value * value;
        }
    }
    // the variance of a number 0..31 is (32^2 - 1) / 12, of twelve of them over 32^2: 0.99902
    CHECK(std::fabs(sum / (2 * kDraws)) < 5 / std::sqrt(2.0 * kDraws));
    CHECK(std::fabs(squares / (2 * kDraws) - 1023.0 / 1024.0) < 5 * std::sqrt(2.0 / (2 * kDraws)));
}

TEST_CASE("a context starts as if seed 1 had been written", "[unit][isa]") {
    // docs/deviations.md, prng-initial: v, ~v, (v << 13) | (~v >> 19), (~v << 13) | (v >> 19)
    const isa::Context context;
    CHECK(context.random == State{0xfffffffe00000001ULL, 0xffffc00000003fffULL});
    CHECK(isa::seeded_random_state(0x80000000) ==
          State{0x7fffffff80000000ULL, 0xfffff00000000fffULL});
}
