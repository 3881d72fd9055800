// SPDX-License-Identifier: MIT
// Matrix-unit steps against the published form of the same thing: what leaves, what moves and what
// is added in phase 0 and in the others, instead of Tessera's swap, shift and multiply.
#include "tests/unit/models/isa/matrix/worker_under_test.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::test;

namespace {

enum class Values { Halves, Singles };

struct AmpForm {
    const char* mnemonic;
    Values inputs;
    Values partials;
    Values results;
    unsigned sets;
};

constexpr AmpForm kForms[] = {
    {"f16v4hihoamp", Values::Halves, Values::Halves, Values::Halves, 1},
    {"f16v4sihoamp", Values::Halves, Values::Singles, Values::Halves, 1},
    {"f16v4sisoamp", Values::Halves, Values::Singles, Values::Singles, 1},
    {"f16v4hihov4amp", Values::Halves, Values::Halves, Values::Halves, 2},
    {"f32sisoamp", Values::Singles, Values::Singles, Values::Singles, 1},
    {"f32sisov2amp", Values::Singles, Values::Singles, Values::Singles, 2},
};

/// The published machine: AACC[0..31] and what one instruction does to them.
class PublishedUnit {
public:
    std::array<float, 32> aacc{};
    std::array<std::uint64_t, 64> weights{};
    std::uint32_t flags = 0;

    /// The results as they stand in $a0:1 afterwards.
    std::array<std::uint32_t, 2> step(const AmpForm& form, unsigned engines, unsigned phase,
                                      const std::uint32_t* x, const std::uint32_t* p) {
        std::array<float, 4> out{};
        std::array<float, 4> in{};
        const unsigned words = form.inputs == Values::Halves ? 2 * form.sets : 2;
        for (unsigned i = 0; i < words; ++i) {
            if (form.partials == Values::Halves) {
                in[i] = half_operand(half_at(p, i), flags);
            } else if (form.inputs == Values::Halves || form.sets == 2 || phase % 2 == 0) {
                in[i] = single_operand(p[i], flags);
            }
        }
        for (unsigned set = 0; set < form.sets; ++set) {
            const bool whole = form.inputs == Values::Singles;
            const bool moves = !whole || phase % 2 == set;
            const unsigned from = whole ? 0 : 2 * set;
            step_set(form, set, engines, phase, moves, x, &in[from], &out[from]);
        }
        if (form.results == Values::Singles) {
            return {single_result(out[0], flags), single_result(out[1], flags)};
        }
        std::array<std::uint32_t, 2> packed{};
        for (unsigned i = 0; i < 2 * form.sets; ++i) {
            packed[i / 2] |= static_cast<std::uint32_t>(half_result(out[i], flags))
                             << (16U * (i % 2));
        }
        return packed;
    }

private:
    void step_set(const AmpForm& form, unsigned set, unsigned engines, unsigned phase, bool moves,
                  const std::uint32_t* x, const float* in, float* out) {
        const unsigned units = 2 * engines;
        const std::array<float, 32> old = aacc;
        const auto even = [&](unsigned u) { return 16 * set + 2 * u; };
        const auto odd = [&](unsigned u) { return 16 * set + 2 * u + 1; };
        const unsigned leaving_bank = phase == 0 ? 0 : 1;
        if (moves) {
            out[0] = old[16 * set + leaving_bank];
            out[1] = old[16 * set + leaving_bank + 2];
        }
        for (unsigned u = 0; u < units; ++u) {
            const float dot = form.inputs == Values::Halves ? half_dot(x, 8 * set + u, phase % 4)
                                                            : single_dot(x, 8 * set + u, phase);
            aacc[even(u)] = sum(old[phase == 0 ? odd(u) : even(u)], dot);
            if (moves) {
                const bool last = u + 2 >= units;
                aacc[odd(u)] = last         ? in[u + 2 - units]
                               : phase == 0 ? old[even(u + 2)]
                                            : old[odd(u + 2)];
            } else if (phase == 0) {
                aacc[odd(u)] = old[even(u)];
            }
        }
    }

