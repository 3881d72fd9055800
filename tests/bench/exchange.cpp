// SPDX-License-Identifier: MIT
// How long planning and executing an exchange take on the host, and how near plans come to their
// bound, on a whole chip. One line a pattern: its message size, milliseconds to plan and
// to execute, row cycles, bound, their ratio, what is over the limit of 1.10 x bound or bound +
// 200, the longest row, wide messages and those lowered to 4-byte items.
//
// usage: bench_exchange [--tiles N] [PATTERN[:BYTES]...]
#include "base/heap.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "tests/bench/exchange_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::bench;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Result {
    std::size_t transfers = 0;
    double plan_s = 0;
    double execute_s = 0;
    Cycles cycles = 0;
    exchange_plan::ExchangeStats stats;
};

Result measure(const spec::MachineSpec& machine, patterns::Transfers transfers) {
    Result result;
    result.transfers = transfers.size();
    const auto start = Clock::now();
    auto plan = exchange_plan::plan_exchange_with_stats(machine, "bench", std::move(transfers));
    result.plan_s = seconds_since(start);
    const auto begin = Clock::now();
    const auto outcome = execute(machine, plan.exchange);
    result.execute_s = seconds_since(begin);
    result.cycles = *std::max_element(outcome.row_cycles.begin(), outcome.row_cycles.end());
    result.stats = plan.stats;
    return result;
}

void print(const std::string& name, Bytes size, const Result& result) {
    const auto bound = result.stats.bound.cycles();
    const auto limit =
        std::max(static_cast<Cycles>(1.10 * static_cast<double>(bound)), bound + 200);
    const auto over = std::max<Cycles>(result.cycles - limit, 0);
    std::printf("%-24s %6lld %8zu %8.1f %8.1f %8lld %8lld %6.3f %6lld %7lld %6lld %6lld\n",
                name.c_str(), static_cast<long long>(size), result.transfers, 1000 * result.plan_s,
                1000 * result.execute_s, static_cast<long long>(result.cycles),
                static_cast<long long>(bound),
                static_cast<double>(result.cycles) / static_cast<double>(bound),
                static_cast<long long>(over),
                static_cast<long long>(result.stats.longest_row_bytes),
                static_cast<long long>(result.stats.wide_messages),
                static_cast<long long>(result.stats.lowered_messages));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    spec::MachineSpec machine;
    std::set<std::string> wanted;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--tiles") == 0 && i + 1 < argc)
            machine.chip.tiles = std::atoll(argv[++i]);
        else
            wanted.insert(argv[i]);
    }
    std::printf("%-24s %6s %8s %8s %8s %8s %8s %6s %6s %7s %6s %6s\n", "pattern", "bytes",
                "messages", "plan ms", "exec ms", "cycles", "bound", "ratio", "over", "row B",
                "wide", "narrow");
    for (const auto& pattern : all_patterns(static_cast<TileId>(machine.chip.tiles))) {
        for (const auto size : pattern.sizes) {
            if (!wanted.empty() && wanted.count(pattern.name) == 0 &&
                wanted.count(pattern.name + ":" + std::to_string(size)) == 0)
                continue;
            patterns::Layout layout{machine};
            pattern.make(layout, size);
            auto transfers = layout.take();
            if (!transfers || transfers->empty())
                continue; // larger than the tiles' memories
            const auto result = measure(machine, std::move(*transfers));
            print(pattern.name, size, result);
        }
    }
    return 0;
}
