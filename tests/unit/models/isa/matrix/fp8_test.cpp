// SPDX-License-Identifier: MIT
// FP8: every code of both formats, every half, and the matrix unit on FP8 inputs, against plain
// double arithmetic. Pins docs/deviations.md#fp8.
#include "tests/unit/models/isa/matrix/worker_under_test.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Fp8 {
    int fraction_bits;
    int bias;
    unsigned format; ///< FP_NFMT: this format for data and weights
};

constexpr Fp8 kF143{3, 8, 3};
constexpr Fp8 kF152{2, 16, 0};

double value_of(unsigned code, const Fp8& format) {
    if (code == 0x80) {
        return std::nan("");
    }
    const int exponent = static_cast<int>((code & 0x7fU) >> format.fraction_bits);
    const double fraction =
        std::ldexp(code & ((1U << format.fraction_bits) - 1U), -format.fraction_bits);
    const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                                           : std::ldexp(1.0 + fraction, exponent - format.bias);
    return (code & 0x80U) != 0 ? -magnitude : magnitude;
}

/// The code of the nearest value, found by looking at all; the even code of two.
unsigned nearest(double value, const Fp8& format) {
    unsigned best = 0;
    for (unsigned code = 1; code < 0x80; ++code) {
        const double distance = std::fabs(std::fabs(value) - value_of(code, format));
        const double least = std::fabs(std::fabs(value) - value_of(best, format));
        if (distance < least || (distance == least && code % 2 == 0)) {
            best = code;
        }
    }
    return best == 0 || value > 0 ? best : best | 0x80U;
}

/// The smallest magnitude that rounds beyond the largest value: half a step above it.
double overflow_from(const Fp8& format) {
    return value_of(0x7f, format) + (value_of(0x7f, format) - value_of(0x7e, format)) / 2;
}

} // namespace

TEST_CASE("every FP8 code becomes the FP16 of its value and scale", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const Fp8& format : {kF143, kF152}) {
            for (const int scale : {0, 1, -1, 7, -20, 31, -32}) {
                WorkerUnderTest worker(engine);
                worker.context.fp_format = format.format;
                worker.context.fp_scale = static_cast<std::uint32_t>(scale) & 0x3fU;
                for (unsigned code = 0; code < 256; ++code) {
                    std::uint32_t flags = 0;
                    const auto value =
                        static_cast<float>(std::ldexp(value_of(code, format), scale));
                    const std::uint32_t expected = half_result(value, flags);
                    CAPTURE(format.bias, scale, code);
                    worker.context.fp_status = 0;
                    worker.context.aux[4] = code * 0x01010101U;
                    worker.execute("f8v4tof16", 0, 4, 0, 0);
                    CHECK(worker.context.aux[0] == expected * 0x10001U);
                    CHECK(worker.context.aux[1] == expected * 0x10001U);
                    CHECK(worker.context.fp_status == flags);
                    worker.context.aux[1] = 7;
                    worker.context.aux[4] = code | 0x3100U;
                    worker.execute("f8v2tof16", 0, 4, 0, 0);
                    CHECK((worker.context.aux[0] & 0xffffU) == expected);
                    const auto second =
                        static_cast<float>(std::ldexp(value_of(0x31, format), scale));
                    CHECK(worker.context.aux[0] >> 16U == half_result(second, flags));
                    CHECK(worker.context.aux[1] == 7);
                }
            }
        }
    }
}

TEST_CASE("every half becomes the nearest FP8 code", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const Fp8& format : {kF143, kF152}) {
            for (const int scale : {0, -3, 12}) {
                WorkerUnderTest worker(engine);
                worker.context.fp_format = format.format;
                worker.context.fp_scale = static_cast<std::uint32_t>(scale) & 0x3fU;
                unsigned wrong = 0;
                for (unsigned first = 0; first < 0x10000; first += 8) {
                    for (unsigned i = 0; i < 4; ++i) {
                        const unsigned low = first + 2 * i;
                        worker.context.aux[4 + i] = low | ((low + 1) << 16U);
                    }
                    worker.context.fp_status = 0;
                    worker.execute("f16v8tof8", 0, 4, 0, 0);
                    std::uint32_t flags = 0;
                    for (unsigned i = 0; i < 8; ++i) {
                        const double value = std::ldexp(
                            half_operand(static_cast<std::uint16_t>(first + i), flags), scale);
                        const bool overflows = std::fabs(value) >= overflow_from(format);
                        flags |= overflows ? kOverflow : 0;
                        const unsigned expected = std::isnan(value) ? 0x80U
                                                  : overflows       ? (value < 0 ? 0xffU : 0x7fU)
                                                                    : nearest(value, format);
                        const unsigned code =
                            (worker.context.aux[i / 4] >> (8U * (i % 4U))) & 0xffU;
                        if (code != expected && wrong++ < 5) {
                            FAIL_CHECK("half " << first + i << " became " << code
                                               << " and should be " << expected << ", bias "
                                               << format.bias << ", scale " << scale);
                        }
                    }
                    CHECK(worker.context.fp_status == flags);
                }
            }
        }
    }
}

