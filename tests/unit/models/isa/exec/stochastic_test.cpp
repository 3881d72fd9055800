// SPDX-License-Identifier: MIT
// Stochastic rounding: which instructions do it, what random bits they use, and that it is right on
// average.
#include "models/isa/instruction.h"
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <cmath>
#include <random>
#include <set>
#include <string>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::uint32_t kStochastic = 1U << 19U;
constexpr std::uint32_t kNanOnOverflow = 1U << 20U;

struct Draws {
    std::uint64_t r0;
    std::uint64_t r1;
};

/// What urand64 gives from here on, twice.
Draws draws_of(std::array<std::uint64_t, 2> state) {
    const auto step = [&state] {
        const std::uint64_t x = state[0] ^ state[1];
        const std::uint64_t both = state[0] & state[1];
        state = {std::rotl(state[0], 55) ^ x ^ (x << 14U), std::rotl(x, 36)};
        return x ^ (std::rotl(both, 1) | std::rotl(both, 2));
    };
    const std::uint64_t r0 = step();
    return {r0, step()};
}

/// The rounding in real arithmetic: a random share of a unit of the last place is added, then
/// digits are cut.
std::uint16_t rounded(double value, unsigned element, const Draws& draws) {
    const double magnitude = std::fabs(value);
    std::uint16_t half = 0;
    if (magnitude >= 0x1p-25) {
        int exponent = 0;
        static_cast<void>(std::frexp(magnitude, &exponent));
        --exponent; // of a leading one
        const double last_place = std::ldexp(1.0, exponent - 23);
        const unsigned dropped = exponent >= -14 ? 13 : 13 + static_cast<unsigned>(-14 - exponent);
        const auto random =
            static_cast<std::uint32_t>(((draws.r0 >> (16 * element)) & 0xffffU) |
                                       (((draws.r1 >> (8 * element)) & 0xffU) << 16U));
        const double added = (random & ((1U << dropped) - 1U)) * last_place;
        const double unit = std::ldexp(last_place, static_cast<int>(dropped));
        const double cut = std::floor((magnitude + added) / unit) * unit;
        half = cut > 65504.0 ? 0x7bff : half_bits(cut);
    }
    return static_cast<std::uint16_t>(half | (std::signbit(value) ? 0x8000U : 0U));
}

float random_single(std::mt19937& random) {
    // exponents from below the smallest half to its largest
    const auto exponent = static_cast<std::uint32_t>(127 - 27 + random() % 43);
    return std::bit_cast<float>(static_cast<std::uint32_t>((random() & 0x807fffffU)) |
                                (exponent << 23U));
}

} // namespace

TEST_CASE("stochastic rounding adds the random bits of its element", "[unit][isa]") {
    std::mt19937 random(15);
    const Instruction convert("f32v4tof16 $a4:5, $a0:3");
    const isa::FpEnvironment rounding;
    Mismatches results;
    for (int n = 0; n < 100000; ++n) {
        isa::Context context;
        context.fp_control = kStochastic;
        context.random = {random() * 0x100000001ULL, random() * 0x9e3779b97f4a7c15ULL};
        const Draws draws = draws_of(context.random);
        float values[4];
        for (unsigned i = 0; i < 4; ++i) {
            values[i] = random_single(random);
            context.aux[i] = std::bit_cast<std::uint32_t>(values[i]);
        }
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context copy = context;
            convert(engine, copy);
            for (unsigned i = 0; i < 4; ++i) {
                results.expect((copy.aux[4 + i / 2] >> (16 * (i % 2))) & 0xffffU,
                               rounded(static_cast<double>(values[i]), i, draws), context.aux[i]);
            }
        }
    }
    TESSERA_CHECK_NONE(results);
}

TEST_CASE("FP16 arithmetic rounds its FP32 result stochastically", "[unit][isa]") {
    std::mt19937 random(16);
    const isa::FpEnvironment rounding;
    for (const std::string name : {"add", "sub", "mul", "absadd"}) {
        const Instruction v4("f16v4" + name + " $a4:5, $a0:1, $a2:3");
        const Instruction v2("f16v2" + name + " $a4, $a0, $a2");
        Mismatches results;
        for (int n = 0; n < 20000; ++n) {
            isa::Context context;
            context.fp_control = kStochastic;
            context.random = {random() * 0x100000001ULL, random() * 0x9e3779b97f4a7c15ULL};
            const Draws draws = draws_of(context.random);
            std::uint16_t expected[4];
            for (unsigned i = 0; i < 4; ++i) {
                const auto x = static_cast<std::uint16_t>(random() & 0xf7ffU); // below 2^8
                const auto y = static_cast<std::uint16_t>(random() & 0xdfffU); // below 2
                context.aux[i / 2] |= static_cast<std::uint32_t>(x) << (16 * (i % 2));
                context.aux[2 + i / 2] |= static_cast<std::uint32_t>(y) << (16 * (i % 2));
                const double left = half_value(x);
                const double right = half_value(y);
                double exact = left * right;
                if (name != "mul") {
                    exact = name == "add"   ? left + right
                            : name == "sub" ? left - right
                                            : std::fabs(left) + std::fabs(right);
                }
                if (half_is_nan(x) || half_is_infinite(x)) {
                    exact = 0;
                }
                expected[i] = (x & 0x7c00U) == 0x7c00U
                                  ? kNanHalf
                                  : rounded(in_single(mpfr_identity, exact), i, draws);
            }
            for (const isa::Engine& engine : isa::engines()) {
                isa::Context four = context;
                v4(engine, four);
                isa::Context two = context;
                v2(engine, two);
                for (unsigned i = 0; i < 4; ++i) {
                    const unsigned shift = 16 * (i % 2);
                    results.expect((four.aux[4 + i / 2] >> shift) & 0xffffU, expected[i], i);
                    if (i < 2) {
                        results.expect((two.aux[4] >> shift) & 0xffffU, expected[i], i);
                    }
                }
                results.expect(four.random[0], two.random[0], 0);
            }
        }
        INFO(name);
        TESSERA_CHECK_NONE(results);
    }
}

