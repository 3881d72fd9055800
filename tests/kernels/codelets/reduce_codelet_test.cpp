// SPDX-License-Identifier: MIT
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>

namespace {

using namespace tessera;

} // namespace

TEST_CASE("a reduction adds its slices to its own share in the predicted cycles", "[kernels]") {
    for (const codelets::ProductTypes& types : test::kProductTypes) {
        const auto unit = static_cast<std::size_t>(16 / bytes_of(types.partials));
        for (const std::int64_t workers : {1, 6, 8}) {
            for (const std::size_t units : {0U, 1U, 5U, 6U, 13U, 40U}) {
                for (const std::size_t slices : {0U, 1U, 3U, 7U}) {
                    CAPTURE(workers, units, slices, unit);
                    const std::string type = codelets::suffix(types);
                    test::CodeletBench bench({"reduce_add_" + type}, workers);
                    const auto w = static_cast<std::uint32_t>(workers);
                    const auto u = static_cast<std::uint32_t>(units);
                    const Address own = bench.pair(0);
                    const Address received = bench.pair(1);
                    const Address out = bench.region0_data() + 0x4000;
                    bench.put<std::uint32_t>(
                        bench.region0_data(),
                        {own, received, u, static_cast<std::uint32_t>(slices), out, u / w, u % w});
                    std::vector<float> sums(units * unit);
                    std::vector<float> summand(units * unit);
                    for (std::size_t s = 0; s <= slices; ++s) {
                        for (std::size_t i = 0; i < sums.size(); ++i) {
                            summand[i] = test::small_integer(s * 977 + i, 100);
                            sums[i] += summand[i];
                        }
                        const Address at =
                            s == 0 ? own : received + static_cast<Address>((s - 1) * units * 16);
                        test::put_as(bench, types.partials, at, summand);
                    }
                    const auto outcome = bench.call(
                        "reduce_" + type, program::VertexKind::MultiWorker, bench.region0_data());
                    std::size_t wrong = 0;
                    for (std::size_t i = 0; i < sums.size(); ++i) {
                        wrong += test::get_as(bench, types.data, out, i) == sums[i] ? 0 : 1;
                    }
                    CHECK(wrong == 0);
                    CHECK(outcome.cycles == plan::reduce_cycles(bench.machine(), types,
                                                                static_cast<std::int64_t>(units),
                                                                static_cast<std::int64_t>(slices)));
                }
            }
        }
    }
}

TEST_CASE("a copy moves its words in the predicted cycles", "[kernels]") {
    for (const std::int64_t workers : {1, 6, 7}) {
        for (const std::size_t words : {0U, 1U, 6U, 100U}) {
            test::CodeletBench bench({"copy"}, workers);
            const auto w = static_cast<std::uint32_t>(workers);
            const auto n = static_cast<std::uint32_t>(words);
            const Address to = bench.pair(2);
            bench.put<std::uint32_t>(bench.region0_data(), {bench.pair(0), to, n / w, n % w});
            std::vector<std::uint64_t> data(words + 1, 0x0123456789abcdefU);
            for (std::size_t i = 0; i < words; ++i) {
                data[i] += i;
            }
            bench.put(bench.pair(0), data);
            const auto outcome =
                bench.call("copy64", program::VertexKind::MultiWorker, bench.region0_data());
            data[words] = 0;
            CHECK(bench.get<std::uint64_t>(to, words + 1) == data);
            CHECK(outcome.cycles ==
                  plan::copy_cycles(bench.machine(), static_cast<std::int64_t>(words)));
        }
    }
}
