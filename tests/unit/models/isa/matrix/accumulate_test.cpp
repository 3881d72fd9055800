// SPDX-License-Identifier: MIT
// Instructions on accumulators outside the matrix unit, against their definitions in AACC numbers.
#include "tests/unit/models/isa/matrix/worker_under_test.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

using namespace tessera;
using namespace tessera::test;

namespace {

/// What an instruction is to do: inputs are $a4:7 and $a2:3 and TAS, results are $a0:1.
struct Machine {
    std::array<float, 32> aacc{};
    std::array<std::uint32_t, 4> quad{}; ///< $a4:7
    std::array<std::uint32_t, 2> pair{}; ///< $a2:3
    std::uint32_t tas = 0;
    std::array<std::uint32_t, 2> result{};
    std::uint32_t flags = 0;

    float h(unsigned k) { return half_operand(half_at(quad.data(), k), flags); }
    float h2(unsigned k) { return half_operand(half_at(pair.data(), k), flags); }
    float s(unsigned k) { return single_operand(quad[k], flags); }
    float s2(unsigned k) { return single_operand(pair[k], flags); }
};

/// a * b + c * d with one rounding: products of halves have 22 bits, their sum is exact in 80-bit
/// arithmetic only up to 64 bits, so the check keeps exponents near enough (random_half does) or
/// meets a NaN.
float dot2(float a, float b, float c, float d) {
    const long double exact = static_cast<long double>(a) * static_cast<long double>(b) +
                              static_cast<long double>(c) * static_cast<long double>(d);
    return static_cast<float>(exact);
}

struct Case {
    const char* mnemonic;
    bool halves; ///< inputs are FP16
    unsigned a;
    unsigned b;
    std::function<void(Machine&)> expected;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        {"f32mac", false, 4, 2,
         [](Machine& m) { m.aacc[0] = sum(m.aacc[0], product(m.s(0), m.s2(0))); }},
        {"f32v2mac", false, 4, 2,
         [](Machine& m) {
             m.aacc[0] = sum(m.aacc[0], product(m.s(0), m.s2(0)));
             m.aacc[2] = sum(m.aacc[2], product(m.s(1), m.s2(1)));
         }},
        {"f32v2aop", false, 4, 2,
         [](Machine& m) {
             m.aacc[0] = sum(m.aacc[0], product(m.s(0), m.s2(0)));
             m.aacc[2] = sum(m.aacc[2], product(m.s(1), m.s2(0)));
             m.aacc[4] = sum(m.aacc[4], product(m.s(0), m.s2(1)));
             m.aacc[6] = sum(m.aacc[6], product(m.s(1), m.s2(1)));
         }},
        {"f16v2cmac", true, 4, 2,
         [](Machine& m) { m.aacc[0] = sum(m.aacc[0], dot2(m.h(0), m.h2(0), m.h(1), m.h2(1))); }},
        {"f16v4cmac", true, 4, 2,
         [](Machine& m) {
             m.aacc[0] = sum(m.aacc[0], dot2(m.h(0), m.h2(0), m.h(1), m.h2(1)));
             m.aacc[2] = sum(m.aacc[2], dot2(m.h(2), m.h2(2), m.h(3), m.h2(3)));
         }},
        {"f32v4acc", false, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 m.aacc[2 * k] = sum(m.aacc[2 * k], m.s(k));
             }
         }},
        {"f16v4acc", true, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 m.aacc[2 * k] = sum(m.aacc[2 * k], m.h(k));
             }
         }},
        {"f16v8acc", true, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 8; ++k) {
                 m.aacc[2 * k] = sum(m.aacc[2 * k], m.h(k));
             }
         }},
        {"f32v4absacc", false, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 m.aacc[2 * k] = sum(std::fabs(m.aacc[2 * k]), std::fabs(m.s(k)));
             }
         }},
        {"f16v4absacc", true, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 m.aacc[2 * k] = sum(std::fabs(m.aacc[2 * k]), std::fabs(m.h(k)));
             }
         }},
        {"f16v8absacc", true, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 8; ++k) {
                 m.aacc[2 * k] = sum(std::fabs(m.aacc[2 * k]), std::fabs(m.h(k)));
             }
         }},
        {"f32v4sqacc", false, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 const float x = m.s(k);
                 m.aacc[2 * k] = sum(m.aacc[2 * k], product(x, x));
             }
         }},
        {"f16v8sqacc", true, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 8; ++k) {
                 const float x = m.h(k);
                 m.aacc[2 * k] = sum(m.aacc[2 * k], product(x, x));
             }
         }},
        {"f16v4gacc", true, 4, 0,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 m.result[k / 2] |= static_cast<std::uint32_t>(half_result(m.aacc[2 * k], m.flags))
                                    << (16 * (k % 2));
             }
         }},
        {"f32v2axpy", false, 4, 2,
         [](Machine& m) {
             for (unsigned k = 0; k < 2; ++k) {
                 m.result[k] = single_result(m.aacc[2 * k], m.flags);
                 const float scaled = product(single_operand(m.tas, m.flags), m.s(k));
                 m.aacc[2 * k] = sum(scaled, m.s2(k));
             }
         }},
        {"f16v4mix", true, 4, 2,
         [](Machine& m) {
             for (unsigned k = 0; k < 4; ++k) {
                 m.result[k / 2] |= static_cast<std::uint32_t>(half_result(m.aacc[2 * k], m.flags))
                                    << (16 * (k % 2));
                 m.aacc[2 * k] =
                     dot2(half_operand(static_cast<std::uint16_t>(m.tas), m.flags), m.h(k),
                          half_operand(static_cast<std::uint16_t>(m.tas >> 16U), m.flags), m.h2(k));
             }
         }},
    };
    return all;
}