TEST_CASE("an FP8 result beyond the largest is NaN where FP_CTL says so", "[unit][isa]") {
    WorkerUnderTest worker(isa::engine());
    worker.context.fp_format = kF143.format;
    worker.context.fp_control = kNanOnOverflow;
    worker.context.aux[4] = 0x5c005bc0; // 256 and 248: both round beyond 240
    worker.context.aux[5] = 0x00005bbf; // just below 248, and zero
    worker.execute("f16v8tof8", 0, 4, 0, 0);
    CHECK(worker.context.aux[0] == 0x007f8080U);
}

TEST_CASE("FP8 rounds stochastically to one of two neighbours in the right proportion",
          "[unit][isa]") {
    for (const Fp8& format : {kF143, kF152}) {
        WorkerUnderTest worker(isa::engine());
        worker.context.fp_control = kStochastic;
        worker.context.fp_format = format.format;
        worker.context.random = {0x1234567, 0x89abcdef};
        // a quarter of the way from one value to the next, in a normal and in the subnormal range
        for (const unsigned code : {0x31U, 0x01U}) {
            const double low = value_of(code, format);
            const double step = value_of(code + 1, format) - low;
            const std::uint32_t half = f32_to_f16(static_cast<float>(low + step / 4));
            std::fill_n(worker.context.aux + 4, 4, half * 0x10001U);
            constexpr int kRuns = 2000;
            int up = 0;
            for (int i = 0; i < kRuns; ++i) {
                worker.execute("f16v8tof8", 0, 4, 0, 0);
                for (unsigned k = 0; k < 8; ++k) {
                    const unsigned got = (worker.context.aux[k / 4] >> (8U * (k % 4U))) & 0xffU;
                    REQUIRE((got == code || got == code + 1));
                    up += got == code ? 0 : 1;
                }
            }
            CHECK(up > kRuns * 8 * 23 / 100);
            CHECK(up < kRuns * 8 * 27 / 100);
        }
    }
}

namespace {

/// Eight products in lane order, each rounded as the chain goes, then scaled.
float dot8(const std::uint32_t* x, std::uint64_t weight, const Fp8& data, const Fp8& weights,
           int scale) {
    float dot = 0;
    for (unsigned k = 0; k < 8; ++k) {
        const auto input = static_cast<float>(value_of((x[k / 4] >> (8 * (k % 4))) & 0xffU, data));
        const auto w = static_cast<float>(value_of((weight >> (8 * k)) & 0xffU, weights));
        dot = k == 0 ? input * w : std::fma(input, w, dot);
    }
    return std::ldexp(dot, scale);
}

} // namespace

TEST_CASE("the matrix unit and SLIC take FP8 inputs in the formats and the scale that are set",
          "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        std::mt19937 random(43);
        WorkerUnderTest worker(engine);
        for (int i = 0; i < 600; ++i) {
            if (i % 10 == 0) {
                for (unsigned index = 0; index < 64; ++index) {
                    std::uint64_t word = random() | (static_cast<std::uint64_t>(random()) << 32U);
                    if (i % 50 != 0) { // few NaN
                        word |= 0x0101010101010101ULL;
                    }
                    worker.set_weight(index, word);
                }
                for (unsigned k = 0; k < 32; ++k) {
                    worker.accumulator(k) = static_cast<float>(static_cast<int>(random() % 99));
                }
            }
            const auto formats = static_cast<unsigned>(random() % 4);
            const Fp8& data = formats % 2 == 0 ? kF152 : kF143;
            const Fp8& kind = formats / 2 == 0 ? kF152 : kF143;
            const int scale = static_cast<int>(random() % 9) - 4;
            worker.context.fp_format = formats;
            worker.context.fp_scale = static_cast<std::uint32_t>(scale) & 0x3fU;
            const auto engines = static_cast<unsigned>(1 + random() % 4);
            const auto phase = static_cast<unsigned>(random() % 4);
            const bool slic = random() % 2 == 0;
            for (unsigned k = 0; k < 2; ++k) {
                worker.context.aux[2 + k] = static_cast<std::uint32_t>(random()) | 0x01010101U;
                worker.context.aux[4 + k] = random_halves(random) & 0x3fff3fffU;
            }
            std::array<float, 32> aacc{};
            for (unsigned k = 0; k < 32; ++k) {
                aacc[k] = worker.accumulator(k);
            }
            const std::array<float, 32> old = aacc;
            std::array<std::uint32_t, 2> out{};
            std::uint32_t flags = 0;
            for (unsigned set = 0; set < 2; ++set) {
                const unsigned b = 16 * set;
                const unsigned from = slic || phase == 0 ? b : b + 1;
                out[set] = half_result(old[from], flags) |
                           (static_cast<std::uint32_t>(half_result(old[from + 2], flags)) << 16U);
                for (unsigned u = 0; u < 2 * engines; ++u) {
                    const float dot = dot8(worker.context.aux + 2,
                                           worker.weights.registers[(8 * set + u) * 4 + phase],
                                           data, kind, scale);
                    const bool last = u + 2 >= 2 * engines;
                    const float in = last ? f16_to_f32(half_at(worker.context.aux + 4,
                                                               2 * set + u + 2 - 2 * engines))
                                          : 0.0F;
                    const unsigned even = b + 2 * u;
                    if (slic) {
                        aacc[even] = sum(last ? in : old[even + 4], dot);
                    } else {
                        aacc[even] = sum(phase == 0 ? old[even + 1] : old[even], dot);
                        aacc[even + 1] = last ? in : phase == 0 ? old[even + 4] : old[even + 5];
                    }
                }
            }
            worker.execute(slic ? "f8v8hihov4slic" : "f8v8hihov4amp", 0, 2, 4,
                           static_cast<int>((engines - 1) * 16 + phase));
            CAPTURE(slic, engines, phase, formats, scale);
            CHECK(worker.context.aux[0] == out[0]);
            CHECK(worker.context.aux[1] == out[1]);
            for (unsigned k = 0; k < 32; ++k) {
                if (!same(worker.accumulator(k), aacc[k])) {
                    FAIL_CHECK("AACC[" << k << "] is " << worker.accumulator(k) << " and should be "
                                       << aacc[k]);
                }
            }
        }
    }
}

