// SPDX-License-Identifier: MIT
// Planning and executing exchanges of a whole chip. bench_exchange has all patterns and sizes, and
// how good their rows are.
#include "kernels/exchange_plan/exchange_planner.h"
#include "tests/bench/exchange_cases.h"
#include "tests/bench/micro.h"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <string>
#include <utility>
#include <vector>

namespace tessera::bench {
namespace {

patterns::Transfers transfers_of(const Pattern& pattern, const spec::MachineSpec& machine,
                                 Bytes size) {
    patterns::Layout layout{machine};
    pattern.make(layout, size);
    return layout.take().value();
}

void plan_it(benchmark::State& state, const Pattern& pattern, Bytes size) {
    const spec::MachineSpec machine;
    const auto transfers = transfers_of(pattern, machine, size);
    Cycles bound = 0;
    for (auto _ : state) {
        state.PauseTiming();
        auto own = transfers;
        state.ResumeTiming();
        const auto planned =
            exchange_plan::plan_exchange_with_stats(machine, "bench", std::move(own));
        bound = planned.stats.bound.cycles();
    }
    state.counters["messages"] = static_cast<double>(transfers.size());
    state.counters["bound_cycles"] = static_cast<double>(bound);
}

void execute_it(benchmark::State& state, const Pattern& pattern, Bytes size) {
    const spec::MachineSpec machine;
    auto exchange =
        exchange_plan::plan_exchange(machine, "bench", transfers_of(pattern, machine, size));
    Cycles cycles = 0;
    for (auto _ : state) {
        const auto outcome = execute(machine, exchange);
        cycles = *std::max_element(outcome.row_cycles.begin(), outcome.row_cycles.end());
    }
    state.counters["cycles"] = static_cast<double>(cycles);
}

} // namespace

void add_exchanges() {
    const std::vector<std::pair<std::string, Bytes>> chosen{
        {"all-to-all", 4},        {"all-to-all", 64}, {"random-pairs-30", 256},
        {"random-mixed-200", 64}, {"halo-8", 256},    {"broadcast", 1024}};
    for (const auto& pattern : all_patterns(static_cast<TileId>(spec::MachineSpec{}.chip.tiles))) {
        for (const auto& [name, size] : chosen) {
            if (name != pattern.name) {
                continue;
            }
            const std::string what = name + "/" + std::to_string(size);
            benchmark::RegisterBenchmark(("plan/" + what).c_str(),
                                         [pattern, bytes = size](benchmark::State& state) {
                                             plan_it(state, pattern, bytes);
                                         })
                ->Unit(benchmark::kMillisecond)
                ->MeasureProcessCPUTime()
                ->UseRealTime();
            benchmark::RegisterBenchmark(("execute/" + what).c_str(),
                                         [pattern, bytes = size](benchmark::State& state) {
                                             execute_it(state, pattern, bytes);
                                         })
                ->Unit(benchmark::kMillisecond)
                ->MeasureProcessCPUTime()
                ->UseRealTime();
        }
    }
}

} // namespace tessera::bench
