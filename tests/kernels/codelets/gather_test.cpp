// SPDX-License-Identifier: MIT
#include "kernels/codelets/gather_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/random.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

namespace {

using namespace tessera;

/// `element`: its bytes.
Cycles expected_cycles(const spec::MachineSpec& machine, std::int64_t words, std::size_t element) {
    const auto of_worker = element == 1 ? codelets::gather_bytes_issues : codelets::gather_issues;
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::int64_t> issues;
    for (std::int64_t w = 0; w < workers; ++w) {
        issues.push_back(of_worker(words / workers + (w < words % workers ? 1 : 0)));
    }
    return plan::multi_worker_cycles(machine, issues);
}

struct Gather {
    std::size_t elements = 0; ///< of `from`
    std::size_t words = 0;
    Address from = 0;
    Address to = 0;
    Address list = 0;
};

/// Gathers by a random list; `from`, its neighbours and those of `to` are all different.
template <class Element = std::uint16_t>
void check_gather(test::CodeletBench& bench, const Gather& gather, std::uint64_t seed) {
    const workload::CounterRandom random(seed, 7);
    constexpr std::size_t kInWord = 4 / sizeof(Element);
    std::vector<Element> elements(gather.elements);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        elements[i] = static_cast<Element>(random.bits(i));
    }
    std::vector<std::uint16_t> list(gather.words * kInWord);
    std::vector<std::uint32_t> expected(gather.words);
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i] = static_cast<std::uint16_t>(random.below(gather.elements, i));
        expected[i / kInWord] |= static_cast<std::uint32_t>(elements[list[i]])
                                 << 8 * sizeof(Element) * (i % kInWord);
    }
    constexpr std::uint32_t kUntouched = 0x5a5a5a5a;
    const auto workers = static_cast<std::uint32_t>(bench.machine().tile.workers);
    const auto words = static_cast<std::uint32_t>(gather.words);
    bench.put<std::uint32_t>(bench.region0_data(), {gather.from, gather.to, gather.list,
                                                    words / workers, words % workers});
    bench.put(gather.from, elements);
    bench.put(gather.list, list);
    bench.put(gather.to - 4, std::vector<std::uint32_t>(gather.words + 2, kUntouched));
    const auto outcome = bench.call(kInWord == 4 ? "gather8" : "gather16",
                                    program::VertexKind::MultiWorker, bench.region0_data());
    expected.insert(expected.begin(), kUntouched);
    expected.push_back(kUntouched);
    CHECK((bench.get<std::uint32_t>(gather.to - 4, gather.words + 2) == expected)); // not printed
    CHECK(outcome.cycles == expected_cycles(bench.machine(),
                                            static_cast<std::int64_t>(gather.words),
                                            sizeof(Element)));
}

} // namespace

TEST_CASE("a gather builds its words from any elements in the predicted cycles", "[kernels]") {
    for (const std::int64_t workers : {1, 2, 3, 4, 5, 6, 8}) {
        test::CodeletBench bench({"gather", "gather_bytes"}, workers);
        std::uint64_t seed = 1;
        for (const std::size_t words : {0U, 1U, 2U, 5U, 6U, 7U, 13U, 100U}) {
            for (const Address odd : {0U, 4U}) {
                CAPTURE(workers, words, odd);
                check_gather(bench,
                             {97, words, bench.pair(0) + odd, bench.pair(0) + 0x1000 + 2 * odd,
                              bench.pair(0) + 0x2000 + odd},
                             ++seed);
                check_gather<std::uint8_t>(bench,
                                           {97, words, bench.pair(0) + odd,
                                            bench.pair(0) + 0x1000 + 2 * odd,
                                            bench.pair(0) + 0x2000 + odd},
                                           ++seed);
            }
        }
    }
}

TEST_CASE("a gather reaches all that 16 bits count", "[kernels]") {
    test::CodeletBench bench({"gather"});
    check_gather(bench, {65536, 3000, bench.pair(0), bench.pair(5), bench.pair(6)}, 3);
}

TEST_CASE("a worker of a gather has a word more than its repeat counts", "[kernels]") {
    test::CodeletBench bench({"gather"}, 1);
    constexpr Address kMost = 65536;
    const Address to = bench.region0_data() + 0x4000;
    const Address list = to + 4 * kMost + 16;
    check_gather(bench, {1000, kMost, list + 4 * kMost + 16, to, list}, 5);
}
