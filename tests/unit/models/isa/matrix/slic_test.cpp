// SPDX-License-Identifier: MIT
// SLIC steps against the published table of accumulators, and as what they are for: convolutions of
// rows.
#include "tests/unit/models/isa/matrix/worker_under_test.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

namespace {

struct SlicForm {
    const char* mnemonic;
    bool half_partials;
    bool half_results;
    unsigned sets;
};

constexpr SlicForm kForms[] = {{"f16v4hihoslic", true, true, 1},
                               {"f16v4sihoslic", false, true, 1},
                               {"f16v4sisoslic", false, false, 1},
                               {"f16v4hihov4slic", true, true, 2}};

constexpr int kFlag1x4 = 0x30;
constexpr int kFlag1x3 = 0x20;

float dot(const std::uint32_t* x, std::uint64_t weight, std::uint32_t& flags) {
    float total = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const float w = half_operand(static_cast<std::uint16_t>(weight >> (16 * k)), flags);
        const float input = half_operand(half_at(x, k), flags);
        total = k == 0 ? input * w : std::fma(input, w, total);
    }
    return total;
}

} // namespace

TEST_CASE("SLIC steps move and add as the published table says", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const SlicForm& form : kForms) {
            std::mt19937 random(17);
            WorkerUnderTest worker(engine);
            std::array<float, 32> aacc{};
            for (unsigned i = 0; i < 64; ++i) {
                const std::uint64_t low = random_halves(random);
                worker.set_weight(i,
                                  low | (static_cast<std::uint64_t>(random_halves(random)) << 32U));
            }
            for (int step = 0; step < 300; ++step) {
                const bool four = random() % 2 == 0;
                const auto n = static_cast<unsigned>(random() % 4);
                if (step % 20 == 0) { // or NaN would fill them
                    for (unsigned i = 0; i < 32; ++i) {
                        aacc[i] = worker.accumulator(i) = static_cast<float>(i);
                    }
                }
                std::uint32_t x[2] = {random_halves(random), random_halves(random)};
                std::uint32_t p[2];
                float in[4] = {};
                std::uint32_t flags = 0;
                for (unsigned i = 0; i < 2; ++i) {
                    p[i] = form.half_partials ? random_halves(random) : random_single(random);
                }
                for (unsigned i = 0; i < 2 * form.sets; ++i) {
                    in[i] = form.half_partials ? half_operand(half_at(p, i), flags)
                                               : single_operand(p[i], flags);
                }
                std::array<float, 4> out{};
                for (unsigned set = 0; set < form.sets; ++set) {
                    const unsigned b = 16 * set;
                    const unsigned units = four ? 8 : 6;
                    const std::array<float, 32> old = aacc;
                    out[2 * set] = old[b];
                    out[2 * set + 1] = old[b + 2];
                    for (unsigned u = 0; u < units; ++u) {
                        const float before =
                            u + 2 < units ? old[b + 2 * u + 4] : in[2 * set + u + 2 - units];
                        aacc[b + 2 * u] = sum(
                            before, dot(x, worker.weights.registers[(8 * set + u) * 4 + n], flags));
                    }
                }
                std::array<std::uint32_t, 2> expected{};
                for (unsigned i = 0; i < 2 * form.sets; ++i) {
                    if (form.half_results) {
                        expected[i / 2] |= static_cast<std::uint32_t>(half_result(out[i], flags))
                                           << (16U * (i % 2));
                    } else {
                        expected[i] = single_result(out[i], flags);
                    }
                }
                for (unsigned i = 0; i < 2; ++i) {
                    worker.context.aux[i] = 0;
                    worker.context.aux[2 + i] = x[i];
                    worker.context.aux[4 + i] = p[i];
                }
                worker.context.fp_status = 0;
                worker.execute(form.mnemonic, 0, 2, 4,
                               (four ? kFlag1x4 : kFlag1x3) + static_cast<int>(n));
                CAPTURE(form.mnemonic, four, n, step);
                CHECK(worker.context.aux[0] == expected[0]);
                CHECK(worker.context.aux[1] == expected[1]);
                CHECK(worker.context.fp_status == flags);
                for (unsigned i = 0; i < 32; ++i) {
                    if (!same(worker.accumulator(i), aacc[i])) {
                        FAIL_CHECK("AACC[" << i << "] is " << worker.accumulator(i)
                                           << " and should be " << aacc[i]);
                    }
                }
            }
        }
    }
}