void load(WorkerUnderTest& worker, const Machine& m) {
    for (unsigned i = 0; i < 4; ++i) {
        worker.context.aux[4 + i] = m.quad[i];
    }
    for (unsigned i = 0; i < 2; ++i) {
        worker.context.aux[i] = 0;
        worker.context.aux[2 + i] = m.pair[i];
    }
    worker.context.tas = m.tas;
    worker.context.fp_status = 0;
}

void check(WorkerUnderTest& worker, const Machine& m) {
    CHECK(worker.context.aux[0] == m.result[0]);
    CHECK(worker.context.aux[1] == m.result[1]);
    CHECK(worker.context.fp_status == m.flags);
    for (unsigned i = 0; i < 32; ++i) {
        if (!same(worker.accumulator(i), m.aacc[i])) {
            FAIL_CHECK("AACC[" << i << "] is " << worker.accumulator(i) << " and should be "
                               << m.aacc[i]);
        }
    }
}

} // namespace

TEST_CASE("accumulator instructions add what their definitions say", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const Case& instruction : cases()) {
            std::mt19937 random(29);
            WorkerUnderTest worker(engine);
            for (int i = 0; i < 400; ++i) {
                Machine m;
                for (unsigned k = 0; k < 32; ++k) {
                    const std::uint32_t bits = random_single(random);
                    m.aacc[k] = (bits & 0x7fffffffU) > 0x7f800000U
                                    ? 1.0F
                                    : flush(std::bit_cast<float>(bits));
                    worker.accumulator(k) = m.aacc[k];
                }
                const auto draw = [&] {
                    return instruction.halves ? random_halves(random) : random_single(random);
                };
                std::generate(m.quad.begin(), m.quad.end(), draw);
                std::generate(m.pair.begin(), m.pair.end(), draw);
                m.tas = draw();
                load(worker, m);
                CAPTURE(instruction.mnemonic, i);
                instruction.expected(m);
                worker.execute(instruction.mnemonic, 0, instruction.a, instruction.b, 0);
                check(worker, m);
            }
        }
    }
}

TEST_CASE("a squared or multiplied value is rounded before it is added", "[unit][isa]") {
    // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last bit is lost before the sum with -1
    const float x = 1.0F + 0x1p-12F;
    for (const isa::Engine& engine : isa::engines()) {
        for (const std::string mnemonic : {"f32v4sqacc", "f32mac", "f32v2mac", "f32v2aop"}) {
            WorkerUnderTest worker(engine);
            worker.accumulator(0) = -1.0F;
            worker.context.aux[4] = worker.context.aux[2] = std::bit_cast<std::uint32_t>(x);
            worker.execute(mnemonic, 0, 4, 2, 0);
            CAPTURE(mnemonic);
            CHECK(worker.accumulator(0) == 0x1p-11F);
        }
        WorkerUnderTest worker(engine);
        worker.context.tas = worker.context.aux[4] = std::bit_cast<std::uint32_t>(x);
        worker.context.aux[2] = std::bit_cast<std::uint32_t>(-1.0F);
        worker.execute("f32v2axpy", 0, 4, 2, 0);
        CHECK(worker.accumulator(0) == 0x1p-11F);
    }
}

TEST_CASE("read-and-shift moves one bank of one set", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const bool half : {false, true}) {
            for (int constant = 0; constant < 4; ++constant) {
                WorkerUnderTest worker(engine);
                std::array<float, 32> expected{};
                for (unsigned i = 0; i < 32; ++i) {
                    expected[i] = worker.accumulator(i) = static_cast<float>(i) + 0.5F;
                }
                const auto b = static_cast<unsigned>(constant % 2 + 16 * (constant / 2));
                const float out[2] = {expected[b], expected[b + 2]};
                for (unsigned k = 0; k <= 10; k += 2) {
                    expected[b + k] = expected[b + k + 4];
                }
                expected[b + 12] = -3.0F;
                expected[b + 14] = 1024.0F;
                const std::uint32_t packed =
                    f32_to_f16(-3.0F) | (static_cast<std::uint32_t>(f32_to_f16(1024.0F)) << 16U);
                worker.context.aux[2] = half ? packed : std::bit_cast<std::uint32_t>(-3.0F);
                worker.context.aux[3] = std::bit_cast<std::uint32_t>(1024.0F);
                worker.execute(half ? "f16v2gina" : "f32v2gina", 0, 2, 0, constant);
                CAPTURE(half, constant);
                for (unsigned i = 0; i < 2; ++i) {
                    const float value = half ? f16_to_f32(half_at(worker.context.aux, i))
                                             : std::bit_cast<float>(worker.context.aux[i]);
                    CHECK(value == out[i]);
                }
                for (unsigned i = 0; i < 32; ++i) {
                    CHECK(worker.accumulator(i) == expected[i]);
                }
            }
        }
    }
}

