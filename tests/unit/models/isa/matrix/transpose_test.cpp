// SPDX-License-Identifier: MIT
// The transpose network: single instructions in AACC numbers, and 4 x 4 transposes of halves
// through it.
#include "tests/unit/models/isa/matrix/worker_under_test.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace tessera;
using namespace tessera::test;

namespace {

using Words = std::array<std::uint32_t, 32>;

Words accumulators(WorkerUnderTest& worker) {
    Words words{};
    for (unsigned i = 0; i < 32; ++i) {
        std::memcpy(&words[i], &worker.accumulator(i), 4);
    }
    return words;
}

} // namespace

TEST_CASE("transpose instructions move any bits as published", "[unit][isa]") {
    for (const isa::Engine& engine : isa::engines()) {
        std::mt19937 random(31);
        WorkerUnderTest worker(engine);
        for (int i = 0; i < 400; ++i) {
            for (unsigned k = 0; k < 32; ++k) {
                const auto word = static_cast<std::uint32_t>(random());
                std::memcpy(&worker.accumulator(k), &word, 4);
            }
            for (unsigned k = 2; k < 6; ++k) {
                worker.context.aux[k] = static_cast<std::uint32_t>(random());
            }
            const Words old = accumulators(worker);
            Words expected = old;
            const auto phase = static_cast<unsigned>(i % 2);
            std::array<std::uint32_t, 2> out{};
            const bool in = i % 4 < 2;
            if (in) {
                out = {old[1], old[3]};
                if (phase == 0) {
                    expected[1] = old[5];
                    expected[3] = old[7];
                }
                for (unsigned j = 0; j < 4; ++j) {
                    const std::uint32_t low = half_at(worker.context.aux + 2, j);
                    const std::uint32_t high = half_at(worker.context.aux + 4, j);
                    expected[4 * j + 2 * phase] = low | (high << 16U);
                }
            } else if (phase == 0) {
                out = {old[0], old[2]};
                for (unsigned k = 1; k <= 11; k += 2) {
                    expected[k] = old[k + 3];
                }
            } else {
                out = {old[1], old[3]};
                for (unsigned k = 1; k <= 7; k += 2) {
                    expected[k] = old[k + 4];
                }
            }
            worker.execute(in ? "f16v4istacc" : "f16v4stacc", 0, 2, 4, static_cast<int>(phase));
            CAPTURE(in, phase);
            CHECK(worker.context.aux[0] == out[0]);
            CHECK(worker.context.aux[1] == out[1]);
            CHECK(accumulators(worker) == expected);
            CHECK(worker.context.fp_status == 0);
        }
    }
}

TEST_CASE("a stream of 4 x 4 blocks of halves leaves transposed", "[unit][isa]") {
    constexpr unsigned kBlocks = 5;
    for (const isa::Engine& engine : isa::engines()) {
        std::mt19937 random(37);
        std::vector<std::uint16_t> in(kBlocks * 16);
        for (auto& half : in) {
            half = static_cast<std::uint16_t>(random()); // any pattern, NaN too
        }
        WorkerUnderTest worker(engine);
        std::vector<std::uint16_t> out;
        const auto take = [&] {
            for (unsigned k = 0; k < 4; ++k) {
                out.push_back(half_at(worker.context.aux, k));
            }
        };
        const auto feed = [&](unsigned block, unsigned phase) {
            std::memcpy(worker.context.aux + 2, &in[16 * block + 8 * phase], 8);
            std::memcpy(worker.context.aux + 4, &in[16 * block + 8 * phase + 4], 8);
            worker.execute("f16v4istacc", 0, 2, 4, static_cast<int>(phase));
        };
        for (unsigned block = 0; block < kBlocks; ++block) {
            // two columns of the block before leave while two rows of this one enter
            feed(block, 0);
            if (block > 0) {
                take();
            }
            feed(block, 1);
            if (block > 0) {
                take();
            }
            worker.execute("f16v4stacc", 0, 0, 0, 0);
            take();
            worker.execute("f16v4stacc", 0, 0, 0, 1);
            take();
        }
        feed(0, 0);
        take();
        feed(0, 1);
        take();
        REQUIRE(out.size() == in.size());
        for (unsigned block = 0; block < kBlocks; ++block) {
            for (unsigned i = 0; i < 16; ++i) {
                CHECK(out[16 * block + i] == in[16 * block + 4 * (i % 4) + i / 4]);
            }
        }
    }
}