TEST_CASE("a pass of FP8 inputs by the published recipe is the exact product", "[unit][isa]") {
    constexpr unsigned kPixels = 4;
    constexpr unsigned kInputs = 32;
    constexpr unsigned kOutputs = 16;
    const auto code_of = [](int value) { return nearest(value, kF143); };
    for (const isa::Engine& engine : isa::engines()) {
        std::mt19937 random(47);
        const auto draw = [&random] { return static_cast<int>(random() % 7) - 3; };
        std::vector<int> x(kPixels * kInputs);
        std::vector<int> w(kOutputs * kInputs);
        std::vector<int> p(kPixels * kOutputs);
        for (auto* values : {&x, &w, &p}) {
            std::generate(values->begin(), values->end(), draw);
        }
        WorkerUnderTest worker(engine);
        worker.context.fp_format = kF143.format;
        for (unsigned c = 0; c < kOutputs; ++c) {
            const unsigned unit = 8 * ((c >> 1U) & 1U) + 2 * (c >> 2U) + (c & 1U);
            for (unsigned n = 0; n < 4; ++n) {
                std::uint64_t word = 0;
                for (unsigned k = 0; k < 8; ++k) {
                    word |= static_cast<std::uint64_t>(code_of(w[c * kInputs + 8 * n + k]))
                            << (8 * k);
                }
                worker.set_weight(unit * 4 + n, word);
            }
        }
        std::vector<int> results;
        for (unsigned group = 0; group < kPixels + 2; ++group) {
            for (unsigned phase = 0; phase < 4; ++phase) {
                std::fill_n(worker.context.aux + 2, 4, 0U);
                for (unsigned k = 0; k < 8 && group >= 1 && group <= kPixels; ++k) {
                    worker.context.aux[2 + k / 4] |=
                        code_of(x[(group - 1) * kInputs + 8 * phase + k]) << (8 * (k % 4));
                }
                for (unsigned k = 0; k < 4 && group < kPixels; ++k) {
                    const auto partial = static_cast<float>(p[group * kOutputs + 4 * phase + k]);
                    worker.context.aux[4 + k / 2] |= static_cast<std::uint32_t>(f32_to_f16(partial))
                                                     << (16 * (k % 2));
                }
                worker.execute("f8v8hihov4amp", 0, 2, 4, static_cast<int>(0x30 + phase));
                for (unsigned k = 0; k < 4 && group >= 2; ++k) {
                    results.push_back(static_cast<int>(f16_to_f32(half_at(worker.context.aux, k))));
                }
            }
        }
        REQUIRE(results.size() == p.size());
        for (unsigned pixel = 0; pixel < kPixels; ++pixel) {
            for (unsigned c = 0; c < kOutputs; ++c) {
                int expected = p[pixel * kOutputs + c];
                for (unsigned k = 0; k < kInputs; ++k) {
                    expected += x[pixel * kInputs + k] * w[c * kInputs + k];
                }
                CHECK(results[pixel * kOutputs + c] == expected);
            }
        }
    }
}
