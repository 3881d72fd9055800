// SPDX-License-Identifier: MIT
#include "kernels/codelets/turn_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/random.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

using namespace tessera;

constexpr std::uint32_t kSide = 16;
constexpr std::uint32_t kFours = 4;

/// Where rows of a square stand: what the bits of a row's number add.
struct Rows {
    std::uint32_t one = 0;
    std::uint32_t two = 0;
    std::uint32_t four = 0;

    [[nodiscard]] std::uint32_t row(std::uint32_t number) const {
        return (number & 1U) * one + (number >> 1U & 1U) * two + (number >> 2U) * four;
    }
};

/// Lines of `from` and, behind them, of others.
Cycles expected_cycles(const spec::MachineSpec& machine, std::int64_t lines, std::int64_t others) {
    const std::int64_t workers = machine.tile.workers;
    const auto own = [&](std::int64_t all, std::int64_t w) {
        return all / workers + (w < all % workers ? 1 : 0);
    };
    std::vector<std::int64_t> issues;
    for (std::int64_t w = 0; w < workers; ++w) {
        issues.push_back(codelets::turn_issues(own(lines, w),
                                               own(lines + others, w) - own(lines, w), others > 0));
    }
    return plan::multi_worker_cycles(machine, issues);
}

} // namespace

TEST_CASE("squares are turned, from any rows to any rows, in the predicted cycles", "[kernels]") {
    const Rows plain{32, 64, 128};
    const Rows by_sets{32, 256, 64};
    const Rows apart{40, 96, 200};
    const Rows pairs{32, 96, 200}; // two rows together, then a gap
    for (const std::int64_t workers : {1, 2, 3, 4, 5, 6, 8}) {
        test::CodeletBench bench({"turn"}, workers);
        const Address from = bench.pair(0);
        const Address to = bench.pair(0) + 0x2000;
        const Address list = bench.pair(0) + 0x4000;
        for (const Rows& read : {plain, by_sets, pairs}) {
            for (const Rows& written : {plain, by_sets, apart}) {
                for (const auto& [squares, others] :
                     std::vector<std::pair<std::uint32_t, std::uint32_t>>{
                         {0, 0}, {1, 0}, {3, 0}, {4, 0}, {0, 1}, {1, 1}, {1, 3}, {3, 1}, {2, 2}}) {
                    CAPTURE(workers, read.two, written.two, squares, others);
                    constexpr std::uint32_t kApart = 0x400;
                    constexpr std::uint32_t kOthers = 0x1000; // behind `from`
                    const workload::CounterRandom random(squares + 1, 7);
                    std::vector<std::uint16_t> memory(0x1000);
                    for (std::size_t i = 0; i < memory.size(); ++i) {
                        memory[i] = static_cast<std::uint16_t>(random.bits(i));
                    }
                    const std::vector<std::uint16_t> untouched(memory.size(), 0x5a5a);
                    auto expected = untouched;
                    std::vector<std::uint32_t> lines;
                    for (std::uint32_t square = 0; square < squares + others; ++square) {
                        const bool is_other = square >= squares;
                        const std::uint32_t source =
                            (is_other ? square - squares : square) * kApart;
                        const std::uint32_t target = (squares + others - 1 - square) * kApart;
                        for (std::uint32_t four = 0; four < kFours; ++four) {
                            lines.push_back(source + four * read.four);
                            lines.push_back(target + 8 * four);
                        }
                        for (std::uint32_t i = 0; i < kSide; ++i) {
                            for (std::uint32_t j = 0; j < kSide; ++j) {
                                expected.at((target + written.row(j)) / 2 + i) = memory.at(
                                    (source + (is_other ? kOthers : 0) + read.row(i)) / 2 + j);
                            }
                        }
                    }
                    bench.put<std::uint32_t>(bench.region0_data(),
                                             {from, to, list, squares * kFours, read.two,
                                              written.one, written.two, written.four / 8,
                                              others > 0 ? from + kOthers : from, others * kFours});
                    bench.put(from, memory);
                    bench.put(to, untouched);
                    bench.put(list, lines);
                    const auto outcome = bench.call("turn_f16", program::VertexKind::MultiWorker,
                                                    bench.region0_data());
                    CHECK((bench.get<std::uint16_t>(to, expected.size()) == expected));
                    CHECK(outcome.cycles == expected_cycles(bench.machine(),
                                                            std::int64_t{squares} * kFours,
                                                            std::int64_t{others} * kFours));
                }
            }
        }
    }
}
