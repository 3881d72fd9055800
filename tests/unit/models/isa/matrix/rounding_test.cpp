// SPDX-License-Identifier: MIT
// Stochastic rounding of what leaves accumulators as FP16: exact, given the state of the generator,
// for every instruction that has it.
#include "tests/unit/models/isa/matrix/worker_under_test.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Two 64-bit words of the generator, from its definition (s0, s1 in halves of 64 bits).
std::array<std::uint64_t, 2> two_words(std::array<std::uint64_t, 2>& s) {
    std::array<std::uint64_t, 2> words{};
    const auto rotated = [](std::uint64_t x, unsigned by) { return (x << by) | (x >> (64 - by)); };
    for (auto& word : words) {
        const std::uint64_t mixed = s[0] ^ s[1];
        const std::uint64_t both = s[0] & s[1];
        word = mixed ^ (rotated(both, 1) | rotated(both, 2));
        s = {rotated(s[0], 55) ^ mixed ^ (mixed << 14U), rotated(mixed, 36)};
    }
    return words;
}

/// The value's 24-bit significand plus m random bits, then its low m bits dropped.
std::uint16_t rounded(float value, std::uint32_t random) {
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent); // 0.5 .. 1
    exponent -= 1;
    if (value == 0 || exponent < -25) {
        return std::signbit(value) ? 0x8000 : 0;
    }
    const int m = exponent >= -14 ? 13 : 13 + (-14 - exponent);
    const auto significand = static_cast<std::uint64_t>(std::ldexp(fraction, 24));
    const std::uint64_t noisy = significand + (random & ((1U << m) - 1U));
    const double kept = std::ldexp(static_cast<double>(noisy >> m), exponent - 23 + m);
    const auto magnitude = static_cast<float>(std::min(kept, 65504.0));
    return static_cast<std::uint16_t>(f32_to_f16(magnitude) | (std::signbit(value) ? 0x8000U : 0));
}

struct Leaving {
    const char* mnemonic;
    int constant;
    unsigned elements;
    std::array<unsigned, 4> from; ///< accumulators whose values leave
};

constexpr Leaving kLeaving[] = {
    {"f16v2gina", 0, 2, {0, 2, 0, 0}},           {"f16v2gina", 3, 2, {17, 19, 0, 0}},
    {"f16v4gacc", 0, 4, {0, 2, 4, 6}},           {"f16v4mix", 0, 4, {0, 2, 4, 6}},
    {"f16v4hihoamp", 0x31, 2, {1, 3, 0, 0}},     {"f16v4hihoamp", 0x30, 2, {0, 2, 0, 0}},
    {"f16v4sihoamp", 0x01, 2, {1, 3, 0, 0}},     {"f16v4hihov4amp", 0x32, 4, {1, 3, 17, 19}},
    {"f16v4hihov4amp", 0x10, 4, {0, 2, 16, 18}}, {"f16v4hihoslic", 0x30, 2, {0, 2, 0, 0}},
    {"f16v4sihoslic", 0x20, 2, {0, 2, 0, 0}},    {"f16v4hihov4slic", 0x31, 4, {0, 2, 16, 18}},
};

} // namespace

TEST_CASE("results that leave as FP16 round with the random bits of their element", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const Leaving& leaving : kLeaving) {
            std::mt19937 random(41);
            WorkerUnderTest worker(engine);
            worker.context.fp_control = kStochastic;
            worker.context.random = {0x0123456789abcdefULL, 0xfedcba9876543210ULL};
            for (int i = 0; i < 200; ++i) {
                for (unsigned k = 0; k < 32; ++k) {
                    // exponents from far below the subnormal halves to near the largest
                    const auto bits = static_cast<std::uint32_t>(random());
                    worker.accumulator(k) = std::bit_cast<float>(
                        (bits & 0x807fffffU) | ((98U + (bits >> 24U) % 44U) << 23U));
                }
                std::array<std::uint64_t, 2> state = worker.context.random;
                const auto [r0, r1] = two_words(state);
                std::array<std::uint16_t, 4> expected{};
                for (unsigned k = 0; k < leaving.elements; ++k) {
                    const auto low = static_cast<std::uint32_t>((r0 >> (16 * k)) & 0xffffU);
                    const auto high = static_cast<std::uint32_t>((r1 >> (8 * k)) & 0xffU);
                    expected[k] = rounded(worker.accumulator(leaving.from[k]), low | (high << 16U));
                }
                worker.context.aux[0] = worker.context.aux[1] = 0;
                worker.execute(leaving.mnemonic, 0, 2, 4, leaving.constant);
                CAPTURE(leaving.mnemonic, leaving.constant, i);
                for (unsigned k = 0; k < leaving.elements; ++k) {
                    CHECK(half_at(worker.context.aux, k) == expected[k]);
                }
                CHECK((worker.context.random == state));
            }
        }
    }
}

TEST_CASE("FP32 results draw no random numbers", "[unit][isa]") {
    for (const std::string mnemonic :
         {"f16v4sisoamp", "f32sisoamp", "f32sisov2amp", "f16v4sisoslic", "f32v2gina", "f32v2axpy",
          "f16v4istacc", "f16v4stacc", "f16v8acc", "f32v4sqacc"}) {
        WorkerUnderTest worker(isa::engine());
        worker.context.fp_control = kStochastic;
        worker.context.random = {1, 2};
        worker.execute(mnemonic, 0, 4, 2, 0);
        CAPTURE(mnemonic);
        CHECK((worker.context.random == std::array<std::uint64_t, 2>{1, 2}));
    }
}