namespace {

constexpr int kChannels = 4;

/// out[i][c] = sum over taps t and channels k of x[i * stride + t][k] * w[t][c][k], in whole
/// numbers.
std::vector<int> convolve(const std::vector<int>& x, const std::vector<int>& w, int taps,
                          int stride, int results) {
    std::vector<int> out(static_cast<std::size_t>(2 * results));
    for (int i = 0; i < results; ++i) {
        for (int c = 0; c < 2; ++c) {
            for (int t = 0; t < taps; ++t) {
                for (int k = 0; k < kChannels; ++k) {
                    out[static_cast<std::size_t>(2 * i + c)] +=
                        x[static_cast<std::size_t>((i * stride + t) * kChannels + k)] *
                        w[static_cast<std::size_t>((t * 2 + c) * kChannels + k)];
                }
            }
        }
    }
    return out;
}

/// Stride 1 feeds every position once: tap t of a result is weighted at the step of its position,
/// so unit pair j from the start of the chain, which a sum reaches after U/2 - 1 - j moves, has tap
/// U/2 - 1 - j. Stride 2 gives each result its own window: even and odd positions are passes of
/// their own that take alternate taps, with the results of the first as the partials of the second.
std::vector<int> by_slic(const isa::Engine& engine, const SlicForm& form, const std::vector<int>& x,
                         const std::vector<int>& w, int taps, int stride, int results) {
    std::vector<int> partials(static_cast<std::size_t>(2 * results));
    const int chain = taps; // engines
    for (int pass = 0; pass < stride; ++pass) {
        WorkerUnderTest worker(engine);
        for (int engine_number = 0; engine_number < chain; ++engine_number) {
            const int tap = (chain - 1 - engine_number) * stride + pass;
            for (int c = 0; c < 2; ++c) {
                std::uint64_t word = 0;
                for (int k = 0; k < kChannels && tap < taps; ++k) {
                    const auto value = static_cast<float>(
                        w[static_cast<std::size_t>((tap * 2 + c) * kChannels + k)]);
                    word |= static_cast<std::uint64_t>(f32_to_f16(value)) << (16 * k);
                }
                const auto unit = static_cast<unsigned>(2 * engine_number + c);
                worker.set_weight(unit * 4 + 1, word);
                worker.set_weight((8 + unit) * 4 + 1, word);
            }
        }
        std::vector<int> out;
        const auto positions = static_cast<int>(x.size()) / kChannels;
        for (int step = 0; step < results + chain; ++step) {
            const int position = step * stride + pass;
            std::uint32_t halves[2] = {};
            for (int k = 0; k < kChannels && position < positions; ++k) {
                const auto value =
                    static_cast<float>(x[static_cast<std::size_t>(position * kChannels + k)]);
                halves[k / 2] |= static_cast<std::uint32_t>(f32_to_f16(value)) << (16 * (k % 2));
            }
            std::uint32_t p[2] = {};
            for (int c = 0; c < 2 && step < results; ++c) {
                const auto value =
                    static_cast<float>(partials[static_cast<std::size_t>(2 * step + c)]);
                if (form.half_partials) {
                    p[0] |= static_cast<std::uint32_t>(f32_to_f16(value)) << (16 * c);
                } else {
                    p[c] = std::bit_cast<std::uint32_t>(value);
                }
            }
            p[1] = form.sets == 2 ? p[0] : p[1];
            for (unsigned i = 0; i < 2; ++i) {
                worker.context.aux[2 + i] = halves[i];
                worker.context.aux[4 + i] = p[i];
            }
            worker.execute(form.mnemonic, 0, 2, 4, (taps == 4 ? kFlag1x4 : kFlag1x3) + 1);
            for (int c = 0; c < 2 && step >= chain; ++c) {
                const std::uint32_t* d = worker.context.aux;
                const float value = form.half_results
                                        ? f16_to_f32(half_at(d, static_cast<unsigned>(c)))
                                        : std::bit_cast<float>(d[c]);
                out.push_back(static_cast<int>(value));
                if (form.sets == 2) {
                    CHECK(half_at(d, static_cast<unsigned>(2 + c)) ==
                          half_at(d, static_cast<unsigned>(c)));
                }
            }
        }
        partials = out;
    }
    return partials;
}

} // namespace

TEST_CASE("SLIC convolves rows with three and four taps at strides one and two", "[unit][isa]") {
    constexpr int kResults = 19;
    std::mt19937 random(23);
    const auto draw = [&random] { return static_cast<int>(random() % 9) - 4; };
    for (const isa::Engine& engine : isa::engines()) {
        for (const SlicForm& form : kForms) {
            for (const int taps : {3, 4}) {
                for (const int stride : {1, 2}) {
                    std::vector<int> x(
                        static_cast<std::size_t>(kChannels * (kResults * stride + taps)));
                    std::vector<int> w(static_cast<std::size_t>(taps * 2 * kChannels));
                    std::generate(x.begin(), x.end(), draw);
                    std::generate(w.begin(), w.end(), draw);
                    CAPTURE(form.mnemonic, taps, stride);
                    CHECK(by_slic(engine, form, x, w, taps, stride, kResults) ==
                          convolve(x, w, taps, stride, kResults));
                }
            }
        }
    }
}

TEST_CASE("FP32 SLIC assembles and is not modelled", "[unit][isa]") {
    for (const char* mnemonic : {"f32sisoslic", "f32sisov2slic"}) {
        WorkerUnderTest worker(isa::engine());
        try {
            worker.execute(mnemonic, 0, 2, 4, kFlag1x4);
            FAIL("executed");
        } catch (const isa::ExecutionFault& fault) {
            CHECK(fault.not_modelled);
            CHECK(fault.reason.find(mnemonic) != std::string::npos);
        }
    }
}