    float half_dot(const std::uint32_t* x, unsigned unit, unsigned n) {
        const std::uint64_t word = weights[unit * 4 + n];
        float dot = 0;
        for (unsigned k = 0; k < 4; ++k) {
            const float weight = half_operand(static_cast<std::uint16_t>(word >> (16 * k)), flags);
            const float input = half_operand(half_at(x, k), flags);
            dot = k == 0 ? input * weight : std::fma(input, weight, dot);
        }
        return dot;
    }

    float single_dot(const std::uint32_t* x, unsigned unit, unsigned phase) {
        const std::uint64_t word = weights[unit * 4 + (phase >> 1U) % 4];
        const auto weight =
            std::bit_cast<float>(static_cast<std::uint32_t>(phase % 2 == 0 ? word : word >> 32U));
        return product(single_operand(x[0], flags), flush(weight));
    }
};

std::uint64_t random_weight(Values kind, std::mt19937& random) {
    const bool halves = kind == Values::Halves;
    const std::uint64_t low = halves ? random_halves(random) : random_single(random);
    const std::uint64_t high = halves ? random_halves(random) : random_single(random);
    return low | (high << 32U);
}

void fill(const AmpForm& form, WorkerUnderTest& worker, PublishedUnit& published,
          std::mt19937& random, bool special_weights) {
    for (unsigned i = 0; i < 64; ++i) {
        published.weights[i] = random_weight(form.inputs, random);
        if (!special_weights && form.inputs == Values::Halves) {
            published.weights[i] &= 0x3fff3fff3fff3fffULL;
        }
        worker.set_weight(i, published.weights[i]);
    }
    for (unsigned i = 0; i < 32; ++i) {
        const float value = std::bit_cast<float>(random_single(random) & 0xc1ffffffU);
        published.aacc[i] = flush(value);
        worker.accumulator(i) = published.aacc[i];
    }
}

/// One step of both, and everything that it may change.
void check_step(const AmpForm& form, WorkerUnderTest& worker, PublishedUnit& published,
                unsigned engines, unsigned phase, std::mt19937& random) {
    std::uint32_t x[2];
    std::uint32_t p[2];
    for (unsigned i = 0; i < 2; ++i) {
        x[i] = form.inputs == Values::Halves ? random_halves(random) : random_single(random);
        p[i] = form.partials == Values::Halves ? random_halves(random) : random_single(random);
        worker.context.aux[i] = 0;
        worker.context.aux[2 + i] = x[i];
        worker.context.aux[4 + i] = p[i];
    }
    worker.context.fp_status = published.flags = 0;
    CAPTURE(form.mnemonic, engines, phase, x[0], x[1], p[0], p[1]);
    const auto expected = published.step(form, engines, phase, x, p);
    worker.execute(form.mnemonic, 0, 2, 4, static_cast<int>((engines - 1) * 16 + phase));
    CHECK(worker.context.aux[0] == expected[0]);
    CHECK(worker.context.aux[1] == expected[1]);
    CHECK(worker.context.fp_status == published.flags);
    for (unsigned i = 0; i < 32; ++i) {
        if (!same(worker.accumulator(i), published.aacc[i])) {
            FAIL_CHECK("AACC[" << i << "] is " << worker.accumulator(i) << " and should be "
                               << published.aacc[i]);
        }
    }
}

} // namespace

TEST_CASE("matrix-unit steps in any order of engines and phases are the published ones",
          "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const AmpForm& form : kForms) {
            std::mt19937 random(3);
            for (int round = 0; round < 12; ++round) {
                WorkerUnderTest worker(engine);
                PublishedUnit published;
                fill(form, worker, published, random, round % 3 == 0);
                for (int i = 0; i < 60; ++i) {
                    check_step(form, worker, published, 1 + random() % 4, random() % 8, random);
                }
            }
        }
    }
}