TEST_CASE("stochastic rounding is right on average and exact on halves", "[unit][isa]") {
    const Instruction convert("f32tof16 $a4, $a0");
    isa::Context context;
    context.fp_control = kStochastic;
    constexpr int kDraws = 20000;
    for (const double share : {0.125, 0.5, 0.9}) {
        const auto value = static_cast<float>(1.0 + share * 0x1p-10);
        context.aux[0] = std::bit_cast<std::uint32_t>(value);
        int up = 0;
        for (int n = 0; n < kDraws; ++n) {
            convert(isa::engine(), context);
            CHECK(context.aux[4] >> 16U == (context.aux[4] & 0xffffU)); // one result, twice
            up += (context.aux[4] & 0xffffU) == 0x3c01U ? 1 : 0;
        }
        CHECK(std::fabs(up - share * kDraws) < 5 * std::sqrt(kDraws * share * (1 - share)));
    }
    for (std::uint32_t half = 0; half < 0x7c00; ++half) {
        context.aux[0] = single_bits(half_value(static_cast<std::uint16_t>(half)));
        convert(isa::engine(), context);
        REQUIRE((context.aux[4] & 0xffffU) == half);
    }
    CHECK(context.fp_status == 0);
}

TEST_CASE("stochastic rounding overflows where it reaches 65536", "[unit][isa]") {
    // 65520 rounds to nearest beyond the largest half, and stochastically to it or beyond
    int saturated = 0;
    for (std::uint64_t seed = 1; seed <= 64; ++seed) {
        const Start start{kStochastic | kNanOnOverflow, {seed * 0x9e3779b97f4a7c15ULL, ~seed}};
        const Outcome outcome = outcome_of("f32tof16 $a4, $a0", {0x477ff000}, start);
        const bool over = outcome.flags == kOverflow;
        CHECK((outcome.a[4] & 0xffffU) == (over ? kNanHalf : 0x7bffU));
        saturated += over ? 1 : 0;
    }
    CHECK(saturated > 16);
    CHECK(saturated < 48);
}

TEST_CASE("only the instructions that round stochastically draw random numbers for it",
          "[unit][isa]") {
    const std::set<std::string_view> drawing = {
        "f16v2add", "f16v2sub",    "f16v2mul",   "f16v2absadd", "f16v4add",   "f16v4sub",
        "f16v4mul", "f16v4absadd", "f32tof16",   "f32v2tof16",  "f32v4tof16", "urand32",
        "urand64",  "f16v2grand",  "f32v2grand", "f16v4rmask",  "f32v2rmask"};
    const isa::FpEnvironment rounding;
    unsigned drew = 0;
    for (std::size_t i = 1; i < static_cast<std::size_t>(isa::Opcode::kCount); ++i) {
        const isa::OpcodeSpec& row = isa::spec_of(static_cast<isa::Opcode>(i));
        const std::string_view name = row.mnemonic;
        // accumulators and the matrix unit have their own tests
        const bool elsewhere = row.code >> 24U == 0x37 || row.code >> 24U == 0x38 ||
                               row.code >> 24U == 0x39 || row.code >> 24U >= 0x48 ||
                               name.find("gina") != name.npos || name.find("mix") != name.npos ||
                               name.find("f8") != name.npos;
        if (row.lane != isa::Lane::Aux || elsewhere) {
            continue;
        }
        INFO(name);
        isa::MicroOperation op;
        op.code = static_cast<std::uint16_t>(i);
        op.a = 0;
        op.b = 2;
        op.d = 4;
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context context;
            context.aux[0] = 0x3c013e35;
            context.aux[2] = 0x20012345; // inexact sums and products
            isa::Context exact = context;
            context.fp_control = kStochastic;
            engine.execute(context, op);
            engine.execute(exact, op);
            CHECK((context.random != isa::Context{}.random) == (drawing.count(name) != 0));
            if (drawing.count(name) == 0) {
                CHECK(std::equal(context.aux, context.aux + 8, exact.aux));
            } else {
                ++drew;
            }
        }
    }
    CHECK(drew == drawing.size() * isa::engines().size());
}