TEST_CASE("flags of what enters and leaves accumulators", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        WorkerUnderTest worker(engine);
        worker.context.aux[2] = 0xfc007e00; // a quiet NaN and an infinity
        worker.execute("f16v2gina", 0, 2, 0, 0);
        CHECK(worker.context.fp_status == kInvalid);
        CHECK(std::isnan(worker.accumulator(12)));
        CHECK(std::isnan(worker.accumulator(14)));

        worker.context.fp_status = 0;
        worker.accumulator(0) = 1e6F;
        worker.accumulator(2) = -1e6F;
        worker.execute("f16v2gina", 0, 6, 0, 0);
        CHECK(worker.context.aux[0] == 0xfbff7bffU);
        CHECK(worker.context.fp_status == kOverflow);

        worker.context.fp_control = kNanOnOverflow;
        worker.accumulator(0) = 1e6F;
        worker.execute("f16v2gina", 0, 6, 0, 0);
        CHECK((worker.context.aux[0] & 0xffffU) == kNanHalf);

        worker.context.fp_status = worker.context.fp_control = 0;
        worker.accumulator(0) = 3e38F;
        worker.context.aux[4] = std::bit_cast<std::uint32_t>(3e38F);
        worker.context.aux[5] = worker.context.aux[6] = worker.context.aux[7] = 0;
        worker.execute("f32v4acc", 0, 4, 0, 0);
        CHECK(worker.context.fp_status == 0); // raised where the sum leaves
        worker.execute("f32v2gina", 0, 6, 0, 0);
        CHECK(worker.context.aux[0] == 0x7f800000U);
        CHECK(worker.context.fp_status == kOverflow);
    }
}

TEST_CASE("axpy and mix loops deliver each result with the next instruction", "[unit][isa]") {
    constexpr unsigned kSteps = 9;
    for (const isa::Engine& engine : isa::engines()) {
        WorkerUnderTest worker(engine);
        worker.context.tas = std::bit_cast<std::uint32_t>(3.0F);
        for (unsigned i = 0; i <= kSteps; ++i) {
            const float x[2] = {static_cast<float>(i), static_cast<float>(i) + 0.25F};
            const float y[2] = {100.0F * static_cast<float>(i), -7.0F};
            for (unsigned k = 0; k < 2; ++k) {
                worker.context.aux[4 + k] = std::bit_cast<std::uint32_t>(x[k]);
                worker.context.aux[2 + k] = std::bit_cast<std::uint32_t>(y[k]);
            }
            worker.execute("f32v2axpy", 0, 4, 2, 0);
            const float before = static_cast<float>(i) - 1.0F;
            if (i > 0) {
                CHECK(std::bit_cast<float>(worker.context.aux[0]) == 103.0F * before);
                CHECK(std::bit_cast<float>(worker.context.aux[1]) ==
                      3.0F * (before + 0.25F) - 7.0F);
            }
        }
        worker.context.tas =
            f32_to_f16(2.0F) | (static_cast<std::uint32_t>(f32_to_f16(-0.5F)) << 16U);
        for (unsigned i = 0; i <= kSteps; ++i) {
            for (unsigned k = 0; k < 4; ++k) {
                std::uint32_t& x = worker.context.aux[4 + k / 2];
                std::uint32_t& y = worker.context.aux[2 + k / 2];
                const unsigned shift = 16 * (k % 2);
                const std::uint32_t keep = k % 2 == 0 ? 0 : 0xffffU;
                x = (x & keep) |
                    (static_cast<std::uint32_t>(f32_to_f16(static_cast<float>(i + k))) << shift);
                y = (y & keep) |
                    (static_cast<std::uint32_t>(f32_to_f16(static_cast<float>(4 * i))) << shift);
            }
            worker.execute("f16v4mix", 0, 4, 2, 0);
            for (unsigned k = 0; k < 4 && i > 0; ++k) {
                const auto last = static_cast<float>(i - 1);
                CHECK(f16_to_f32(half_at(worker.context.aux, k)) ==
                      2.0F * (last + static_cast<float>(k)) - 0.5F * 4.0F * last);
            }
        }
    }
}