TEST_CASE("matrix-unit groups of every number of engines are the published ones", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const AmpForm& form : kForms) {
            for (unsigned engines = 1; engines <= 4; ++engines) {
                std::mt19937 random(engines);
                WorkerUnderTest worker(engine);
                PublishedUnit published;
                fill(form, worker, published, random, false);
                const unsigned phases = form.inputs == Values::Halves ? engines : 2 * engines;
                for (unsigned step = 0; step < 6 * phases; ++step) {
                    check_step(form, worker, published, engines, step % phases, random);
                }
            }
        }
    }
}

TEST_CASE("weights follow a change of their registers and of the type they are taken as",
          "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        std::mt19937 random(5);
        WorkerUnderTest worker(engine);
        PublishedUnit published;
        fill(kForms[3], worker, published, random, false);
        for (int i = 0; i < 40; ++i) {
            const AmpForm& form = kForms[random() % std::size(kForms)];
            if (random() % 3 == 0) {
                const auto index = static_cast<unsigned>(random() % 64);
                published.weights[index] = random_weight(form.inputs, random);
                worker.set_weight(index, published.weights[index]);
            }
            check_step(form, worker, published, 4, random() % 4, random);
        }
    }
}

TEST_CASE("a special weight raises a flag where its unit is used in that step and nowhere else",
          "[unit][isa]") {
    struct Row {
        const char* mnemonic;
        unsigned sets;
    };
    constexpr std::uint64_t kSpecial[] = {0x7c00, 0xfc00, 0x7c01, 0x7e00};
    for (const isa::Engine& engine : isa::engines()) {
        for (const Row& row : {Row{"f16v4hihov4amp", 2}, Row{"f16v4sisoamp", 1}}) {
            for (unsigned at = 0; at < 64; ++at) { // CWEI[unit * 4 + phase]
                for (unsigned engines = 1; engines <= 4; ++engines) {
                    const unsigned k = at % 4;
                    const std::uint64_t special = kSpecial[(at / 4 + engines) % 4];
                    WorkerUnderTest worker(engine);
                    worker.set_weight(at, special << (16 * k));
                    const unsigned unit = at / 4;
                    const bool used = unit / 8 < row.sets && unit % 8 < 2 * engines;
                    const bool quiet = special == 0x7e00; // a quiet NaN raises nothing
                    for (const unsigned phase : {at % 4, (at + 1) % 4}) {
                        worker.context.fp_status = 0;
                        worker.execute(row.mnemonic, 0, 2, 4,
                                       static_cast<int>((engines - 1) * 16 + phase));
                        CAPTURE(row.mnemonic, at, engines, phase, special);
                        CHECK(worker.context.fp_status ==
                              (used && !quiet && phase == at % 4 ? kInvalid : 0));
                    }
                }
            }
        }
    }
}

TEST_CASE("a matrix-unit operand that raises a flag stops where its trap is enabled",
          "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        for (const unsigned which : {0U, 1U, 2U, 3U}) {
            WorkerUnderTest worker(engine);
            worker.context.fp_control = kInvalid;
            worker.context.aux[2] = which == 0 ? 0x7c00U : 0x3c00U;
            worker.context.aux[4] = which == 1 ? 0xfc000000U : 0;
            // unit 5 is the third engine's, so two engines do not use it
            worker.set_weight(5 * 4 + 1, which >= 2 ? 0x7c00U : 0);
            const int flag = which == 3 ? 0x11 : 0x31;
            CAPTURE(which);
            if (which == 3) {
                CHECK_NOTHROW(worker.execute("f16v4hihoamp", 0, 2, 4, flag));
            } else {
                CHECK_THROWS_AS(worker.execute("f16v4hihoamp", 0, 2, 4, flag), isa::ExecutionFault);
            }
            CHECK(worker.context.fp_status == (which == 3 ? 0 : kInvalid));
        }
    }
}
